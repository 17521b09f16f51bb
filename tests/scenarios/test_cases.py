"""Views that once went wrong or were refused: each case is a schema, rows, views and batches; compared after every
batch, a test a view. A case is played once, by the first of its views."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.conftest import new_database
from tests.project import Project

CASES = {p.name: p for p in sorted((Path(__file__).parent / "cases").iterdir()) if p.is_dir()}
WAYS = [  # engines and strategies
    pytest.param("duckdb", "auto", id="duckdb"),
    pytest.param("spark", "auto", id="spark", marks=[pytest.mark.slow, pytest.mark.spark]),
    pytest.param("duckdb", "higher_order", id="higher_order", marks=pytest.mark.slow),
    pytest.param("duckdb", "split", id="split", marks=pytest.mark.slow),
    pytest.param("duckdb", "paces", id="paces", marks=pytest.mark.slow),
]
REFUSED = {  # by Spark, each with its reason
    ("chars_and_clocks", "units_in_the_plural"): "date_trunc('minute') of interval has no counterpart in spark",
    ("spans_and_shares", "modes"): "mode of intervals has no counterpart in spark",
}


def views(case: Path) -> dict[str, str]:
    parts = re.split(r"^-- view: (\w+).*\n", (case / "views.sql").read_text(), flags=re.M)[1:]
    return {name: text.strip().rstrip(";") for name, text in zip(parts[::2], parts[1::2], strict=True)}


@dataclass
class Played:
    """Why views were refused, and how views and mirrors differed."""

    refused: dict[str, str]
    differences: dict[str, list[str]] = field(default_factory=dict)


@pytest.fixture(scope="module")
def played(server: str, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str, str], Played]:
    @functools.cache
    def play(case: str, engine: str, strategy: str) -> Played:
        with new_database(server) as dsn:
            p = Project.create(tmp_path_factory.mktemp(case), dsn, views(CASES[case]), engine, strategy=strategy)
            p.play(CASES[case] / "schema.sql")
            p.play(CASES[case] / "load.sql")
            told = p.deploy(keep_going=engine == "spark").views
            refused = {v.name: v.error.message for v in told if v.error is not None}
            return Played(refused, p.compared(CASES[case] / "batches"))

    return play


VIEWS = [(case, view) for case, folder in CASES.items() for view in views(folder)]


@pytest.mark.parametrize(("engine", "strategy"), WAYS)
@pytest.mark.parametrize(("case", "view"), VIEWS, ids=[f"{c}-{v}" for c, v in VIEWS])
def test_every_view_is_the_sources_after_every_batch(
    case: str, view: str, engine: str, strategy: str, played: Callable[[str, str, str], Played]
) -> None:
    got = played(case, engine, strategy)
    if engine == "spark" and (case, view) in REFUSED:
        assert REFUSED[case, view] in got.refused[view]
        return
    assert got.refused.get(view) is None
    assert got.differences[view] == []


@pytest.mark.parametrize(("engine", "strategy"), WAYS)
@pytest.mark.parametrize("case", CASES)
def test_no_other_view_is_refused(
    case: str, engine: str, strategy: str, played: Callable[[str, str, str], Played]
) -> None:
    known = {view for c, view in REFUSED if c == case} if engine == "spark" else set()
    assert set(played(case, engine, strategy).refused) == known
