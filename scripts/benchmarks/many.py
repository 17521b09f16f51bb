"""Many views over the same tables: landing, decoding and look-ups are shared, so that what one more costs stays."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.data import Workload, catalog, generate, tables
from benchmarks.refresh import OnDuckDB, measure
from compiler.parse import parse_query
from compiler.view import compile_view

SIZES = (1, 1_000)
COUNTS = (0, 1, 10, 100)
SHAPES = (
    "SELECT l_returnflag, count(*) AS n, sum(l_tax) AS t FROM lineitem WHERE l_quantity < {n} GROUP BY l_returnflag",
    "SELECT l_linestatus, sum(l_extendedprice) AS p FROM lineitem WHERE l_discount < 0.0{d} GROUP BY l_linestatus",
    "SELECT o_orderpriority, count(*) AS n FROM orders WHERE o_orderkey % 10 = {d} GROUP BY o_orderpriority",
    "SELECT o_custkey, sum(o_totalprice) AS p FROM orders WHERE o_orderkey % 10 = {d} GROUP BY o_custkey",
    "SELECT o_orderpriority, sum(l_quantity) AS q FROM orders JOIN lineitem ON l_orderkey = o_orderkey "
    "WHERE l_quantity < {n} GROUP BY o_orderpriority",
    "SELECT c_nationkey, count(*) AS n FROM customer JOIN orders ON o_custkey = c_custkey "
    "WHERE o_orderkey % 10 = {d} GROUP BY c_nationkey",
    "SELECT l_partkey, max(l_extendedprice) AS p FROM lineitem WHERE l_quantity < {n} GROUP BY l_partkey",
    "SELECT o_orderkey, o_totalprice FROM orders WHERE o_custkey % 1000 = {n}",
    "SELECT DISTINCT l_returnflag, l_linestatus FROM lineitem WHERE l_quantity < {n}",
    "SELECT o_custkey FROM orders o WHERE o_orderkey % 100 = {n} AND EXISTS (SELECT 1 FROM lineitem "
    "WHERE l_orderkey = o_orderkey AND l_quantity > 40)",
)


def queries(count: int) -> dict[str, str]:
    """So many views: each shape in turn, with another constant each time."""
    return {
        f"view_{i}": SHAPES[i % len(SHAPES)].format(n=5 + i // len(SHAPES) * 3, d=i // len(SHAPES))
        for i in range(count)
    }


def run(scale: float, repeat: int, work: Path, say: Callable[[str], None]) -> dict[str, Any]:
    """Seconds of a batch by how many views there are."""
    data, cells = generate(work, scale), []
    texts = queries(max(COUNTS))
    plans = {name: compile_view(name, parse_query(text), catalog()) for name, text in texts.items()}
    with tempfile.TemporaryDirectory(dir=work, prefix="many-") as folder:
        has = tables(plans.values())
        target = OnDuckDB(Path(folder), has, texts)
        try:
            workload = Workload(data, has)
            target.load(data)
            for count in COUNTS:
                chosen = list(plans.values())[:count]
                target.deploy(chosen)
                for size in SIZES:
                    measure(target, workload, f"{count} views", chosen, size, 3)  # what is done once is done
                    c = measure(target, workload, f"{count} views", chosen, size, repeat)
                    cells.append({"views": count, "size": size, "refresh": c.refresh, "recompute": c.recompute})
                    say(f"{count} views, {size:,} rows: {c.refresh * 1e3:.1f} ms, recompute {c.recompute * 1e3:.1f} ms")
        finally:
            target.close()
    return {"scale": scale, "cells": cells}


def page(r: dict[str, Any]) -> list[str]:
    """The part of docs/bench.md."""
    by = {(c["views"], c["size"]): c for c in r["cells"]}
    rows = []
    for count in COUNTS[1:]:
        row = [f"{count}"]
        for size in SIZES:
            c, landing = by[count, size], by[0, size]["refresh"]
            each = max(c["refresh"] - landing, 0.0) / count
            row += [f"{1e3 * c['refresh']:,.1f}", f"{1e3 * each:.2f}", f"{1e3 * c['recompute']:,.0f}"]
        rows.append(row)
    head = ["views", *(h for s in SIZES for h in (f"{s:,} rows", "a view", "recompute"))]
    return [
        "## Many views over the same tables",
        "",
        f"TPC-H at scale {r['scale']:g} on DuckDB: ten shapes of views over `lineitem`, `orders` and `customer`, each "
        "with other constants, so that no two share a state. Milliseconds of a batch, landing and commit included; "
        "*a view*: what is left without landing, by the number of views. Every view was compared with its query after "
        "every cell.",
        "",
        f"| {' | '.join(head)} |",
        "|" + "---|" * len(head),
        *(f"| {' | '.join(row)} |" for row in rows),
        "",
    ]
