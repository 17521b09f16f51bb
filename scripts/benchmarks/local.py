"""Spark's engine with its states Local, driven without a source; what is recomputed is recomputed by Spark."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from benchmarks.data import text_batches
from benchmarks.driven import InFile, compare
from benchmarks.views import VIEWS
from compiler.catalog import Table
from compiler.maintain.plan import ViewPlan
from connectors.duckdb.session import beside
from connectors.spark.driver import Driver
from connectors.spark.local.engine import LocalEngine
from connectors.spark.local.fetching import SparkReader
from connectors.spark.local.near import NearReader
from connectors.spark.local.tasks import TaskReader
from connectors.staging import Staged
from dialects.duckdb import DUCKDB
from dialects.printer import Printer

LARGE = ("lineitem", "orders")


class OnLocal(InFile):
    """By the part's name: `local`; `mixed`, `fetched` or `tasks`, the large mirrors Dist; `dist`, `dist-fetched` or
    `dist-tasks`, all of them, and the states. What is `fetched` comes by Spark's query, by `tasks` by indexes in
    Spark's tasks, as on a cluster either way; else as on one machine."""

    engine: LocalEngine

    def __init__(
        self,
        folder: Path,
        tables: Mapping[str, Table],
        part: str,
        master: str = f"local[{os.cpu_count()}]",
    ) -> None:
        super().__init__(Printer(DUCKDB))
        self.folder, self.tables = folder, tables
        self.reader = SparkReader(Driver(master, "", {}), folder / "fetched")
        every = part.startswith("dist")
        self.near = NearReader(folder / "delta")
        self.tasks = TaskReader(self.reader.driver, folder / "delta")
        self.by = self.reader if part.endswith("fetched") else self.tasks if part.endswith("tasks") else self.near
        self.engine = LocalEngine(
            folder / "delta",
            self.printer,
            [],
            [],
            dist=tables if every else () if part == "local" else LARGE,
            reader=self.by,
            state_memory=0 if every else None,
        )
        self.side = beside(self.engine.con)
        self.written = -1  # the frontier at which the mirrors were written for recomputation
        self.jobs: list[int] = []  # of each batch

    def load(self, folder: Path) -> None:
        for t in self.tables.values():
            self.engine.create_mirror(t)
            self.engine.load(t, text_batches(folder, t))
        self.engine.set_frontier(1)

    def deploy(self, plans: list[ViewPlan]) -> None:
        super().deploy(plans)
        self.engine.settle(force=True)

    def apply(self, staged: list[Staged], end: int) -> dict[str, float]:
        before = self.reader.jobs + self.tasks.jobs
        self.engine.apply(staged, end, self.programs)
        self.jobs.append(self.reader.jobs + self.tasks.jobs - before)
        return {}

    def waits(self) -> bool:
        """Whether an index was missed by the last batch that will be there later."""
        return not isinstance(self.by, SparkReader) and self.by.awaited

    def compact(self) -> None:
        self.engine.settle(force=True)

    def recompute(self, view: str) -> None:
        session = self.reader.driver.session
        if self.written != self.frontier():
            for t in self.tables:
                self.side.execute(f"COPY base.{t} TO '{self.folder / t}.parquet' (FORMAT parquet)")
                session.read.parquet(str(self.folder / f"{t}.parquet")).createOrReplaceTempView(t)
            self.written = self.frontier()
        session.sql(VIEWS[view]).coalesce(1).write.mode("overwrite").parquet(str(self.folder / f"again_{view}"))

    def differences(self, plan: ViewPlan) -> int:
        again = f"read_parquet('{self.folder / f'again_{plan.view}'}/*.parquet')"
        return compare(self.side, f"main.{plan.view}", again)

    def close(self) -> None:
        self.side.close()
        self.engine.close()
        self.reader.driver.stop()
