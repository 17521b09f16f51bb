"""The log of a run: an event a line, in text or JSON, and nothing but names, counts, LSNs and reasons."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import pytest

from connectors.engine import EngineFailure
from pipelines.observe import log as module
from pipelines.observe.log import Format, Log, configure
from pipelines.observe.reason import reason
from pipelines.observe.state import ViewInfo

VIEWS = [ViewInfo("totals", "duckdb"), ViewInfo("numbers", "spark", set_aside="conversion error")]


@pytest.fixture(autouse=True)
def unhook() -> Iterator[None]:
    yield
    if module._libraries is not None:
        logging.getLogger().removeHandler(module._libraries)


def everything(log: Log) -> None:
    detail = "Conversion Error: Could not convert string 'hunter2' to INT32"
    failure = EngineFailure('merge of "state.numbers" failed', detail=detail)
    log.started("slot_1", VIEWS, {"duckdb": 0x1_0000_00FF, "spark": 16}, "127.0.0.1:9187")
    log.batches(3, 4, 50, 60, 6.04, 0.12345, 0x1_0000_00FF, 0.26)
    log.source_away("the source closed the replication stream", 1, 0.5)
    log.source_away("connection refused", 2, None)
    log.source_back(42.04, 1)
    log.set_aside("numbers", reason(failure))
    log.renamed("public.t.v", "value")
    log.failed(reason(failure), "spark")
    log.stopped("asked to", {"duckdb": 16})


def lines(format: Format) -> list[str]:
    out = io.StringIO()
    everything(configure(format, out))
    return out.getvalue().splitlines()


def test_json_is_an_object_a_line() -> None:
    events: list[dict[str, Any]] = [json.loads(x) for x in lines("json")]
    assert [(e["event"], e["level"]) for e in events] == [
        ("started", "info"),
        ("batches", "info"),
        ("source away", "warning"),
        ("source away", "warning"),
        ("source back", "info"),
        ("view set aside", "warning"),
        ("renamed in the source", "info"),
        ("failed", "error"),
        ("stopped", "info"),
    ]
    assert all(list(e)[:3] == ["event", "level", "ts"] for e in events)
    assert all(e["ts"].endswith("Z") and datetime.fromisoformat(e["ts"]) for e in events)
    rest = [{k: v for k, v in e.items() if k not in ("event", "level", "ts")} for e in events]
    why = 'merge of "state.numbers" failed: conversion error'
    assert rest == [
        {"slot": "slot_1", "views": 2, "set_aside": 1, "duckdb": "1/FF", "spark": "0/10", "listen": "127.0.0.1:9187"},
        {
            "batches": 3,
            "transactions": 4,
            "changes": 50,
            "rows": 60,
            "rows_per_second": 6.0,
            "seconds": 0.123,
            "frontier": "1/FF",
            "stale_seconds": 0.3,
        },
        {"reason": "the source closed the replication stream", "attempt": 1, "retry_in": 0.5},
        {"reason": "connection refused", "attempt": 2},
        {"seconds": 42.0, "reconnects": 1},
        {"view": "numbers", "reason": why},
        {"name": "public.t.v", "called": "value"},
        {"engine": "spark", "reason": why},
        {"reason": "asked to", "duckdb": "0/10"},
    ]


def test_text_is_a_line_an_event() -> None:
    got = [x.split(" ", 1)[1] for x in lines("text")]
    assert got[1] == (
        "info    batches batches=3 transactions=4 changes=50 rows=60 rows_per_second=6.0 seconds=0.123 "
        "frontier=1/FF stale_seconds=0.3"
    )
    assert got[3] == "warning source away reason='connection refused' attempt=2"


@pytest.mark.parametrize("format", ["text", "json"])
def test_no_value_is_in_it(format: Format) -> None:
    assert "hunter2" not in "\n".join(lines(format))


def test_a_run_that_failed_stops_with_an_error() -> None:
    out = io.StringIO()
    configure("json", out).stopped("the slot is gone", {}, error=True)
    assert json.loads(out.getvalue())["level"] == "error"


@pytest.mark.parametrize("format", ["text", "json"])
def test_a_name_cannot_make_a_line_or_colours(format: Format) -> None:
    out = io.StringIO()
    configure(format, out).set_aside("a\nlevel=error\x1b[31m", "x")
    assert out.getvalue().count("\n") == 1 and "\x1b" not in out.getvalue()


@pytest.mark.parametrize("format", ["text", "json"])
def test_libraries_are_shown_without_their_arguments(format: Format) -> None:
    out = io.StringIO()
    configure(format, out)
    logging.getLogger("some.library").warning("cannot read %s", "hunter2")
    logging.getLogger("some.library").error("cannot read hunter2")
    logging.getLogger("some.library").info("hunter2")
    said = out.getvalue()
    assert "hunter2" not in said and "cannot read %s" in said
    assert said.count("some.library") == 2 and said.count("\n") == 2


def test_what_other_parts_say_has_names_and_no_detail() -> None:
    stream = io.StringIO()
    configure("text", stream)
    logging.getLogger("tidemark").warning('view "%s" is set aside: %s', "orders", "its row (7) has hunter2")
    said = stream.getvalue()
    assert 'view "orders" is set aside' in said and "hunter2" not in said and "%s" not in said, said


def test_the_last_log_is_the_one_that_libraries_reach() -> None:
    first, second = io.StringIO(), io.StringIO()
    configure("json", first)
    configure("json", second)
    logging.getLogger("some.library").warning("once")
    assert first.getvalue() == "" and second.getvalue().count("\n") == 1


def test_a_stream_that_is_closed_does_not_stop_the_run() -> None:
    out = io.StringIO()
    log = configure("json", out)
    out.close()
    log.set_aside("totals", "x")
