"""A literal that cannot be read is refused wherever it stands, in Postgres' words and at its place."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from compiler.catalog import read_schema
from compiler.errors import TidemarkError
from compiler.parse import parse_view
from compiler.view import compile_view
from tests.connectors.fresh import fresh_database

SCHEMA = """CREATE TYPE order_status AS ENUM ('new', 'shipped');
CREATE TABLE orders (id uuid PRIMARY KEY, status order_status, d date, n int, big bigint, ns int[], ts timestamptz,
  t timestamp, tm time, b bool, j jsonb, iv interval, q numeric(5,2), f float8, es order_status[], s text, ip inet)"""
COLUMNS = {
    "id": "uuid",
    "status": "order_status",
    "d": "date",
    "n": "int",
    "big": "bigint",
    "ns": "int[]",
    "ts": "timestamptz",
    "t": "timestamp",
    "tm": "time",
    "b": "bool",
    "j": "jsonb",
    "iv": "interval",
    "q": "numeric(5,2)",
    "f": "float8",
    "es": "order_status[]",
}
SITES = """
SELECT id FROM orders WHERE {c} = {x}
SELECT id FROM orders WHERE {x} <> {c}
SELECT id FROM orders WHERE {c} IN ({x}, {x})
SELECT id FROM orders WHERE {c} NOT IN ({x})
SELECT id FROM orders WHERE {c} IS DISTINCT FROM {x}
SELECT id FROM orders WHERE ({c}, n) = ({x}, 1)
SELECT id FROM orders WHERE {x} IN (SELECT {c} FROM orders)
SELECT coalesce({c}, {x}) AS x FROM orders
SELECT nullif({x}, {c}) AS x FROM orders
SELECT CASE WHEN b THEN {c} ELSE {x} END AS x FROM orders
SELECT CASE {c} WHEN {x} THEN 1 END AS x FROM orders
SELECT CASE WHEN false THEN {x}::{t} END AS x FROM orders
SELECT {c} FROM orders UNION ALL SELECT {x}
SELECT {x} AS x EXCEPT SELECT {c} FROM orders
SELECT x FROM (VALUES (CAST(NULL AS {t})), ({x})) v(x)
SELECT lag({c}, 1, {x}) OVER (ORDER BY id) AS x FROM orders
SELECT count(*) FILTER (WHERE {c} = {x}) AS x FROM orders
SELECT {c}, count(*) AS n FROM orders GROUP BY {c} HAVING {c} = {x}
SELECT a.id FROM orders a LEFT JOIN orders b ON a.{c} = {x}
WITH w AS (SELECT {c} FROM orders WHERE {c} = {x}) SELECT * FROM w
SELECT id FROM orders ORDER BY {c} = {x} LIMIT 3
SELECT {x}::{t} AS x FROM orders
SELECT CAST({x} AS {t}) AS x FROM orders
SELECT ARRAY[{x}]::{t}[] AS x FROM orders
""".strip().split("\n")
OF_ARRAYS = "ARRAY[{x}]::{t}[]"  # there are none
OTHERS = """
SELECT id FROM orders WHERE d BETWEEN '2025-01-01' AND '2025-02-30'
SELECT id FROM orders WHERE 'zz' BETWEEN n AND 5
SELECT DATE '2025-13-45' AS x FROM orders
SELECT timestamptz 'zz' AS x FROM orders
SELECT interval 'zz' AS x FROM orders
SELECT interval '1 dy' AS x FROM orders
SELECT n + 'zz' AS x FROM orders
SELECT d - 'zz' AS x FROM orders
SELECT ts + 'zz' AS x FROM orders
SELECT tm + 'zz' AS x FROM orders
SELECT iv * 'zz' AS x FROM orders
SELECT n & 'zz' AS x FROM orders
SELECT NOT 'zz' AS x FROM orders
SELECT id FROM orders WHERE 'zz'
SELECT id FROM orders LIMIT 'zz'
SELECT power(f, 'zz') AS x FROM orders
SELECT sign('zz') AS x FROM orders
SELECT left(s, 'zz') AS x FROM orders
SELECT lpad(s, 'zz') AS x FROM orders
SELECT age(t, 'zz') AS x FROM orders
SELECT date_bin('zz', t, '2020-01-01') AS x FROM orders
SELECT make_date('zz', 1, 1) AS x FROM orders
SELECT (ts, ts) OVERLAPS ('zz', 'yy') AS x FROM orders
SELECT array_append(ns, 'zz') AS x FROM orders
SELECT ns || 'zz' AS x FROM orders
SELECT ns['zz'] AS x FROM orders
SELECT '{1,zz}'::int[] AS x FROM orders
SELECT es @> '{shiped}' AS x FROM orders
SELECT j @> 'zz' AS x FROM orders
SELECT j #>> 'zz' AS x FROM orders
SELECT jsonb_set(j, '{a}', 'zz') AS x FROM orders
SELECT jsonb_set(j, '{a}', '1', 'zz') AS x FROM orders
SELECT x FROM orders, generate_series(1, 'zz') x
SELECT corr(f, 'zz') AS x FROM orders
SELECT percentile_cont('zz') WITHIN GROUP (ORDER BY f) AS x FROM orders
SELECT ntile('zz') OVER (ORDER BY id) AS x FROM orders
SELECT lag(n, 'zz') OVER (ORDER BY id) AS x FROM orders
SELECT sum(n) OVER (ORDER BY id ROWS BETWEEN 'zz' PRECEDING AND CURRENT ROW) AS x FROM orders
SELECT 1 = '1.0' AS x FROM orders
SELECT coalesce(n, 1.5, 'zz') AS x FROM orders
SELECT coalesce(ip, 'zz') AS x FROM orders
SELECT now() > 'zz' AS x FROM orders
""".strip().split("\n")
CATALOG = read_schema(SCHEMA)
BAD = {
    "status": "'shiped'",
    "d": "'2025-13-45'",
    "ts": "'2025-02-30 10:00'",
    "n": "'99999999999'",
    "es": "'{shiped}'",
    "q": "'1,5'",
}
GOOD = {
    "id": "'{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}'",
    "status": "'new'",
    "d": "'Jan 31, 2025'",
    "n": "' 7 '",
    "big": "'9223372036854775807'",
    "ns": "'{1, 2}'",
    "ts": "'2025-01-31T10:00Z'",
    "t": "'20250131 1000'",
    "tm": "'10:30 pm'",
    "b": "'ye'",
    "j": "'{\"a\": 1}'",
    "iv": "'1-2 3 04:05'",
    "q": "'1e2'",
    "f": "'-Infinity'",
    "es": "'{new}'",
}


@pytest.fixture(scope="module")
def source(server: str) -> Iterator[psycopg.Connection]:
    with fresh_database(server, "sites") as dsn, psycopg.connect(dsn, autocommit=True) as c:
        c.execute(SCHEMA)
        yield c


def postgres(source: psycopg.Connection, sql: str) -> tuple[str, int]:
    try:
        source.execute(f"EXPLAIN {sql}")
        return "", 0
    except psycopg.Error as e:
        return e.diag.message_primary or "?", int(e.diag.statement_position or 0) - len("EXPLAIN ") - 1


def ours(sql: str) -> tuple[str, int]:
    head = "CREATE MATERIALIZED VIEW v AS\n"
    try:
        compile_view("v", parse_view(head + sql).query, CATALOG)
        return "", 0
    except TidemarkError as e:
        return e.message, (e.at or 0) - len(head)


def sites(column: str, literal: str) -> list[str]:
    t = COLUMNS[column]
    return [s.format(c=column, t=t, x=literal) for s in SITES if not (t.endswith("[]") and OF_ARRAYS in s)]


@pytest.mark.parametrize("column", COLUMNS)
def test_a_literal_that_cannot_be_read_is_refused_where_it_stands(source: psycopg.Connection, column: str) -> None:
    wrong = []
    for sql in sites(column, BAD.get(column, "'zz{'")):
        theirs, mine = postgres(source, sql), ours(sql)
        assert theirs[0], sql
        if theirs != mine:
            wrong.append(f"{sql}: Postgres {theirs}, Tidemark {mine}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("sql", OTHERS)
def test_so_it_is_in_operators_functions_and_casts(source: psycopg.Connection, sql: str) -> None:
    assert ours(sql) == postgres(source, sql) != ("", 0)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT nullif('1000', q) AS x FROM orders",
        "SELECT '1000' IN (q, 5) AS x FROM orders",
        "SELECT q = '1000' AS x FROM orders",
        "SELECT coalesce(q, '1000') AS x FROM orders",
    ],
)
def test_a_literal_beside_a_column_may_have_more_digits_than_it(source: psycopg.Connection, sql: str) -> None:
    assert ours(sql) == postgres(source, sql) == ("", 0)


@pytest.mark.parametrize("column", COLUMNS)
def test_a_literal_that_postgres_reads_is_taken(source: psycopg.Connection, column: str) -> None:
    for sql in sites(column, GOOD[column]):
        if postgres(source, sql)[0] == "":
            assert "input" not in (got := ours(sql)[0]) and "range" not in got, (sql, got)
