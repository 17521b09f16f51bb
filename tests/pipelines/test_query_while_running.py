"""A pipeline that runs: it answers queries, status and verify, and stops when told to."""

from __future__ import annotations

import json
import signal
import threading
import time
from contextlib import suppress
from pathlib import Path

import psycopg
import pytest

from compiler.errors import TidemarkError
from pipelines.asking.client import connect_running
from tests.pipelines.running import running, until
from tests.project import Project


@pytest.fixture
def project(database: str, tmp_path: Path) -> Project:
    p = Project.create(tmp_path, database, {"totals": "SELECT a, count(*) AS n, sum(b) AS s FROM t GROUP BY a"})
    p.source(
        "CREATE TABLE t (id int PRIMARY KEY, a int, b int)",
        "INSERT INTO t SELECT g, g % 3, g FROM generate_series(1, 30) g",
    )
    p.deploy()
    return p


def total(p: Project, *more: str) -> int:
    done = p.command("query", "SELECT sum(s)::BIGINT AS s FROM totals", "--format", "csv", *more)
    assert done.returncode == 0, done.stderr
    return int(done.stdout.split()[-1])


def test_query_wait_sees_every_commit_before_it(project: Project) -> None:
    with running(project):
        want = 465
        for i in range(1, 4):
            project.source(f"UPDATE t SET b = b + 1 WHERE id = {i}", f"INSERT INTO t VALUES ({i + 100}, NULL, 1000)")
            want += 1001
            assert total(project, "--wait") == want


def test_query_without_wait_sees_a_commit_soon(project: Project) -> None:
    with running(project):
        project.source("UPDATE t SET b = 1000 WHERE id = 1")
        until(lambda: total(project) == 1464, "the commit is visible", 10)


def test_status_and_verify_answer_beside_it(project: Project) -> None:
    with running(project):
        project.source("DELETE FROM t WHERE a = 1")
        told = json.loads(project.command("status", "--json").stdout)
        assert told["running"] and told["slot_active"]
        assert [v["view"] for v in told["views"]] == ["totals"]
        plain = project.command("status")
        assert plain.returncode == 0 and "pipeline running" in plain.stdout and "\x1b" not in plain.stdout
        verified = project.command("verify")
        assert (verified.returncode, verified.stderr) == (0, "") and "totals" in verified.stdout
        exported = project.command("export", "--to", "out", "--format", "csv")
        assert exported.returncode == 0 and (project.home / "out" / "totals.csv").exists()
    told = json.loads(project.command("status", "--json").stdout)
    assert not told["running"] and not told["slot_active"]


def test_verify_holds_on_a_source_that_is_being_written_to(project: Project) -> None:
    with running(project), psycopg.connect(project.dsn, autocommit=True) as c:
        import threading

        stop = threading.Event()

        def write() -> None:
            i = 1000
            while not stop.is_set():
                i += 1
                c.execute("INSERT INTO t VALUES (%s, %s, 1)", (i, i % 7))

        writer = threading.Thread(target=write)
        writer.start()
        try:
            for _ in range(2):
                done = project.command("verify")
                assert done.returncode == 0, done.stdout + done.stderr
        finally:
            stop.set()
            writer.join()


@pytest.mark.parametrize(
    "sql",
    [
        "DROP VIEW totals",
        "CREATE TABLE mine AS SELECT 1 AS x",
        "DELETE FROM meta.frontier",
        "DELETE FROM base.t",
        "SELECT 1; DROP VIEW totals",
    ],
)
def test_a_query_cannot_change_the_warehouse(project: Project, sql: str) -> None:
    with running(project):
        done = project.command("query", sql)
        project.source("UPDATE t SET b = b + 1")
        assert total(project, "--wait") == 495
        assert (done.returncode, "hint:" in done.stderr) == (1, True)
    project.assert_equal()


def test_a_bad_query_is_an_error_and_the_pipeline_lives_on(project: Project) -> None:
    with running(project) as process:
        done = project.command("query", "SELECT nope FROM totals")
        assert done.returncode == 1 and "nope" in done.stderr and "hint:" in done.stderr
        assert project.command("verify", "unknown").returncode == 1
        assert process.poll() is None
        assert total(project, "--wait") == 465


def test_a_second_run_and_a_teardown_are_refused_beside_it(project: Project) -> None:
    with running(project):
        for args in (("run", "--once"), ("run",), ("teardown", "--yes")):
            done = project.command(*args)
            assert done.returncode == 3 and "in use by another tidemark" in done.stderr, (args, done)
        assert total(project, "--wait") == 465


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_it_cleanly(project: Project, how: signal.Signals) -> None:
    with running(project) as process:
        project.source("UPDATE t SET b = b + 1")
        process.send_signal(how)
        out, err = process.communicate(timeout=15)
    assert process.returncode == 0 and "error" not in err, err
    assert not (project.config.warehouse_path / "run.json").exists()
    project.assert_equal()


def test_a_second_signal_abandons_the_batch(project: Project) -> None:
    with running(project) as process, psycopg.connect(project.dsn, autocommit=True) as c:
        project.source("INSERT INTO t SELECT g, g % 1000, g FROM generate_series(1000, 1500000) g")

        def sent() -> bool:
            row = c.execute(
                "SELECT bool_and(sent_lsn >= pg_current_wal_lsn() AND flush_lsn < sent_lsn) FROM pg_stat_replication r "
                "JOIN pg_replication_slots s ON s.active_pid = r.pid WHERE s.database = current_database()"
            ).fetchone()
            return row is not None and bool(row[0])

        until(sent, "the batch is sent and not yet acknowledged")
        process.send_signal(signal.SIGTERM)
        process.send_signal(signal.SIGINT)  # another one: two of a kind that wait are one
        out, err = process.communicate(timeout=15)
    assert process.returncode == 130 and "rror" not in err, err
    assert not (project.config.warehouse_path / "run.json").exists()
    assert total(project) == 465  # nothing of the batch is there
    project.assert_equal()


def test_run_stops_with_3_and_a_hint_when_the_source_goes_away(project: Project) -> None:
    with running(project) as process:
        project.source(
            "SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots WHERE database = current_database()"
        )
        deadline = time.monotonic() + 15
        while process.poll() is None and time.monotonic() < deadline:
            if total(project, "--wait") == 465:  # reconnecting by itself is as good
                return
        _, err = process.communicate(timeout=5)
        assert process.returncode == 3 and "hint:" in err and "Traceback" not in err


def test_it_stops_while_it_answers(project: Project) -> None:
    """A thread that was in DuckDB when the interpreter ended took the process down: "terminate called …"."""
    long = f"SELECT count(*) FROM {', '.join(f'totals t{i}' for i in range(14))}"  # a few tenths of a second

    def ask() -> None:
        with suppress(OSError, TidemarkError):
            while (r := connect_running(project.config.warehouse_path)) is not None:
                with r:
                    r.query(long)
                    answered.release()

    for _ in range(3):
        answered = threading.Semaphore(0)
        with running(project) as process:
            askers = [threading.Thread(target=ask) for _ in range(4)]
            for a in askers:
                a.start()
            assert answered.acquire(timeout=20), "no query was answered"
            process.send_signal(signal.SIGTERM)
            said = process.communicate(timeout=20)[1]
            assert process.returncode == 0, said
            for a in askers:
                a.join(20)
