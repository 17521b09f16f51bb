"""Times without end, which tables of what was valid when are full of, and the last moment of a day."""

from __future__ import annotations

from pathlib import Path

import duckdb

from pipelines.kinds import ONE_MACHINE
from tests.project import Project

FIELDS = ("year", "isoyear", "decade", "century", "epoch", "month")
VALUES = (
    *(f"date_part('{f}', {c})" for f in FIELDS for c in ("d", "ts", "tz")),
    "d = 'infinity'",
    "coalesce(d, 'infinity')",
    "d < 'infinity'",
    "nullif(d, '-infinity')",
    "tz = 'infinity'::timestamptz",
    "ts BETWEEN '-infinity' AND '2025-01-01'",
    "extract(month FROM d)",
    "daterange(d, 'infinity') @> date '2025-01-01'",
    "CASE WHEN ts = 'infinity' THEN 'open' ELSE ts::text END",
    "ts::time",
    "tz::time(0)",
)


def test_they_are_compared_and_asked(database: str, tmp_path: Path) -> None:
    views = {f"v{i}": f"SELECT id, {e} AS x FROM t" for i, e in enumerate(VALUES)}
    views["where"] = "SELECT id FROM t WHERE d = 'infinity'"
    views["between"] = "SELECT count(*) AS n FROM t WHERE ts > '-infinity' AND ts < 'infinity'"
    p = Project.create(tmp_path, database, views)
    p.source(
        "CREATE TABLE t (id int PRIMARY KEY, d date, ts timestamp, tz timestamptz)",
        "INSERT INTO t VALUES (1, 'infinity', 'infinity', 'infinity'), (2, '-infinity', '-infinity', '-infinity'), "
        "(3, '2024-01-01', '2024-01-01 23:59:59.7', '2024-01-01'), (4, NULL, NULL, NULL)",
    )
    p.deploy()
    p.assert_equal()
    p.source(
        "UPDATE t SET d = 'infinity', ts = '-infinity', tz = 'infinity' WHERE id = 3", "DELETE FROM t WHERE id = 1"
    )
    p.assert_equal()


def test_a_numeric_has_no_room_for_one(database: str, tmp_path: Path) -> None:
    p = Project.create(
        tmp_path, database, {"v": "SELECT id, extract(year FROM d) AS y FROM t", "w": "SELECT id FROM t"}
    )
    p.source("CREATE TABLE t (id int PRIMARY KEY, d date)", "INSERT INTO t VALUES (1, '2020-01-01')")
    p.deploy()
    p.assert_equal()
    p.source("INSERT INTO t VALUES (2, 'infinity')")
    p.catch_up()
    (aside,) = (v for v in p.deployed.views if v.error)
    assert aside.name == "v" and "infinite" in aside.error
    p.source("DELETE FROM t WHERE id = 2")
    p.deploy()
    p.assert_equal()


def test_a_day_ends_at_24(database: str, tmp_path: Path) -> None:
    views = {
        "rounded": "SELECT id, tm::time(0) AS x FROM t",
        "of_a_timestamp": "SELECT id, ts::time(0) AS x FROM t",
        "midnight": "SELECT count(*) FILTER (WHERE tm::time(0) = '00:00') AS n FROM t",
    }
    p = Project.create(tmp_path, database, views)
    p.source(
        "CREATE TABLE t (id int PRIMARY KEY, tm time, ts timestamp)",
        "INSERT INTO t VALUES (1, '24:00', '2024-01-01 23:59:59.7'), (2, '23:59:59.7', NULL), (3, '00:00', NULL)",
    )
    p.deploy()
    p.assert_equal()
    with duckdb.connect(str(p.config.warehouse_path / ONE_MACHINE.data)) as con:  # verify sees it
        ((state, column),) = con.execute(
            "SELECT table_name, column_name FROM duckdb_columns() WHERE schema_name = 'state' AND data_type = 'TIME' "
            "AND table_name LIKE '%rounded%'"
        ).fetchall()
        con.execute(f"UPDATE state.{state} SET {column} = '00:00:00' WHERE {column} = '24:00:00'")
    assert not next(r for r in p.verify() if r.view == "rounded").equal


def test_what_comes_after_an_interval_is_its_name(database: str, tmp_path: Path) -> None:
    said = (
        "ts + interval '2' h",
        "interval '5' m",
        "interval '3' hours",
        "ts + interval '02:00' due",
        "interval '1.5' hour AS x",
        "interval '-1.5' day AS x",
        "interval '0.7' month AS x",
        "interval '1.5' second AS x",
        "~ i + 1 AS x",
        "~ - i * 2 AS x",
        "1 + ~ i * 2 AS x",
        "~ i & 3 AS x",
        "|/ 4 + 5 AS x",
        "||/ 8 + 19 AS x",
        "sqrt(4) + 5 AS x",
    )
    p = Project.create(tmp_path, database, {f"v{i}": f"SELECT id, {e} FROM t" for i, e in enumerate(said)})
    p.source("CREATE TABLE t (id int PRIMARY KEY, i int, ts timestamp)", "INSERT INTO t VALUES (1, 6, '2024-01-01')")
    p.deploy()
    p.assert_equal()


def test_ranges_have_an_order(database: str, tmp_path: Path) -> None:
    views = {
        "first": "SELECT id, r FROM t ORDER BY r, id LIMIT 4",
        "last": "SELECT id FROM t ORDER BY t.n DESC, id LIMIT 3",
        "distinct_ones": "SELECT DISTINCT r FROM t ORDER BY r LIMIT 3",
        "first_of_each": "SELECT DISTINCT ON (r) r, id FROM t ORDER BY r, id DESC",
        "both": "SELECT r FROM t UNION SELECT r FROM t ORDER BY r DESC NULLS LAST LIMIT 5",
        "numbered": "SELECT id, row_number() OVER (ORDER BY r NULLS FIRST, id) AS n FROM t",
        "ranked": "SELECT id, rank() OVER (ORDER BY n DESC) AS k FROM t",
        "listed": "SELECT array_agg(id ORDER BY n, id) AS a FROM t",
        "compared": "SELECT a.id, b.id AS bid, a.r < b.r AS lt, a.n <= b.n AS le FROM t a, t b",
        "beside": "SELECT id, r < '[1,4)' AS x, r >= 'empty' AS y, nullif(r, 'empty') AS z FROM t",
    }
    p = Project.create(tmp_path, database, views)
    p.source(
        "CREATE TABLE t (id int PRIMARY KEY, r int4range, n numrange)",
        "INSERT INTO t VALUES (1, '[1,5)', '(1,2.5]'), (2, 'empty', '[1.0,2)'), (3, NULL, NULL), (4, '(,3)', '(,)'), "
        "(5, '[1,)', '[1,2)'), (6, '[1,3)', '(1,2)'), (7, '[2,3)', '[1,2]'), (8, '(,)', 'empty')",
    )
    p.deploy()
    p.assert_equal()
    p.source("UPDATE t SET r = '[0,9)' WHERE id = 2", "DELETE FROM t WHERE id = 4")
    p.source("INSERT INTO t VALUES (9, 'empty', '[1.00,2.0)')")
    p.assert_equal()
