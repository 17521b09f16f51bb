"""Refresh against recompute: the same batches through landing and views, each cell compared with the query itself."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Protocol

import duckdb

from benchmarks.data import Workload, catalog, generate, tables, text_batches
from benchmarks.driven import Driven, InFile, compare
from benchmarks.views import VIEWS, compile_all
from compiler.catalog import Table
from compiler.ir.relation import Scan
from compiler.maintain.choose import maintenance_of
from compiler.maintain.plan import ViewPlan, states_of
from compiler.maintain.program import STEPS, Does, Statement
from connectors.duckdb.engine import DuckDBEngine
from connectors.duckdb.session import beside
from connectors.staging import Staged
from dialects.duckdb import DUCKDB
from dialects.printer import Printer

SIZES = (1, 10, 100, 1_000, 10_000, 100_000)
SPARK_SIZES = (1, 1_000, 10_000)
QUIET, MOST_WARMING = 3, 100  # batches that missed no index, one after another, before any is measured; of at most


class Difference(Exception):
    """A view is not what its query gives."""


@dataclass
class Cell:
    """Medians of one view set at one batch size, in seconds. `folding`: compaction, per batch, on average."""

    views: str
    size: int
    refresh: float
    folding: float
    recompute: float
    repeats: int
    spent: dict[str, float] = field(default_factory=dict)


class Target(Protocol):
    """An engine under measurement."""

    def load(self, folder: Path) -> None: ...

    def frontier(self) -> int: ...

    def deploy(self, plans: list[ViewPlan]) -> None:
        """Exactly these views, over compacted mirrors."""
        ...

    def apply(self, staged: list[Staged], end: int) -> dict[str, float]:
        """Land and maintain; seconds by statement, where the engine tells them."""
        ...

    def compact(self) -> None: ...

    def recompute(self, view: str) -> None:
        """Run the view's query over the mirrors as they are; keep the result for `differences`."""
        ...

    def differences(self, plan: ViewPlan) -> int: ...

    def close(self) -> None: ...


class OnDuckDB(InFile):
    """The DuckDB engine, driven without a source."""

    engine: DuckDBEngine

    def __init__(self, folder: Path, tables: Mapping[str, Table], queries: Mapping[str, str] = VIEWS) -> None:
        super().__init__(Printer(DUCKDB))
        self.tables, self.queries = tables, queries
        self.engine = DuckDBEngine(folder / "bench.duckdb", self.printer)
        self.spent: dict[str, float] = {}
        self.run, self.engine.statements.run = self.engine.statements.run, self._timed  # type: ignore[method-assign]
        self.side = beside(self.engine.con)
        self.keys, self.read_at = 1, -1

    def load(self, folder: Path) -> None:
        for name, t in self.tables.items():
            self.engine.create_mirror(t)
            columns = ", ".join(c.name for c in t.columns)
            self.engine.con.execute(
                f"INSERT INTO base.{name} SELECT {columns} FROM read_parquet(?)", [str(folder / f"{name}.parquet")]
            )
        self.engine.set_frontier(1)
        self.engine.con.execute("CHECKPOINT")
        self.keys = self.side.execute("SELECT max(l_orderkey) FROM base.lineitem").fetchall()[0][0]

    def deploy(self, plans: list[ViewPlan]) -> None:
        self.engine.compact(list(self.tables.values()), force=True)
        super().deploy(plans)

    def _timed(self, s: Statement) -> int:
        """Notes how long each maintenance statement takes."""
        start = time.perf_counter()
        rows = self.run(s)
        if s.does in (*STEPS, Does.MERGE, Does.APPEND):
            self.spent[f"{s.does} {s.target}"] = time.perf_counter() - start
        return rows

    def apply(self, staged: list[Staged], end: int) -> dict[str, float]:
        self.spent = {}
        self.engine.apply(staged, end, self.programs)
        return self.spent

    def compact(self) -> None:
        self.engine.compact(list(self.tables.values()))

    def recompute(self, view: str) -> None:
        self.plain()
        self.side.execute(f"CREATE OR REPLACE TEMP TABLE again_{view} AS {self.queries[view]}")

    def plain(self) -> None:
        """Let the connection at the side read tables, as whoever has no mirrors would: tails are folded before."""
        if self.read_at == (at := self.engine.frontier()):
            return
        self.engine.mirrors.fold()
        self.side.execute("CREATE SCHEMA IF NOT EXISTS plain")
        for name in self.tables:
            rows = self.engine.mirrors.tailed.table(name)
            self.side.execute(f"CREATE OR REPLACE VIEW plain.{name} AS SELECT * FROM {rows}")
        self.side.execute("SET schema = 'plain'")
        self.read_at = at

    def look_up(self, size: int) -> None:
        """Find `size` random keys in the largest mirror: what a batch does when it lands, and in each view that
        joins it."""
        self.side.execute(
            "SELECT count(*) FROM base.lineitem WHERE l_orderkey IN "
            f"(SELECT (hash(i) % {self.keys})::BIGINT FROM range({size}) AS r(i))"
        ).fetchall()

    def differences(self, plan: ViewPlan) -> int:
        return compare(self.side, f"main.{plan.view}", f"temp.again_{plan.view}")

    def close(self) -> None:
        self.side.close()
        self.engine.close()


class OnSpark(Driven):
    """The Spark engine, driven without a source; results come back through Parquet to be compared."""

    def __init__(self, folder: Path, tables: Mapping[str, Table], master: str = "local[*]") -> None:
        from connectors.spark.engine import SparkEngine
        from connectors.spark.store import Store
        from dialects.spark.printer import SparkPrinter

        printer = SparkPrinter(folder / "delta")
        super().__init__(printer)
        self.folder = folder
        self.tables = list(tables.values())
        self.engine = SparkEngine(Store(folder / "delta", printer, master, tables=self.tables))

    def load(self, folder: Path) -> None:
        for t in self.tables:
            self.engine.create_mirror(t)
            self.engine.load(t, text_batches(folder, t))
        self.engine.set_frontier(1)

    def frontier(self) -> int:
        return self.engine.frontier()

    def deploy(self, plans: list[ViewPlan]) -> None:
        for s in self.engine.states():
            self.engine.drop_state(s)
        for state in states_of(plans):
            self.engine.create_state(state)
        for p in plans:
            self.engine.create_view(p)
        self.plans = plans
        self.prepared.clear()

    def apply(self, staged: list[Staged], end: int) -> dict[str, float]:
        self.engine.apply(staged, end, self.programs)
        return {}

    def compact(self) -> None:
        self.engine.compact(self.tables)

    def recompute(self, view: str) -> None:
        session = self.engine.store.spark
        self.engine.store.views([Scan(f"{t.schema}.{t.name}", (), t.key) for t in self.tables], {}, session)
        for t in self.tables:
            session.table(f"after_rows__{t.mirror}").createOrReplaceTempView(t.name)
        session.sql(VIEWS[view]).coalesce(1).write.mode("overwrite").parquet(str(self.folder / f"again_{view}"))

    def differences(self, plan: ViewPlan) -> int:
        con = duckdb.connect()
        con.register("kept", self.engine.read(plan))
        return compare(con, "kept", f"read_parquet('{self.folder / f'again_{plan.view}'}/*.parquet')")

    def close(self) -> None:
        self.engine.close()
        self.engine.stop()


def timed(run: Callable[[], object], repeat: int) -> float:
    """The median of `repeat` runs, in seconds."""
    seconds = []
    for _ in range(repeat):
        start = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)


def measure(target: Target, workload: Workload, name: str, plans: list[ViewPlan], size: int, repeat: int) -> Cell:
    """One cell; raises Difference unless every view is what its query gives after it."""
    seconds, folding, spent = [], [], []
    for _ in range(repeat):
        lsn = target.frontier()
        staged = workload.batch(size, lsn)
        start = time.perf_counter()
        spent.append(target.apply(staged, lsn + 1))
        applied = time.perf_counter()
        target.compact()
        seconds.append(applied - start)
        folding.append(time.perf_counter() - applied)
    again = sum(timed(lambda v=p.view: target.recompute(v), 3) for p in plans)  # type: ignore[misc]
    for p in plans:
        n = target.differences(p)
        if n:
            raise Difference(f"{p.view} differs from its query in {n} rows after batches of {size}")
    keys = dict.fromkeys(k for s in spent for k in s)
    return Cell(
        name,
        size,
        statistics.median(seconds),
        statistics.mean(folding),
        again,
        repeat,
        {k: statistics.median(s.get(k, 0.0) for s in spent) for k in keys},
    )


def run(
    engine: str, scale: float, sizes: list[int], repeat: int, work: Path, say: Callable[[str], None]
) -> dict[str, Any]:
    """All cells: landing alone, each view alone, and the six together."""
    data = generate(work, scale)
    plans = compile_all(catalog())
    sets: dict[str, list[ViewPlan]] = {
        "landing alone": [],
        **{n: [p] for n, p in plans.items()},
        "all six": list(plans.values()),
    }
    if engine != "duckdb":
        sets = {"all six": list(plans.values())}
    cells: list[Cell] = []
    looked_up: dict[int, float] = {}
    with tempfile.TemporaryDirectory(dir=work, prefix="refresh-") as folder:
        kept = tables(plans.values())
        target = _target(engine, Path(folder), kept)
        try:
            workload = Workload(data, kept)
            target.load(data)
            for name, chosen in sets.items():
                target.deploy(chosen)
                _warm(target, workload)
                for size in sizes:
                    c = measure(target, workload, name, chosen, size, repeat)
                    cells.append(c)
                    say(
                        f"{engine} {name}, {size:,} rows: refresh {c.refresh * 1e3:.1f} ms, recompute "
                        f"{c.recompute * 1e3:.1f} ms, "
                        f"folding {c.folding * 1e3:.1f} ms"
                    )
            if isinstance(target, OnDuckDB):
                looked_up = {size: timed(lambda n=size: target.look_up(n), 5) for size in sizes}  # type: ignore[misc]
        finally:
            target.close()
    return {
        "engine": engine,
        "scale": scale,
        "cells": [asdict(c) for c in cells],
        "look_up": looked_up,
        "jobs": max(jobs, default=None) if (jobs := getattr(target, "jobs", [])) else None,
        "maintenance": {n: maintenance_of(p).value for n, p in plans.items()},
    }


def _target(engine: str, folder: Path, tables: Mapping[str, Table]) -> Target:
    if engine not in ("duckdb", "spark"):
        from benchmarks.local import OnLocal

        return OnLocal(folder, tables, engine)
    return OnDuckDB(folder, tables) if engine == "duckdb" else OnSpark(folder, tables)


def _warm(target: Target, workload: Workload) -> None:
    """What is done once is done: statements for each set of changed tables, and indexes that are made after some
    fetches of a mirror were answered by scans."""
    for size in [20, *[1] * 16, *[20] * (0 if isinstance(target, OnSpark) else 16)]:
        lsn = target.frontier()
        target.apply(workload.batch(size, lsn), lsn + 1)
    waits: Callable[[], bool] = getattr(target, "waits", lambda: False)
    quiet, done = 0, 0
    while done < MOST_WARMING and quiet < QUIET:
        lsn = target.frontier()
        target.apply(workload.batch(1_000, lsn), lsn + 1)
        quiet, done = 0 if waits() else quiet + 1, done + 1
