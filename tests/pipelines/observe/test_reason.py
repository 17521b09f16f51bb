"""A reason holds what failed and why, and no value."""

from __future__ import annotations

import duckdb
import psycopg
import pytest

from compiler.errors import TidemarkError
from connectors.engine import EngineFailure
from connectors.postgres.connection import SourceUnreachable, connect
from pipelines.observe.reason import LONGEST, reason, stored, worded


def test_an_engines_error_is_its_class() -> None:
    with pytest.raises(duckdb.Error) as e:
        duckdb.connect().execute("SELECT CAST(x AS int) FROM (VALUES ('hunter2')) t(x)").fetchall()
    failure = EngineFailure('merge of "state.numbers" failed', detail=str(e.value))
    assert "hunter2" in failure.detail
    assert reason(failure) == 'merge of "state.numbers" failed: conversion error'


def test_sparks_error_is_its_class() -> None:
    detail = "[CAST_INVALID_INPUT] The value 'hunter2' of the type \"STRING\" cannot be cast"
    failure = EngineFailure("merge of x failed on Spark", detail=detail)
    assert reason(failure) == "merge of x failed on Spark: cast_invalid_input"


def test_a_source_that_refuses() -> None:
    with pytest.raises(SourceUnreachable) as e:
        connect("host=127.0.0.1 port=1 user=u password=hunter2 dbname=d")
    assert reason(e.value) == "cannot connect to the source u@127.0.0.1:1/d: connection refused"


def test_a_server_that_closes_the_stream() -> None:
    detail = "FATAL:  terminating connection due to administrator command\nserver closed the connection unexpectedly"
    assert reason(TidemarkError("it broke", detail=detail)) == (
        "it broke: server closed the connection unexpectedly, terminating connection due to administrator command"
    )


def test_an_error_that_is_not_ours_is_its_type() -> None:
    assert reason(psycopg.errors.UniqueViolation("Key (id)=(hunter2) already exists.")) == "UniqueViolation"
    assert reason(OSError(28, "No space left on device", "/hunter2")) == "OSError: no space left on device"


def test_what_the_deployment_keeps() -> None:
    assert stored("") == ""
    assert stored("merge of \"state.x\" failed: Conversion Error: Could not convert string 'hunter2: 5' to INT32") == (
        'merge of "state.x" failed: conversion error'
    )


def test_it_is_one_line_of_bounded_length() -> None:
    assert worded("a\n  b\tc", "") == "a b c"
    assert len(worded("x" * 1000, "")) == LONGEST
