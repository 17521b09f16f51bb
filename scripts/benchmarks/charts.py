"""The pictures of docs/bench.md."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt


def refresh(refreshes: list[dict[str, Any]], path: Path) -> None:
    """Left: seconds of a batch against recompute, all views. Right: how many times faster, view by view."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 5.8))
    for r in refreshes:
        cells = [c for c in r["cells"] if c["views"] == "all six"]
        x, name = [c["size"] for c in cells], r["engine"]
        (line,) = left.plot(x, [c["refresh"] * 1e3 for c in cells], marker="o", label=f"{name}: refresh")
        left.plot(x, [c["recompute"] * 1e3 for c in cells], ls="--", color=line.get_color(), label=f"{name}: recompute")
        for view in dict.fromkeys(c["views"] for c in r["cells"] if c["views"] != "landing alone"):
            mine = [c for c in r["cells"] if c["views"] == view]
            label = view if r["engine"] == "duckdb" else f"{view} ({name})"
            right.plot(
                [c["size"] for c in mine],
                [c["recompute"] / c["refresh"] for c in mine],
                marker=".",
                label=label,
                lw=2.5 if view == "all six" else 1.2,
            )
    left.set(
        title="A batch through landing and six views",
        xlabel="rows changed",
        ylabel="milliseconds",
        xscale="log",
        yscale="log",
    )
    right.axhline(1, color="grey", lw=0.8)
    right.set(
        title="Times faster than recompute",
        xlabel="rows changed",
        ylabel="recompute ÷ refresh",
        xscale="log",
        yscale="log",
    )
    title = "TPC-H, scale " + ", ".join(f"{r['scale']:g} ({r['engine']})" for r in refreshes)
    _save(figure, (left, right), title, path)


def partial(r: dict[str, Any], path: Path) -> None:
    """Left: the share of hits by how much is kept. Right: how long reads take by it."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 5.0))
    kept = sorted((p for p in r["partial"] if "mirrors" not in p["memory"]), key=lambda p: p["kept"])
    share = [100 * p["keys"] / r["articles"] for p in kept]
    left.plot(share, [100 * p["hit_rate"] for p in kept], marker="o", label="hits")
    left.axhline(95, color="grey", lw=0.8, ls="--", label="95 %")
    left.axvline(100 / 3, color="grey", lw=0.8, ls=":", label="a third of the keys")
    left.set(title="Reads that find their key", xlabel="kept, % of the keys", ylabel="%", ylim=(0, 101))
    for key, label in (
        ("hit_p50", "hit, p50"),
        ("hit_p95", "hit, p95"),
        ("miss_p50", "miss, p50"),
        ("miss_p95", "miss, p95"),
    ):
        right.plot(share, [p[key] for p in kept], marker="o", label=label)
    right.axhline(r["full"]["p50"], color="grey", lw=0.8, ls="--", label="every key kept, p50")
    right.set(title="How long a read takes", xlabel="kept, % of the keys", ylabel="milliseconds", yscale="log")
    _save(figure, (left, right), f"{r['articles']:,} articles, Zipf {r['exponent']}, 99 % reads", path)


def paces(r: dict[str, Any], path: Path) -> None:
    """Left: work beyond that of one batch, with paces and with one pace. Right: what is left at the end, and may be."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 5.8))
    batch = [c["batch"] for c in r["cells"]]
    for total, final, label in (("total", "final", "paces"), ("one_total", "one_final", "one pace")):
        extra = [100 * max(c[total] - b, 0.0) / b for c, b in zip(r["cells"], batch)]
        left.plot(range(len(extra)), sorted(extra), label=label)
        over = [c[final] / (c["share"] * b) for c, b in zip(r["cells"], batch)]
        right.plot(range(len(over)), sorted(over), label=label)
    left.set(title="Extra work", xlabel="queries and bounds, in order", ylabel="% of one batch", yscale="symlog")
    right.axhline(1, color="grey", lw=0.8, ls="--", label="what may be left")
    right.set(title="Left at the end", xlabel="queries and bounds, in order", ylabel="times the bound", yscale="log")
    _save(figure, (left, right), f"TPC-H at scale {r['scale']:g} as a stream", path)


def _save(figure: Any, axes: tuple[Any, ...], title: str, path: Path) -> None:
    for a in axes:
        a.grid(alpha=0.3)
        a.legend(fontsize=7, ncol=3, loc="upper center", bbox_to_anchor=(0.5, -0.14))
    figure.suptitle(title)
    figure.tight_layout()
    figure.savefig(path, dpi=130)
    plt.close(figure)
