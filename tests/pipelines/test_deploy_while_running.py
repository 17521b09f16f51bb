"""Views and tables come, go and change while the pipeline runs: who reads meanwhile sees no error, gap or half."""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from pipelines.asking.client import connect_running
from tests.pipelines.running import running, until
from tests.project import Project

VIEWS = {
    "held": "SELECT owner, sum(amount) AS s FROM account GROUP BY owner",
    "total": "SELECT sum(amount) AS s, count(*) AS n FROM account",
    "rows": "SELECT id, owner, amount FROM account WHERE amount > 0",
}
SCHEMA = (
    "CREATE TABLE account (id int PRIMARY KEY, owner int, amount int)",
    "CREATE TABLE later (id int PRIMARY KEY, account int, note text)",
    "INSERT INTO account SELECT i, i % 7, 100 FROM generate_series(1, 500) i",
    "INSERT INTO later SELECT i, 1 + i % 500, 'n' || i FROM generate_series(1, 2000) i",
)
ENGINES = ["duckdb", pytest.param("spark", marks=[pytest.mark.spark, pytest.mark.slow])]


def project(database: str, home: Path, engine: str = "duckdb") -> Project:
    p = Project.create(home, database, VIEWS, engine=engine, local_memory="1GB")
    p.source(*SCHEMA)
    p.deploy()
    return p


@contextmanager
def busy(p: Project, wrong: list[object]) -> Iterator[list[int]]:
    """Money moves within the table, and two readers look whether any is missing; gives how often they looked."""
    stop, looked = threading.Event(), [0]

    def move() -> None:
        with psycopg.connect(p.dsn, autocommit=True) as c:
            i = 0
            while not stop.is_set():
                i += 1
                a, b = 1 + i * 7 % 500, 1 + i * 11 % 500
                c.execute(
                    "UPDATE account SET amount = amount + CASE id WHEN %s THEN 1 ELSE -1 END WHERE id IN (%s, %s) "
                    "AND %s <> %s",
                    (a, a, b, a, b),
                )

    def read() -> None:
        reader = connect_running(p.config.warehouse_path)
        assert reader is not None
        with reader:
            while not stop.is_set():
                try:
                    got = reader.query("SELECT (SELECT s FROM total) AS a, (SELECT sum(s) FROM held) AS b").to_pylist()
                    if got != [{"a": 50_000, "b": 50_000}]:
                        wrong.append(got)
                except Exception as e:
                    wrong.append(repr(e))
                looked[0] += 1

    threads = [threading.Thread(target=t) for t in (move, read, read)]
    for t in threads:
        t.start()
    try:
        yield looked
    finally:
        stop.set()
        for t in threads:
            t.join()


def told(p: Project, *command: str) -> str:
    done = p.command(*command)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("engine", ENGINES)
def test_views_and_tables_come_go_and_change_under_readers(engine: str, database: str, tmp_path: Path) -> None:
    p, wrong = project(database, tmp_path, engine), list[object]()
    with running(p, batch=90) as process:
        with busy(p, wrong) as looked:
            p.write(
                {"noted": "SELECT a.owner, count(*) AS n FROM later l JOIN account a ON a.id = l.account GROUP BY 1"}
            )
            assert "noted: " in told(p, "deploy")
            assert "noted: equal" in told(p, "verify")
            p.write({"rows": "SELECT id, amount * 2 AS twice FROM account WHERE amount > 90"})
            told(p, "deploy")
            assert "twice" in told(p, "query", "--wait", "SELECT * FROM rows LIMIT 1")
            told(p, "verify")
            (p.config.views_path / "noted.sql").unlink()
            told(p, "deploy")
            assert p.command("query", "SELECT * FROM noted").returncode != 0
            until(lambda: looked[0] > 30, "the readers read", 60)
        assert process.poll() is None
        assert sorted(v["view"] for v in json.loads(told(p, "status", "--json"))["views"]) == ["held", "rows", "total"]
    assert not wrong, wrong[:3]
    p.assert_equal()
    assert "public.later" not in {t for ts in p.deployed.tables.values() for t in ts}


def test_who_has_to_wait_is_told_what_for(database: str, tmp_path: Path) -> None:
    p = project(database, tmp_path)
    with running(p):
        reader = connect_running(p.config.warehouse_path)
        assert reader is not None
        with reader:
            assert reader.waits_for() == ""
            verifying = threading.Thread(target=lambda: told(p, "verify"))
            verifying.start()
            until(lambda: "is comparing views with the source" in reader.waits_for(), "it is told", 60)
            verifying.join()
            assert reader.waits_for() == ""


@pytest.mark.slow
def test_what_cannot_be_deployed_changes_nothing(database: str, tmp_path: Path) -> None:
    p, wrong = project(database, tmp_path), list[object]()
    p.source("CREATE TABLE odd (id int PRIMARY KEY, v numeric)", "INSERT INTO odd VALUES (1, 1e-30)")
    with running(p) as process:
        with busy(p, wrong):
            p.write({"bad": "SELECT nothing FROM account"})
            done = p.command("deploy")
            assert done.returncode != 0 and "nothing" in done.stderr
            p.write({"bad": "SELECT sum(v) AS s FROM odd"})  # which is known when it is copied
            done = p.command("deploy")
            assert done.returncode != 0 and "out of range" in done.stderr, done.stderr
            done = p.command("deploy", "--keep-going")
            assert "out of range" in done.stderr, (done.stderr, process.poll(), process.communicate())
            told(p, "verify")
        (p.config.views_path / "bad.sql").unlink()
        told(p, "deploy")
        toml = p.home / "tidemark.toml"
        toml.write_text(toml.read_text() + "\n[batch]\nrows = 7\n")
        done = p.command("deploy")
        assert done.returncode != 0 and "tidemark.toml was changed" in done.stderr
    assert not wrong, wrong[:3]
    p.assert_equal()


def test_what_was_altered_is_mended_beside_the_rest(database: str, tmp_path: Path) -> None:
    p, wrong = project(database, tmp_path), list[object]()
    p.write({"by_account": "SELECT account, count(*) AS n FROM later GROUP BY account"})
    p.deploy()
    with running(p), busy(p, wrong):
        p.source("ALTER TABLE later ALTER account TYPE int USING 501 - account", "INSERT INTO later VALUES (0, 1, 'x')")
        until(lambda: any(v.error for v in p.deployed.views), "it is noticed")
        told(p, "deploy")
        told(p, "verify")
        done = p.command("deploy", "--resync")
        assert done.returncode == 3 and "does not run" in done.stderr
    assert not wrong, wrong[:3]
    p.assert_equal()


def test_a_pipeline_that_is_stopped_or_killed_in_a_deploy(database: str, tmp_path: Path) -> None:
    p = project(database, tmp_path)
    p.write({"noted": "SELECT account, count(*) AS n FROM later GROUP BY account"})
    with running(p) as process:
        thread = threading.Thread(target=p.command, args=("deploy",))
        thread.start()
        os.kill(process.pid, signal.SIGTERM)
        thread.join()
        process.wait(20)
    p.deploy()
    p.source("DELETE FROM later WHERE id % 3 = 0")
    p.assert_equal()
    p.write({"counted": "SELECT note, count(*) AS n FROM later GROUP BY note"})
    with running(p) as process:
        thread = threading.Thread(target=p.command, args=("deploy",))
        thread.start()
        until(lambda: "noted" not in (p.config.warehouse_path / "run.json").read_text(), "it runs")
        os.kill(process.pid, signal.SIGKILL)
        thread.join()
    p.deploy()
    p.assert_equal()


def test_without_views_there_is_nothing_to_run(database: str, tmp_path: Path) -> None:
    p = project(database, tmp_path)
    with running(p) as process:
        for f in p.config.views_path.glob("*.sql"):
            f.unlink()
        told(p, "deploy")
        assert process.wait(20) == 0
    assert p.command("query", "SELECT * FROM total").returncode != 0
