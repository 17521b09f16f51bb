"""What is altered in the source after deploy, and is not in the stream."""

from __future__ import annotations

import subprocess
import sys
import threading
from contextlib import nullcontext
from pathlib import Path

import pytest

from compiler.errors import TidemarkError
from pipelines.applying.freshness import Freshness
from pipelines.applying.source_watch import LOOK, SourceWatch
from pipelines.deploying.heal import heal
from tests.pipelines.running import running, until
from tests.pipelines.schema_changes import LEFT_OUT
from tests.project import Project

T = ("CREATE TABLE t (id int PRIMARY KEY, a int)", "INSERT INTO t VALUES (1, 10), (2, 20)")
KILLED = (
    "import os, pipelines.deployment as d; d.save = lambda *a: os._exit(9); from pathlib import Path; "
    "from pipelines.config import load_config; from pipelines.deploying.deploy import deploy; "
    "deploy(load_config(Path('.')))"
)


def deployed(database: str, home: Path) -> Project:
    p = Project.create(home, database, {"v": "SELECT id, a FROM t"})
    p.source(*T)
    p.deploy()
    return p


def publication(p: Project) -> str:
    return f'"{p.deployed.publication}"'


@pytest.mark.parametrize("case", [c for c, (_, of_one) in LEFT_OUT.items() if not of_one])
def test_a_publication_that_was_altered_stops_run_verify_and_deploy(case: str, database: str, tmp_path: Path) -> None:
    p = deployed(database, tmp_path)
    p.source(LEFT_OUT[case][0].format(p=publication(p)), "INSERT INTO t VALUES (3, 30)")
    for act in (p.catch_up, p.verify, p.deploy):
        with pytest.raises(TidemarkError, match="the publication") as e:
            act()
        assert "deploy --resync" in e.value.hint
    assert "error: the publication" in p.command("check").stdout
    done = p.command("deploy", "--resync")
    assert done.returncode == 0, done.stderr
    p.source("INSERT INTO t VALUES (4, 40)")
    p.assert_equal()


@pytest.mark.parametrize("case", [c for c, (_, of_one) in LEFT_OUT.items() if of_one])
@pytest.mark.parametrize("runs", [False, True], ids=["stopped", "running"])
def test_a_publication_that_left_out_a_table_stops_its_views(
    case: str, runs: bool, database: str, tmp_path: Path
) -> None:
    """And no others; a deploy, or the pipeline by itself, copies it again."""
    p = Project.create(tmp_path, database, {"v": "SELECT id, a FROM t", "w": "SELECT id FROM u"})
    p.source(*T, "CREATE TABLE u (id int PRIMARY KEY)")
    p.deploy()
    with running(p) if runs else nullcontext() as process:
        for i, x in enumerate(LEFT_OUT[case][0].split("|")):
            p.source(x.format(p=publication(p)), f"INSERT INTO t VALUES ({i + 3}, 30)", f"INSERT INTO u VALUES ({i})")
        if process is None:
            p.catch_up()
            assert {v.name for v in p.deployed.views if v.error} == {"v"}
            assert {r.view for r in p.verify() if not r.equal} == {"v"}
            p.deploy()
        else:
            until(lambda: any(v.error for v in p.deployed.views), "it is noticed")
            assert {v.name for v in p.deployed.views if v.error} <= {"v"}
            until(lambda: not any(v.error for v in p.deployed.views), "it heals", 60)
        p.source("INSERT INTO t VALUES (9, 40)", "INSERT INTO u VALUES (9)", "DELETE FROM t WHERE id = 1")
        p.assert_equal()
        assert process is None or process.poll() is None


def test_a_running_pipeline_looks_again(database: str, tmp_path: Path) -> None:
    p = deployed(database, tmp_path)
    watch = SourceWatch(p.dsn, p.deployed, Freshness({"duckdb": 0.0}))
    p.source("ALTER TABLE t RENAME TO told", "CREATE TABLE t (id int PRIMARY KEY, a int)")
    watch.looked -= LOOK + 1
    watch.start()
    until(lambda: bool(watch.altered), "the watch looks")
    told = bool(watch.freshness.answers)  # what may be called fresh
    (found,), _ = watch.check()
    assert "is not the table that was deployed" in found.message and not told
    watch.stop()


@pytest.mark.parametrize("column", ["mood[]", "feeling"])
def test_an_enum_in_an_array_or_a_domain_that_was_altered_stops_its_views(
    column: str, database: str, tmp_path: Path
) -> None:
    p = Project.create(tmp_path, database, {"v": "SELECT id, m FROM t", "w": "SELECT id FROM t"})
    p.source(
        "CREATE TYPE mood AS ENUM ('sad', 'ok')",
        "CREATE DOMAIN feeling AS mood",
        f"CREATE TABLE t (id int PRIMARY KEY, m {column})",
    )
    p.deploy()
    p.source("ALTER TYPE mood RENAME VALUE 'ok' TO 'fine'")
    p.catch_up()
    assert {v.name for v in p.deployed.views if "has other labels" in v.error} == {"v"}
    p.deploy()
    p.assert_equal()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("CREATE TABLE kid () INHERITS (t)", "inherits from"),
        ("ALTER TABLE t DROP CONSTRAINT t_pkey, ADD PRIMARY KEY (id) DEFERRABLE", "deferrable"),
    ],
)
def test_a_table_of_another_form_stops_its_views(change: str, message: str, database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, {"v": "SELECT id, a FROM t"})
    p.source(*T, "ALTER TABLE t REPLICA IDENTITY FULL")
    p.deploy()
    p.source(change)
    p.catch_up()
    assert {v.name for v in p.deployed.views if message in v.error} == {"v"}


def test_views_that_read_a_column_added_later_have_the_table_copied_again(database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, {"v": "SELECT id, a FROM t", "w": "SELECT count(*) AS n FROM t"})
    p.source(*T)
    p.deploy()
    p.source("ALTER TABLE t ADD c int DEFAULT 4", "INSERT INTO t VALUES (3, 30)")
    p.write({"every": "SELECT * FROM t", "named": "SELECT id, c FROM t", "x": "SELECT max(a) AS a FROM t"})
    told = {v.name: v.error.code if v.error else None for v in p.deploy(keep_going=True).views}
    assert told == dict.fromkeys(("v", "w", "x", "every", "named"))
    p.assert_equal()


def test_views_of_a_deploy_that_was_killed_are_maintained(database: str, tmp_path: Path) -> None:
    """Killed when its views are there and it is not yet written down what they are."""
    p = Project.create(tmp_path, database, {"v": "SELECT a, count(*) AS n FROM t GROUP BY a"})
    p.source(*T)
    p.deploy()
    p.write({"v": "SELECT a, count(*) AS n, max(id) AS m FROM t GROUP BY a"})
    assert subprocess.run([sys.executable, "-c", KILLED], cwd=p.home).returncode == 9
    p.source("INSERT INTO t VALUES (3, 10), (4, 40)")
    p.catch_up()
    p.assert_equal()
    p.deploy()
    p.assert_equal()


def test_a_view_renamed_by_capitals_alone_stays(database: str, tmp_path: Path) -> None:
    p = deployed(database, tmp_path)
    (p.home / "views" / "v.sql").unlink()
    p.write({"V": "SELECT id, a FROM t"})
    p.deploy()
    p.assert_equal()


def test_a_warehouse_whose_file_is_gone_is_told_of(database: str, tmp_path: Path) -> None:
    p = deployed(database, tmp_path)
    for f in p.config.warehouse_path.glob("tidemark.duckdb*"):
        f.unlink()
    done = p.command("deploy")
    assert done.returncode == 1 and "--resync" in done.stderr and "Traceback" not in done.stderr
    assert p.command("deploy", "--resync").returncode == 0
    p.assert_equal()


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("query", ""), "the query is empty"),
        (("query", ";"), "the query is empty"),
        (("export", "--to", "views/v.sql"), "a file cannot be used"),
    ],
)
def test_commands_that_cannot_be_done_say_so(
    args: tuple[str, ...], message: str, database: str, tmp_path: Path
) -> None:
    p = deployed(database, tmp_path)
    done = p.command(*args)
    assert done.returncode == 1 and message in done.stderr and "Traceback" not in done.stderr, done.stderr


def test_a_password_is_not_shown_in_a_dsn_that_cannot_be_read(tmp_path: Path) -> None:
    p = Project.create(tmp_path, "postgresql://postgres:secret%ZZ@127.0.0.1/x", {"v": "SELECT 1 AS a"})
    done = p.command("check")
    assert done.returncode == 3 and "secret" not in done.stderr + done.stdout and "Traceback" not in done.stderr, (
        done.stderr
    )


def test_a_frontier_is_not_moved_back_by_a_copy(database: str, tmp_path: Path) -> None:
    """WAL of other tables goes on while everything is brought to the snapshot of a table that is copied again."""
    p = deployed(database, tmp_path)
    p.source("CREATE TABLE other (x int)", "CREATE TABLE u (id int PRIMARY KEY)")
    stop = threading.Event()

    def write() -> None:
        while not stop.is_set():
            p.source("INSERT INTO other SELECT generate_series(1, 3000)")

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for i in range(3):
            p.source(
                f"ALTER PUBLICATION {publication(p)} DROP TABLE t",
                f"INSERT INTO t VALUES ({i + 10}, 30)",
                f"ALTER PUBLICATION {publication(p)} ADD TABLE t",
            )
            assert p.command("deploy", "--resync").returncode == 0
            p.catch_up()
    finally:
        stop.set()
        writer.join()
    p.write({"added": "SELECT id FROM u"})
    p.deploy()
    p.assert_equal()


def test_a_column_that_joins_by_its_name_makes_another_view_of_it(database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, {"n": "SELECT count(*) AS n FROM t NATURAL JOIN u"})
    p.source(
        "CREATE TABLE t (id int PRIMARY KEY, a int)",
        "CREATE TABLE u (u int PRIMARY KEY, a int, d int)",
        "INSERT INTO t SELECT i, i % 3 FROM generate_series(1, 9) i",
        "INSERT INTO u SELECT i, i % 3, i % 2 FROM generate_series(1, 9) i",
    )
    p.deploy()
    p.source("ALTER TABLE t ADD d int DEFAULT 1")
    p.deploy()
    p.assert_equal()


def test_a_view_is_filled_again_beside_one_that_stays_aside(database: str, tmp_path: Path) -> None:
    views = {"gone": "SELECT g, count(*) AS n FROM a GROUP BY g", "back": "SELECT x, sum(v) AS s FROM b GROUP BY x"}
    p = Project.create(tmp_path, database, views)
    p.source(
        "CREATE TABLE a (id int PRIMARY KEY, g int)",
        "CREATE TABLE b (id int PRIMARY KEY, x int, v numeric)",
        "INSERT INTO a SELECT i, i % 5 FROM generate_series(1, 50) i",
        "INSERT INTO b SELECT i, i % 3, i FROM generate_series(1, 50) i",
    )
    p.deploy()
    p.source("ALTER TABLE a DROP g", "UPDATE a SET id = id + 100", "UPDATE b SET v = 1e-30 WHERE id = 7")
    p.catch_up()
    assert {v.name for v in p.deployed.views if v.error} == {"gone", "back"}
    p.source("UPDATE b SET v = 7 WHERE id = 7")
    heal(p.config, lambda *_: None, lambda *_: None)
    assert {v.name for v in p.deployed.views if v.error} == {"gone"}
    p.source("UPDATE b SET x = 1", "ALTER TABLE a ADD g int DEFAULT 3")
    p.catch_up()
    assert [r.equal for r in p.verify() if r.view == "back"] == [True]
    p.deploy()
    p.assert_equal()


@pytest.mark.parametrize("replaced", [False, True])
def test_a_table_that_came_later_is_missed_too(replaced: bool, database: str, tmp_path: Path) -> None:
    """One that another deploy brought in, or brought in again."""
    p = deployed(database, tmp_path)
    p.source("CREATE TABLE u (id int PRIMARY KEY)", "INSERT INTO u VALUES (1)")
    p.write({"w": "SELECT id FROM u"})
    p.deploy()
    if replaced:
        p.source("ALTER TABLE u RENAME TO former")
        p.catch_up()
        p.source("DROP TABLE former", "CREATE TABLE u (id int PRIMARY KEY)", "INSERT INTO u VALUES (5)")
        p.catch_up()
        p.deploy()
    assert {t for t, _ in p.deployed.origin.tables} == {"public.t", "public.u"}
    gap = ("DROP TABLE u", "ADD TABLE u")
    p.source(f"ALTER PUBLICATION {publication(p)} {gap[0]}", "INSERT INTO u VALUES (2)")
    p.source(f"ALTER PUBLICATION {publication(p)} {gap[1]}")
    p.catch_up()
    assert {v.name for v in p.deployed.views if "left out" in v.error} == {"w"}
    p.deploy()
    p.assert_equal()
