"""What a running pipeline takes as one batch."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import pytest

from pipelines.applying import capture as module
from pipelines.applying.capture import Capture, current_lsn
from pipelines.applying.catching_up import limits
from pipelines.warehouse import Warehouse
from tests.project import Project


@pytest.mark.parametrize("behind", [False, True])
def test_after_a_slow_batch_commits_are_collected_for_the_next(
    behind: bool, database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The engine's own work, made slower: before it two commits are two batches, after it one. The more so where the
    source is far ahead."""
    p = Project.create(tmp_path, database, {"total": "SELECT count(*) AS n, sum(id) AS total FROM t"})
    p.source("CREATE TABLE t (id int PRIMARY KEY)")
    p.deploy()
    monkeypatch.setattr(module, "COLLECT", 0.0 if behind else 1.0)
    warehouse = Warehouse(p.config, p.deployed)
    engine = warehouse.engine("duckdb")
    real = engine.apply

    def slow(*args: Any, **more: Any) -> int:
        time.sleep(2)
        return real(*args, **more)

    def rows(capture: Capture, *ids: int) -> int:
        later = threading.Timer(0.5, p.source, [f"INSERT INTO t VALUES ({ids[1]})"])
        p.source(f"INSERT INTO t VALUES ({ids[0]})")
        later.start()
        done = capture.step(20)
        later.join()
        assert done is not None
        return done.rows

    capture = Capture(warehouse, limits(p.config))
    try:
        assert rows(capture, 1, 2) == 1
        monkeypatch.setattr(engine, "apply", slow)
        capture.catch_up(current_lsn(p.dsn))
        capture.freshness.source_lsn = current_lsn(p.dsn) + 2 * module.BEHIND if behind else 0
        assert rows(capture, 3, 4) == 2
    finally:
        capture.close()
        warehouse.close()
    p.assert_equal()
