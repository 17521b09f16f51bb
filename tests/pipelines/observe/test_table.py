"""The live table: what it shows, and that it fits 80 columns."""

from __future__ import annotations

import io
import json

import pytest
from rich.console import Console

from pipelines.observe.snapshot import Snapshot
from pipelines.observe.state import RunState, ViewInfo
from pipelines.observe.table import LiveTable, seconds, size, title
from tests.pipelines.observe.clock import Clock

VIEWS = [
    ViewInfo("city_totals", "duckdb", "incremental"),
    ViewInfo("category_by_status", "spark", "keyed"),
    ViewInfo("numbers", "duckdb", "recompute", 'merge of "state.[numbers]" failed: conversion error'),
]


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def state(clock: Clock) -> RunState:
    s = RunState(clock, clock)
    s.started("slot", VIEWS, {"duckdb": 0xAB_1A2B3C4D, "spark": 0xAB_1A000000})
    s.batch(5000, 5000, 0.2, {})
    s.source(0xAB_1A2B4000, 1 << 20)
    s.fresh("duckdb", clock.now - 0.3)
    s.refreshed({"city_totals": 0.0123, "category_by_status": 12.3})
    return s


def shown(s: Snapshot, width: int = 80) -> list[str]:
    """Lines, of a snapshot that came as JSON."""
    s = json.loads(json.dumps(s))
    console = Console(file=io.StringIO(), width=width)
    console.print(LiveTable(s))
    out = console.file
    assert isinstance(out, io.StringIO)
    return [x.rstrip() for x in out.getvalue().splitlines()]


def test_a_line_a_view(state: RunState, clock: Clock) -> None:
    clock.tick(1)
    assert shown(state.snapshot()) == [
        "5,000 rows/s; source at AB/1A2B4000",
        "view               engine maint. frontier    behind   stale refresh",
        "city_totals        duckdb incr.  AB/1A2B3C4D  947 B   1.3 s 12.3 ms",
        "category_by_status spark  keyed  AB/1A000000 2.8 MB > 1.0 s    12 s",
        "numbers            duckdb aside  –                –       –       –",
        'numbers is set aside: merge of "state.[numbers]" failed: conversion error',
    ]


def test_a_wide_terminal_has_the_words(state: RunState) -> None:
    assert "incremental" in shown(state.snapshot(), 100)[2]


def test_rows_where_they_are_known(state: RunState) -> None:
    s = state.snapshot()
    s["views"][0]["rows"] = 1_234_567
    lines = shown(s)
    assert lines[1].endswith("rows") and lines[2].endswith("1,234,567") and lines[3].endswith("–")


@pytest.mark.parametrize("rows", [None, 123_456_789])
def test_80_columns_hold_large_numbers_and_long_names(clock: Clock, rows: int | None) -> None:
    state = RunState(clock, clock)
    name = "a_view_with_a_name_of_sixty_three_letters_as_postgres_allows_it"
    state.started("s", [ViewInfo(name, "duckdb", "recompute")], {"duckdb": 1 << 60})
    state.source((1 << 60) + 999_999_999_999)
    state.refreshed({name: 0.1234})
    s = state.snapshot()
    s["views"][0]["rows"] = rows
    lines = shown(s)
    assert len(lines) == 3 and max(map(len, lines)) == 80
    assert "a_view_w" in lines[2] and "10000000/0" in lines[2] and "1.0 TB" in lines[2] and "123.4 ms" in lines[2]


def test_a_source_that_is_away(state: RunState, clock: Clock) -> None:
    state.source_away("connection refused", 30.0)
    clock.tick(42)
    assert title(state.snapshot()) == "0 rows/s; source away 42 s: connection refused (attempt 2 in 0.0 s)"
    state.source_back()
    assert title(state.snapshot()) == "0 rows/s; source at AB/1A2B4000; 1 reconnect"


def test_what_is_wrong_is_below(state: RunState, clock: Clock) -> None:
    state.failed("no space left on device", "spark")
    clock.tick(20)
    lines = shown(state.snapshot())
    assert "the loop is in a batch, or stuck, for 20 s" in lines and "spark failed: no space left on device" in lines


def test_a_pipeline_that_stopped(state: RunState) -> None:
    state.stopped("asked to")
    assert title(state.snapshot()) == "stopped: asked to"


@pytest.mark.parametrize(
    ("n", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.0 kB"),
        (9949, "9.9 kB"),
        (9960, "10 kB"),
        (999_600, "1.0 MB"),
        (5e9, "5.0 GB"),
        (1.5e15, "1,500.0 TB"),
    ],
)
def test_sizes(n: float, text: str) -> None:
    assert size(n) == text


@pytest.mark.parametrize(
    ("n", "text"), [(0, "0.0 s"), (9.94, "9.9 s"), (9.96, "10 s"), (119, "119 s"), (120, "2 min"), (7200, "2.0 h")]
)
def test_seconds(n: float, text: str) -> None:
    assert seconds(n) == text
