"""Spark's SQL with the design's table names replaced by where the tables are."""

from __future__ import annotations

from pathlib import Path

from sqlglot import exp

from compiler.ir.relation import Relation
from compiler.maintenance import Merge
from compiler.state import StateDef, ViewPlan
from dialects import maintain
from dialects.lower import Lower
from dialects.printer import Printer
from dialects.spark import SPARK


class SparkPrinter(Printer):
    """States are Delta tables under `root`; mirrors and batches are temp views of the session, `after__orders` for `after.orders`."""

    def __init__(self, root: Path) -> None:
        super().__init__(SPARK)
        self.root = root.absolute()

    def placed(self, tree: exp.Expr) -> str:
        def place(n: exp.Expr) -> exp.Expr:
            if not isinstance(n, exp.Table) or n.args.get("db") is None:
                return n
            new = self.state(n.name) if n.db == "state" else exp.Table(this=exp.Identifier(this=f"{n.db}__{n.name}", quoted=True))
            new.set("alias", n.args.get("alias"))
            return new

        return SPARK.sql(tree.transform(place), pretty=False)

    def state(self, name: str) -> exp.Table:
        return exp.Table(this=exp.Identifier(this=str(self.root / "state" / name), quoted=True), db=exp.Identifier(this="delta", quoted=False))

    def contents(self, s: StateDef) -> str:
        return self.placed(maintain.fill_tree(SPARK, s))

    def query(self, r: Relation, weight: bool) -> str:
        return self.placed(Lower(SPARK).query(r, weight=weight))

    def merge(self, m: Merge, source: str) -> str:
        text = maintain.merge_sql(SPARK, m, source)
        return text.replace(f"MERGE INTO state.{m.state.name} AS s", f"MERGE INTO {self.state(m.state.name).sql('spark')} AS s", 1)

    def view(self, plan: ViewPlan, now: str | None = None) -> str:
        tree = maintain.read_tree(SPARK, plan.top, plan.outputs)
        if now is not None:
            fixed = exp.Cast(this=exp.Literal.string(now), to=exp.DataType.build("TIMESTAMP", dialect="spark"))
            tree = tree.transform(lambda n: fixed.copy() if isinstance(n, exp.CurrentTimestamp) else n)
        return self.placed(tree)
