"""Tables are copied beside a pipeline that runs: its batches do not wait, and nothing is missed where both meet."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from compiler.errors import TidemarkError
from connectors.postgres.connection import SourceUnreachable
from pipelines.asking.client import connect_running
from pipelines.deploying import deploy as deploying
from pipelines.deploying.arriving import arriving
from pipelines.deploying.beside import beside
from pipelines.deploying.order import Order
from pipelines.deployment import FILE
from tests.pipelines.running import running, until
from tests.project import Project

VIEWS = {"total": "SELECT sum(amount) AS s, count(*) AS n FROM account"}
NOTED = {"noted": "SELECT a.owner, count(*) AS n FROM later l JOIN account a ON a.id = l.account GROUP BY 1"}
BARE = {"bare_rows": "SELECT x, count(*) AS n FROM bare GROUP BY x"}
SCHEMA = (
    "CREATE TABLE account (id int PRIMARY KEY, owner int, amount int)",
    "CREATE TABLE later (id int PRIMARY KEY, account int, note text, unread int)",
    "CREATE TABLE bare (x int, y text)",
    "ALTER TABLE bare REPLICA IDENTITY FULL",
    "INSERT INTO account SELECT i, i % 7, 100 FROM generate_series(1, 500) i",
    "INSERT INTO later SELECT i, 1 + i % 500, 'n' || i, i FROM generate_series(1, 2000) i",
    "INSERT INTO bare SELECT i % 7, 'y' FROM generate_series(1, 700) i",
)
SLOTS = "SELECT count(*) FROM pg_replication_slots WHERE database = current_database()"
SLOW = [pytest.mark.spark, pytest.mark.slow]
ENGINES = [  # and what the driver keeps: all, some (of two tables with a key one is Dist), nothing
    ("duckdb", "1GB"),
    *(pytest.param("spark", memory, marks=SLOW) for memory in ("1GB", "96KB", "none")),
]


def project(database: str, home: Path, engine: str = "duckdb", memory: str = "1GB") -> Project:
    p = Project.create(home, database, VIEWS, engine=engine, local_memory=memory)
    p.source(*SCHEMA)
    p.deploy()
    return p


@pytest.fixture
def never_copies(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """A pipeline that is started with it fails where it would copy a table itself; call it once it is started."""
    monkeypatch.setenv("TIDEMARK_FAILPOINTS", "snapshot.exported=raise")
    return lambda: monkeypatch.delenv("TIDEMARK_FAILPOINTS")


def slots(p: Project) -> int:
    with psycopg.connect(p.dsn) as c:
        row = c.execute(SLOTS).fetchone()
        assert row is not None
        return int(row[0])


@contextmanager
def writing(p: Project, first: int = 10_000) -> Iterator[None]:
    """Rows of every table come, go, change and change their keys."""
    stop = threading.Event()

    def write() -> None:
        with psycopg.connect(p.dsn, autocommit=True) as c:
            i = first
            while not stop.is_set():
                i += 1
                c.execute("INSERT INTO later VALUES (%s, %s, 'more', 1)", (i, 1 + i % 500))
                c.execute("UPDATE later SET account = 1 + (account + 3) %% 500 WHERE id = %s", (i - 9_000,))
                c.execute("UPDATE later SET id = -id WHERE id = %s", (i - 9_500,))
                c.execute("DELETE FROM later WHERE id = %s", (i - 9_990,))
                c.execute("INSERT INTO bare VALUES (%s, 'z'), (1, 'y')", (i % 7,))
                c.execute("DELETE FROM bare WHERE x = %s AND y = 'z'", (i % 5,))
                if i % 300 == 0:
                    c.execute("TRUNCATE bare")
                time.sleep(0.002)

    thread = threading.Thread(target=write)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def beginning(p: Project, failpoints: str = "") -> subprocess.Popen[bytes]:
    """A deploy that is not waited for."""
    return subprocess.Popen(
        [sys.executable, "-m", "pipelines.cli", "deploy"],
        cwd=p.home,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"TIDEMARK_FAILPOINTS": failpoints},
    )


def told(p: Project, *command: str) -> str:
    done = p.command(*command)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.mark.parametrize("engine, memory", ENGINES)
def test_tables_that_are_written_meanwhile(
    engine: str, memory: str, database: str, tmp_path: Path, never_copies: Callable[[], None]
) -> None:
    p = project(database, tmp_path, engine, memory)
    with running(p, batch=60):
        never_copies()
        with writing(p):
            p.write(NOTED | BARE)
            told(p, "deploy")
        told(p, "verify")
        p.write({"notes": "SELECT note, max(unread) AS m FROM later GROUP BY note"})  # what no mirror has yet
        with writing(p, 50_000):
            assert "another deployment" not in told(p, "deploy")
        told(p, "verify")
        assert slots(p) == 1
    assert not (p.config.warehouse_path / "arriving" / FILE).exists()
    p.assert_equal()


def test_a_transaction_that_was_open_before_is_waited_for_and_no_batch_is(
    database: str, tmp_path: Path, never_copies: Callable[[], None]
) -> None:
    """What it wrote before the publication had the table is in no stream: it has to be in the copy."""
    p = project(database, tmp_path)
    with running(p), psycopg.connect(p.dsn) as older:
        never_copies()
        older.execute("INSERT INTO later VALUES (-1, 1, 'open', 1)")
        p.write(NOTED)
        deploy = beginning(p)
        until(lambda: slots(p) == 2, "the copy begins")
        p.source("UPDATE account SET amount = 7 WHERE id = 1")
        assert "49907" in told(p, "query", "--wait", "SELECT s FROM total")
        older.execute("INSERT INTO later VALUES (-2, 1, 'open', 1)")
        assert deploy.poll() is None
        older.commit()
        assert deploy.wait(30) == 0
        told(p, "verify")
    p.assert_equal()


ALTERED = {
    "a column is rewritten": ("ALTER TABLE later ALTER account TYPE int USING 501 - account",),
    "truncated": ("TRUNCATE later", "INSERT INTO later VALUES (1, 1, 'after', 0)"),
    "replaced": (
        "DROP TABLE later",
        "CREATE TABLE later (id int PRIMARY KEY, account int, note text, unread int)",
        "INSERT INTO later VALUES (1, 1, 'another', 0)",
    ),
    "a column more": ("ALTER TABLE later ADD more int DEFAULT 3", "UPDATE later SET account = 2 WHERE id < 9"),
    "rows moved": ("VACUUM FULL later", "UPDATE later SET account = 2 WHERE id < 9"),
}


@pytest.mark.parametrize("what", ALTERED)
def test_a_table_that_is_altered_between_the_copy_and_the_deploy(what: str, database: str, tmp_path: Path) -> None:
    p = project(database, tmp_path)
    with running(p):
        p.write(NOTED)
        catalog, views = deploying.compiled(p.config)
        with arriving(Order(p.config, catalog, views)):
            p.source(*ALTERED[what])
            told_by = connect_running(p.config.warehouse_path)
            assert told_by is not None
            with told_by:
                told_by.deploy(False)
        told(p, "verify")
        p.source("UPDATE later SET account = 3 WHERE id % 2 = 1")
        told(p, "verify")
        assert slots(p) == 1
    p.assert_equal()


def test_a_publication_that_left_the_table_out_for_a_while(database: str, tmp_path: Path) -> None:
    p = project(database, tmp_path)
    with running(p):
        p.write(NOTED)
        catalog, views = deploying.compiled(p.config)
        with arriving(Order(p.config, catalog, views)):
            name = p.deployed.publication
            p.source(f'ALTER PUBLICATION "{name}" DROP TABLE later')
            with psycopg.connect(p.dsn) as older:
                older.execute("INSERT INTO later VALUES (-1, 1, 'unseen', 1)")
                p.source(f'ALTER PUBLICATION "{name}" ADD TABLE later')
            told_by = connect_running(p.config.warehouse_path)
            assert told_by is not None
            with told_by:
                told_by.deploy(False)
        told(p, "verify")
    p.assert_equal()


def test_what_a_killed_deploy_leaves_is_removed_by_the_pipeline(database: str, tmp_path: Path) -> None:
    p = project(database, tmp_path)
    with running(p):
        p.write(NOTED)
        deploy = beginning(p, "arriving.caught_up=wait")
        until(lambda: slots(p) == 2, "the copy begins")
        again = p.command("deploy")
        assert again.returncode == 3 and "another deploy" in again.stderr, again.stderr
        os.kill(deploy.pid, signal.SIGKILL)
        deploy.wait()
        for file in beside(p.config).warehouse_path.iterdir():
            os.utime(file, (0, 0))  # as if it had been long ago
        until(lambda: slots(p) == 1, "the pipeline removes the slot", 30)
        until(lambda: not (beside(p.config).warehouse_path / FILE).exists(), "and the files")
        told(p, "deploy")
    p.assert_equal()


@pytest.mark.parametrize("point", ["arriving.published", "snapshot.chunk", "deploy.copied", "arriving.caught_up"])
def test_a_deploy_that_is_killed_changes_nothing(point: str, database: str, tmp_path: Path) -> None:
    p = project(database, tmp_path)
    with running(p):
        p.write(NOTED)
        deploy = subprocess.run(
            [sys.executable, "-m", "pipelines.cli", "deploy"],
            cwd=p.home,
            capture_output=True,
            env=os.environ | {"TIDEMARK_FAILPOINTS": f"{point}=kill"},
        )
        assert deploy.returncode == -signal.SIGKILL
        p.source("DELETE FROM account WHERE id = 1", "DELETE FROM later WHERE id = 7")
        told(p, "verify")
        told(p, "deploy")
        assert slots(p) == 1
    p.assert_equal()


@pytest.mark.parametrize("engine, memory", ENGINES)
@pytest.mark.parametrize("point", ["redeploy.met", "redeploy.adopted", "redeploy.copied", "redeploy.built"])
def test_a_pipeline_that_is_killed_while_it_takes_tables_over(
    point: str, engine: str, memory: str, database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    p = project(database, tmp_path, engine, memory)
    p.write({"early": "SELECT account, count(*) AS n FROM later GROUP BY account"})
    p.deploy()
    monkeypatch.setenv("TIDEMARK_FAILPOINTS", f"{point}=kill")
    with running(p) as process:
        monkeypatch.delenv("TIDEMARK_FAILPOINTS")
        p.write({"notes": "SELECT note, max(unread) AS m FROM later GROUP BY note"})
        done = p.command("deploy")
        assert done.returncode == 1 and "the pipeline ended while it deployed" in done.stderr, done.stderr
        assert process.wait(60) == -signal.SIGKILL
    assert slots(p) == 1
    p.source("DELETE FROM later WHERE id = 7")
    p.deploy()
    p.assert_equal()


def test_a_pipeline_that_is_stopped_meanwhile(database: str, tmp_path: Path) -> None:
    p = project(database, tmp_path)
    with running(p) as process:
        p.write(NOTED)
        catalog, views = deploying.compiled(p.config)
        asked = connect_running(p.config.warehouse_path)
        assert asked is not None
        with asked, arriving(Order(p.config, catalog, views)):
            process.send_signal(signal.SIGTERM)
            process.wait(20)
            with pytest.raises((ConnectionError, TidemarkError)):
                asked.deploy(False)
    assert slots(p) == 1
    p.source("DELETE FROM later WHERE id = 7")
    p.deploy()
    p.assert_equal()


def test_a_source_that_is_away_at_the_end_is_swept_later(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    p = project(database, tmp_path)
    with running(p):
        p.write(NOTED)
        catalog, views = deploying.compiled(p.config)
        with monkeypatch.context() as m, arriving(Order(p.config, catalog, views)):
            m.setattr("pipelines.deploying.source_objects.connect", _away)
        assert slots(p) == 2
        until(lambda: slots(p) == 1, "the pipeline removes the slot", 30)
    p.assert_equal()


def _away(*_: object, **__: object) -> None:
    raise SourceUnreachable("the source is away", code="source_unreachable")
