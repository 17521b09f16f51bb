"""Each engine's side: a view of expressions over a table of arguments, through the compiler and the engine's SQL."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa
from sqlglot import exp

from compiler.catalog import Table
from compiler.maintain.plan import ViewPlan
from connectors.duckdb.engine import DuckDBEngine
from connectors.spark.engine import SparkEngine
from connectors.spark.landing import typed_base
from connectors.spark.store import CODEGEN, Store
from dialects import maintain
from dialects.duckdb import DUCKDB
from dialects.printer import Printer
from dialects.spark import SPARK
from dialects.spark.printer import SparkPrinter


class Evaluator(Protocol):
    name: str

    def evaluate(self, table: Table, rows: list[pa.Table], plan: ViewPlan) -> pa.Table: ...


class OnDuckdb:
    """Mirror, state and view in a DuckDB file, as a deployment makes them."""

    name = "duckdb"

    def __init__(self, folder: Path) -> None:
        self.engine = DuckDBEngine(folder / "parity.duckdb", Printer(DUCKDB))

    def evaluate(self, table: Table, rows: list[pa.Table], plan: ViewPlan) -> pa.Table:
        self.engine.create_mirror(table)
        self.engine.load(table, rows)
        for s in plan.states:
            self.engine.create_state(s)
        self.engine.create_view(plan)
        return self.engine.read(plan)


class OnSpark:
    """The SQL of state and view over the arguments in Parquet; Delta adds nothing to the meaning of an expression."""

    name = "spark"

    def __init__(self, folder: Path, interpreted: bool = False) -> None:
        self.folder, self.interpreted = folder, interpreted
        self.engine = SparkEngine(Store(folder / "spark", SparkPrinter(folder / "spark"), "local[2]"))
        self.seen = 0

    def evaluate(self, table: Table, rows: list[pa.Table], plan: ViewPlan) -> pa.Table:
        self.seen += 1
        arrived = self.folder / f"arrived_{self.seen}"
        arrived.mkdir()
        for i, chunk in enumerate(rows):
            typed_base(table, chunk, arrived / f"{i}.parquet")
        casts = ", ".join(f"CAST(`{c.name}` AS {SPARK.type_sql(c.type)}) AS `{c.name}`" for c in table.columns)
        spark = self.engine.store.spark
        for key, values in CODEGEN.items():
            spark.conf.set(key, values[self.interpreted])
        for time in ("after", "after_rows"):
            spark.sql(
                f"CREATE OR REPLACE TEMP VIEW `{time}__{table.mirror}` AS SELECT {casts} FROM parquet.`{arrived}`"
            )
        for s in plan.states:
            spark.sql(_placed(maintain.fill_tree(SPARK, s))).createOrReplaceTempView(f"state__{s.name}")
        frame = spark.sql(_placed(maintain.read_tree(SPARK, plan.top, plan.outputs)))
        try:
            return self.engine.reading.collect(frame)
        finally:
            shutil.rmtree(arrived)


def _placed(tree: exp.Expr) -> str:
    def place(n: exp.Expr) -> exp.Expr:
        if isinstance(n, exp.Table) and n.args.get("db") is not None:
            new: Any = exp.Table(this=exp.Identifier(this=f"{n.db}__{n.name}", quoted=True))
            new.set("alias", n.args.get("alias"))
            return new
        return n

    return SPARK.sql(tree.transform(place), pretty=False)
