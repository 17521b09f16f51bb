"""What changes bring with them: keys, whole old rows (REPLICA IDENTITY FULL), or none as there are inserts alone; and
what is kept for it, in memory and in the file."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks.data import Workload, catalog, generate, tables
from benchmarks.refresh import OnDuckDB, measure
from benchmarks.views import compile_all
from compiler.catalog import Table
from connectors.staging import LSN, PRESENT, SEQ, SIGN, Staged

SIZES = (1, 1_000, 100_000)
KEYS, WHOLE, INSERTS = "keys", "whole old rows", "inserts alone"
SHARES = {KEYS: (0.6, 0.2, 0.2), WHOLE: (0.6, 0.2, 0.2), INSERTS: (0.0, 1.0, 0.0)}


class WithOldRows:
    """A workload whose changes bring what rows were: it is asked of the mirrors before the batch."""

    def __init__(self, inner: Workload, target: OnDuckDB) -> None:
        self.inner, self.target = inner, target

    def batch(self, n: int, lsn: int) -> list[Staged]:
        self.target.plain()
        return [self._whole(s) for s in self.inner.batch(n, lsn)]

    def _whole(self, s: Staged) -> Staged:
        t, con = s.table, self.target.side
        con.register("events", s.rows)
        on = " AND ".join(f"CAST(m.{k} AS VARCHAR) = e.k{i}" for i, k in enumerate(t.key))
        olds = ", ".join(f"CAST(m.{c.name} AS VARCHAR) AS c{i}" for i, c in enumerate(t.columns))
        news = ", ".join(f"c{i}" for i in range(len(t.columns)))
        found = con.execute(
            f"SELECT {SEQ}, {LSN}, -1::INTEGER AS {SIGN}, {olds} FROM events e JOIN {t.name} m ON {on} WHERE e._met "
            f"UNION ALL SELECT {SEQ}, {LSN}, 1::INTEGER, {news} FROM events WHERE {PRESENT} ORDER BY {SEQ}, {SIGN}"
        ).to_arrow_table()
        con.unregister("events")
        view = pa.schema(
            [pa.field(f.name, pa.string_view() if pa.types.is_string(f.type) else f.type) for f in found.schema]
        )
        return Staged(t, found.cast(view), False, False, bool(np.all(found[SIGN].to_numpy() > 0)))


def run(scale: float, sizes: list[int], repeat: int, work: Path, say: Callable[[str], None]) -> dict[str, Any]:
    """Cells of all six views by what changes bring, and what is kept."""
    data, cells = generate(work, scale), []
    plans = compile_all(catalog())
    for variant, shares in SHARES.items():
        with tempfile.TemporaryDirectory(dir=work, prefix="variants-") as folder:
            has = _identified(tables(plans.values()), variant)
            target = OnDuckDB(Path(folder), has)
            try:
                inner = Workload(data, has, shares=shares)
                workload: Any = WithOldRows(inner, target) if variant == WHOLE else inner
                target.load(data)
                target.deploy(list(plans.values()))
                for _ in range(2):  # what is done once is done
                    measure(target, workload, variant, list(plans.values()), 1_000, 16)
                for size in sizes:
                    c = measure(target, workload, variant, list(plans.values()), size, max(3, repeat))
                    cells.append({"variant": variant, "size": size, "refresh": c.refresh, "recompute": c.recompute})
                    say(
                        f"{variant}, {size:,} rows: refresh {c.refresh * 1e3:.1f} ms, recompute "
                        f"{c.recompute * 1e3:.1f} ms"
                    )
                target.engine.con.execute("CHECKPOINT")
                kept = {
                    "index": target.engine.indexes.nbytes,
                    "file": (Path(folder) / "bench.duckdb").stat().st_size,
                }
                cells[-1] |= kept
                say(f"{variant}: index {kept['index'] / 1e6:,.0f} MB, file {kept['file'] / 1e6:,.0f} MB")
            finally:
                target.close()
    return {"scale": scale, "cells": cells}


def _identified(has: Mapping[str, Table], variant: str) -> dict[str, Table]:
    return {n: replace(t, identity="full") if variant == WHOLE else t for n, t in has.items()}


def page(r: dict[str, Any]) -> list[str]:
    """The part of docs/bench.md."""
    sizes = sorted({c["size"] for c in r["cells"]})
    by = {(c["variant"], c["size"]): c for c in r["cells"]}
    rows = []
    for v in dict.fromkeys(c["variant"] for c in r["cells"]):
        row, kept = [v], next(c for c in r["cells"] if c["variant"] == v and "file" in c)
        for s in sizes:
            c = by[v, s]
            row += [f"{c['refresh'] * 1e3:,.1f}", f"{c['recompute'] / c['refresh']:.1f}"]
        rows.append([*row, f"{kept['index'] / 1e6:,.0f}", f"{kept['file'] / 1e6:,.0f}"])
    head = ["changes bring", *(h for s in sizes for h in (f"{s:,} rows", "ratio")), "index, MB", "file, MB"]
    return [
        "## What changes bring",
        "",
        f"All six views on DuckDB, TPC-H at scale {r['scale']:g}, by what comes with changes: the keys of rows "
        "(REPLICA IDENTITY DEFAULT), whole old rows (FULL), or nothing as all are inserts. Milliseconds of a batch, "
        "landing and commit included, and how many times faster that is than to recompute; then the memory of the "
        "indexes, and the file after it all. Every view was compared with its query after every cell.",
        "",
        f"| {' | '.join(head)} |",
        "|" + "---|" * len(head),
        *(f"| {' | '.join(row)} |" for row in rows),
        "",
    ]
