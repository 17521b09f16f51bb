"""The order-book queries of the DBToaster line of papers: nested aggregates, correlated by inequality, over bids and
asks."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.scenarios.playing import WAYS, Play, views

CASE = Path(__file__).parent / "finance"


@pytest.mark.parametrize(("engine", "strategy"), WAYS)
@pytest.mark.parametrize("view", views(CASE))
def test_a_query_is_maintained(view: str, engine: str, strategy: str, played: Play) -> None:
    played(CASE, engine, strategy).check(view)


@pytest.mark.parametrize(("engine", "strategy"), WAYS)
def test_mirrors_are_the_sources(engine: str, strategy: str, played: Play) -> None:
    assert played(CASE, engine, strategy).of_mirrors() == []
