"""The 99 queries of TPC-DS, maintained while facts, returns and dimensions change, compared with the source after
every batch.

Tables and queries are those of DuckDB's extension, the queries without their last ORDER BY and LIMIT, which leave
ties open.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import duckdb
import psycopg
import pytest
import sqlglot
from sqlglot import exp

from tests.project import Project

CASE = Path(__file__).parent / "tpcds"
SCALE = 0.01
KEYS = {
    "catalog_returns": "cr_item_sk, cr_order_number",
    "catalog_sales": "cs_item_sk, cs_order_number",
    "inventory": "inv_date_sk, inv_item_sk, inv_warehouse_sk",
    "store_returns": "sr_item_sk, sr_ticket_number",
    "store_sales": "ss_item_sk, ss_ticket_number",
    "web_returns": "wr_item_sk, wr_order_number",
    "web_sales": "ws_item_sk, ws_order_number",
}  # of others, the first column


@pytest.fixture(scope="module")
def generated() -> duckdb.DuckDBPyConnection:
    con = duckdb.connect()
    path = files("duckdb_extension_tpcds") / "extensions" / f"v{duckdb.__version__}" / "tpcds.duckdb_extension"
    con.execute(f"LOAD '{path}'")
    con.execute(f"CALL dsdgen(sf = {SCALE})")
    return con


def queries(con: duckdb.DuckDBPyConnection) -> dict[str, str]:
    out = {}
    for n, text in con.execute("SELECT query_nr, query FROM tpcds_queries() ORDER BY 1").fetchall():
        tree = sqlglot.parse_one(text, read="postgres")
        for clause in ("order", "limit"):
            tree.set(clause, None)
        assert isinstance(tree, exp.Query)
        out[f"q{n:02}"] = tree.sql("postgres", pretty=True)
    return out


def load(dsn: str, con: duckdb.DuckDBPyConnection, folder: Path) -> None:
    columns = con.execute(
        "SELECT table_name, list(column_name || ' ' || data_type ORDER BY column_index), first(column_name ORDER BY "
        "column_index) "
        "FROM duckdb_columns() WHERE NOT internal GROUP BY table_name"
    ).fetchall()
    with psycopg.connect(dsn) as c, c.cursor() as cur:
        for t, cols, first in columns:
            cur.execute(f"CREATE TABLE {t} ({', '.join(cols)}, PRIMARY KEY ({KEYS.get(t, first)}))".encode())
            con.execute(f"COPY {t} TO '{folder / t}.csv' (FORMAT csv, HEADER false, NULLSTR '\\N')")
            with cur.copy(f"COPY {t} FROM STDIN (FORMAT csv, NULL '\\N')".encode()) as copy:
                copy.write((folder / f"{t}.csv").read_bytes())
    with psycopg.connect(dsn, autocommit=True) as c:
        c.execute("ANALYZE")


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["auto", "higher_order", "split"])
def test_every_query_is_maintained(
    strategy: str, database: str, tmp_path: Path, generated: duckdb.DuckDBPyConnection
) -> None:
    p = Project.create(tmp_path, database, queries(generated), strategy=strategy)
    load(database, generated, tmp_path)
    p.deploy()
    told = p.maintenance
    assert len(told) == 99 and set(told.values()) <= {"incremental", "keyed"}, told
    p.follow(CASE / "batches")
