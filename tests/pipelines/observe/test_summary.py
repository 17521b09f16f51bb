"""Batches are told of every ten seconds, and not at all where none came."""

from __future__ import annotations

from typing import Any

import pytest

from pipelines.observe.log import Log
from pipelines.observe.state import RunState
from pipelines.observe.summary import Summary
from tests.pipelines.observe.clock import Clock


class Said:
    """A logger that keeps what it is told."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []

    def info(self, event: str, **fields: Any) -> None:
        self.events.append({"event": event, **fields})


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def state(clock: Clock) -> RunState:
    s = RunState(clock, clock)
    s.started("slot", [], {"duckdb": 16, "spark": 16})
    return s


def test_it_adds_up_what_came_in_ten_seconds(clock: Clock, state: RunState) -> None:
    said = Said()
    summary = Summary(Log(said), 10.0, clock)
    for _ in range(10):
        state.batch(2, 3, 0.5, {"duckdb": 32}, transactions=1)
        assert not summary.due(state.counters())
        clock.tick(1)
    state.landed("spark", 10, 24)
    state.fresh("duckdb", clock.now)
    assert summary.due(state.counters())
    summary.say(state.snapshot())
    assert said.events == [
        {
            "event": "batches",
            "batches": 10,
            "transactions": 10,
            "changes": 20,
            "rows": 40,
            "rows_per_second": 4.0,
            "seconds": 5.0,
            "frontier": "0/18",
            "stale_seconds": 10.0,
        }
    ]
    assert not summary.due(state.counters())


def test_the_next_line_has_only_what_came_since(clock: Clock, state: RunState) -> None:
    said = Said()
    summary = Summary(Log(said), 10.0, clock)
    state.batch(5, 5, 1.0, {})
    summary.say(state.snapshot())
    state.batch(7, 8, 2.0, {})
    clock.tick(10)
    assert summary.due(state.counters())
    summary.say(state.snapshot())
    e = said.events[1]
    assert (e["batches"], e["changes"], e["rows"], e["seconds"], e["rows_per_second"]) == (1, 7, 8, 2.0, 0.8)


def test_a_quiet_source_is_not_told_of(clock: Clock, state: RunState) -> None:
    said = Said()
    summary = Summary(Log(said), 10.0, clock)
    for _ in range(100):
        clock.tick(1)
        assert not summary.due(state.counters())
    summary.say(state.snapshot())
    assert said.events == []


def test_quiet_before_the_traffic_does_not_count(clock: Clock, state: RunState) -> None:
    said = Said()
    summary = Summary(Log(said), 10.0, clock)
    clock.tick(500)
    assert not summary.due(state.counters())
    state.batch(20, 20, 0.1, {})
    clock.tick(9)
    assert not summary.due(state.counters())
    clock.tick(1)
    assert summary.due(state.counters())
    summary.say(state.snapshot())
    assert said.events[0]["rows_per_second"] == 2.0
