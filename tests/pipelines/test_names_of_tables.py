"""Columns that are named with the schema of their table, units of time by all their names, lists between two bounds."""

from __future__ import annotations

from pathlib import Path

import pytest

from compiler.errors import TidemarkError
from tests.project import Project

SCHEMAS = (
    "CREATE SCHEMA s1",
    "CREATE SCHEMA s2",
    "CREATE TABLE s1.users (id int PRIMARY KEY, name text)",
    "CREATE TABLE s2.users (id int PRIMARY KEY, name text)",
    "INSERT INTO s1.users VALUES (1, 'a'), (2, 'b'), (3, 'c')",
    "INSERT INTO s2.users VALUES (2, 'b2'), (9, 'z')",
)
MET = "SELECT 1 FROM s2.users WHERE s2.users.id = s1.users.id"
QUALIFIED = {
    "met": f"SELECT s1.users.id FROM s1.users WHERE EXISTS ({MET})",
    "not_met": f"SELECT s1.users.id FROM s1.users WHERE NOT EXISTS ({MET})",
    "scalar": "SELECT s1.users.id, (SELECT max(s2.users.name) FROM s2.users WHERE s2.users.id = s1.users.id) AS m "
    "FROM s1.users",
    "beside": "SELECT s1.users.id, x.name FROM s1.users, LATERAL (SELECT s2.users.name FROM s2.users "
    "WHERE s2.users.id = s1.users.id) x",
    "under_an_alias": "SELECT s1.users.id FROM s1.users WHERE EXISTS (SELECT 1 FROM s2.users AS users "
    "WHERE users.id = s1.users.id)",
    "with_query": "WITH users AS (SELECT 2 AS id) SELECT s1.users.id FROM s1.users WHERE EXISTS (SELECT 1 FROM users "
    "WHERE users.id = s1.users.id)",
    "both": "SELECT s1.users.id, s2.users.name FROM s1.users, s2.users WHERE s1.users.id = s2.users.id",
    "all_columns": "SELECT s2.users.* FROM s1.users JOIN s2.users ON s1.users.id = s2.users.id",
    "in_search_path": "SELECT public.plain.id FROM plain WHERE plain.id > 1",
}
UNITS = (
    "c",
    "cent",
    "centuries",
    "mil",
    "millennia",
    "dec",
    "decades",
    "qtr",
    "hr",
    "mins",
    "secs",
    "ms",
    "usec",
    "yrs",
)


def test_a_column_is_that_of_the_table_it_names(database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, QUALIFIED)
    p.source(*SCHEMAS, "CREATE TABLE plain (id int PRIMARY KEY)", "INSERT INTO plain VALUES (1), (2)")
    p.deploy()
    p.assert_equal()
    p.source(
        "INSERT INTO s2.users VALUES (3, 'new')", "DELETE FROM s1.users WHERE id = 2", "INSERT INTO plain VALUES (7)"
    )
    p.assert_equal()


@pytest.mark.parametrize(
    "query",
    ["SELECT s2.users.id FROM s1.users", "SELECT s1.users.id FROM s1.users u", "SELECT s1.users.* FROM s1.users x"],
)
def test_another_table_is_not_taken_for_it(query: str, database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, {"v": query})
    p.source(*SCHEMAS)
    with pytest.raises(TidemarkError, match="FROM-clause entry"):
        p.deploy()


def test_units_have_many_names(database: str, tmp_path: Path) -> None:
    views = {f"cut_{u}": f"SELECT id, date_trunc('{u}', ts) AS x FROM t" for u in UNITS}
    views |= {f"zone_{u}": f"SELECT id, date_trunc('{u}', tz, 'Europe/Berlin') AS x FROM t" for u in ("hr", "mins")}
    views |= {f"part_{u}": f"SELECT id, date_part('{u}', ts) AS x FROM t" for u in UNITS}
    p = Project.create(tmp_path, database, views)
    p.source(
        "CREATE TABLE t (id int PRIMARY KEY, ts timestamp, tz timestamptz)",
        "INSERT INTO t VALUES (1, '2024-08-17 13:45:56.789', '2024-10-27 00:30+00'), (2, '1999-12-31 23:59:59', "
        "'1999-12-31'), (3, '0044-03-15 BC', '2001-01-01')",
    )
    p.deploy()
    p.assert_equal()


@pytest.mark.parametrize("query", ["date_trunc('foo', ts)", "date_trunc('dow', ts)", "date_trunc('weeks', ts - ts)"])
def test_what_is_no_unit_is_refused(query: str, database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, {"v": f"SELECT id, {query} AS x FROM t"})
    p.source("CREATE TABLE t (id int PRIMARY KEY, ts timestamp)")
    with pytest.raises(TidemarkError, match="not recognized"):
        p.deploy()


def test_lists_between_two_bounds(database: str, tmp_path: Path) -> None:
    views = {
        "within": "SELECT id FROM e WHERE b BETWEEN ARRAY[1] AND ARRAY[2, 5]",
        "apart": "SELECT id FROM e WHERE b > ARRAY[1] AND b < ARRAY[3] AND ARRAY['a'] < c AND c <= ARRAY['x']",
    }
    p = Project.create(tmp_path, database, views)
    p.source("CREATE TABLE e (id int PRIMARY KEY, b int[], c text[])", "INSERT INTO e VALUES (1, '{1,2}', '{b}')")
    p.deploy()
    p.assert_equal()
    p.source("INSERT INTO e VALUES (2, '{2}', '{x}'), (3, NULL, NULL), (4, '{9}', '{z}')", "DELETE FROM e WHERE id = 1")
    p.assert_equal()


def test_a_record_of_no_columns_is_refused(database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, {"v": "SELECT id FROM t WHERE (id, a) IS DISTINCT FROM NULL::record"})
    p.source("CREATE TABLE t (id int PRIMARY KEY, a int)")
    with pytest.raises(TidemarkError) as refused:
        p.deploy()
    assert "bug" not in str(refused.value)


def test_ranges_are_shown_in_their_order(database: str, tmp_path: Path) -> None:
    p = Project.create(
        tmp_path, database, {"v": "SELECT r FROM t ORDER BY r", "w": "SELECT id, r FROM t ORDER BY id, r"}
    )
    p.source("CREATE TABLE t (id int PRIMARY KEY, r int4range)", "INSERT INTO t VALUES (1, '[1,5)'), (2, 'empty')")
    p.deploy()
    p.assert_equal()
