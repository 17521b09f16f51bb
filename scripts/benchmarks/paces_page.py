"""What was measured of paces, as a section of docs/bench.md."""

from __future__ import annotations

from typing import Any

from benchmarks.paces_stream import CORRECTED, DELETED, LARGER
from dialects.duckdb import DUCKDB

TITLES = {"duckdb": "Paces", "local": "Paces on Spark, all Local"}
ON = {"duckdb": "on DuckDB", "local": "on Spark, kept by the driver"}


def _kept(cells: list[dict[str, Any]], by: str = "final") -> int:
    return sum(c[by] <= c["share"] * c["batch"] for c in cells)


def _scale(c: dict[str, Any], r: dict[str, Any]) -> float:
    return float(c.get("scale", r["scale"]))


def page(r: dict[str, Any]) -> list[str]:
    """The part of docs/bench.md."""
    rows, ours, theirs = [], 0.0, 0.0
    promised = [c for c in r["cells"] if c.get("promised", True)]
    beyond = [c for c in r["cells"] if not c.get("promised", True)]
    met = [c for c in r["cells"] if _kept([c]) or _kept([c], "one_final")]
    more = any(_scale(c, r) != r["scale"] for c in r["cells"])
    larger = f", where lineitem is not read at {LARGER * r['scale']:g}" if more else ""
    for c in r["cells"]:
        extra, other = (max(c[k] - c["batch"], 0.0) for k in ("total", "one_total"))
        ours, theirs = ours + extra, theirs + other
        inner = ", ".join(map(str, c["inner"])) or "–"
        left = f"{c['share']:.0%}"
        rows.append(
            [
                c["query"],
                f"{_scale(c, r):g}",
                left if c.get("promised", True) else f"({left})",
                f"{c['batch']:.2f}",
                f"{c['refresh']}; {inner}",
            ]
            + [f"{extra:.2f}", f"{c['final'] / c['batch']:.1%}", str(c["one"]), f"{other:.2f}"]
            + [f"{c['one_final'] / c['batch']:.1%}", f"{c['planning'] * 1e3:.0f}"]
        )
    head = [
        "query",
        "scale",
        "may be left",
        "one batch",
        "paces: view; inner",
        "extra",
        "left",
        "one pace",
        "extra",
        "left",
    ]
    head.append("planned in, ms")
    return [
        f"## {TITLES[r['engine']]}",
        "",
        f"TPC-H at scale {r['scale']:g}{larger}, as a stream, "
        f"{CORRECTED} % of the rows corrected and {DELETED} % deleted on the way, {ON[r['engine']]}: queries that undo "
        "early work, and two of the paper's own. Seconds; `extra` is the work beyond that of one batch at the end, "
        "`left` the work at the end as a share of that batch. Landing is the same for all, and not counted. Each run "
        "ends with the view compared with its query.",
        "",
        f"| {' | '.join(head)} |",
        "|" + "---|" * len(head),
        *(f"| {' | '.join(row)} |" for row in rows),
        "",
        f"The bound was kept in {_kept(promised)} of the {len(promised)} cases for which there are paces that keep it, "
        f"by what was measured until then, and in {_kept(beyond)} of the {len(beyond)} others (in brackets), where as "
        "little is not asked for at any price; less than that was not tried. Either kept it in "
        f"{len(met)} cases, paces in {_kept(met)}, one pace in {_kept(met, 'one_final')}. Extra "
        f"work in all: {ours:.1f} s; with one pace {theirs:.1f} s.",
        "",
        f"![Extra work, and what is left at the end]({picture(r['engine'])}.png)",
        "",
    ]


def picture(engine: str) -> str:
    """The name of what is drawn, and of the results."""
    return "paces" if engine == DUCKDB.name else f"paces-{engine}"
