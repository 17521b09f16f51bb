"""Answers are kept within a bound, and not where tables were made anew while they were read."""

from __future__ import annotations

import pyarrow as pa
import pytest

from connectors.spark import recent
from connectors.spark.recent import Recent


def rows(n: int) -> pa.Table:
    return pa.table({"x": pa.array(range(n), pa.int64())})


def test_the_oldest_go_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recent, "LIMIT", 100)
    r = Recent()
    for name in ("a", "b"):
        r.put(name, rows(5), r.age)
    assert r.get("a") == rows(5)
    r.put("c", rows(5), r.age)
    r.put("large", rows(50), r.age)
    assert r.get("b") is None and r.get("large") is None and r.get("a") == r.get("c") == rows(5) and r.size == 80


def test_what_was_read_before_tables_were_made_anew_is_not_kept() -> None:
    r = Recent()
    r.put("a", rows(1), r.age)
    age = r.age
    r.forget()
    r.put("b", rows(1), age)
    assert r.get("a") is None and r.get("b") is None and r.size == 0
