"""A stream that is opened again beside an engine that is behind: nothing is applied twice, and nothing passed."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from connectors.postgres.connection import SourceUnreachable
from pipelines.applying.capture import Capture, current_lsn
from pipelines.applying.catching_up import limits
from pipelines.warehouse import Warehouse
from tests.project import Project


def project(home: Path, dsn: str) -> Project:
    """A view on each engine; a transaction of 100 KB is large."""
    p = Project.create(home, dsn, {}, local_memory="1GB")
    with (p.home / "tidemark.toml").open("a") as f:
        f.write('\n[batch]\nrows = 700\nmemory = "100KB"\n')
    text = "CREATE MATERIALIZED VIEW {0} WITH (engine = '{1}') AS SELECT count(*) AS n, sum(id) AS s FROM t"
    for name, engine in (("fast", "duckdb"), ("slow", "spark")):
        (p.home / "views" / f"{name}.sql").write_text(text.format(name, engine))
    p.source("CREATE TABLE t (id int PRIMARY KEY, x text)")
    p.deploy()
    return p


def test_what_waits_for_the_slower_engine_is_not_applied_twice(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    p = project(tmp_path, database)
    warehouse = Warehouse(p.config, p.deployed)
    capture = Capture(warehouse, limits(p.config))
    slow, go_on = warehouse.engine("spark"), threading.Event()
    real = slow.apply

    def waits(*args: Any, **more: Any) -> int:
        go_on.wait(30)
        return real(*args, **more)

    monkeypatch.setattr(slow, "apply", waits)
    try:
        for i in range(3):  # the first is at work, the others are queued
            p.source(f"INSERT INTO t VALUES ({i}, NULL)")
            while capture.ledger.durable["duckdb"] < current_lsn(database) and capture.step(1) is not None:
                pass
        threading.Timer(0.5, go_on.set).start()
        capture.reopen()
        p.source("INSERT INTO t VALUES (10, NULL), (11, NULL)")
        capture.catch_up(current_lsn(database))
        for w in capture.workers.values():
            w.drain()
    finally:
        go_on.set()
        capture.close()
        warehouse.close()
    p.assert_equal()


def test_a_large_transaction_that_failed_once_on_the_slower_engine_is_not_passed(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    p = project(tmp_path, f"{database} options='-c logical_decoding_work_mem=64kB'")
    warehouse = Warehouse(p.config, p.deployed)
    capture = Capture(warehouse, limits(p.config))
    slow = warehouse.engine("spark")
    real, failed = slow.apply, []

    def fails_once(*args: Any, **more: Any) -> int:
        if more.get("rows") and not failed:
            failed.append(1)
            raise SourceUnreachable("away for a moment")
        return real(*args, **more)

    monkeypatch.setattr(slow, "apply", fails_once)
    try:
        p.source("INSERT INTO t SELECT i, repeat('x', 100) FROM generate_series(1, 5000) i")
        with pytest.raises(SourceUnreachable):
            capture.catch_up(current_lsn(database))
        p.source("INSERT INTO t VALUES (6000, '')")
        capture.catch_up(current_lsn(database))
        for w in capture.workers.values():
            w.drain()
    finally:
        capture.close()
        warehouse.close()
    assert failed
    p.assert_equal()
