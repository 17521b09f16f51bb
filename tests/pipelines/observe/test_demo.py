"""The demo tells a RunState what its loop does, and shows it."""

from __future__ import annotations

import io
from pathlib import Path

from rich.console import Console

from pipelines import deployment as deployments
from pipelines.applying.capture import Capture
from pipelines.applying.catching_up import limits
from pipelines.observe.observer import views_of
from pipelines.observe.state import RunState
from pipelines.observe.table import LiveTable
from pipelines.showing.demo import _look, _tell
from pipelines.warehouse import Warehouse
from tests.project import Project

VIEWS = {
    "numbers": "SELECT id, CAST(word AS int) AS n FROM t",
    "words": "SELECT word, count(*) AS n FROM t GROUP BY word",
}


def test_a_batch_a_failure_and_the_source_are_shown(database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, VIEWS)
    p.source("CREATE TABLE t (id int PRIMARY KEY, word text)", "INSERT INTO t VALUES (1, '10')")
    p.deploy()
    warehouse = Warehouse(p.config, deployments.require(p.config.warehouse_path))
    capture = Capture(warehouse, limits(p.config))
    state = RunState()
    state.started(warehouse.deployment.slot, views_of(warehouse.deployment), capture.frontiers)
    try:
        before = state.snapshot()["engines"]["duckdb"]
        p.source("INSERT INTO t VALUES (2, 'hunter2'), (3, '30')")
        while state.snapshot()["counters"]["batches"] == 0:
            _tell(state, capture, capture.step(1.0))
        _look(state, warehouse, capture, database)
        _tell(state, capture, capture.step(1.0))
    finally:
        capture.close()
        warehouse.close()
    s = state.snapshot()
    after = s["engines"]["duckdb"]
    assert s["counters"]["batches"] == 1 and after["frontier"] > before["frontier"]
    assert before["fresh_at"] is None and after["fresh_at"] is not None and after["stale_bytes"] is not None
    assert s["views"][0]["set_aside"].endswith("conversion error") and s["views"][1]["refresh_seconds"]
    out = Console(file=(shown := io.StringIO()), width=80)
    out.print(LiveTable(s))
    assert "numbers is set aside" in shown.getvalue() and "hunter2" not in shown.getvalue()
