"""The strategies side by side on DuckDB: each view by each, a batch's time, a reader's time, and what is kept."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.data import Workload, catalog, generate, tables
from benchmarks.refresh import OnDuckDB, measure, timed
from benchmarks.views import compile_all
from compiler.maintain.plan import states_of
from compiler.maintain.strategy import PLAIN

SIZES = (1, 1_000, 100_000)
READS = 5


def run(scale: float, sizes: list[int], repeat: int, work: Path, say: Callable[[str], None]) -> dict[str, Any]:
    """A cell for each view, strategy and size of batch: seconds to refresh and to read, and bytes of its states."""
    data, cells = generate(work, scale), []
    with tempfile.TemporaryDirectory(dir=work, prefix="strategies-") as folder:
        has = tables(p for s in PLAIN for p in compile_all(catalog(), s).values())
        target = OnDuckDB(Path(folder), has)
        try:
            workload = Workload(data, has)
            target.load(data)
            for strategy in PLAIN:
                for name, plan in compile_all(catalog(), strategy).items():
                    target.deploy([plan])
                    measure(target, workload, name, [plan], 1_000, 3)  # what is done once is done
                    for size in sizes:
                        c = measure(target, workload, name, [plan], size, repeat)
                        read = timed(lambda p=plan: target.engine.read(p), READS)  # type: ignore[misc]
                        target.engine.con.execute("CHECKPOINT")
                        kept = sum(target.engine.size(s.name)[1] for s in states_of([plan]))
                        cells.append({"view": name, "strategy": strategy, "size": size, "refresh": c.refresh})
                        cells[-1] |= {"read": read, "bytes": kept, "recompute": c.recompute}
                        say(
                            f"{name} by {strategy}, {size:,} rows: {c.refresh * 1e3:.1f} ms, read {read * 1e3:.1f} ms, "
                            f"{kept:,} bytes, query {c.recompute * 1e3:.1f} ms"
                        )
        finally:
            target.close()
    return {"scale": scale, "cells": cells}
