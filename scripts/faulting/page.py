"""docs/faults.md: a part for each engine and for the soak, each replaced by the run that makes it anew."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

from faulting.result import Row, table
from faulting.scene import Options

FOLDER = re.compile(r"/\S*?tidemark-faults-\w+/\d+/")  # where the project was
HEAD = """# Faults

Written by `scripts/faults`. A workload of transactions over several tables writes to a Postgres of its own, Tidemark
runs as processes, and faults are injected into both. After each fault Tidemark recovers by its own commands, and every
view and every mirror is compared with the source, row by row, by code that shares nothing with `tidemark verify`.

| column | counts |
|---|---|
| lost, doubled | rows that a view or mirror lacks, or has too many, after recovery |
| half shown | polls of views that show part of a transaction: money moved between two tables is the same in all |
| called fresh | answers of `status` by which a view is fresher than it is, by more than a second |
| failed otherwise | commands that did not end as they should: they are listed below |
"""


def write(path: Path, rows: list[Row], options: Options, minutes: float, measured: list[str]) -> None:
    """Puts the tables of a run, its failures and notes into its section of the page."""
    title = {
        "duckdb": "DuckDB",
        "local": "Spark, Local",
        "mixed": "Spark, large mirrors and states Dist",
        "spark": "Spark",
    }[options.engine]
    killed = not measured and "kills" in (options.only or "kills").split(",")
    with_moments = f", {options.moments} random moments" if killed else ""
    asked = ", --quick" if options.quick else ""
    asked += f", {options.trials} trials of failpoints, drawn from all" if options.trials and not options.quick else ""
    lines = [
        f"{datetime.now(UTC):%Y-%m-%d}, seed {options.seed}{with_moments}{asked}, {minutes:.0f} minutes.",
        "",
        *table(rows),
    ]
    lines += ["", *measured] if measured else []
    for label, found in (
        ("Failed", [f"{r.kind}: {x}" for r in rows for x in r.failures]),
        ("Counted", [f"{r.kind}: {x}" for r in rows for x in r.notes]),
        ("Not reached", [x for r in rows for x in r.unreached]),
    ):
        if found:
            lines += ["", f"{label}:", "", *(f"- {FOLDER.sub('', ' '.join(x.split()))}" for x in found[:60])]
    if options.only:  # a part of the sweep has a place of its own
        title += f": {options.only.replace(',', ', ')}"
    if options.points:
        title += f" ({options.points.replace(',', ', ')})"
    put(path, f"Mixed load on {title}" if measured else title, lines)


def put(path: Path, title: str, lines: list[str]) -> None:
    """Replace the part of that title; the others stay."""
    old = path.read_text() if path.exists() else ""
    parts = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", old, re.M | re.S))
    parts[title] = "\n" + "\n".join(lines) + "\n\n"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        (HEAD + "\n" + "".join(f"## {t}\n{body.rstrip()}\n\n" for t, body in parts.items())).rstrip() + "\n"
    )
