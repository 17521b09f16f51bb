"""Tables that Postgres does not send whole: generated columns, inheritance, partitions."""

from __future__ import annotations

from pathlib import Path

from tests.project import Project


def test_what_cannot_be_computed_is_refused_by_name_and_by_star(database: str, tmp_path: Path) -> None:
    p = Project.create(
        tmp_path,
        database,
        {"star": "SELECT * FROM g", "named": "SELECT id, b FROM g", "plain": "SELECT id, a || a AS b FROM g"},
    )
    p.source(
        "CREATE TABLE g (id int PRIMARY KEY, a text, b tsvector GENERATED ALWAYS AS (to_tsvector('simple', a)) STORED)",
        "INSERT INTO g VALUES (1, 'x')",
    )
    told = {v.name: v.error for v in p.deploy(keep_going=True).views}
    assert told["plain"] is None
    for name in ("star", "named"):
        error = told[name]
        assert error is not None and error.code == "generated_column"
    p.source("INSERT INTO g VALUES (2, 'y')")
    p.assert_equal()


def test_a_table_that_others_inherit_from_is_refused(database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, {"v": "SELECT id FROM par", "w": "SELECT id FROM ONLY par"})
    p.source("CREATE TABLE par (id int PRIMARY KEY)", "CREATE TABLE kid (w text) INHERITS (par)")
    codes = {v.name: v.error.code if v.error else None for v in p.deploy(keep_going=True).views}
    assert codes == {"v": "inheritance", "w": "unsupported_syntax"}


def test_an_unlogged_table_is_refused_and_the_others_are_not(database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, {"v": "SELECT id FROM ul", "w": "SELECT id FROM t"})
    p.source("CREATE UNLOGGED TABLE ul (id int PRIMARY KEY)", "CREATE TABLE t (id int PRIMARY KEY)")
    assert [v.error.code if v.error else None for v in p.deploy(keep_going=True).views] == ["unlogged", None]
    p.assert_equal()


def test_an_enum_that_was_altered_stops_what_is_ordered_by_it(database: str, tmp_path: Path) -> None:
    views = {"v": "SELECT id % 2 AS k, max(m) AS m FROM t GROUP BY 1", "w": "SELECT id FROM t"}
    p = Project.create(tmp_path, database, views)
    p.source(
        "CREATE TYPE mood AS ENUM ('sad', 'ok')",
        "CREATE TABLE t (id int PRIMARY KEY, m mood)",
        "INSERT INTO t VALUES (1, 'ok')",
    )
    p.deploy()
    p.source("ALTER TYPE mood ADD VALUE 'meh' BEFORE 'ok'")
    done = p.command("run", "--once")
    assert 'view "v" is set aside: an enum has more labels, and it hangs on their order' in done.stderr
    failed = p.command("query", "SELECT * FROM v")
    assert failed.returncode != 0 and "an enum has more labels" in failed.stderr
    p.source("INSERT INTO t VALUES (2, 'meh')")
    assert {r.view for r in p.verify() if not r.equal} == {"v"}
    p.deploy()
    p.assert_equal()


def test_a_partitioned_table_is_followed(database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, {"v": "SELECT k, count(*) AS n FROM part GROUP BY k"})
    p.source(
        "CREATE TABLE part (id int, k int, PRIMARY KEY (id, k)) PARTITION BY RANGE (k)",
        "CREATE TABLE part_1 PARTITION OF part FOR VALUES FROM (0) TO (5)",
        "CREATE TABLE part_2 PARTITION OF part FOR VALUES FROM (5) TO (9)",
        "INSERT INTO part VALUES (1, 1), (2, 6)",
    )
    assert not p.deploy().warnings
    p.source("UPDATE part SET k = 7 WHERE id = 1", "INSERT INTO part VALUES (3, 2)", "DELETE FROM part WHERE id = 2")
    p.assert_equal()


def test_values_carried_as_text_are_not_taken_for_text(database: str, tmp_path: Path) -> None:
    views = {
        "shown": "SELECT id, m, r, ip, r::text AS t, m IS NULL AS n FROM o",
        "counted": "SELECT r, count(m) AS n, count(*) FILTER (WHERE ip IS NULL) AS k FROM o GROUP BY r",
        "length": "SELECT id, i + i AS twice FROM o",
        "greatest_of_money": "SELECT max(m) AS m FROM o",
        "highest_range": "SELECT max(r) AS r FROM o",
        "lower_of_a_range": "SELECT lower(r) AS l FROM o",
        "compared": "SELECT id FROM o WHERE ip = '10.0.0.1/32'",
        "ranked": "SELECT id, rank() OVER (ORDER BY m) AS r FROM o",
        "masked": "SELECT ip::text AS t FROM o",
    }
    p = Project.create(tmp_path, database, views)
    p.source(
        "CREATE TABLE o (id int PRIMARY KEY, m money, r int4range, ip inet, i interval day to second)",
        "INSERT INTO o VALUES (1, 5, '[1,5)', '10.0.0.1', '1 day 02:00'), (2, -2, 'empty', NULL, NULL)",
    )
    refused = {v.name for v in p.deploy(keep_going=True).views if v.error is not None}
    assert refused == {"greatest_of_money", "highest_range", "compared", "ranked", "masked"}
    p.source("INSERT INTO o VALUES (3, 7, '[1,5)', '::1', '3 hours')", "DELETE FROM o WHERE id = 1")
    p.assert_equal()


def test_enums_of_one_name_in_two_schemas_are_two(database: str, tmp_path: Path) -> None:
    p = Project.create(
        tmp_path,
        database,
        {
            "a": "SELECT id, m > 'sad' AS g, rank() OVER (ORDER BY m) AS r FROM a",
            "b": "SELECT id, m > 'sad' AS g, rank() OVER (ORDER BY m) AS r FROM s2.a",
        },
    )
    p.source(
        "CREATE SCHEMA s2",
        "CREATE TYPE mood AS ENUM ('sad', 'ok')",
        "CREATE TYPE s2.mood AS ENUM ('ok', 'sad')",
        "CREATE TABLE a (id int PRIMARY KEY, m mood)",
        "CREATE TABLE s2.a (id int PRIMARY KEY, m s2.mood)",
        "INSERT INTO a VALUES (1, 'sad'), (2, 'ok')",
        "INSERT INTO s2.a VALUES (1, 'sad'), (2, 'ok')",
    )
    p.deploy()
    p.assert_equal()


def test_columns_named_as_a_mirrors_own_are_refused_and_those_named_as_a_batchs_are_not(
    database: str, tmp_path: Path
) -> None:
    p = Project.create(
        tmp_path,
        database,
        {
            "own": "SELECT rowid FROM a",
            "twins": "SELECT id FROM b",
            "batchs": "SELECT id FROM d",
            "hashes": "SELECT id FROM e",
            "was": "SELECT id FROM f",
            "keys": "SELECT key_0, from_0, u1, count(*) AS n FROM c GROUP BY 1, 2, 3 -- at the end",
            "over": "SELECT u1, sum(n) AS n FROM keys GROUP BY u1 -- and here",
        },
    )
    p.source(
        "CREATE TABLE d (id int PRIMARY KEY, _key_0 int)",
        "CREATE TABLE e (id int PRIMARY KEY, _h0 int)",
        "CREATE TABLE f (id int PRIMARY KEY, _key_was bool)",
        "CREATE TABLE a (id int PRIMARY KEY, rowid int)",
        'CREATE TABLE b (id int PRIMARY KEY, "Name" text, name text)',
        "CREATE TABLE c (key_0 int PRIMARY KEY, u1 text, from_0 int, big text)",
        "INSERT INTO c SELECT i, 'x', i, repeat(md5(i::text), 200) FROM generate_series(1, 9) i",
    )
    codes = {v.name: v.error.code if v.error else None for v in p.deploy(keep_going=True).views}
    assert codes == {
        **dict.fromkeys(("own", "twins", "batchs", "hashes", "was"), "column_name"),
        "keys": None,
        "over": None,
    }
    p.source(
        "UPDATE c SET from_0 = 5 WHERE key_0 < 4",
        "UPDATE c SET key_0 = 77, u1 = 'y' WHERE key_0 = 2",
        "DELETE FROM c WHERE key_0 = 9",
    )
    p.assert_equal()
