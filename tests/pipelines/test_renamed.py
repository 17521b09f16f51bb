"""Columns that are renamed after they were deployed: the views go on under the names that they had."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from pipelines.deploying.heal import heal
from pipelines.verifying.verify import verify
from tests.pipelines.renames import AFTER, BEFORE, OFTEN, RENAMES, SCHEMA, VIEWS, project, small, stopped
from tests.pipelines.running import running, until
from tests.project import Project


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
        (("ALTER TABLE t RENAME v TO w", OFTEN.format(904), "ALTER TABLE t RENAME w TO x", OFTEN.format(905)), 0),
        (("ALTER TABLE t RENAME v TO w", "ALTER TABLE t RENAME w TO x", OFTEN.format(906)), 0),
        (("ALTER TABLE t RENAME v TO w", "ALTER TABLE t DROP w"), 1),
        (("ALTER TABLE t RENAME spare TO w", "ALTER TABLE t RENAME v TO spare", "UPDATE t SET spare = 1"), 1),
        # another has the name for a while, which the catalog never shows
        (
            (
                "BEGIN; ALTER TABLE t RENAME v TO x; ALTER TABLE t ADD w int; INSERT INTO t VALUES (907, 1, 1, 'y', "
                "777); ALTER TABLE t DROP w; ALTER TABLE t RENAME x TO w; COMMIT",
            ),
            0,
        ),
        (
            (
                "BEGIN; ALTER TABLE t RENAME v TO x; ALTER TABLE t DROP spare; ALTER TABLE t ADD spare int; "
                "ALTER TABLE t RENAME spare TO w; INSERT INTO t VALUES (907, 1, 1, 777); "
                "ALTER TABLE t RENAME w TO spare; ALTER TABLE t RENAME x TO w; COMMIT",
            ),
            0,
        ),
    ],
)
@pytest.mark.parametrize("between", [False, True])
def test_what_is_not_clear_stops(
    statements: tuple[str, ...], stops: int, between: bool, database: str, tmp_path: Path
) -> None:
    p = small(tmp_path, database, {"v": "SELECT v, count(*) AS n FROM t GROUP BY v", "g": "SELECT g FROM t"})
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
    p = small(tmp_path, database, {"v": "SELECT v, count(*) AS n FROM t GROUP BY v"})
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
    p = small(tmp_path, database, {"sums": "SELECT g, sum(v) AS s FROM t GROUP BY g"})
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
    p = small(tmp_path, database, {"v": "SELECT v, count(*) AS n FROM t GROUP BY v", "g": "SELECT g FROM t"})
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
    p = small(tmp_path, database, {"v": "SELECT v FROM t", "g": "SELECT g FROM t", "u": "SELECT id FROM u"})
    p.source("ALTER TABLE t RENAME v TO w", "ALTER TABLE t RENAME g TO h")
    p.catch_up()
    p.source("ALTER TABLE t ADD v int", "ALTER TABLE u ALTER id TYPE bigint", OFTEN.format(950))
    p.catch_up()
    assert "u" in stopped(p)
    heal(p.config, lambda *_: None, lambda *_: None)
    assert "u" not in stopped(p)
    p.source("UPDATE t SET h = 3 WHERE id = 4", "INSERT INTO u VALUES (77)")
    told = {r.view: r for r in p.verify()}
    assert told["g"].equal and told["u"].equal


@pytest.mark.spark
def test_a_table_that_another_engine_gets(database: str, tmp_path: Path) -> None:
    views = {"b": "SELECT g FROM t", "s": "SELECT g, sum(v) AS s FROM t GROUP BY g"}
    p = small(tmp_path, database, views, memory="2GB")
    p.source("ALTER TABLE t RENAME v TO w", OFTEN.format(960))
    p.catch_up()
    (p.home / "views" / "s.sql").unlink()
    text = "CREATE MATERIALIZED VIEW c WITH (engine = 'spark') AS SELECT g, count(*) AS n FROM t GROUP BY g"
    (p.home / "views" / "c.sql").write_text(text)
    p.deploy()
    p.source(OFTEN.format(961), "UPDATE t SET g = 5 WHERE id = 2", "DELETE FROM t WHERE id = 3")
    p.assert_equal()


def test_debezium_does_not_take_it_over(database: str, tmp_path: Path) -> None:
    p = small(tmp_path, database, {"b": "SELECT g FROM t"})
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


def test_what_healed_is_read_by_its_place(database: str, tmp_path: Path) -> None:
    """A column that nobody reads has the name for a while, after the table was copied again."""
    p = Project.create(tmp_path, database, {"v": "SELECT v, count(*) AS n FROM t GROUP BY v", "g": "SELECT g FROM t"})
    p.source(
        "CREATE TABLE t (id int PRIMARY KEY, spare int, v int, g int)",
        "INSERT INTO t SELECT i, i, i % 3, i FROM generate_series(1, 10) i",
    )
    p.deploy()
    p.source("ALTER TABLE t RENAME v TO w")
    p.catch_up()
    p.source("ALTER TABLE t ALTER g TYPE bigint")
    p.catch_up()
    assert stopped(p) == {"g"}
    heal(p.config, lambda *_: None, lambda *_: None)
    assert stopped(p) == set()
    p.source(
        "BEGIN; ALTER TABLE t RENAME w TO x; ALTER TABLE t RENAME spare TO w; INSERT INTO t VALUES (99, 777, 1, 1); "
        "ALTER TABLE t RENAME w TO spare; ALTER TABLE t RENAME x TO w; COMMIT"
    )
    p.catch_up()
    assert stopped(p) == set()
    p.assert_equal()
