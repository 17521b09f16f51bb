"""The loop tells an observer once: the state has it, and the log says what is worth a line."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from pipelines import deployment as deployments
from pipelines.applying.capture import Capture
from pipelines.applying.catching_up import limits
from pipelines.observe.log import configure
from pipelines.observe.memory import resident_bytes
from pipelines.observe.observer import Observer, refresh_seconds, views_of
from pipelines.observe.state import RunState, ViewInfo
from pipelines.running.run import run
from pipelines.warehouse import Warehouse
from tests.pipelines.observe.clock import Clock
from tests.pipelines.observe.test_log import unhook
from tests.pipelines.test_set_aside import project
from tests.project import Project

__all__ = ["project", "unhook"]


@pytest.fixture
def clock() -> Clock:
    return Clock()


def observer(clock: Clock, out: io.StringIO) -> Observer:
    o = Observer(RunState(clock, clock), configure("json", out), clock=clock)
    o.started("slot", [ViewInfo("v", "duckdb", "keyed")], {"duckdb": 16})
    return o


def events(out: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(x) for x in out.getvalue().splitlines()]


def test_a_run_from_start_to_stop(clock: Clock) -> None:
    out = io.StringIO()
    o = observer(clock, out)
    for _ in range(3):
        o.state.batch(1, 1, 0.1, {"duckdb": 32})
        clock.tick(5)
        o.turn()
    o.source_away("refused", 1.0)
    clock.tick(2)
    o.source_back()
    o.set_aside("v", "conversion error")
    o.failed("no space", "duckdb")
    o.state.batch(1, 1, 0.1, {"duckdb": 48})
    o.stopped("asked to")
    told = [(e["event"], e.get("batches")) for e in events(out)]
    assert told == [
        ("started", None),
        ("batches", 2),
        ("source away", None),
        ("source back", None),
        ("view set aside", None),
        ("failed", None),
        ("batches", 2),
        ("stopped", None),
    ]
    assert events(out)[-1]["duckdb"] == "0/30"
    s = o.state.snapshot()
    assert (s["phase"], s["source"]["reconnects"], s["counters"]["batches"]) == ("stopped", 1, 4)
    assert s["views"][0]["set_aside"] == "conversion error"


def test_a_turn_is_a_heartbeat_and_looks_at_memory(clock: Clock) -> None:
    o = Observer(RunState(clock, clock), clock=clock)
    clock.tick(100)
    o.turn()
    s = o.state.snapshot()
    assert s["heartbeat_seconds"] == 0.0
    assert s["resident_bytes"] is not None and 10 << 20 < s["resident_bytes"] < 1 << 40


def test_without_a_log_it_keeps_the_state(clock: Clock) -> None:
    o = Observer(RunState(clock, clock), clock=clock)
    o.started("slot", [], {"duckdb": 1})
    o.source_away("refused")
    o.source_back()
    o.set_aside("v", "x")
    o.failed("x")
    o.stopped("asked to")
    assert o.state.snapshot()["phase"] == "stopped"


def test_memory_is_that_of_this_process() -> None:
    before = resident_bytes()
    block = bytearray(64 << 20)
    assert resident_bytes() - before > 32 << 20
    del block


def test_views_of_a_deployment_hold_no_value(project: Project) -> None:
    project.source("INSERT INTO t VALUES (3, 'hunter2')")
    run(project.config, once=True)
    d = deployments.require(project.config.warehouse_path)
    assert "hunter2" in " ".join(v.error for v in d.views)
    views = {v.view: v for v in views_of(d)}
    assert views["numbers"].set_aside.endswith("conversion error") and "hunter2" not in str(views)
    assert views["words"] == ViewInfo("words", "duckdb", "incremental")


def test_a_batch_is_timed_for_each_view(project: Project) -> None:
    warehouse = Warehouse(project.config, deployments.require(project.config.warehouse_path))
    capture = Capture(warehouse, limits(project.config))
    try:
        assert refresh_seconds(warehouse) == {}
        project.source("INSERT INTO t VALUES (3, '30')")
        while capture.step(1.0) is None:
            pass
        assert set(refresh_seconds(warehouse)) == {"numbers", "total", "words"}
        assert refresh_seconds(warehouse)["total"] > 0
    finally:
        capture.close()
        warehouse.close()
