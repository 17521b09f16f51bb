"""Tables and columns that are renamed after they were deployed: the views go on under the names that they had."""

from __future__ import annotations

import threading
from pathlib import Path

import psycopg
import pytest

from compiler.errors import TidemarkError
from pipelines.deploying.arriving import arriving
from pipelines.deploying.deploy import compiled
from pipelines.deploying.heal import heal
from pipelines.deploying.source_objects import publish_deployed
from pipelines.verifying.verify import verify
from tests.pipelines.running import running, until
from tests.project import Project

VIEWS = {
    "sums": "SELECT g, count(*) AS n, sum(v) AS s FROM t GROUP BY g",
    "every": "SELECT * FROM t",
    "qualified": "SELECT public.t.id, t.v FROM public.t WHERE EXISTS (SELECT FROM public.t x WHERE x.v > t.v)",
    "joined": 'SELECT a.v, u.w FROM t AS a JOIN "Other".t AS u ON u.id = a.id',
    "above": "SELECT s, count(*) AS n FROM sums GROUP BY s",
    "shadowed": "WITH t AS (SELECT id FROM u) SELECT t.id, v FROM t JOIN public.t x USING (id)",
    "last": "SELECT id, v FROM (SELECT * FROM t ORDER BY v DESC, id LIMIT 3) t",
    "keyed": "SELECT id, v, count(*) AS n FROM t GROUP BY id",
    "star": "SELECT public.t.* FROM public.t",
    "hidden": "SELECT v FROM t WHERE id IN (WITH t AS (SELECT 2 AS id) SELECT id FROM t)",
    "rest": "SELECT id FROM u",
}
SCHEMA = (
    "CREATE TABLE t (id int PRIMARY KEY, g int, v int, spare text)",
    'CREATE SCHEMA "Other"',
    'CREATE TABLE "Other".t (id int PRIMARY KEY, w int)',
    "CREATE TABLE u (id int PRIMARY KEY)",
    "INSERT INTO t SELECT i, i % 5, i, 'x' FROM generate_series(1, 60) i",
    'INSERT INTO "Other".t SELECT i, -i FROM generate_series(1, 60) i',
    "INSERT INTO u SELECT i FROM generate_series(1, 30) i",
)
RENAMES = (
    "ALTER TABLE t RENAME v TO value",
    "ALTER TABLE t RENAME id TO number",
    'ALTER TABLE t RENAME g TO "of group"',
    'ALTER TABLE "Other".t RENAME w TO v',
)
BEFORE = ("UPDATE t SET v = v + 1 WHERE g = 2", "DELETE FROM t WHERE id = 7", "INSERT INTO t VALUES (100, 1, 5)")
AFTER = (
    'UPDATE t SET value = value + 3 WHERE "of group" = 1',
    "DELETE FROM t WHERE number % 9 = 0",
    "UPDATE t SET number = number + 500 WHERE number < 5",
    "INSERT INTO t SELECT i, i % 4, i FROM generate_series(200, 230) i",
    'UPDATE "Other".t SET v = 3 WHERE id = 20',
)
OFTEN = "INSERT INTO t VALUES ({0}, {0}, {0}, 'y')"


def project(home: Path, dsn: str, engine: str = "duckdb", memory: str = "0") -> Project:
    p = Project.create(home, dsn, VIEWS, engine, local_memory=memory)
    p.source(*SCHEMA)
    p.deploy()
    return p


def stopped(p: Project) -> set[str]:
    return {v.name for v in p.deployed.views if v.error}


@pytest.mark.parametrize("engine, memory", [("duckdb", "0"), ("spark", "2GB")])
def test_views_go_on(engine: str, memory: str, database: str, tmp_path: Path) -> None:
    p = project(tmp_path, database, engine, memory)
    p.source(*BEFORE, *RENAMES, *AFTER)
    p.catch_up()
    assert stopped(p) == set()
    p.assert_equal()
    p.source("TRUNCATE u", "UPDATE t SET value = -value", "VACUUM FULL t")
    p.assert_equal()
    assert stopped(p) == set()


@pytest.mark.spark
def test_executors_go_on(database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, {n: VIEWS[n] for n in ("sums", "joined")}, "spark")
    p.source(*SCHEMA)
    p.deploy()
    p.source(*BEFORE, *RENAMES, *AFTER)
    p.assert_equal()
    assert stopped(p) == set()


def test_a_running_pipeline_goes_on(database: str, tmp_path: Path) -> None:
    p = project(tmp_path, database)
    with running(p) as process:
        for i, rename in enumerate(RENAMES[:2]):
            p.source(OFTEN.format(1000 + i), rename, OFTEN.format(2000 + i))
        p.assert_equal()
        p.source(*RENAMES[2:], OFTEN.format(3000), "ALTER TABLE t RENAME value TO worth")
        p.source("ALTER TABLE t RENAME worth TO v", "UPDATE t SET v = 1 WHERE number = 3000")
        p.assert_equal()
        assert process.poll() is None and stopped(p) == set()
    p.source("ALTER TABLE t RENAME v TO spare2", "ALTER TABLE t RENAME spare2 TO v")
    p.assert_equal()


def test_the_next_deploy_reads_the_new_name(database: str, tmp_path: Path) -> None:
    p = project(tmp_path, database)
    p.source(*RENAMES, *AFTER)
    p.catch_up()
    failed = p.command("deploy")
    assert failed.returncode == 1 and '"v"' in failed.stderr, failed.stderr
    p.assert_equal()
    for name in VIEWS:
        (p.home / "views" / f"{name}.sql").unlink()
    p.write({"sums": 'SELECT "of group" AS g, count(*) AS n, sum(value) AS s FROM t GROUP BY "of group"'})
    p.deploy()
    p.source("UPDATE t SET value = 7")
    p.assert_equal()


def test_what_was_set_aside_heals_beside_it(database: str, tmp_path: Path) -> None:
    p = project(tmp_path, database)
    p.source(*RENAMES, "ALTER TABLE u ALTER id TYPE bigint", "INSERT INTO u VALUES (1000)", *AFTER)
    p.catch_up()
    assert stopped(p) == {"rest", "shadowed"}
    with running(p):
        until(lambda: not stopped(p), "it heals", 120)
        p.source("INSERT INTO u VALUES (1001)", OFTEN.format(4000))
        p.assert_equal()


def test_a_repair_reads_the_new_name(database: str, tmp_path: Path) -> None:
    import duckdb

    p = project(tmp_path, database)
    p.source(*RENAMES, *AFTER)
    p.catch_up()
    with duckdb.connect(str(p.config.warehouse_path / "tidemark.duckdb")) as con:
        con.execute("DELETE FROM base.t WHERE id = 10")
    assert not all(v.equal for v in p.verify())
    assert all(v.equal for v in verify(p.config, [], repair=True))


@pytest.mark.parametrize(
    "statements, stops",
    [
        # another column takes the name: which rows are whose is not clear
        (("ALTER TABLE t RENAME v TO w", OFTEN.format(901), "ALTER TABLE t ADD v int DEFAULT 9", OFTEN.format(902)), 1),
        (("ALTER TABLE t RENAME v TO w", "ALTER TABLE t ADD v int DEFAULT 9"), 1),
        (("ALTER TABLE t DROP spare", "ALTER TABLE t RENAME v TO spare", OFTEN.format(903)[:-6] + ")"), 1),
        (("ALTER TABLE t RENAME v TO w", "ALTER TABLE t ALTER w TYPE int USING w * 2"), 1),
        (("ALTER TABLE t RENAME v TO w", "ALTER TABLE t ALTER w TYPE bigint"), 1),
        # the stream has a name in between
        (("ALTER TABLE t RENAME v TO w", OFTEN.format(904), "ALTER TABLE t RENAME w TO x", OFTEN.format(905)), 1),
        (("ALTER TABLE t RENAME v TO w", "ALTER TABLE t RENAME w TO x", OFTEN.format(906)), 0),
        (("ALTER TABLE t RENAME v TO w", "ALTER TABLE t DROP w"), 1),
        (("ALTER TABLE t RENAME spare TO w", "ALTER TABLE t RENAME v TO spare", "UPDATE t SET spare = 1"), 1),
        # another has the name for a while, which the catalog never shows
        (
            (
                "BEGIN; ALTER TABLE t RENAME v TO x; ALTER TABLE t ADD w int; INSERT INTO t VALUES (907, 1, 1, 'y', "
                "777); ALTER TABLE t DROP w; ALTER TABLE t RENAME x TO w; COMMIT",
            ),
            1,
        ),
        (
            (
                "BEGIN; ALTER TABLE t RENAME v TO x; ALTER TABLE t DROP spare; ALTER TABLE t ADD spare int; "
                "ALTER TABLE t RENAME spare TO w; INSERT INTO t VALUES (907, 1, 1, 777); "
                "ALTER TABLE t RENAME w TO spare; ALTER TABLE t RENAME x TO w; COMMIT",
            ),
            1,
        ),
    ],
)
@pytest.mark.parametrize("between", [False, True])
def test_what_is_not_clear_stops(
    statements: tuple[str, ...], stops: int, between: bool, database: str, tmp_path: Path
) -> None:
    p = Project.create(tmp_path, database, {"v": "SELECT v, count(*) AS n FROM t GROUP BY v", "g": "SELECT g FROM t"})
    p.source(*SCHEMA[:1], *SCHEMA[4:5])
    p.deploy()
    if between:  # the pipeline sees each before the next
        for s in statements:
            p.source(s)
            p.catch_up()
    else:
        p.source(*statements)
    told = {r.view: r for r in p.verify()}
    assert told["g"].equal, told["g"].line()
    assert told["v"].equal or stopped(p) == {"v"}, told["v"].line()
    if not between:
        assert stopped(p) == ({"v"} if stops else set())
    p.source("DELETE FROM t WHERE g = 3")
    told = {r.view: r for r in p.verify()}
    assert told["g"].equal and (told["v"].equal or stopped(p) == {"v"}), told["v"].line()


def test_a_column_that_takes_the_name_is_copied(database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, {"v": "SELECT v, count(*) AS n FROM t GROUP BY v"})
    p.source(*SCHEMA[:1], *SCHEMA[4:5])
    p.deploy()
    p.source("ALTER TABLE t RENAME v TO w")
    p.catch_up()
    p.assert_equal()
    p.source("ALTER TABLE t ADD v int DEFAULT 9")
    p.deploy()  # the view reads the new one
    p.assert_equal()
    p.source("UPDATE t SET v = 4 WHERE id < 9")
    p.assert_equal()


def test_a_table_without_a_key_goes_on(database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, {"n": "SELECT a, count(*) AS n FROM k GROUP BY a"})
    p.source(
        "CREATE TABLE k (a int, b int)",
        "ALTER TABLE k REPLICA IDENTITY FULL",
        "INSERT INTO k VALUES (1, 1), (1, 2), (2, 3)",
    )
    p.deploy()
    p.source("ALTER TABLE k RENAME a TO c", "DELETE FROM k WHERE b = 2", "UPDATE k SET c = 5 WHERE b = 3")
    p.assert_equal()
    assert stopped(p) == set()


TABLES = (
    "ALTER TABLE t RENAME TO renamed",
    'ALTER TABLE u SET SCHEMA "Other"',
    'ALTER TABLE "Other".t RENAME TO "of others"',
    'ALTER SCHEMA "Other" RENAME TO third',
    "ALTER TABLE renamed RENAME v TO value",
)
CHANGED = (
    "UPDATE renamed SET value = value + 3 WHERE g = 1",
    "DELETE FROM renamed WHERE id % 9 = 0",
    "INSERT INTO third.u VALUES ({0})",
    'UPDATE third."of others" SET w = 3 WHERE id % 7 = 2',
)


@pytest.mark.parametrize("engine, memory", [("duckdb", "0"), ("spark", "2GB")])
def test_tables_that_are_renamed(engine: str, memory: str, database: str, tmp_path: Path) -> None:
    p = project(tmp_path, database, engine, memory)
    p.source(*BEFORE, *TABLES, *CHANGED[:2], CHANGED[2].format(500), CHANGED[3])
    p.catch_up()
    assert stopped(p) == set()
    p.assert_equal()
    assert p.command("check").returncode == 1  # the views' files have the old names
    p.source("TRUNCATE third.u", "VACUUM FULL renamed", CHANGED[0], "ALTER TABLE renamed RENAME TO t")
    p.assert_equal()
    assert stopped(p) == set()


def test_a_running_pipeline_follows_tables(database: str, tmp_path: Path) -> None:
    p = project(tmp_path, database)
    with running(p) as process:
        for i, rename in enumerate(TABLES):
            p.source(rename)
            if not i:
                p.source("INSERT INTO renamed VALUES (900, 1, 1)")
        p.assert_equal()
        p.source(*CHANGED[:2], CHANGED[2].format(501), CHANGED[3])
        p.assert_equal()
        p.write({"added": "SELECT count(*) AS n FROM renamed"})  # reads what others have under its old name
        for name in VIEWS:
            (p.home / "views" / f"{name}.sql").unlink()
        p.write({"rest": "SELECT id FROM third.u"})
        p.deploy()
        p.source(CHANGED[0], CHANGED[2].format(502))
        p.assert_equal()
        assert process.poll() is None and stopped(p) == set()


def test_a_deploy_that_keeps_going_leaves_what_reads_old_names(database: str, tmp_path: Path) -> None:
    p = project(tmp_path, database)
    p.source(*TABLES)
    p.catch_up()
    p.write({"added": "SELECT g, count(*) AS n FROM renamed GROUP BY g"})
    done = p.command("deploy", "--keep-going")
    assert done.returncode == 1, done.stderr
    p.source(*CHANGED[:2], CHANGED[2].format(503))
    told = {r.view: r for r in p.verify()}
    aside = stopped(p)
    assert all(r.equal or v in aside for v, r in told.items() if not r.mirror), [r.line() for r in told.values()]
    assert "added" not in aside and told["added"].equal


def test_another_table_takes_the_name(database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, {"v": "SELECT v, count(*) AS n FROM t GROUP BY v"})
    p.source(*SCHEMA[:1], *SCHEMA[4:5])
    p.deploy()
    p.source("ALTER TABLE t RENAME TO former")
    p.catch_up()
    p.source("CREATE TABLE t (id int PRIMARY KEY, v int)", "INSERT INTO t VALUES (1, 1)", "UPDATE former SET v = 2")
    p.assert_equal()
    assert stopped(p) == set()
    p.deploy()  # the view reads the new one
    p.source("INSERT INTO t VALUES (2, 1)", "UPDATE former SET v = 3")
    p.assert_equal()
    assert p.command("query", "SELECT n FROM v", "--format", "csv").stdout.split() == ["n", "2"]


ANEW = "ALTER TABLE {} ALTER v TYPE int USING v * 2"


@pytest.mark.parametrize(
    "statements",
    [
        ("ALTER TABLE t RENAME id TO number", ANEW.format("t")),
        ("ALTER TABLE t RENAME TO t2", ANEW.format("t2")),
        (
            "ALTER TABLE t RENAME id TO number",
            'ALTER PUBLICATION "{0}" DROP TABLE t',
            "INSERT INTO t VALUES (999, 1, 1000)",
            'ALTER PUBLICATION "{0}" ADD TABLE t',
        ),
    ],
)
def test_what_else_was_altered_is_seen_at_the_same_look(
    statements: tuple[str, ...], database: str, tmp_path: Path
) -> None:
    p = Project.create(tmp_path, database, {"sums": "SELECT g, sum(v) AS s FROM t GROUP BY g"})
    p.source(*SCHEMA[:1], *SCHEMA[4:5])
    p.deploy()
    p.source(*(s.format(p.deployed.publication) for s in statements))
    done = p.command("query", "--wait", "SELECT sum(s) FROM sums")
    assert done.returncode != 0 and (stopped(p) == {"sums"} or "publication" in done.stderr), done.stdout + done.stderr


def test_a_partition_that_left_a_renamed_table(database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, {"sums": "SELECT g, sum(v) AS s FROM part GROUP BY g"})
    p.source(
        "CREATE TABLE part (id int, g int, v int, PRIMARY KEY (id, g)) PARTITION BY LIST (g)",
        "CREATE TABLE part_1 PARTITION OF part FOR VALUES IN (1)",
        "CREATE TABLE part_2 PARTITION OF part FOR VALUES IN (2)",
        "INSERT INTO part SELECT i, 1 + i % 2, i FROM generate_series(1, 20) i",
    )
    p.deploy()
    p.source("ALTER TABLE part RENAME id TO number", "ALTER TABLE part DETACH PARTITION part_2")
    p.catch_up()
    assert stopped(p) == {"sums"}


def test_it_heals_by_the_columns_that_are_the_same(database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, {"v": "SELECT v, count(*) AS n FROM t GROUP BY v", "g": "SELECT g FROM t"})
    p.source(*SCHEMA[:1], *SCHEMA[4:5])
    p.deploy()
    p.source("ALTER TABLE t RENAME v TO w", "ALTER TABLE t RENAME g TO h")
    p.catch_up()
    p.source("ALTER TABLE t DROP w, ADD w int DEFAULT 777")
    p.catch_up()
    assert stopped(p) == {"v"}
    heal(p.config, lambda *_: None, lambda *_: None)
    assert stopped(p) == {"v"}  # another column has the name that it was called by
    p.source("ALTER TABLE t ADD v int DEFAULT 5")
    heal(p.config, lambda *_: None, lambda *_: None)
    assert stopped(p) == set()
    p.assert_equal()


def test_one_column_does_not_keep_other_tables_from_healing(database: str, tmp_path: Path) -> None:
    p = Project.create(
        tmp_path,
        database,
        {"v": "SELECT v FROM t", "g": "SELECT g FROM t", "u": "SELECT id FROM u", "c": "SELECT 1 AS n"},
    )
    p.source(*SCHEMA[:1], *SCHEMA[3:5])
    p.deploy()
    p.source("ALTER TABLE t RENAME v TO w", "ALTER TABLE t RENAME g TO h")
    p.catch_up()
    p.source("ALTER TABLE t ADD v int", "ALTER TABLE u ALTER id TYPE bigint", OFTEN.format(950))
    p.catch_up()
    assert stopped(p) == {"v", "u"}
    heal(p.config, lambda *_: None, lambda *_: None)
    assert "u" not in stopped(p)
    p.source("UPDATE t SET h = 3 WHERE id = 4", "INSERT INTO u VALUES (77)")
    told = {r.view: r for r in p.verify()}
    assert told["g"].equal and told["u"].equal


@pytest.mark.spark
def test_a_table_that_another_engine_gets(database: str, tmp_path: Path) -> None:
    views = {"b": "SELECT g FROM t", "s": "SELECT g, sum(v) AS s FROM t GROUP BY g"}
    p = Project.create(tmp_path, database, views, local_memory="2GB")
    p.source(*SCHEMA[:1], *SCHEMA[4:5])
    p.deploy()
    p.source("ALTER TABLE t RENAME v TO w", OFTEN.format(960))
    p.catch_up()
    (p.home / "views" / "s.sql").unlink()
    text = "CREATE MATERIALIZED VIEW c WITH (engine = 'spark') AS SELECT g, count(*) AS n FROM t GROUP BY g"
    (p.home / "views" / "c.sql").write_text(text)
    p.deploy()
    p.source(OFTEN.format(961), "UPDATE t SET g = 5 WHERE id = 2", "DELETE FROM t WHERE id = 3")
    p.assert_equal()


def test_debezium_does_not_take_it_over(database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, {"b": "SELECT g FROM t"})
    p.source(*SCHEMA[:1], *SCHEMA[4:5])
    p.deploy()
    p.source("ALTER TABLE t RENAME g TO h")
    p.catch_up()
    file = p.home / "tidemark.toml"
    file.write_text(file.read_text().replace('capture = "stream"', 'capture = "debezium"'))
    done = p.command("run", "--once")
    assert done.returncode != 0 and "was renamed since it was deployed" in done.stderr, done.stderr


def test_a_column_before_it_goes(database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, {"v": "SELECT v, count(*) AS n FROM t GROUP BY v"})
    p.source(
        "CREATE TABLE t (id int PRIMARY KEY, spare int, v int)",
        "INSERT INTO t SELECT i, i, i % 3 FROM generate_series(1, 10) i",
    )
    p.deploy()
    p.source("ALTER TABLE t RENAME v TO w")
    p.catch_up()
    p.source("ALTER TABLE t DROP spare", "INSERT INTO t VALUES (11, 1)")
    p.catch_up()
    assert stopped(p) == set()
    p.assert_equal()


def test_renamed_tables_stay_published_where_others_heal(database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, {"m": "SELECT g, sum(v) AS s FROM t GROUP BY g", "o": "SELECT id FROM u"})
    p.source(*SCHEMA[:1], *SCHEMA[3:5])
    p.deploy()
    p.source("ALTER TABLE t RENAME TO renamed")
    p.catch_up()
    p.source("ALTER TABLE u ALTER id TYPE bigint")
    p.catch_up()
    assert stopped(p) == {"o"}
    heal(p.config, lambda *_: None, lambda *_: None)
    assert stopped(p) == set()
    p.source("INSERT INTO renamed VALUES (500, 1, 1)", "INSERT INTO u VALUES (500)")
    p.assert_equal()
    p.source("ALTER TABLE renamed ALTER v TYPE bigint")  # and where they heal themselves
    p.catch_up()
    assert stopped(p) == {"m"}
    heal(p.config, lambda *_: None, lambda *_: None)
    assert stopped(p) == set() and {t for t, _ in p.deployed.origin.tables} == {"public.t", "public.u"}
    p.assert_equal()
    p.source(
        f'ALTER PUBLICATION "{p.deployed.publication}" DROP TABLE renamed',
        "INSERT INTO renamed VALUES (501, 1, 1)",
        f'ALTER PUBLICATION "{p.deployed.publication}" ADD TABLE renamed',
    )
    with pytest.raises(TidemarkError, match="publication"):
        p.catch_up()


def test_a_swap_beside_a_pipeline(database: str, tmp_path: Path) -> None:
    """The deploy copies the new table while the pipeline follows the old one."""
    p = Project.create(tmp_path, database, {"v": "SELECT v, count(*) AS n FROM t GROUP BY v"})
    p.source(*SCHEMA[:1], *SCHEMA[4:5])
    p.deploy()
    with running(p) as process:
        p.source("ALTER TABLE t RENAME TO former", "INSERT INTO former VALUES (500, 1, 1)")
        p.assert_equal()
        p.source("CREATE TABLE t (id int PRIMARY KEY, v int)", "INSERT INTO t VALUES (1, 1)")
        catalog, views = compiled(p.config)
        with arriving(p.config, catalog, views, lambda *_: None, lambda _: None):
            p.source("INSERT INTO former VALUES (501, 1, 1)")
            threading.Event().wait(2)  # in which the pipeline looks at its publication
            assert process.poll() is None
        p.deploy()
        p.source("INSERT INTO t VALUES (2, 1)")
        p.assert_equal()
        assert process.poll() is None


def test_what_is_taken_back_is_told_by_what_it_is(database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, {"v": "SELECT v FROM t", "u": "SELECT id FROM u"})
    p.source(*SCHEMA[:1], *SCHEMA[3:5])
    p.deploy()
    d = p.deployed
    p.source("ALTER TABLE t RENAME TO former", "CREATE TABLE other (id int PRIMARY KEY)")
    p.source(f'ALTER PUBLICATION "{d.publication}" ADD TABLE other')
    publish_deployed(p.config.source.dsn, d)  # which knows of no other name yet
    with psycopg.connect(p.dsn) as c:
        rows = c.execute("SELECT tablename FROM pg_publication_tables WHERE pubname = %s", (d.publication,)).fetchall()
    assert {t for (t,) in rows} == {"former", "u"}
    p.source("UPDATE former SET v = 3")
    p.assert_equal()
