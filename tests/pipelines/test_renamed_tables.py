"""Tables that are renamed after they were deployed: the views go on under the names that they had."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from pipelines.applying.unaltered import check_deployed
from pipelines.deploying.arriving import arriving
from pipelines.deploying.deploy import compiled
from pipelines.deploying.heal import heal
from pipelines.deploying.order import Order
from pipelines.deploying.source_objects import publish_deployed
from pipelines.refused import qualified
from tests.pipelines.renames import BEFORE, VIEWS, project, small, stopped
from tests.pipelines.running import running
from tests.project import Project

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
    told = p.command("check")
    assert told.returncode == 1  # the views' files have the old names
    assert "renamed in the source: public.t is called public.renamed, public.t.v is called value" in told.stdout
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


FOR_A_WHILE = (  # names that no look at the catalog finds
    "ALTER TABLE t RENAME v TO w",
    "INSERT INTO t (id, g, w) VALUES (901, 1, 7)",
    "ALTER TABLE t RENAME w TO x",
    "UPDATE t SET x = x + 1 WHERE g = 1",
    "ALTER TABLE t RENAME x TO v",
    "ALTER TABLE t RENAME TO s",
    "UPDATE s SET v = v + 1 WHERE g = 2",
    "ALTER TABLE s RENAME TO r",
    "DELETE FROM r WHERE id % 11 = 0",
)


@pytest.mark.parametrize("back", ["ALTER TABLE r RENAME TO t", "ALTER TABLE r RENAME v TO last"])
@pytest.mark.parametrize("engine, memory", [("duckdb", "0"), ("spark", "2GB")])
def test_names_for_a_while(engine: str, memory: str, back: str, database: str, tmp_path: Path) -> None:
    p = project(tmp_path, database, engine, memory)
    p.source(*FOR_A_WHILE, back)
    p.catch_up()
    assert stopped(p) == set()
    p.assert_equal()
    p.source("UPDATE u SET id = id + 1000")
    p.assert_equal()


PASSED_ON = {  # names that go from one column to another, and rows in between
    "swapped": ("v TO x", "a TO v", "x TO a", "", "a TO x", "v TO a", "x TO v"),
    "a later one has it": ("v TO y", "z TO v", "", "v TO z", "y TO v"),
    "an earlier one has it": ("v TO y", "a TO v", "", "v TO a", "y TO v"),
    "one that it had": ("v TO w", "", "w TO ww", "a TO w", "", "w TO a", "ww TO v"),
    "for good": ("v TO w", "", "w TO y", "a TO w", "", "y TO zz"),
}


@pytest.mark.parametrize("looks", [False, True])
@pytest.mark.parametrize("what", PASSED_ON)
def test_names_that_are_passed_on(what: str, looks: bool, database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, {"m": "SELECT v, count(*) AS n FROM o GROUP BY v"})
    p.source("CREATE TABLE o (id int PRIMARY KEY, a int, v int, z int)", "INSERT INTO o VALUES (1, 1, 1, 1)")
    p.deploy()
    for i, rename in enumerate(PASSED_ON[what]):
        p.source(f"ALTER TABLE o RENAME {rename}" if rename else f"INSERT INTO o VALUES ({i + 10}, 777, 3, 888)")
        if looks and not rename:
            p.catch_up()
    if what == "for good":
        p.source("ALTER TABLE o DROP w", "INSERT INTO o VALUES (51, 4, 1)")
    p.catch_up()
    assert stopped(p) <= ({"m"} if looks else set())  # a look that finds a name at another column stops the view
    heal(p.config, lambda *_: None, lambda *_: None)
    if "m" not in stopped(p):
        p.assert_equal()


def test_columns_that_go_before_one_that_is_renamed(database: str, tmp_path: Path) -> None:
    p = small(tmp_path, database, {"m": "SELECT v, count(*) AS n FROM t GROUP BY v", "o": "SELECT id FROM u"})
    p.source(*FOR_A_WHILE[:2], "ALTER TABLE t RENAME w TO v", "ALTER TABLE t DROP g", "INSERT INTO u VALUES (77)")
    p.catch_up()
    assert stopped(p) == set()
    p.assert_equal()
    p.source("INSERT INTO t VALUES (950, 3)", "ALTER TABLE t RENAME v TO y", "INSERT INTO t VALUES (951, 3)")
    p.source("ALTER TABLE t ADD more int", "ALTER TABLE t RENAME y TO last", "INSERT INTO t VALUES (952, 3, 'x', 1)")
    p.source("ALTER TABLE t DROP spare", "INSERT INTO t VALUES (953, 3, 1)")
    p.assert_equal()
    assert stopped(p) == set()


def test_a_column_of_another_type_beside_one_that_was_renamed(database: str, tmp_path: Path) -> None:
    p = small(tmp_path, database, {"m": "SELECT v, count(*) AS n FROM t GROUP BY v", "g": "SELECT g FROM t"})
    p.source("ALTER TABLE t RENAME v TO w", "INSERT INTO t VALUES (910, 1, 5)")
    p.catch_up()
    p.source("ALTER TABLE t ALTER g TYPE bigint", "INSERT INTO t VALUES (911, 1, 5)")
    p.catch_up()
    assert stopped(p) == {"g"}
    heal(p.config, lambda *_: None, lambda *_: None)
    assert stopped(p) == set()
    p.assert_equal()


def test_an_expression_that_is_dropped(database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, {"m": "SELECT v, count(*) AS n FROM o GROUP BY v"})
    p.source(
        "CREATE TABLE o (id int PRIMARY KEY, a int GENERATED ALWAYS AS (1) STORED, v int, z int)",
        "INSERT INTO o (id, v, z) VALUES (1, 1, 1)",
    )
    p.deploy()
    for rename in ("v TO w", "w TO x"):
        p.source(f"ALTER TABLE o RENAME {rename}")
        p.catch_up()
    p.source(
        "ALTER TABLE o ALTER a DROP EXPRESSION", "ALTER TABLE o RENAME a TO w", "INSERT INTO o VALUES (2, 7, 3, 9)"
    )
    p.source("ALTER TABLE o RENAME w TO a", "ALTER TABLE o RENAME x TO w2")
    p.assert_equal()
    assert stopped(p) == set()


def test_a_column_that_takes_the_name_of_one_that_was_dropped(database: str, tmp_path: Path) -> None:
    """The forms before and after have the same names, and other columns."""
    p = Project.create(tmp_path, database, {"m": "SELECT v, count(*) AS n FROM o GROUP BY v"})
    p.source("CREATE TABLE o (id int PRIMARY KEY, v int, z int)", "INSERT INTO o VALUES (1, 1, 1)")
    p.deploy()
    p.source("INSERT INTO o VALUES (2, 5, 6)", "ALTER TABLE o DROP v", "ALTER TABLE o RENAME z TO v")
    p.source("ALTER TABLE o ADD z int", "INSERT INTO o VALUES (3, 5, 6)")
    p.catch_up()
    assert stopped(p) == {"m"}
    p.deploy()
    p.assert_equal()


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


class Renaming(psycopg.Connection[Any]):
    """A connection before each of whose statements somebody renames the tables, and their schema."""

    renames: Iterator[str]
    other: Callable[..., object]

    def execute(self, *args: Any, **more: Any) -> Any:
        self.other(next(self.renames), next(self.renames))
        return super().execute(*args, **more)


def test_tables_are_found_while_they_are_renamed(database: str, tmp_path: Path) -> None:
    p = project(tmp_path, database)
    p.source(*TABLES)
    with Renaming.connect(database, autocommit=True) as conn:
        Renaming.renames = (
            f"ALTER TABLE {a}{i} RENAME TO {b}{i + 1}"
            for i in range(1, 100)
            for a, b in (("renamed", "renamed"), ("third.u", "u"))
        )
        Renaming.other = p.source
        p.source("ALTER TABLE renamed RENAME TO renamed1", "ALTER TABLE third.u RENAME TO u1")
        found = check_deployed(conn, p.deployed)
    tables = {qualified(e.table) for e in found if e.table is not None and e.table_called is not None}
    assert {"public.t", "public.u"} <= tables and all(e.renamed for e in found), [e.detail for e in found]


def test_another_table_takes_the_name(database: str, tmp_path: Path) -> None:
    p = small(tmp_path, database, {"v": "SELECT v, count(*) AS n FROM t GROUP BY v"})
    p.source("ALTER TABLE t RENAME TO former")
    p.catch_up()
    p.source("CREATE TABLE t (id int PRIMARY KEY, v int)", "INSERT INTO t VALUES (1, 1)", "UPDATE former SET v = 2")
    p.assert_equal()
    assert stopped(p) == set()
    p.deploy()  # the view reads the new one
    p.source("INSERT INTO t VALUES (2, 1)", "UPDATE former SET v = 3")
    p.assert_equal()
    assert p.command("query", "SELECT n FROM v", "--format", "csv").stdout.split() == ["n", "2"]


def test_renamed_tables_stay_published_where_others_heal(database: str, tmp_path: Path) -> None:
    p = small(tmp_path, database, {"m": "SELECT g, sum(v) AS s FROM t GROUP BY g", "o": "SELECT id FROM u"})
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
    p.catch_up()
    assert stopped(p) == {"m"}
    heal(p.config, lambda *_: None, lambda *_: None)
    assert stopped(p) == set()
    p.assert_equal()


def test_a_swap_beside_a_pipeline(database: str, tmp_path: Path) -> None:
    """The deploy copies the new table while the pipeline follows the old one."""
    p = small(tmp_path, database, {"v": "SELECT v, count(*) AS n FROM t GROUP BY v"})
    with running(p) as process:
        p.source("ALTER TABLE t RENAME TO former", "INSERT INTO former VALUES (500, 1, 1)")
        p.assert_equal()
        p.source("CREATE TABLE t (id int PRIMARY KEY, v int)", "INSERT INTO t VALUES (1, 1)")
        catalog, views = compiled(p.config)
        with arriving(Order(p.config, catalog, views)):
            p.source("INSERT INTO former VALUES (501, 1, 1)")
            threading.Event().wait(2)  # in which the pipeline looks at its publication
            assert process.poll() is None
        p.deploy()
        p.source("INSERT INTO t VALUES (2, 1)")
        p.assert_equal()
        assert process.poll() is None


def test_what_is_taken_back_is_told_by_what_it_is(database: str, tmp_path: Path) -> None:
    p = small(tmp_path, database, {"v": "SELECT v FROM t", "u": "SELECT id FROM u"})
    d = p.deployed
    p.source("ALTER TABLE t RENAME TO former", "CREATE TABLE other (id int PRIMARY KEY)")
    p.source(f'ALTER PUBLICATION "{d.publication}" ADD TABLE other')
    publish_deployed(p.config.source.dsn, d)  # which knows of no other name yet
    with psycopg.connect(p.dsn) as c:
        rows = c.execute("SELECT tablename FROM pg_publication_tables WHERE pubname = %s", (d.publication,)).fetchall()
    assert {t for (t,) in rows} == {"former", "u"}
    p.source("UPDATE former SET v = 3")
    p.assert_equal()
