"""Postgres' meaning on both engines: what docs/functions.md says of each expression is what happens."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.parity.engines import Evaluator, OnDuckdb, OnSpark
from tests.parity.expressions import expressions
from tests.parity.page import status, written
from tests.parity.source import Source
from tests.parity.verdicts import NOTHING, Parity


def check(database: str, engine: Evaluator, column: int) -> None:
    source = Source(database)
    try:
        told, wrong = written(), []
        for v in Parity(source, engine).verdicts(expressions()):
            if v.status == NOTHING:
                continue
            now, page = status(v), told.get((v.expression.signature, v.expression.sql), ("absent", "absent"))[column]
            if now != page:
                wrong.append(
                    f"{v.expression.signature}: {v.expression.sql} is {now}, docs/functions.md says {page}: {v.why}"
                )
        assert not wrong, "\n".join(wrong)
    finally:
        source.close()


def test_duckdb_evaluates_as_the_page_says(database: str, tmp_path: Path) -> None:
    check(database, OnDuckdb(tmp_path), 0)


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.parametrize("interpreted", [False, True], ids=["compiled", "interpreted"])
def test_spark_evaluates_as_the_page_says(database: str, tmp_path: Path, interpreted: bool) -> None:
    check(database, OnSpark(tmp_path, interpreted), 1)


def test_no_difference_is_without_a_reason() -> None:
    unknown = [k for k, told in written().items() if any("None" in t for t in told)]
    assert not unknown
