"""Views that once went wrong or were refused: each case is a schema, rows, views and batches; compared after every
batch."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.project import Project

CASES = sorted(p for p in (Path(__file__).parent / "cases").iterdir() if p.is_dir())


def views(case: Path) -> dict[str, str]:
    parts = re.split(r"^-- view: (\w+).*\n", (case / "views.sql").read_text(), flags=re.M)[1:]
    return {name: text.strip().rstrip(";") for name, text in zip(parts[::2], parts[1::2], strict=True)}


WAYS = [  # engines and strategies
    pytest.param("duckdb", "auto", id="duckdb"),
    pytest.param("spark", "auto", id="spark", marks=[pytest.mark.slow, pytest.mark.spark]),
    pytest.param("duckdb", "higher_order", id="higher_order", marks=pytest.mark.slow),
    pytest.param("duckdb", "split", id="split", marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("engine", "strategy"), WAYS)
@pytest.mark.parametrize("case", CASES, ids=lambda p: p.name)
def test_every_view_is_the_sources_after_every_batch(
    case: Path, engine: str, strategy: str, database: str, tmp_path: Path
) -> None:
    """On Spark, views with a function it has no counterpart for are refused, and the others compared."""
    p = Project.create(tmp_path, database, views(case), engine, strategy=strategy)
    p.play(case / "schema.sql")
    p.play(case / "load.sql")
    told = p.deploy(keep_going=engine == "spark").views
    refused = [v.name for v in told if v.error is not None]
    assert len(refused) <= len(told) // 20, refused
    p.follow(case / "batches")
