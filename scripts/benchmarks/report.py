"""docs/bench.md and its pictures from the kept results of the parts."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
from collections.abc import Callable, Iterable
from datetime import date
from pathlib import Path
from typing import Any

from benchmarks import charts, compiling, copying, cost, jobs, large, many, paces_page, partial, sections, variants

PACKAGES = ("duckdb", "pyarrow", "numpy", "psycopg", "sqlglot", "pyspark", "delta-spark", "deltalake")
ENGINES = {
    "duckdb": "DuckDB",
    "local": "Spark, all Local",
    "mixed": "Spark, lineitem and orders Dist",
    "fetched": "Spark, lineitem and orders Dist, fetched by jobs",
    "tasks": "Spark, lineitem and orders Dist, found by indexes in tasks",
    "dist": "Spark, all Dist",
    "dist-fetched": "Spark, all Dist, fetched by jobs",
    "dist-tasks": "Spark, all Dist, found by indexes in tasks",
    "spark": "Spark, by executors alone",
}
ALL, LANDING = "all six", "landing alone"
AIMS = {("duckdb", 1_000): 15.0, ("duckdb", 100_000): 3.0, ("mixed", 1_000): 25.0, ("dist", 1_000): 5.0}


def write(results: Path, docs: Path) -> list[Path]:
    """Write the page and its pictures from what has been measured; gives their paths. What the page has of other parts
    stays."""
    kept = {p.stem: json.loads(p.read_text()) for p in sorted(results.glob("*.json"))}
    if not kept:
        raise SystemExit("report: nothing has been measured yet")
    docs.mkdir(parents=True, exist_ok=True)
    refreshes = [kept[k] for k in (f"refresh-{e}" for e in ENGINES) if k in kept]
    page, chart = docs / "bench.md", docs / "bench.png"
    if "refresh-duckdb" in kept:
        charts.refresh(refreshes, chart)
    parts = [_machine(), _aims(kept, chart.exists()), *map(_refresh, refreshes)]
    parts += [make(kept[name]) for name, make in PARTS.items() if name in kept]
    drawn = [docs / f"{name}.png" for name in ("partial", "paces", "paces-local") if name in kept]
    if "partial" in kept:
        charts.partial(kept["partial"], docs / "partial.png")
    for name in ("paces", "paces-local"):
        if name in kept:
            charts.paces(kept[name], docs / f"{name}.png")
    text = sections.merged(page.read_text() if page.exists() else "", parts)
    page.write_text(text, encoding="utf-8")
    return [page, *drawn, *([chart] if "refresh-duckdb" in kept else [])]


def _grid(head: Iterable[str], rows: Iterable[Iterable[str]]) -> list[str]:
    head = list(head)
    return [f"| {' | '.join(head)} |", "|" + "---|" * len(head), *(f"| {' | '.join(r)} |" for r in rows), ""]


def _ms(seconds: float) -> str:
    ms = seconds * 1e3
    return f"{ms:,.1f}" if ms < 100 else f"{ms:,.0f}"


def _machine() -> list[str]:
    versions = [f"{p} {importlib.metadata.version(p)}" for p in PACKAGES if _installed(p)]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / (1 << 30)
    return [
        "## Machine",
        "",
        *_grid(
            ("", ""),
            [
                ("date", date.today().isoformat()),
                ("processor", f"{_processor()}, {os.cpu_count()} cores"),
                ("memory", f"{memory:.0f} GiB"),
                ("system", f"{platform.system()} {platform.machine()}"),
                ("versions", ", ".join([f"Python {platform.python_version()}", *versions])),
            ],
        ),
    ]


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((x.split(":", 1)[1].strip() for x in lines if x.startswith("model name")), platform.machine())


def _installed(package: str) -> bool:
    try:
        importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


def _ratio(c: dict[str, Any]) -> float:
    return float(c["recompute"] / c["refresh"])


def _aims(kept: dict[str, Any], drawn: bool) -> list[str]:
    rows = []
    for (engine, size), aim in AIMS.items():
        cells = kept.get(f"refresh-{engine}", {}).get("cells", [])
        for c in cells:
            if c["views"] == ALL and c["size"] == size:
                rows.append(
                    (
                        f"{engine}: {size:,} rows through landing and six views, scale "
                        f"{kept[f'refresh-{engine}']['scale']:g}",
                        f"≥ {aim:g} times faster than recompute",
                        f"{_ratio(c):.1f} times",
                    )
                )
    if "capture" in kept:
        rates = [f"{kept['capture']['rows'] / r['seconds']:,.0f} ({r['name']})" for r in kept["capture"]["runs"]]
        rows.append(
            (f"capture of {kept['capture']['rows']:,} inserts of ten columns", "≥ 150,000 rows/s", ", ".join(rates))
        )
    if "latency" in kept:
        rows.append(("commit to visible, one row, p50", "≤ 60 ms", f"{kept['latency']['p50']:.0f} ms"))
    picture = ["![Refresh against recompute](bench.png)", ""] if drawn else []
    return ["## Aims", "", *_grid(("measure", "aim", "reached"), rows), *picture]


def _refresh(r: dict[str, Any]) -> list[str]:
    cells, engine = r["cells"], ENGINES[r["engine"]]
    sizes = sorted({c["size"] for c in cells})
    by = {(c["views"], c["size"]): c for c in cells}
    names = list(dict.fromkeys(c["views"] for c in cells))
    out = [
        f"## Refresh against recompute on {engine}",
        "",
        f"TPC-H at scale {r['scale']:g}. A batch of n rows has 60 % updates, 20 % inserts and 20 % deletes on "
        f"uniformly random "
        "keys of `orders` and `lineitem` (one to four). *Refresh* is landing the batch, maintaining the views and the "
        "commit; "
        "*recompute* runs the views' queries over the mirrors as they are after the batch, and does not land it. "
        "Milliseconds; medians of several batches. After every cell each view was compared with its query, as bags: "
        "no differences.",
        "",
    ]
    if r.get("jobs") is not None:
        out += [f"What is recomputed is recomputed by Spark. A batch took at most {r['jobs']} Spark jobs.", ""]
    head = ["views", "maintenance", "", *(f"{s:,}" for s in sizes)]
    rows = []
    for n in names:
        row = [by.get((n, s)) for s in sizes]
        rows.append(
            [f"**{n}**", r["maintenance"].get(n, ""), "refresh", *(_ms(c["refresh"]) if c else "" for c in row)]
        )
        if n == LANDING:
            continue
        rows.append(["", "", "recompute", *(_ms(c["recompute"]) if c else "" for c in row)])
        rows.append(["", "", "ratio", *(f"{_ratio(c):.1f}" if c else "" for c in row)])
    return [*out, *_grid(head, rows), *_limits(r, by, sizes)]


def _limits(r: dict[str, Any], by: dict[tuple[str, int], dict[str, Any]], sizes: list[int]) -> list[str]:
    """Where a batch's time goes: landing, the statements that take longest, and compaction beside it."""
    found = {int(s): _ms(v) for s, v in r.get("look_up", {}).items()}
    rows = []
    for s in sizes:
        c, alone = by.get((ALL, s)), by.get((LANDING, s))
        if c is None:
            continue
        longest = sorted(c["spent"].items(), key=lambda x: -x[1])[:4]
        rest = c["refresh"] - sum(c["spent"].values())
        told = {
            "rows": f"{s:,}",
            "refresh": _ms(c["refresh"]),
            "one look-up": found.get(s, ""),
            "landing alone": _ms(alone["refresh"]) if alone else "",
            "landing and commit within": _ms(rest) if c["spent"] else "",
            "compaction": _ms(c["folding"]),
            "longest statements": ", ".join(f"`{k}` {_ms(v)}" for k, v in longest),
        }
        rows.append(told)
    measured = [k for k in (rows[0] if rows else {}) if any(row[k] for row in rows)]
    text = ["Milliseconds of a batch through all six views."]
    if r["engine"] == "spark":
        text.append(
            "Compaction runs after a batch when the log has grown past its share of the base, and is given per batch "
            "on average."
        )
    if found:
        text.append(
            "*One look-up* finds as many random keys in `lineitem` by SQL and reads one column: a scan of all rows. A "
            "batch looks up old images in both tables, and each view but the first and the last looks up what its "
            "changes join; an index in memory saves the scans (docs/decisions/fetches-and-the-index.md), where the "
            "batches of a kind were faster with it."
        )
    return [
        "### What limits it",
        "",
        " ".join(text),
        "",
        *_grid(measured, [[row[k] for k in measured] for row in rows]),
    ]


def _strategies(r: dict[str, Any]) -> list[str]:
    cells = {(c["view"], c["strategy"], c["size"]): c for c in r["cells"]}
    names, sizes = list(dict.fromkeys(c["strategy"] for c in r["cells"])), sorted({c["size"] for c in r["cells"]})
    rows = []
    for view in dict.fromkeys(c["view"] for c in r["cells"]):
        for n in names:
            batches = [_ms(cells[view, n, size]["refresh"]) for size in sizes]
            last = cells[view, n, sizes[-1]]
            rows.append((view, n, *batches, _ms(last["read"]), f"{last['bytes'] / 1e6:,.1f}", _ms(last["recompute"])))
    return [
        "## Strategies",
        "",
        f"Each view alone on DuckDB, by each strategy, TPC-H scale {r['scale']:g}: milliseconds of a batch of so many "
        "orders' and lines' rows with its landing, of reading the view after it, megabytes of its states, and "
        "milliseconds of the query itself. Every cell was compared with the query.",
        "",
        *_grid(("view", "strategy", *(f"{s:,} rows" for s in sizes), "read", "MB kept", "query"), rows),
    ]


def _reads(r: dict[str, Any]) -> list[str]:
    rows = [
        (
            c["kind"],
            c["maintenance"],
            f"{c['rows']:,}",
            _ms(c["read"]),
            _ms(c["query"]),
            f"{c['query'] / c['read']:.1f}",
        )
        for c in r["cells"]
    ]
    return [
        "## Reading",
        "",
        f"A view of each kind on DuckDB, TPC-H scale {r['scale']:g}, read whole after a batch of {r['batch']:,} rows "
        "that still waits in tails where there are any; and its query over the mirrors. Milliseconds, medians. Each "
        "view was compared with its query.",
        "",
        *_grid(("view", "maintenance", "rows", "read", "query", "ratio"), rows),
    ]


def _capture(c: dict[str, Any]) -> list[str]:
    rows = [
        [r["name"], f"{c['rows'] / r['seconds']:,.0f}", str(r["batches"]), *(f"{v:.2f}" for v in r["spent"].values())]
        for r in c["runs"]
    ]
    return [
        "## Capture",
        "",
        f"{c['rows']:,} inserts of {c['columns']} columns, committed before the stream starts, into a DuckDB delta "
        "table without views. Seconds of one thread; *receive* includes waiting for the server, which decodes the WAL "
        "on the same "
        "machine. *As run does*: a batch also closes when nothing more has arrived, or after the default 20 ms; "
        "*large batches*: by rows "
        "and bytes only.",
        "",
        *_grid(("", "rows/s", "batches", *c["runs"][0]["spent"]), rows),
    ]


def _latency(x: dict[str, Any]) -> list[str]:
    return [
        "## Latency",
        "",
        f"From the return of a commit of one row to the answer of a query through a running pipeline that shows it, "
        f"{x['commits']} commits, one grouped view on DuckDB. Looking at the view takes {x['look']:.1f} ms, which is "
        f"in the numbers.",
        "",
        *_grid(("p50", "p95", "max"), [[f"{x[k]:.1f} ms" for k in ("p50", "p95", "max")]]),
    ]


PARTS: dict[str, Callable[[dict[str, Any]], list[str]]] = {
    "strategies": _strategies,
    "variants": variants.page,
    "jobs": jobs.page,
    "cost": cost.page,
    "many": many.page,
    "compile": compiling.page,
    "reads": _reads,
    "capture": _capture,
    "latency": _latency,
    "large": large.page,
    "copying": copying.page,
    "partial": partial.page,
    "paces": paces_page.page,
    "paces-local": paces_page.page,
}
