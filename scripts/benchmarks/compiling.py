"""What compiling takes: the queries of three benchmarks, by each strategy, from text to the statements of a batch."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from compiler.catalog import Catalog, read_schema
from compiler.errors import TidemarkError
from compiler.maintain.differentiate import program
from compiler.maintain.strategy import PLAIN
from compiler.parse import parse_query
from compiler.view import compile_view
from dialects.duckdb import DUCKDB
from dialects.printer import Printer

SCENARIOS = Path(__file__).parents[2] / "tests" / "scenarios"
CASES = {"tpch": "TPC-H", "ch": "CH-benCHmark", "finance": "finance"}


def run(repeat: int, say: Callable[[str], None]) -> dict[str, Any]:
    """A cell for each case and strategy: by view the seconds to the plan, and from there to the statements of a batch
    over all of its tables; medians."""
    cells = []
    for case, title in CASES.items():
        catalog = read_schema((SCENARIOS / case / "schema.sql").read_text())
        texts = views((SCENARIOS / case / "views.sql").read_text())
        for strategy in PLAIN:
            took = {name: _medians(catalog, name, text, strategy, repeat) for name, text in texts.items()}
            cells.append({"case": title, "strategy": strategy, "views": took})
            say(f"{title} by {strategy}: {len(took)} views in {sum(a + b for a, b in took.values()):.2f} s")
    return {"cells": cells}


def views(text: str) -> dict[str, str]:
    """The queries of a file, by the names that its comments give them."""
    parts = re.split(r"^-- view: (\w+).*\n", text, flags=re.M)[1:]
    return {name: query.strip().rstrip(";") for name, query in zip(parts[::2], parts[1::2], strict=True)}


def _medians(catalog: Catalog, name: str, text: str, strategy: str, repeat: int) -> tuple[float, float]:
    plans, printed = [], []
    for _ in range(repeat):
        begun = time.perf_counter()
        try:
            plan = compile_view(name, parse_query(text), catalog, strategy=strategy)
        except TidemarkError as e:
            raise SystemExit(f"compile: {name} is refused: {e}") from e
        planned = time.perf_counter()
        Printer(DUCKDB).prepare(program([plan], plan.tables))
        plans.append(planned - begun)
        printed.append(time.perf_counter() - planned)
    return median(plans), median(printed)


def page(r: dict[str, Any]) -> list[str]:
    """The section of the report."""
    out = [
        "## Compiling",
        "",
        "Milliseconds a view, to its states and to a batch over all its tables.",
    ]
    out += ["", "| queries | strategy | states, mean | statements, mean | both, slowest |", "|---|---|---|---|---|"]
    for c in r["cells"]:
        took = c["views"]
        slowest = max(took, key=lambda v: sum(took[v]))
        means = [sum(t[i] for t in took.values()) / len(took) * 1e3 for i in (0, 1)]
        out.append(
            f"| {c['case']}, {len(took)} | {c['strategy']} | {means[0]:.1f} | {means[1]:.1f} | "
            f"{sum(took[slowest]) * 1e3:.1f} (`{slowest}`) |"
        )
    return [*out, ""]
