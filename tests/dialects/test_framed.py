"""Frames that an engine has no words for are made of joins: on DuckDB, which has them all, both ways give the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import duckdb
import pytest

from compiler.bind.query import Binder
from compiler.catalog import read_schema
from compiler.ir.relation import Relation
from compiler.normalize import normalize
from compiler.parse import parse_query
from dialects.dialect import Dialect
from dialects.duckdb import DUCKDB
from dialects.lower import lowering
from tests.memory import warehouse

SCHEMA = "CREATE TABLE w (id int PRIMARY KEY, p int, n int, x numeric(6,2), t timestamp, d date, s text)"
JOINED = replace(DUCKDB, frames=lambda c: c.fn in ("row_number", "dense_rank"), window_filters=False)

OVERS = [
    "PARTITION BY p ORDER BY n ROWS BETWEEN 1 PRECEDING AND 2 FOLLOWING",
    "PARTITION BY p ORDER BY n, id ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING EXCLUDE CURRENT ROW",
    "PARTITION BY p ORDER BY n DESC RANGE BETWEEN 1 PRECEDING AND 2 FOLLOWING",
    "PARTITION BY p ORDER BY n NULLS FIRST RANGE BETWEEN 2 PRECEDING AND CURRENT ROW",
    "PARTITION BY p ORDER BY x RANGE BETWEEN 0.5 PRECEDING AND UNBOUNDED FOLLOWING EXCLUDE TIES",
    "ORDER BY t RANGE BETWEEN interval '1 month 1 day' PRECEDING AND interval '2 hours' FOLLOWING",
    "ORDER BY t DESC NULLS LAST RANGE BETWEEN interval '36 hours' PRECEDING AND CURRENT ROW EXCLUDE GROUP",
    "PARTITION BY p ORDER BY d RANGE BETWEEN UNBOUNDED PRECEDING AND interval '1 day' FOLLOWING",
    "PARTITION BY p ORDER BY n GROUPS BETWEEN 1 PRECEDING AND 1 FOLLOWING",
    "PARTITION BY p ORDER BY n GROUPS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW EXCLUDE GROUP",
    "ORDER BY n, x GROUPS BETWEEN 2 FOLLOWING AND 3 FOLLOWING",
    "PARTITION BY p ORDER BY n ROWS BETWEEN 3 PRECEDING AND 2 PRECEDING EXCLUDE TIES",
    "PARTITION BY p ORDER BY n ROWS BETWEEN 1 PRECEDING AND 3 PRECEDING",
    "PARTITION BY p ORDER BY n GROUPS BETWEEN 3 FOLLOWING AND 1 FOLLOWING",
    "PARTITION BY p ORDER BY n RANGE BETWEEN 1 PRECEDING AND 3 PRECEDING",
    "PARTITION BY p ORDER BY n",
    "PARTITION BY p",
    "",
]
CALLS = [
    "count(*)",
    "count(x)",
    "sum(n)",
    "min(s)",
    "avg(x) FILTER (WHERE n > 1)",
    "count(*) FILTER (WHERE x IS NULL)",
    "bool_or(n = 2)",
]
IN_ORDER = [
    "string_agg(s, ',')",
    "array_agg(n)",
    "first_value(x)",
    "last_value(s)",
    "nth_value(n, 2)",
    "array_agg(id) FILTER (WHERE n <> 1)",
]


@pytest.fixture(scope="module")
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    c = warehouse(read_schema(SCHEMA).tables.values())
    c.execute("""INSERT INTO base.w SELECT i, nullif(i % 3, 2), nullif(i * 7 % 5, 4), nullif(i * 13 % 9, 8) / 4,
        TIMESTAMP '2024-01-30 12:00' + to_hours(i * 17 % 90), DATE '2024-02-27' + CAST(i * 5 % 4 AS INT), chr(CAST(97
          + i * 3 % 7 AS INT))
        FROM range(1, 40) r(i)""")
    c.execute("UPDATE base.w SET t = NULL WHERE id % 11 = 0; UPDATE base.w SET d = NULL WHERE id % 7 = 0")
    yield c
    c.close()


def bound(sql: str) -> Relation:
    query = parse_query(sql)
    return normalize(Binder(read_schema(SCHEMA), {}, ("framed",)).view(query).rel)


def rows(c: duckdb.DuckDBPyConnection, d: Dialect, r: Relation) -> Counter[str]:
    return Counter(repr(row) for row in c.execute(d.sql(lowering(d).query(r, weight=False))).fetchall())


@pytest.mark.parametrize("over", OVERS)
def test_a_frame_of_joins_is_the_frame(con: duckdb.DuckDBPyConnection, over: str) -> None:
    calls = CALLS + (IN_ORDER if "ROWS" in over and "id" in over else [])
    for call in calls:
        r = bound(f"SELECT id, {call} OVER ({over}) AS v FROM w")
        assert rows(con, JOINED, r) == rows(con, DUCKDB, r), call


@pytest.mark.parametrize("call", IN_ORDER)
def test_values_are_taken_in_order(con: duckdb.DuckDBPyConnection, call: str) -> None:
    for frame in (
        "ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING",
        "ROWS BETWEEN 2 FOLLOWING AND 3 FOLLOWING",
        "RANGE UNBOUNDED PRECEDING",
        "GROUPS BETWEEN 1 PRECEDING AND CURRENT ROW EXCLUDE CURRENT ROW",
    ):
        r = bound(f"SELECT id, {call} OVER (PARTITION BY p ORDER BY n DESC, id {frame}) AS v FROM w")
        assert rows(con, JOINED, r) == rows(con, DUCKDB, r), frame


@pytest.mark.parametrize("call", ["lag(x, n)", "lead(s, n, 'none')", "lag(id, 2, 0)"])
def test_rows_at_a_distance_that_varies(con: duckdb.DuckDBPyConnection, call: str) -> None:
    r = bound(f"SELECT id, {call} OVER (PARTITION BY p ORDER BY id) AS v FROM w")
    assert rows(con, JOINED, r) == rows(con, DUCKDB, r)
