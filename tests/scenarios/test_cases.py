"""Views that once went wrong or were refused: each case is a schema, rows, views and batches; compared after every
batch, a test a view. A case is played once, by the first of its views."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.scenarios.playing import WAYS, Play, views

CASES = {p.name: p for p in sorted((Path(__file__).parent / "cases").iterdir()) if p.is_dir()}
REFUSED = {  # by Spark, each with its reason
    ("chars_and_clocks", "units_in_the_plural"): "date_trunc('minute') of interval has no counterpart in spark",
    ("spans_and_shares", "modes"): "mode of intervals has no counterpart in spark",
}
VIEWS = [(case, view) for case, folder in CASES.items() for view in views(folder)]


@pytest.mark.parametrize(("engine", "strategy"), WAYS)
@pytest.mark.parametrize(("case", "view"), VIEWS, ids=[f"{c}-{v}" for c, v in VIEWS])
def test_every_view_is_the_sources_after_every_batch(
    case: str, view: str, engine: str, strategy: str, played: Play
) -> None:
    got = played(CASES[case], engine, strategy)
    if engine == "spark" and (case, view) in REFUSED:
        assert REFUSED[case, view] in got.refused[view]
        return
    assert got.refused.get(view) is None
    assert got.differences[view] == []


@pytest.mark.parametrize(("engine", "strategy"), WAYS)
@pytest.mark.parametrize("case", CASES)
def test_no_other_view_is_refused(case: str, engine: str, strategy: str, played: Play) -> None:
    known = {view for c, view in REFUSED if c == case} if engine == "spark" else set()
    assert set(played(CASES[case], engine, strategy).refused) == known


@pytest.mark.parametrize(("engine", "strategy"), WAYS)
@pytest.mark.parametrize("case", CASES)
def test_mirrors_are_the_sources(case: str, engine: str, strategy: str, played: Play) -> None:
    assert played(CASES[case], engine, strategy).of_mirrors() == []
