"""RunState: what it is told is what it tells, and ages grow by themselves."""

from __future__ import annotations

import json
import threading

import pytest

from pipelines.observe.pace import BUCKETS, WINDOW
from pipelines.observe.state import RunState, ViewInfo
from tests.pipelines.observe.clock import Clock

VIEWS = [ViewInfo("totals", "duckdb", "incremental"), ViewInfo("sizes", "spark", "keyed")]


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def state(clock: Clock) -> RunState:
    s = RunState(clock, clock)
    s.started("slot", VIEWS, {"duckdb": 100, "spark": 90})
    return s


def test_before_the_start_it_says_so() -> None:
    s = RunState().snapshot()
    assert (s["phase"], s["source"]["state"], s["engines"], s["views"]) == ("starting", "away", {}, [])


def test_a_snapshot_is_json(state: RunState) -> None:
    state.batch(3, 2, 0.1, {"duckdb": 120})
    s = json.loads(json.dumps(state.snapshot()))
    assert s["slot"] == "slot" and s["engines"]["duckdb"]["frontier"] == 120
    assert s["batch_seconds"]["buckets"][4] == [0.1, 1]


def test_batches_are_counted(state: RunState) -> None:
    state.batch(3, 2, 0.03, {"duckdb": 120, "spark": 90}, transactions=2, received_bytes=500)
    state.batch(1, 1, 400.0, {"duckdb": 130})
    state.landed("spark", 4, 130)
    s = state.snapshot()
    assert s["counters"] == {
        "batches": 2,
        "transactions": 2,
        "changes": 4,
        "rows": 7,
        "received_bytes": 500,
        "failures": 0,
    }
    assert {n: e["frontier"] for n, e in s["engines"].items()} == {"duckdb": 130, "spark": 130}
    b = s["batch_seconds"]
    assert dict(b["buckets"])[0.025] == 0 and dict(b["buckets"])[0.05] == 1 and dict(b["buckets"])[BUCKETS[-1]] == 1
    assert (b["count"], b["sum"], b["last"]) == (2, pytest.approx(400.03), 400.0)


def test_a_batch_of_exactly_a_bound_is_within_it(state: RunState) -> None:
    state.batch(1, 1, 0.05, {})
    assert dict(state.snapshot()["batch_seconds"]["buckets"])[0.05] == 1


def test_a_frontier_does_not_go_back(state: RunState) -> None:
    state.batch(1, 1, 0.1, {"duckdb": 50})
    assert state.snapshot()["engines"]["duckdb"]["frontier"] == 100


def test_staleness_grows_without_being_told(state: RunState, clock: Clock) -> None:
    state.fresh("duckdb", clock.now - 1)
    clock.tick(41)
    engines = state.snapshot()["engines"]
    assert (engines["duckdb"]["fresh_at"], engines["duckdb"]["stale_seconds"]) == (999.0, 42.0)
    assert (engines["spark"]["fresh_at"], engines["spark"]["stale_seconds"]) == (None, 41.0)


def test_a_batch_does_not_make_fresh(state: RunState, clock: Clock) -> None:
    clock.tick(5)
    state.batch(1, 1, 0.1, {"duckdb": 200})
    assert state.snapshot()["engines"]["duckdb"]["stale_seconds"] == 5.0


def test_a_clock_that_was_set_back_gives_no_negative_age(state: RunState, clock: Clock) -> None:
    state.fresh("duckdb", clock.now)
    clock.tick(-10)
    assert state.snapshot()["engines"]["duckdb"]["stale_seconds"] == 0.0


def test_stale_bytes_are_those_to_where_the_source_was_last_told_to_be(state: RunState, clock: Clock) -> None:
    assert state.snapshot()["engines"]["duckdb"]["stale_bytes"] is None
    state.source(150, 4096)
    clock.tick(3)
    state.source(180)
    s = state.snapshot()
    assert (s["engines"]["duckdb"]["stale_bytes"], s["engines"]["spark"]["stale_bytes"]) == (80, 90)
    assert (s["source"]["lsn"], s["source"]["retained_bytes"], s["source"]["told_at"]) == (180, 4096, 1003.0)
    state.batch(1, 1, 0.1, {"duckdb": 500})
    assert state.snapshot()["engines"]["duckdb"]["stale_bytes"] == 0


def test_the_source_goes_away_and_comes_back(state: RunState, clock: Clock) -> None:
    assert state.source_away("refused", retry_in=2.0) == 1
    clock.tick(1)
    source = state.snapshot()["source"]
    assert (source["state"], source["seconds"], source["retry_in"], source["reason"]) == ("away", 1.0, 1.0, "refused")
    clock.tick(1)
    assert state.source_away("starting up", retry_in=4.0) == 2
    clock.tick(4)
    source = state.snapshot()["source"]
    assert (source["seconds"], source["attempts"], source["retry_in"], source["reason"]) == (6.0, 2, 0.0, "starting up")
    assert state.source_back() == 6.0
    source = state.snapshot()["source"]
    assert (source["state"], source["seconds"], source["reconnects"]) == ("connected", 0.0, 1)
    assert (source["reason"], source["retry_in"]) == ("", None)
    assert state.source_back() == 0.0
    assert state.snapshot()["source"]["reconnects"] == 1


def test_the_heartbeat_is_the_loops(state: RunState, clock: Clock) -> None:
    clock.tick(5)
    state.fresh("spark", clock.now)
    state.landed("spark", 1, 100)
    state.source(200)
    assert state.snapshot()["heartbeat_seconds"] == 5.0
    state.beat()
    assert state.snapshot()["heartbeat_seconds"] == 0.0


def test_views_that_are_set_aside_keep_their_engine(state: RunState) -> None:
    state.set_aside("totals", "conversion error")
    state.refreshed({"sizes": 0.5})
    assert state.snapshot()["views"] == [
        {
            "view": "totals",
            "engine": "duckdb",
            "maintenance": "incremental",
            "set_aside": "conversion error",
            "refresh_seconds": None,
        },
        {"view": "sizes", "engine": "spark", "maintenance": "keyed", "set_aside": "", "refresh_seconds": 0.5},
    ]


def test_an_engine_shows_a_failure_until_it_moves(state: RunState) -> None:
    state.failed("no space", "spark")
    state.landed("spark", 0, 90)
    assert state.snapshot()["engines"]["spark"]["error"] == "no space"
    state.landed("spark", 1, 91)
    assert state.snapshot()["engines"]["spark"]["error"] == ""
    assert state.snapshot()["counters"]["failures"] == 1


def test_changes_per_second_are_those_of_the_last_seconds(state: RunState, clock: Clock) -> None:
    state.batch(100, 100, 0.1, {})
    assert state.snapshot()["changes_per_second"] == 100
    clock.tick(2)
    assert state.snapshot()["changes_per_second"] == 50
    clock.tick(WINDOW - 3)
    state.batch(50, 50, 0.1, {})
    assert state.snapshot()["changes_per_second"] == 150 / (WINDOW - 1)
    clock.tick(1)
    assert state.snapshot()["changes_per_second"] == 50 / WINDOW
    clock.tick(WINDOW)
    assert state.snapshot()["changes_per_second"] == 0


def test_it_stops_with_a_reason(state: RunState) -> None:
    state.resident(1 << 20)
    state.stopped("asked to")
    s = state.snapshot()
    assert (s["phase"], s["reason"], s["resident_bytes"]) == ("stopped", "asked to", 1 << 20)


def test_threads_lose_no_count(state: RunState) -> None:
    def work() -> None:
        for _ in range(500):
            state.batch(1, 2, 0.01, {"duckdb": 101})
            state.landed("spark", 1, 95)
            state.snapshot()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    c = state.snapshot()["counters"]
    assert (c["batches"], c["changes"], c["rows"]) == (2000, 2000, 6000)
