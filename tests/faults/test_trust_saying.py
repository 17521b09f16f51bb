"""What a trial from outside found of waiting, refusing and telling: whom a value stops, what is said of it, to whom."""

from __future__ import annotations

import json
import os
import signal
import socket
import stat
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from tests.faults.trust import VIEWS, T, status
from tests.pipelines.running import running
from tests.project import Project


@contextmanager
def open_transaction(p: Project) -> Iterator[None]:
    """One that has written, and ends when this does."""
    with psycopg.connect(p.dsn) as c:
        c.execute("INSERT INTO u VALUES (100, 'open')")
        yield
        c.rollback()


def test_08_verify_and_the_loop_do_not_wait_for_open_transactions(p: Project) -> None:
    with open_transaction(p), running(p) as process:
        done = p.command("verify")
        assert done.returncode == 0, done
        p.source("INSERT INTO t VALUES (900, 1, 1)")
        done = p.command("query", "SELECT count(*) AS n FROM us", "--wait", "--format", "csv")
        assert done.stdout.split()[-1] == "1", done
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == 0
    p.assert_equal()


def test_08_deploy_says_what_it_waits_for_and_can_be_interrupted(database: str, tmp_path: Path) -> None:
    import subprocess
    import sys

    p = Project.create(tmp_path, database, VIEWS)
    p.source(*T)
    with open_transaction(p):
        process = subprocess.Popen(
            [sys.executable, "-m", "pipelines.cli", "deploy"],
            cwd=p.home,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stderr is not None
        line = process.stderr.readline()
        assert "waiting" in line and "pid" in line and "INSERT INTO u" in line
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=10)
        assert process.returncode == 130 and "Traceback" not in err
    assert p.command("deploy").returncode == 0
    p.assert_equal()
    with psycopg.connect(p.dsn) as c:
        assert c.execute(
            "SELECT count(*) FROM pg_replication_slots WHERE database = current_database()"
        ).fetchone() == (1,)


def test_08_verify_agrees_while_many_write(p: Project) -> None:
    """Snapshots taken beside commits: what they see is not always the first part of the commit order."""
    stop = threading.Event()

    def write(k: int) -> None:
        with psycopg.connect(p.dsn, autocommit=True) as c:
            i = 10_000_000 * k
            while not stop.is_set():
                i += 1
                c.execute("INSERT INTO t VALUES (%s, %s, 1)", (i, i % 7))

    writers = [threading.Thread(target=write, args=(k,)) for k in range(1, 5)]
    with running(p):
        for w in writers:
            w.start()
        try:
            for _ in range(2):
                done = p.command("verify")
                assert done.returncode == 0, done.stdout + done.stderr
        finally:
            stop.set()
            for w in writers:
                w.join()


def test_10_a_value_that_is_refused_stops_the_views_that_read_its_column_and_no_other(p: Project) -> None:
    p.source("INSERT INTO t VALUES (50, 1, 0.12345678901234567)", "INSERT INTO u VALUES (2, 'y')")
    done = p.command("run", "--once")
    assert done.returncode == 0 and 'view "sums" is set aside' in done.stderr and "id = 50" in done.stderr, done
    told = {v["view"]: v["error"] for v in status(p)["views"]}
    assert "id = 50" in told["sums"] and not told["totals"] and not told["us"]
    p.source("INSERT INTO t VALUES (51, 1, 7)", "DELETE FROM t WHERE id = 4")
    p.command("run", "--once")
    lines = p.command("verify").stdout
    assert "totals: equal" in lines and "us: equal" in lines and "table public.t on duckdb: equal" in lines, lines
    p.source("UPDATE t SET n = 1 WHERE id = 50")
    done = p.command("deploy")
    assert done.returncode == 0, done.stderr
    p.source("INSERT INTO t VALUES (52, 1, 8)")
    p.assert_equal()


def test_10_while_it_is_still_there_deploy_says_so_and_keeps_the_rest(p: Project) -> None:
    p.source("INSERT INTO t VALUES (50, 1, 0.12345678901234567)")
    p.command("run", "--once")
    done = p.command("deploy")
    assert done.returncode == 1 and "id = 50" in done.stderr + done.stdout, done
    p.source("INSERT INTO t VALUES (51, 1, 7)", "DELETE FROM t WHERE id = 4")
    assert p.command("run", "--once").returncode == 0
    lines = p.command("verify").stdout
    assert "totals: equal" in lines and "us: equal" in lines, lines
    p.source("DELETE FROM t WHERE id = 50")
    assert p.command("deploy").returncode == 0
    p.assert_equal()


def test_10_a_column_that_nothing_reads_stops_nothing(database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, {"totals": VIEWS["totals"]})
    p.source(*T[:1], "INSERT INTO t VALUES (1, 1, 0.12345678901234567)")
    assert p.command("deploy").returncode == 0
    p.source("INSERT INTO t VALUES (2, 1, 0.12345678901234567), (3, 2, 1)")
    done = p.command("run", "--once")
    assert (done.returncode, done.stderr) == (0, "")
    p.assert_equal()


def test_10_an_array_of_two_dimensions_is_refused_like_that(database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, {"plain": "SELECT id FROM v", "arrays": "SELECT id, x FROM v"})
    p.source("CREATE TABLE v (id int PRIMARY KEY, x int[])", "INSERT INTO v VALUES (1, '{1}')")
    p.deploy()
    p.source("INSERT INTO v VALUES (2, '{{1,2},{3,4}}')")
    assert p.command("run", "--once").returncode == 0
    assert {v["view"]: bool(v["error"]) for v in status(p)["views"]} == {"arrays": True, "plain": False}


def test_11_infinity_and_times_before_the_common_era_are_shown(database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, {"times": "SELECT id, d, ts FROM w"})
    p.source(
        "CREATE TABLE w (id int PRIMARY KEY, d date, ts timestamp)",
        "INSERT INTO w VALUES (1, 'infinity', '-infinity'), (2, '0044-03-15 BC', '0044-03-15 12:00 BC'), (3, "
        "'2026-01-02', '2026-01-02 03:04')",
    )
    done = p.command("deploy")
    assert "Traceback" not in done.stderr
    for fmt in ("table", "csv", "json"):
        shown = p.command("query", "SELECT * FROM times ORDER BY id", "--format", fmt)
        assert shown.returncode == 0 and "Traceback" not in shown.stderr, shown.stderr
        assert "infinity" in shown.stdout and "0044-03-15 BC" in shown.stdout and "2026-01-02" in shown.stdout, (
            shown.stdout
        )


@pytest.mark.parametrize("content", ["", "{", "[]", '{"format": 1}', "null"])
def test_11_a_deployment_that_cannot_be_read_is_told_of(p: Project, content: str) -> None:
    (p.config.warehouse_path / "deployment.json").write_text(content)
    for args in (("run", "--once"), ("status",), ("query", "SELECT * FROM totals"), ("deploy",), ("verify",)):
        done = p.command(*args)
        assert done.returncode == 1 and "deployment.json" in done.stderr and "Traceback" not in done.stderr, (
            args,
            done,
        )
    assert p.command("teardown", "--yes").returncode == 0
    assert p.command("deploy").returncode == 0
    p.assert_equal()


def test_11_a_password_is_not_printed_by_debug(tmp_path: Path) -> None:
    for dsn in (
        "postgresql://postgres:secret%ZZ@127.0.0.1/x",
        "postgresql://postgres:secret@127.0.0.1:1/x?connect_timeout=x",
        "host=127.0.0.1 port=1 password=secret user=p nonsense",
    ):
        p = Project.create(tmp_path, dsn, {"v": "SELECT 1 AS a"})
        for command in ("check", "deploy"):
            done = p.command("--debug", command)
            assert done.returncode == 3 and "secret" not in done.stderr + done.stdout, done.stderr


def test_12_what_is_kept_is_for_its_owner_alone(database: str, tmp_path: Path) -> None:
    (tmp_path / "new").mkdir()
    p = Project(tmp_path / "new", database)
    assert p.command("init").returncode == 0
    toml = tmp_path / "new" / "tidemark.toml"
    assert stat.S_IMODE(toml.stat().st_mode) == 0o600
    p = Project.create(tmp_path / "new", database, VIEWS)
    p.source(*T)
    os.umask(0o022)
    assert p.command("deploy").returncode == 0
    folder = p.config.warehouse_path
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(f.stat().st_mode) & 0o077 for f in folder.rglob("*")} == {0}
    assert p.command("export", "totals", "--to", "out").returncode == 0
    assert stat.S_IMODE((p.home / "out" / "totals.parquet").stat().st_mode) == 0o644


def test_12_a_stranger_cannot_make_a_pipeline_allocate(p: Project) -> None:
    with running(p) as process:
        port = json.loads((p.config.warehouse_path / "run.json").read_text())["port"]
        for head in (struct.pack("!QQ", 1 << 33, 0), struct.pack("!QQ", 10, 1 << 40), struct.pack("!QQ", 1 << 20, 0)):
            with socket.create_connection(("127.0.0.1", port), timeout=5) as s:
                s.sendall(head)
                assert s.recv(1) == b"", "the connection is closed"
        resident = int((Path("/proc") / str(process.pid) / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        assert resident < 1 << 30
        assert p.command("query", "SELECT * FROM totals").returncode == 0


def test_reconnects_after_the_server_ended_the_stream(p: Project) -> None:
    with running(p) as process:
        for i in range(3):
            p.source(
                "SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots WHERE database = "
                "current_database() AND active"
            )
            p.source(f"INSERT INTO t VALUES ({900 + i}, 1, 1)")
            done = p.command("query", "SELECT sum(n)::BIGINT AS n FROM totals", "--wait", "--format", "csv")
            assert done.returncode == 0 and done.stdout.split()[-1] == str(31 + i), done
        assert process.poll() is None
    p.assert_equal()


def test_status_works_without_a_source(p: Project) -> None:
    toml = p.home / "tidemark.toml"
    toml.write_text(toml.read_text().replace('dsn = "', 'dsn = "port=1 host=127.0.0.1 '))
    text = toml.read_text()
    toml.write_text(text.replace(text.split('dsn = "')[1].split('"')[0], "host=127.0.0.1 port=1 user=x dbname=x"))
    begun = time.monotonic()
    told = status(p)
    assert time.monotonic() - begun < 20 and told["source_lsn"] is None and "cannot connect" in told["source"]
    assert all(v["stale_bytes"] is None for v in told["views"])


def test_a_running_pipeline_does_not_hold_up_a_server_that_stops(tmp_path: Path) -> None:
    from pipelines.showing.embedded import EmbeddedPostgres

    with EmbeddedPostgres() as pg:
        assert pg.process is not None
        project = Project.create(tmp_path, pg.dsn, VIEWS)
        project.source(*T)
        project.deploy()
        with running(project, 30):
            project.source(
                "CREATE TABLE other (x int)",
                "INSERT INTO other SELECT generate_series(1, 1000)",
                "INSERT INTO t VALUES (900, 1, 1)",
            )
            pg.process.send_signal(signal.SIGINT)
            assert pg.process.wait(20) == 0
            pg.process = None
            told = status(project)
            assert told["pipeline"]["source"]["state"] == "away" or told["source"]
