"""Spark's jobs and stages for a batch, by TPC-H query, beside those of the distributed paper's Table 3.

`lineitem` and `orders` are Dist and fetched by Spark, as on a cluster; all else is Local. A batch changes the six
tables that grow. The paper's streams bring the rows that leave; so does REPLICA IDENTITY FULL. Where Postgres sends
keys, the old rows of a batch are looked up first: a job more. Jobs and stages are counted by Spark, not by us.

Table 3: Nikolic, Dashti, Koch, "How to Win a Hot Dog Eating Contest", SIGMOD 2016, appendix C.1.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from benchmarks import paces
from benchmarks.compiling import views
from benchmarks.data import generate, text_batches
from benchmarks.driven import InFile, compare
from compiler.catalog import Catalog, Table
from compiler.maintain.plan import ViewPlan, states_of
from compiler.parse import parse_query
from compiler.view import compile_view
from connectors.spark.driver import Driver
from connectors.spark.local.engine import LocalEngine
from connectors.spark.local.fetching import SparkReader
from connectors.staging import LSN, MET, PRESENT, SEQ, SIGN, Staged
from dialects.duckdb import DUCKDB
from dialects.printer import Printer

SCALE = 0.01
DIST = ("lineitem", "orders")
GROWING = ("supplier", "customer", "part", "partsupp", "orders", "lineitem")
IDENTITIES = ("full", "default")
TABLE_3 = {  # jobs, stages
    "q01": (1, 1), "q02": (1, 3), "q03": (1, 3), "q04": (1, 2), "q05": (2, 5), "q06": (1, 1), "q07": (3, 6),
    "q08": (2, 6), "q09": (3, 7), "q10": (1, 3), "q11": (2, 4), "q12": (1, 2), "q13": (2, 4), "q14": (1, 2),
    "q15": (1, 3), "q16": (3, 5), "q17": (1, 2), "q18": (1, 3), "q19": (1, 2), "q20": (1, 3), "q21": (2, 4),
    "q22": (2, 3),
}  # fmt: skip
CHANGED, GONE = 8, 2  # rows of each table in a batch: updated, and deleted, or inserted anew


class Counted:
    """Jobs and stages that a session has run."""

    def __init__(self, driver: Driver) -> None:
        self.tracker = driver.session.sparkContext.statusTracker()
        self.before = set(self.tracker.getJobIdsForGroup(None))

    def since(self) -> tuple[int, int]:
        new = set(self.tracker.getJobIdsForGroup(None)) - self.before
        infos = [self.tracker.getJobInfo(i) for i in new]
        return len(new), sum(len(i.stageIds) for i in infos if i is not None)


class Batches:
    """Changes to rows of generated tables: some get other numbers, some leave, some come under new keys."""

    def __init__(self, folder: Path, tables: list[Table]) -> None:
        self.con, self.tables = duckdb.connect(), {t.name: t for t in tables}
        for t in tables:
            self.con.execute(f"CREATE TABLE {t.name} AS FROM '{folder / t.name}.parquet'")

    def batch(self, name: str, number: int, lsn: int) -> Staged:
        """Batch `number` of a table, which is changed accordingly."""
        t, con = self.tables[name], self.con
        cols, key = [c.name for c in t.columns], t.key[0]
        numbers = {c.name for c in t.columns if c.type.name == "numeric"} - set(t.key)
        order = f"ORDER BY hash({', '.join(t.key)}, {number})"
        con.execute(f"CREATE OR REPLACE TEMP TABLE up AS FROM {name} {order} LIMIT {CHANGED}")
        con.execute(f"CREATE OR REPLACE TEMP TABLE gone AS FROM {name} {order} LIMIT {GONE} OFFSET {CHANGED}")
        more = ", ".join(f"{c} + 1 AS {c}" if c in numbers else c for c in cols)
        con.execute(f"CREATE OR REPLACE TEMP TABLE now AS SELECT {more} FROM up")
        moved = ", ".join(f"{c} + {10_000_000 * (number + 1)} AS {c}" if c == key else c for c in cols)
        con.execute(f"CREATE OR REPLACE TEMP TABLE come AS SELECT {moved} FROM gone")
        match = " AND ".join(f"x.{k} = {name}.{k}" for k in t.key)
        con.execute(f"DELETE FROM {name} WHERE EXISTS (FROM (FROM up UNION ALL FROM gone) x WHERE {match})")
        con.execute(f"INSERT INTO {name} FROM now UNION ALL FROM come")
        return self._full(t, lsn) if t.identity == "full" else self._keyed(t, lsn)

    def _full(self, t: Table, lsn: int) -> Staged:
        cols = ", ".join(f"{c.name}::VARCHAR AS c{i}" for i, c in enumerate(t.columns))
        signed = " UNION ALL ".join(
            f"SELECT {cols}, {w} AS w FROM {x}" for x, w in (("up", -1), ("gone", -1), ("now", 1), ("come", 1))
        )
        got = self.con.execute(
            f"SELECT row_number() OVER () AS {SEQ}, {lsn}::BIGINT AS {LSN}, w AS {SIGN}, * EXCLUDE (w) FROM ({signed})"
        )
        return Staged(t, _views(got.to_arrow_table()), False, False, False)

    def _keyed(self, t: Table, lsn: int) -> Staged:
        values = ", ".join(f"CASE WHEN here THEN {c.name}::VARCHAR END AS c{i}" for i, c in enumerate(t.columns))
        keys = ", ".join(f"{k}::VARCHAR AS k{i}" for i, k in enumerate(t.key))
        events = (
            "SELECT *, true AS here, true AS met FROM now UNION ALL SELECT *, true, false FROM come UNION ALL "
            "SELECT *, false, true FROM gone"
        )
        got = self.con.execute(
            f"SELECT row_number() OVER () AS {SEQ}, {lsn}::BIGINT AS {LSN}, here AS {PRESENT}, met AS {MET}, {keys}, "
            f"{values} FROM ({events})"
        )
        return Staged(t, _views(got.to_arrow_table()), True, False, False)


def _views(rows: pa.Table) -> pa.Table:
    return rows.cast(
        pa.schema([pa.field(f.name, pa.string_view() if pa.types.is_string(f.type) else f.type) for f in rows.schema])
    )


class OnCluster(InFile):
    """One view whose large mirrors Spark fetches from."""

    engine: LocalEngine

    def __init__(self, folder: Path, driver: Driver) -> None:
        super().__init__(Printer(DUCKDB))
        self.engine = LocalEngine(
            folder, self.printer, [], [], dist=DIST, reader=SparkReader(driver, folder / "fetched")
        )


def run(work: Path, say: Callable[[str], None]) -> dict[str, Any]:
    """Jobs and stages of each query's batch, by replica identity. Raises SystemExit where a view is not its query."""
    catalog, folder = paces.catalog(), generate(work, SCALE, paces.EVERY)
    driver, out = Driver("local[2]", "", {}), {}
    try:
        for name, text in views((paces.CASE / "views.sql").read_text()).items():
            out[name] = {i: _count(name, text, catalog, i, folder, driver) for i in IDENTITIES}
            say(f"{name}: {out[name]}")
    finally:
        driver.stop()
    return {"queries": out}


def _count(name: str, text: str, catalog: Catalog, identity: str, folder: Path, driver: Driver) -> tuple[int, int]:
    plan = compile_view(name, parse_query(text), catalog, strategy="higher_order")
    tables = [replace(t, identity=identity) for t in catalog.tables.values() if f"public.{t.name}" in plan.tables]
    batches, most = Batches(folder, tables), (0, 0)
    with tempfile.TemporaryDirectory() as scratch:
        on = OnCluster(Path(scratch) / "delta", driver)
        try:
            for t in tables:
                on.engine.create_mirror(t)
                on.engine.load(t, text_batches(folder, t))
            on.engine.set_frontier(1)
            for s in states_of([plan]):
                on.engine.create_state(s)
            on.engine.create_view(plan)
            on.plans = [plan]
            on.engine.settle(force=True)
            for number in range(2):
                lsn = 10 + number
                staged = [batches.batch(t, number, lsn) for t in GROWING if t in batches.tables]
                counted = Counted(driver)
                on.engine.apply(staged, lsn + 1, on.programs)
                most = max(most, counted.since())
            _check(on, plan, text, batches)
        finally:
            on.engine.close()
    return most


def _check(on: OnCluster, plan: ViewPlan, text: str, batches: Batches) -> None:
    kept = on.engine.read(plan)
    batches.con.register("kept", kept)
    batches.con.execute(f"CREATE OR REPLACE TEMP VIEW again AS {text}")
    if different := compare(batches.con, "kept", "again"):
        raise SystemExit(f"jobs: {plan.view} is not its query: {different} rows")


def page(r: dict[str, Any]) -> list[str]:
    """The part of the page."""
    queries = r["queries"]
    below = {i: sum(tuple(c[i])[0] <= TABLE_3[q][0] for q, c in queries.items()) for i in IDENTITIES}
    stages = {i: sum(tuple(c[i])[1] <= TABLE_3[q][1] for q, c in queries.items()) for i in IDENTITIES}
    out = [
        "## Spark's jobs for a batch",
        "",
        "TPC-H, each query alone, by higher-order states that are Local; `lineitem` and `orders` are Dist and fetched "
        "by Spark, as on a cluster. A batch changes the six tables that grow. Jobs and stages as Spark counts them; "
        "every view was compared with its query. Beside them Table 3 of the distributed paper, whose streams bring the "
        "rows that leave, as REPLICA IDENTITY FULL does; by keys they are looked up first.",
        "",
        f"Not more jobs than the paper: {below['full']} of {len(queries)} queries, by keys {below['default']}. Not "
        f"more stages: {stages['full']}, by keys {stages['default']}.",
        "",
        "| query | jobs | stages | by keys: jobs | stages | Table 3: jobs | stages |",
        "|---|--:|--:|--:|--:|--:|--:|",
    ]
    for q, cells in queries.items():
        figures = [*cells["full"], *cells["default"], *TABLE_3[q]]
        out.append(f"| {q} | {' | '.join(map(str, figures))} |")
    return [*out, ""]
