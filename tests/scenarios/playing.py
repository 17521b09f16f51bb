"""A case, a folder of schema, rows, views and batches, as it is played: with which engine and strategy, and what came
of it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.project import Project

WAYS = [  # engines and strategies
    pytest.param("duckdb", "auto", id="duckdb"),
    pytest.param("spark", "auto", id="spark", marks=[pytest.mark.slow, pytest.mark.spark]),
    pytest.param("duckdb", "higher_order", id="higher_order", marks=pytest.mark.slow),
    pytest.param("duckdb", "split", id="split", marks=pytest.mark.slow),
    pytest.param("duckdb", "paces", id="paces", marks=pytest.mark.slow),
]


@dataclass
class Played:
    """Why views were refused, how the others are maintained, and how views and mirrors differed."""

    refused: dict[str, str]
    maintenance: dict[str, str]
    differences: dict[str, list[str]] = field(default_factory=dict)

    def check(self, view: str) -> None:
        """Fails unless a view is maintained by its changes, and was the source's after every batch."""
        assert self.refused.get(view) is None
        assert self.maintenance[view] in ("incremental", "keyed")
        assert self.differences[view] == []

    def of_mirrors(self) -> list[str]:
        """How mirrors differed."""
        return [d for name, lines in self.differences.items() if name not in self.maintenance for d in lines]


Play = Callable[[Path, str, str], Played]  # of a case, by an engine and a strategy
Fill = Callable[[Project, Path], None]


def views(case: Path) -> dict[str, str]:
    """The queries of a case by their names."""
    parts = re.split(r"^-- view: (\w+).*\n", (case / "views.sql").read_text(), flags=re.M)[1:]
    return {name: text.strip().rstrip(";") for name, text in zip(parts[::2], parts[1::2], strict=True)}


def play(p: Project, case: Path, fill: Fill) -> Played:
    """Deploys the views of the project, and compares them with the source after each batch."""
    fill(p, case)
    told = p.deploy(keep_going=p.config.defaults.engine == "spark").views
    refused = {v.name: v.error.message for v in told if v.error is not None}
    return Played(refused, p.maintenance, p.compared(case / "batches"))
