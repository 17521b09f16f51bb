"""The HTTP server on a real port: metrics, health, readiness, and what it refuses."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator
from typing import Any
from urllib.error import HTTPError

import pytest
from prometheus_client.openmetrics import parser as openmetrics
from prometheus_client.parser import text_string_to_metric_families

from pipelines.observe import http
from pipelines.observe.health import HealthLimits
from pipelines.observe.state import RunState, ViewInfo
from tests.pipelines.observe.clock import Clock

VIEWS = [ViewInfo("totals", "duckdb", "incremental"), ViewInfo("sizes", "spark", "keyed")]


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def state(clock: Clock) -> RunState:
    return RunState(clock, clock)


@pytest.fixture
def server(state: RunState) -> Iterator[http.Server]:
    s = http.start(state, "127.0.0.1:0", HealthLimits(heartbeat=30.0, stale=10.0))
    yield s
    s.stop()


def ask(server: http.Server, path: str, method: str = "GET", **headers: str) -> tuple[int, str, Any]:
    """(status, body, headers)."""
    request = urllib.request.Request(f"http://127.0.0.1:{server.port}{path}", method=method, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=10) as r:
            return r.status, r.read().decode(), r.headers
    except HTTPError as e:
        with e:
            return e.code, e.read().decode(), e.headers


def metrics(server: http.Server) -> dict[str, float]:
    """`name{label's value,…}`, in the order of the labels' names → value."""
    _, body, _ = ask(server, "/metrics")
    return {
        s.name + (f"{{{','.join(s.labels.values())}}}" if s.labels else ""): s.value
        for family in text_string_to_metric_families(body)
        for s in family.samples
    }


def codes(server: http.Server, path: str) -> tuple[int, list[str]]:
    status, body, _ = ask(server, path)
    told = json.loads(body)
    assert told[{"/healthz": "healthy", "/readyz": "ready"}[path]] == (status == 200)
    return status, [r["code"] for r in told["reasons"]]


def start(state: RunState, clock: Clock) -> None:
    state.started("slot", VIEWS, {"duckdb": 100, "spark": 90})
    state.fresh("duckdb", clock.now)
    state.fresh("spark", clock.now)


def test_metrics(server: http.Server, state: RunState, clock: Clock) -> None:
    start(state, clock)
    state.batch(5, 6, 0.03, {"duckdb": 120}, transactions=2, received_bytes=700)
    state.batch(1, 1, 999.0, {"duckdb": 130})
    state.source(200, 4096, safe_bytes=9000)
    state.refreshed({"totals": 0.25})
    state.set_aside("sizes", "conversion error")
    state.failed("no space", "spark")
    state.source_away("refused")
    state.source_back()
    clock.tick(7)
    m = metrics(server)
    expected = {
        "frontier_lsn_bytes{duckdb}": 130,
        "frontier_lsn_bytes{spark}": 90,
        "stale_seconds{duckdb}": 7,
        "stale_bytes{duckdb}": 70,
        "stale_bytes{spark}": 110,
        "engine_failed{duckdb}": 0,
        "engine_failed{spark}": 1,
        "view_set_aside{totals}": 0,
        "view_set_aside{sizes}": 1,
        "view_refresh_seconds{duckdb,totals}": 0.25,
        "source_connected": 1,
        "source_lsn_bytes": 200,
        "source_told_timestamp_seconds": 1000,
        "slot_retained_bytes": 4096,
        "slot_safe_bytes": 9000,
        "reconnects_total": 1,
        "batches_total": 2,
        "transactions_total": 2,
        "changes_total": 6,
        "rows_total": 7,
        "received_bytes_total": 700,
        "failures_total": 1,
        "batch_seconds_bucket{0.025}": 0,
        "batch_seconds_bucket{0.05}": 1,
        "batch_seconds_bucket{+Inf}": 2,
        "batch_seconds_count": 2,
        "batch_seconds_sum": 999.03,
        "up": 1,
        "heartbeat_seconds": 7,
        "started_timestamp_seconds": 1000,
    }
    assert {k: m.get(f"tidemark_{k}") for k in expected} == expected
    assert m["process_resident_memory_bytes"] > 1 << 20 and "process_cpu_seconds_total" in m


def test_what_is_not_known_is_left_out(server: http.Server, state: RunState) -> None:
    state.started("slot", VIEWS, {"duckdb": 100})
    unknown = ("tidemark_stale_bytes", "tidemark_slot", "tidemark_source_lsn", "tidemark_view_refresh")
    assert not {k for k in metrics(server) if k.startswith(unknown)}


def test_staleness_is_made_when_it_is_asked_for(server: http.Server, state: RunState, clock: Clock) -> None:
    start(state, clock)
    told = []
    for _ in range(3):
        told.append(metrics(server)["tidemark_stale_seconds{duckdb}"])
        clock.tick(60)
    assert told == [0, 60, 120]


def test_metrics_in_the_newer_format(server: http.Server, state: RunState, clock: Clock) -> None:
    start(state, clock)
    status, body, headers = ask(server, "/metrics", Accept="application/openmetrics-text; version=1.0.0")
    assert status == 200 and headers["Content-Type"].startswith("application/openmetrics-text")
    assert "tidemark_batches" in {f.name for f in openmetrics.text_string_to_metric_families(body)}


def test_health_is_the_loops_heartbeat(server: http.Server, state: RunState, clock: Clock) -> None:
    assert codes(server, "/healthz") == (200, [])
    start(state, clock)
    state.source_away("refused")
    assert codes(server, "/healthz") == (200, [])
    clock.tick(31)
    assert codes(server, "/healthz") == (503, ["stuck"])
    state.beat()
    assert codes(server, "/healthz") == (200, [])
    state.stopped("the slot is gone")
    assert codes(server, "/healthz") == (503, ["stopped"])


def test_it_is_ready_when_everything_is_there_and_fresh(server: http.Server, state: RunState, clock: Clock) -> None:
    assert codes(server, "/readyz") == (503, ["starting"])
    state.started("slot", VIEWS, {"duckdb": 100, "spark": 90})
    assert codes(server, "/readyz") == (503, ["catching_up", "catching_up"])
    start(state, clock)
    assert codes(server, "/readyz") == (200, [])
    clock.tick(9)
    state.fresh("duckdb", clock.now)
    clock.tick(2)
    assert codes(server, "/readyz") == (503, ["stale"])
    state.fresh("spark", clock.now)
    state.source_away("refused")
    state.set_aside("totals", "conversion error")
    state.failed("no space", "spark")
    assert codes(server, "/readyz") == (503, ["source_away", "set_aside", "engine_failed"])
    _, body, headers = ask(server, "/readyz")
    assert headers["Content-Type"] == "application/json"
    assert [r["message"] for r in json.loads(body)["reasons"]] == [
        "the source is away 0 s: refused",
        'view "totals" is set aside: conversion error',
        "spark: no space",
    ]
    clock.tick(31)
    assert codes(server, "/readyz")[1][0] == "stuck"


def test_head_has_no_body(server: http.Server) -> None:
    for path in ("/metrics", "/healthz"):
        status, body, headers = ask(server, path, "HEAD")
        assert (status, body) == (200, "") and int(headers["Content-Length"]) > 0
