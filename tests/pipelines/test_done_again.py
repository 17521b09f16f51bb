"""What failed half-way, or was interrupted: it is done again as it was, or nothing goes on over it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from compiler.errors import TidemarkError
from connectors.failpoints import VARIABLE
from connectors.postgres.connection import SourceUnreachable
from connectors.postgres.stream import HEALS
from connectors.postgres.transactions import Limits
from pipelines.applying import catching_up
from pipelines.applying.capture import Capture, current_lsn
from pipelines.applying.catching_up import limits
from pipelines.deploying import initial_copy
from pipelines.running.jobs import Jobs
from pipelines.running.run import opened
from pipelines.verifying.verify import Loop, verify_with
from pipelines.warehouse import Warehouse
from tests.project import Project

ALTERED = (
    "INSERT INTO t VALUES (2, 'b2', 'second')",
    "ALTER TABLE t DROP COLUMN b",
    "INSERT INTO t VALUES (3, 'third')",
)


def project(home: Path, dsn: str, both: bool = False) -> Project:
    """A view on DuckDB, with `both` another one on Spark."""
    p = Project.create(home, dsn, {}, local_memory="1GB")
    text = "CREATE MATERIALIZED VIEW {0} WITH (engine = '{1}') AS SELECT id, x FROM t"
    for name, engine in (("fast", "duckdb"), *([("slow", "spark")] if both else [])):
        (p.home / "views" / f"{name}.sql").write_text(text.format(name, engine))
    p.source("CREATE TABLE t (id int PRIMARY KEY, b text, x text)")
    p.deploy()
    return p


@contextmanager
def captured(p: Project, some: Limits | None = None) -> Iterator[Capture]:
    warehouse = Warehouse(p.config, p.deployed)
    capture = Capture(warehouse, some or limits(p.config))
    try:
        yield capture
        for w in capture.workers.values():
            w.drain()
    finally:
        capture.close()
        warehouse.close()


def once(monkeypatch: pytest.MonkeyPatch, on: object, name: str, error: Exception, after: bool = False) -> None:
    """The first call fails, before or after what it does."""
    real, failed = getattr(on, name), list[int]()

    def fails(*args: Any, **more: Any) -> Any:
        if failed:
            return real(*args, **more)
        if after:
            real(*args, **more)
        failed.append(1)
        raise error

    monkeypatch.setattr(on, name, fails)


def until_it_raises(kind: type[Exception], act: Callable[[], object]) -> None:
    end = time.monotonic() + 60
    with pytest.raises(kind):
        while time.monotonic() < end:
            act()


def test_a_batch_that_is_decoded_twice_is_read_as_it_was_written(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    p = project(tmp_path, database)
    p.source("INSERT INTO t VALUES (1, 'b1', 'first')")
    with captured(p, replace(limits(p.config), seconds=1.0)) as capture:
        capture.catch_up(current_lsn(database))
        p.source(*ALTERED)
        once(monkeypatch, capture, "_look_at", SourceUnreachable("away for a moment"))
        until_it_raises(SourceUnreachable, lambda: capture.step(1.0, current_lsn(database)))
        capture.catch_up(current_lsn(database))
    p.assert_equal()


def test_a_slower_engine_reads_rows_as_they_were_written(database: str, tmp_path: Path) -> None:
    p = project(tmp_path, database, both=True)
    p.source("INSERT INTO t VALUES (1, 'b1', 'first')")
    with captured(p) as capture:
        capture.catch_up(current_lsn(database))
        for w in capture.workers.values():
            w.drain()
        capture.abandon()  # the source is not told: it sends what it told of the table once more, with what is known
    p.source(f"BEGIN; {'; '.join(ALTERED)}; COMMIT")
    with captured(p, replace(limits(p.config), rows=1)) as capture:
        capture.catch_up(current_lsn(database))
    p.assert_equal()


def test_nothing_more_is_taken_off_a_stream_that_may_have_lost_something(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    p = project(tmp_path, database)
    with captured(p) as capture:
        p.source("INSERT INTO t VALUES (1, 'b1', 'first'), (2, 'b2', 'second')")
        once(monkeypatch, capture.stream, "receive", OSError(28, "No space left on device"), after=True)
        for _ in range(3):  # whoever asks is told of it
            with pytest.raises(OSError):
                capture.step(1.0, current_lsn(database))
        capture.reopen()
        capture.catch_up(current_lsn(database))
    p.assert_equal()


def test_a_slower_engine_whose_source_was_away_comes_back(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    p = project(tmp_path, database, both=True)
    with captured(p) as capture:
        once(monkeypatch, capture.warehouse.engine("spark"), "apply", SourceUnreachable("away for a moment"))
        p.source("INSERT INTO t VALUES (1, 'b1', 'first')")
        until_it_raises(SourceUnreachable, lambda: capture.catch_up(current_lsn(database)))
        capture.reopen()
        p.source("INSERT INTO t VALUES (2, 'b2', 'second')")
        capture.catch_up(current_lsn(database))
    p.assert_equal()


def test_a_repair_that_failed_ends_the_run(database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    p = project(tmp_path, database)
    p.source("INSERT INTO t SELECT i, 'b', 'x' FROM generate_series(1, 50) i")
    warehouse, jobs, told = opened(p.config, lambda *_: None), Jobs(), list[BaseException]()
    capture = Capture(warehouse, limits(p.config))

    def ask() -> None:
        try:
            verify_with(p.config, warehouse, capture, [], True, Loop(jobs.ask, lambda v: None))
        except TidemarkError as e:
            told.append(e)

    try:
        capture.catch_up(current_lsn(database))
        warehouse.engine("duckdb").con.execute("DELETE FROM base.t WHERE id = 1")  # type: ignore[attr-defined]
        monkeypatch.setattr(initial_copy, "copy_table", lambda *_: (_ for _ in ()).throw(SourceUnreachable("away")))
        asker = threading.Thread(target=ask)
        asker.start()
        while asker.is_alive():
            jobs.run()
            time.sleep(0.05)
        assert told
        with pytest.raises(TidemarkError) as e:
            capture.step(0.2)
        assert not isinstance(e.value, HEALS)
    finally:
        capture.close()
        warehouse.close()
    again = p.command("run", "--once")
    assert again.returncode != 0 and "--resync" in again.stderr


def test_a_catch_up_claims_no_moment_after_it_asked(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    p = project(tmp_path, database)
    committed = list[float]()

    def late(dsn: str) -> int:
        found = current_lsn(dsn)
        p.source("INSERT INTO t VALUES (9, 'b', 'late')")
        committed.append(time.time())
        time.sleep(0.2)
        return found

    monkeypatch.setattr(catching_up, "current_lsn", late)
    p.catch_up()
    warehouse = Warehouse(p.config, p.deployed, read_only=True)
    try:
        assert warehouse.fresh_at("duckdb") <= committed[0]
    finally:
        warehouse.close()


def test_what_a_resync_did_not_bring_is_not_called_there(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    p = Project.create(tmp_path, database, {"a": "SELECT g, count(*) AS n FROM t GROUP BY g", "b": "SELECT v FROM u"})
    p.source(
        "CREATE TABLE t (id int PRIMARY KEY, g int)",
        "CREATE TABLE u (id int PRIMARY KEY, v numeric)",
        "INSERT INTO t SELECT i, i % 5 FROM generate_series(1, 50) i",
        "INSERT INTO u SELECT i, i FROM generate_series(1, 5) i",
    )
    p.deploy()
    publication = p.deployed.publication
    p.source(
        f'ALTER PUBLICATION "{publication}" DROP TABLE t',
        "UPDATE t SET g = g + 100",
        f'ALTER PUBLICATION "{publication}" ADD TABLE t',
        "UPDATE u SET v = 1e-30 WHERE id = 3",  # a view is set aside on the way, and that is saved
    )
    monkeypatch.setenv(VARIABLE, "redeploy.caught_up=kill:1")
    assert p.command("deploy", "--resync", "--keep-going").returncode != 0
    monkeypatch.delenv(VARIABLE)
    again = p.command("run", "--once")
    assert again.returncode != 0 and "--resync" in again.stderr
    p.source("UPDATE u SET v = 3 WHERE id = 3")
    assert p.command("deploy", "--resync").returncode == 0
    p.assert_equal()
