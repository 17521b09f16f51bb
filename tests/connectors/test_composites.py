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
    "rows": 'SELECT t.id, m.* FROM t CROSS JOIN LATERAL unnest(many) WITH ORDINALITY AS m(x, "Note", o)',
    "columns": "SELECT id, x, note FROM t CROSS JOIN LATERAL unnest(many) AS m WHERE x IS NOT NULL OR note <> ''",
    "objects": "SELECT id, to_json((w).i) AS j, to_jsonb((w).i) AS b, jsonb_build_object('a', (w).i) AS o FROM t",
    "object_list": "SELECT (w).ok, json_agg((w).i ORDER BY id) AS j FROM t GROUP BY 1",
    "named": "SELECT id, CASE WHEN id > 1 THEN 'a' ELSE ((w).i).note END, ((w).i).x::text || '' AS t FROM t",
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
        ("SELECT coalesce((w).i, '( 1,x)') AS i FROM t", "a literal of inner_of is not supported"),
        ("SELECT id FROM t WHERE (w).i = '(1,x)'", "= of inner_of and a literal is not supported"),
        ("SELECT id FROM t WHERE (w).i LIKE 'x'", "operator does not exist"),
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


def test_dates_before_christ_and_intervals_of_both_signs_are_read(database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, {"v": "SELECT id, (s).d, (s).v, (s).n, upper((s).r) AS u FROM t"})
    p.source(
        "CREATE TYPE parts AS (d date, v interval, n numeric, r daterange)",
        "CREATE TABLE t (id int PRIMARY KEY, s parts)",
        "INSERT INTO t VALUES (1, ROW('0044-03-15 BC', '-1 mon 2 days -03:00', 1.123456789012, '[,0044-03-15 BC)')), "
        "(2, ROW('infinity', '1 day -00:00:01', 1.5000000000000000, '[2024-01-01,)'))",
    )
    p.deploy()
    p.assert_equal()
    p.source("INSERT INTO t VALUES (3, ROW('0001-01-01 BC', '-1 day 02:00', 7, NULL))")
    p.assert_equal()
    p.source("INSERT INTO t VALUES (4, ROW(NULL, NULL, 0.1234567890123, NULL))")
    p.catch_up()
    assert ["is not kept as it is" in v.error for v in p.deployed.views] == [True]


def test_an_attribute_that_came_and_went_is_noticed(database: str, tmp_path: Path) -> None:
    """Values that were written in between were printed with it."""
    p = Project.create(tmp_path, database, {"v": "SELECT id, (p).x FROM t", "w": "SELECT id, p FROM t"})
    p.source(*SCHEMA)
    p.deploy()
    p.source("ALTER TYPE place ADD ATTRIBUTE z int CASCADE", "UPDATE t SET p.z = 3 WHERE id = 1")
    p.source("ALTER TYPE place DROP ATTRIBUTE z CASCADE")
    p.catch_up()
    assert all(v.error for v in p.deployed.views)
    p.deploy()
    p.assert_equal()


@pytest.mark.parametrize(
    "done",
    [
        ("DROP TYPE place CASCADE",),
        ("DROP TABLE t", "DROP TYPE place CASCADE"),
        ("ALTER TABLE t ALTER p TYPE text USING (p).of", "DROP TYPE place CASCADE"),
    ],
)
def test_a_type_that_is_gone_stops_what_reads_it(done: tuple[str, ...], database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, {"v": "SELECT id, (p).of FROM t", "w": "SELECT id FROM u"})
    p.source(*SCHEMA, "CREATE TABLE u (id int PRIMARY KEY)")
    p.deploy()
    p.source(*done, "INSERT INTO u VALUES (1)")
    p.catch_up()
    assert {v.name for v in p.deployed.views if v.error} == {"v"}
    (p.config.views_path / "v.sql").unlink()
    p.deploy()
    p.assert_equal()


def test_labels_of_an_enum_within_are_noticed(database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, {"v": "SELECT id, (w).mood, (w).mood < 'sad' AS less FROM t"})
    p.source(*PARTS)
    p.deploy()
    p.source("ALTER TYPE mood ADD VALUE 'glad' BEFORE 'sad'", "UPDATE t SET w.mood = 'glad' WHERE id = 1")
    p.catch_up()
    assert ["has other attributes" in v.error for v in p.deployed.views] == [True]
    p.deploy()
    p.assert_equal()


def test_arrays_of_two_dimensions_are_kept_as_they_are_printed(database: str, tmp_path: Path) -> None:
    views = {
        "v": "SELECT id, a, b FROM t",
        "g": "SELECT a, count(*) AS n, count(b) AS m FROM t GROUP BY a",
        "e": "SELECT id, a::text AS shown, a IS NULL AS none, coalesce(a, a) AS c FROM t",
    }
    p = Project.create(tmp_path, database, views)
    p.source(
        "CREATE TABLE t (id int PRIMARY KEY, a int[][], b float8[3][2])",
        "INSERT INTO t VALUES (1, '{{1,2},{3,4}}', '{{0.1,-0},{NaN,Infinity}}'), (2, '{}', NULL), "
        "(3, '{5,NULL}', '{}'), "
        "(4, '[0:1][2:3]={{1,2},{3,4}}', '{{{1},{2}}}'), (5, '{{1,2},{3,4}}', '{1e300}')",
    )
    p.deploy()
    p.assert_equal()
    p.source("UPDATE t SET a = a || ARRAY[5, 6] WHERE id IN (1, 5)", "DELETE FROM t WHERE id = 4")
    p.assert_equal()
    p.write({"x": "SELECT b, count(*) AS n FROM t GROUP BY b"})
    with pytest.raises(TidemarkError, match="is not supported"):
        p.deploy()


def test_ranges_that_a_database_has_made_are_grouped_where_they_are_written_in_one_way(
    database: str, tmp_path: Path
) -> None:
    p = Project.create(tmp_path, database, {"v": "SELECT r, count(*) AS n FROM t GROUP BY r"})
    p.source(
        "CREATE TYPE prices AS RANGE (subtype = numeric)",
        "CREATE TABLE t (id int PRIMARY KEY, r prices)",
        "INSERT INTO t VALUES (1, '[1.0,2)'), (2, '[1.00,2)')",
    )
    with pytest.raises(TidemarkError, match="GROUP BY, PARTITION BY or DISTINCT of prices is not supported"):
        p.deploy()
