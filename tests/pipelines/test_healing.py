"""What a pipeline has set aside it fills again by itself, once the cause is gone, and nothing else changes by it."""

from __future__ import annotations

import gc
import json
import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest

from pipelines.deploying.heal import heal
from pipelines.deployment import DeployedView, Deployment
from pipelines.running import healing, run
from pipelines.running.healing import Healing
from pipelines.running.healing_once import due
from pipelines.warehouse import HEALING_FILE
from tests.pipelines.running import until
from tests.project import Project

VIEWS = {
    "by_b": "SELECT b, count(*) AS n FROM t GROUP BY b",
    "by_a": "SELECT a, sum(v) AS s FROM t GROUP BY a",
    "other": "SELECT id, x FROM u",
}
SCHEMA = (
    "CREATE TABLE t (id int PRIMARY KEY, a int, b int, v numeric)",
    "CREATE TABLE u (id int PRIMARY KEY, x int)",
    "INSERT INTO t SELECT i, i % 5, i % 7, i FROM generate_series(1, 100) i",
    "INSERT INTO u SELECT i, i FROM generate_series(1, 20) i",
)


def project(database: str, home: Path, views: dict[str, str] = VIEWS) -> Project:
    p = Project.create(home, database, views)
    p.source(*SCHEMA)
    p.deploy()
    return p


def while_it_runs(p: Project, monkeypatch: pytest.MonkeyPatch, steps: Callable[[], None]) -> None:
    """Run the pipeline in this process, which tries to heal within a second, and do the steps beside it."""
    monkeypatch.setattr(healing, "FIRST", 0.5)
    failed: list[BaseException] = []
    handlers = {s: signal.getsignal(s) for s in (signal.SIGTERM, signal.SIGINT)}

    def beside() -> None:
        try:
            until(lambda: (p.config.warehouse_path / "run.json").exists(), "run starts")
            steps()
        except BaseException as e:
            failed.append(e)
        finally:
            os.kill(os.getpid(), signal.SIGTERM)

    thread = threading.Thread(target=beside)
    thread.start()
    try:
        run.run(p.config, once=False)
    finally:
        thread.join()
        for s, handler in handlers.items():
            signal.signal(s, handler)
    if failed:
        raise failed[0]


def aside(p: Project) -> set[str]:
    return {v.name for v in p.deployed.views if v.error}


def test_it_heals_by_itself(database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    p = project(database, tmp_path)

    def steps() -> None:
        p.source("ALTER TABLE t ALTER b TYPE int USING b * 2", "UPDATE t SET a = a + 1 WHERE id < 9")
        until(lambda: aside(p) == {"by_b"}, "it is noticed")
        until(lambda: not aside(p), "a column that was computed anew")
        p.source("UPDATE t SET v = 1e-30 WHERE id = 7", "INSERT INTO u VALUES (100, 1)")
        until(lambda: aside(p) == {"by_a"}, "a value that no type holds")
        p.source("UPDATE t SET v = 3 WHERE id = 7")
        until(lambda: not aside(p), "the row was mended", 60)
        p.source("ALTER TABLE t DROP b", "UPDATE t SET a = a + 1 WHERE id = 9")
        until(lambda: aside(p) == {"by_b"}, "a column that went")
        p.source("UPDATE u SET x = x + 1")
        done = p.command("query", "--wait", "SELECT sum(x) FROM other")
        assert done.returncode == 0, done.stderr
        assert aside(p) == {"by_b"}
        p.source("ALTER TABLE t ADD b int DEFAULT 5")
        until(lambda: not aside(p), "it is back", 60)
        done = p.command("verify")
        assert done.returncode == 0, done.stdout + done.stderr

    while_it_runs(p, monkeypatch, steps)
    p.source("DELETE FROM t WHERE id % 4 = 0")
    p.assert_equal()


def test_what_would_change_another_view_is_left_to_a_deploy(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    p = project(database, tmp_path, {**VIEWS, "both": "SELECT count(*) AS n FROM u NATURAL JOIN t"})

    def steps() -> None:
        p.source("ALTER TABLE t ADD x int DEFAULT 4", "UPDATE t SET v = 1e-30 WHERE id = 7")
        until(lambda: "by_a" in aside(p), "a value that no type holds")
        p.source("UPDATE t SET v = 3 WHERE id = 7")
        done = p.command("query", "--wait", "SELECT count(*) FROM other")
        assert done.returncode == 0, done.stderr
        threading.Event().wait(3)  # in which it would be tried several times
        assert "by_a" in aside(p)

    while_it_runs(p, monkeypatch, steps)
    p.deploy()
    p.assert_equal()


def test_attempts_become_rarer() -> None:
    now = [0.0]
    h, d = Healing(lambda: now[0]), Deployment("s", "p", views=[DeployedView("v", "", "duckdb")])
    assert not h.due(d)
    d.views[0].error = "gone"
    assert not h.due(d)
    now[0] = healing.FIRST
    assert h.due(d)
    h.tried(1.0)
    now[0] += healing.FIRST
    assert not h.due(d)
    now[0] += healing.FIRST
    assert h.due(d)
    h.tried(100.0)
    now[0] += 1_999
    assert not h.due(d)
    now[0] += 1
    assert h.due(d)
    h.tried(1_000.0)
    now[0] += healing.MOST
    assert h.due(d)
    d.views[0].error = ""
    assert not h.due(d)
    d.views[0].error = "again"
    assert not h.due(d)
    now[0] += healing.FIRST
    assert h.due(d)


def test_run_once_heals_what_it_finds_set_aside(database: str, tmp_path: Path) -> None:
    p = project(database, tmp_path)
    p.source("UPDATE t SET v = 1e-30 WHERE id = 7", "INSERT INTO u VALUES (100, 1)")
    run.run(p.config, once=True)
    assert aside(p) == {"by_a"}  # found by this very run
    run.run(p.config, once=True)
    assert aside(p) == {"by_a"}  # tried again, in vain
    note = json.loads((p.config.warehouse_path / HEALING_FILE).read_text())
    p.source("UPDATE t SET v = 3 WHERE id = 7", "ALTER TABLE t DROP b", "DELETE FROM u WHERE id < 5")
    run.run(p.config, once=True)
    assert aside(p) == {"by_a", "by_b"}  # soon after the last attempt there is no other
    (p.config.warehouse_path / HEALING_FILE).write_text(json.dumps({**note, "at": note["at"] - healing.MOST}))
    run.run(p.config, once=True)
    assert aside(p) == {"by_b"}
    p.source("ALTER TABLE t ADD b int DEFAULT 5")
    (p.config.warehouse_path / HEALING_FILE).unlink()
    run.run(p.config, once=True)
    assert not aside(p)
    p.assert_equal()


@pytest.mark.parametrize(
    ("note", "tried"),
    [
        ("", True),
        ("{}", True),
        ('{"at": "x", "seconds": 1}', True),
        ('{"at": 100, "seconds": 10}', False),
        ('{"at": 0, "seconds": 10}', True),
        ('{"at": 900, "seconds": 10}', True),  # a clock that was set back
    ],
)
def test_run_once_does_not_try_all_the_time(note: str, tried: bool, database: str, tmp_path: Path) -> None:
    p = project(database, tmp_path)
    d = p.deployed
    assert not due(p.config, d, 250.0)
    d.views[0].error = "gone"
    assert due(p.config, d, 250.0)
    (p.config.warehouse_path / HEALING_FILE).write_text(note)
    assert due(p.config, d, 250.0) == tried


@pytest.mark.parametrize("fill", ["deploy", "heal"])
def test_a_copy_that_fails_leaves_no_transaction_open(fill: str, database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, VIEWS)
    p.source(*SCHEMA, "UPDATE t SET v = 1e-30 WHERE id = 7")
    gc.disable()  # which would close it by chance
    try:
        p.deploy(keep_going=True)
        if fill == "heal":
            heal(p.config, lambda *_: None, lambda _: None)
        with psycopg.connect(database) as c:
            found = "SELECT query FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in %'"
            assert not c.execute(found).fetchall()
        p.source("SET lock_timeout = '5s'", "ALTER TABLE t DROP b")
    finally:
        gc.enable()
