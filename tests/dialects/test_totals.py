"""DuckDB adds up parts of a sum without a look whether 128 bits hold it: what is beyond is an error here."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest
from sqlglot import exp

from compiler.ir.types import INT8, numeric
from connectors.duckdb.session import connect
from dialects.duckdb import DUCKDB

NINES = "9" * 38


@pytest.fixture
def con(tmp_path: Path) -> duckdb.DuckDBPyConnection:
    """Two sources, which are read by two threads."""
    con = connect(tmp_path / "totals.duckdb", False)
    con.execute("CREATE SCHEMA pg")
    for s in DUCKDB.setup():
        con.execute(s)
    con.execute(f"COPY (SELECT 1 AS k, '{NINES}'::DECIMAL(38,0) AS v) TO '{tmp_path}/one.parquet'")
    con.execute("CREATE TABLE other (k INTEGER, v DECIMAL(38,0))")
    con.execute(f"INSERT INTO other VALUES (1, '{NINES}'), (2, 7), (2, -9)")
    con.execute(f"CREATE VIEW both_of AS SELECT * FROM '{tmp_path}/one.parquet' UNION ALL SELECT * FROM other")
    return con


def total(precision: int, where: str) -> str:
    added = DUCKDB.sql(DUCKDB.total(exp.column("v"), numeric(precision, 0)))
    return f"SELECT k, {added} AS s FROM both_of WHERE {where} GROUP BY k ORDER BY k"


def test_what_128_bits_do_not_hold_is_an_error(con: duckdb.DuckDBPyConnection) -> None:
    assert con.execute(total(38, "k = 2")).fetchall() == [(2, -2)]
    assert con.execute(total(38, "k = 3")).fetchall() == []
    with pytest.raises(duckdb.Error, match="more than 38 digits|Overflow"):
        con.execute(total(38, "true"))


def test_it_still_wraps(con: duckdb.DuckDBPyConnection) -> None:
    """Where this fails, DuckDB looks itself, and `large_total` may go."""
    wrapped = con.execute("SELECT sum(v) FROM both_of WHERE k = 1 GROUP BY k").fetchall()[0][0]
    assert wrapped < 0


def test_short_numbers_are_added_up_as_they_are() -> None:
    assert DUCKDB.sql(DUCKDB.total(exp.column("v"), numeric(12, 2))) == "SUM(v)"
    assert DUCKDB.sql(DUCKDB.total(exp.column("v"), INT8)) == "SUM(v)"
