"""Composite values are carried as text: rows are brought together by them only where equal ones are written alike."""

from __future__ import annotations

from pathlib import Path

import pytest

from compiler.errors import TidemarkError
from tests.project import Project

SCHEMA = (
    "CREATE TYPE place AS (x int, y numeric(8,2), of text)",
    "CREATE DOMAIN amount AS numeric",
    "CREATE TYPE money_of AS (a amount, note text)",
    "CREATE TYPE nested AS (id int, m money_of[])",
    "CREATE TABLE t (id int PRIMARY KEY, p place, m money_of, n nested)",
    "INSERT INTO t VALUES (1, '(1,2.50,a)', '(1.0,x)', NULL), "
    "(2, '(1,2.5,a)', '(1.00,x)', NULL), (3, NULL, NULL, NULL)",
)


def test_those_that_are_written_in_one_way_are_grouped(database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, {"v": "SELECT p, count(*) AS n FROM t GROUP BY p", "w": "SELECT m FROM t"})
    p.source(*SCHEMA)
    p.deploy()
    p.assert_equal()
    p.source("UPDATE t SET p = '(1,2.500,a)' WHERE id = 3", "DELETE FROM t WHERE id = 1")
    p.assert_equal()


@pytest.mark.parametrize(
    "query",
    [
        "SELECT m, count(*) AS n FROM t GROUP BY m",
        "SELECT DISTINCT m FROM t",
        "SELECT m FROM t UNION SELECT m FROM t",
        "SELECT count(DISTINCT m) AS n FROM t",
        "SELECT id, count(*) OVER (PARTITION BY n) AS c FROM t",
    ],
)
def test_others_are_not(query: str, database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, {"v": query})
    p.source(*SCHEMA)
    with pytest.raises(TidemarkError, match="is not supported"):
        p.deploy()


PARTS = (
    "CREATE TYPE mood AS ENUM ('sad', 'a, \"b')",
    "CREATE DOMAIN street AS text",
    "CREATE TYPE inner_of AS (x int, note text)",
    'CREATE TYPE whole AS (n numeric(8,2), "Of" street, at timestamptz, ok bool, f float8, mood mood, i inner_of, '
    "d date, j jsonb, c char(4), r int4range, x bytea, v interval, u uuid)",
    "CREATE TABLE t (id int PRIMARY KEY, w whole, many inner_of[])",
    "CREATE TABLE u (k int PRIMARY KEY, p text)",
    "INSERT INTO u VALUES (1, 'p'), (4, NULL)",
    """INSERT INTO t VALUES (1, ROW(1.5, 'a "q" \\ (x), y', '2024-02-03 04:05:06.789+02', true, 'NaN', 'a, "b',
    ROW(7, ' "\\" '), '0044-03-15', '{"k": "v, w"}', 'ab', '[1,5)', '\\x00ff', '1 mon 2 days 03:04:05',
    'c0ffee00-1111-2222-3333-444455556666'), ARRAY[ROW(1, 'p, "q"'), ROW(NULL, '')]::inner_of[])""",
    "INSERT INTO t VALUES (2, ROW(NULL, '', NULL, false, '-Infinity', NULL, ROW(NULL, NULL), 'infinity', NULL, '', "
    "'empty', '', '-1 days', NULL), '{}')",
    "INSERT INTO t (id) VALUES (3)",
    "INSERT INTO t VALUES (4, ROW(NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL))",
    "INSERT INTO t VALUES (5, ROW(0, E'two\\nlines', 'epoch', NULL, 1e300, 'sad', ROW(1, repeat('\"x,', 5000)), "
    "'2024-02-29', '[1, \"\\\\\"]', 'é', '[,)', NULL, '0', NULL))",
)
FIELDS = {
    "fields": "SELECT id, (w).n,"
    '  (w)."Of", length((w)."Of") AS l, (t.w).at, (w).ok, (w).f, (w).mood, (w).c, (w).u FROM t',
    "others": "SELECT id, (w).j ->> 'k' AS k, lower((w).r) AS low, (w).x FROM t WHERE id < 5",
    "within": "SELECT id, ((w).i).x, length(((w).i).note) AS n, ((w).i).note FROM t",
    "grouped": 'SELECT (w).mood, count(*) AS n, sum((w).n) AS s, max((w)."Of") AS m FROM t GROUP BY (w).mood',
    "missing": "SELECT id FROM t WHERE w IS NULL OR (w).i IS NULL",
    "there": "SELECT id, (w).i IS NOT NULL AS i, w IS NOT NULL AS w FROM t",
    "alike": "SELECT a.id, b.id AS other FROM t a JOIN t b ON (a.w).i = (b.w).i",
    "listed": "SELECT id, (m).x, (m).note FROM t CROSS JOIN LATERAL unnest(many) AS m",
    "first": "SELECT id, (many[1]).note FROM t",
    "all_of_it": "SELECT id, ((w).i).* FROM t",
    "whole": "SELECT (t).id, (u.*).* FROM t JOIN u ON u.k = t.id",
}
TIMES = {"times": "SELECT id, (w).d, (w).v FROM t"}  # of which executors have not all
CHANGES = (
    "UPDATE t SET w.n = coalesce((w).n, 0) + 1, w.i.note = 'new, \"' WHERE id IN (1, 4)",
    "UPDATE t SET many = many || ROW(9, '(')::inner_of WHERE id < 3",
    "DELETE FROM t WHERE id = 2",
)


@pytest.mark.parametrize("engine", ["duckdb", pytest.param("spark", marks=pytest.mark.spark)])
def test_fields_are_what_they_are_in_postgres(engine: str, database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, FIELDS | (TIMES if engine == "duckdb" else {}), engine=engine)
    p.source(*PARTS)
    p.deploy()
    p.assert_equal()
    p.source(*CHANGES)
    p.assert_equal()


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("SELECT (w).none FROM t", 'column "none" not found in data type whole'),
        ("SELECT id FROM t WHERE (w).i < (w).i", "< of inner_of is not supported"),
        ("SELECT (id).x FROM t", "a field of such a value is not supported"),
        ("SELECT id FROM t WHERE w = w", "= of whole is not supported"),
    ],
)
def test_what_there_is_not_is_refused(query: str, message: str, database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, {"v": query})
    p.source(*PARTS[:7])
    with pytest.raises(TidemarkError, match=message):
        p.deploy()


@pytest.mark.parametrize("altered", ["ADD ATTRIBUTE z int", "DROP ATTRIBUTE x", "RENAME ATTRIBUTE x TO z"])
def test_a_type_with_other_attributes_stops_what_reads_it(altered: str, database: str, tmp_path: Path) -> None:
    views = {"v": "SELECT id, (p).of FROM t", "n": "SELECT id, n FROM t", "w": "SELECT id FROM t"}
    p = Project.create(tmp_path, database, views)
    p.source(*SCHEMA)
    p.deploy()
    p.source(f"ALTER TYPE place {altered} CASCADE", "UPDATE t SET id = id + 10")
    p.catch_up()
    assert {v.name for v in p.deployed.views if "has other attributes" in v.error} == {"v"}
    p.deploy()
    p.assert_equal()
    p.source("UPDATE t SET p.of = 'z' WHERE id < 13")
    p.assert_equal()
