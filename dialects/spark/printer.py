"""Spark's SQL with the design's table names replaced by where the tables are."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from sqlglot import exp

from compiler.ir.relation import Relation
from compiler.maintain.change import Change
from compiler.maintain.kept import Kept
from compiler.maintain.plan import ViewPlan
from compiler.maintain.program import Prepared, Program
from dialects import maintain
from dialects.lower import lowering
from dialects.merge import taken
from dialects.printer import Printer
from dialects.spark import SPARK

STORED = "parquet"  # the schema under which Spark reads files
SMALL = re.compile(r"(keys|batch_)")  # steps that hold keys, and batches


def broadcast(tree: exp.Expr) -> exp.Expr:
    """Hints that key sets and batches are sent to every worker: Spark guesses a join's size as the product of its
    sides, and would sort a whole mirror to meet a few keys."""
    for select in tree.find_all(exp.Select):
        joined = [j.this for j in select.args.get("joins") or []]
        start = select.args.get("from_")
        tables = [t for t in [*([start.this] if start is not None else []), *joined] if isinstance(t, exp.Table)]
        small = [t.alias_or_name for t in tables if t.args.get("db") is None and SMALL.match(t.name)]
        if joined and small:
            names = [exp.column(exp.to_identifier(n)) for n in small]
            select.set("hint", exp.Hint(expressions=[exp.Anonymous(this="BROADCAST", expressions=names)]))
    return tree


class SparkPrinter(Printer):
    """States are Delta tables under `root`; mirrors and batches views of the session, `after__orders` for
    `after.orders`.

    With `versions`, by state, states are read as they were then; a state that has none is no table that can be read.
    """

    def __init__(self, root: Path) -> None:
        super().__init__(SPARK)
        self.root = root.absolute()

    def placed(self, tree: exp.Expr, versions: Mapping[str, int] | None = None) -> str:
        def place(n: exp.Expr) -> exp.Expr:
            if not isinstance(n, exp.Table) or n.args.get("db") is None or n.db == STORED:
                return n
            if n.db == "state":
                new = self.state(n.name, None if versions is None else versions[n.name])
            else:
                new = exp.Table(this=exp.Identifier(this=f"{n.db}__{n.name}", quoted=True))
            new.set("alias", n.args.get("alias"))
            return new

        return SPARK.sql(tree.transform(place), pretty=False)

    def state(self, name: str, version: int | None = None) -> exp.Table:
        path = exp.Identifier(this=str(self.root / "state" / name), quoted=True)
        new = exp.Table(this=path, db=exp.Identifier(this="delta", quoted=False))
        if version is not None:
            new.set("version", exp.Version(this="VERSION", kind="AS OF", expression=exp.Literal.number(version)))
        return new

    def prepare(self, p: Program, touched: tuple[Kept, ...] = (), beside: Program | None = None) -> Prepared:
        """Steps are printed when they run: where their inputs are stored, and which recursions went round by round,
        is known then."""
        return Prepared(p, (), p.columns("delta", "before"))

    def contents(self, s: Kept) -> str:
        return self.placed(maintain.fill_tree(SPARK, s))

    def query(self, r: Relation, weight: bool, small: bool = False, versions: Mapping[str, int] | None = None) -> str:
        tree = lowering(SPARK).query(r, weight=weight)
        return self.placed(broadcast(tree) if small else tree, versions)

    def merge(self, c: Change, stored: Path) -> str:
        """The statement of a change that is stored as Parquet."""
        return self.placed(
            taken(SPARK, c, exp.Table(this=exp.to_identifier(str(stored), quoted=True), db=exp.to_identifier(STORED)))
        )

    def view(self, plan: ViewPlan, now: str | None = None, versions: Mapping[str, int] | None = None) -> str:
        tree = maintain.read_tree(SPARK, plan.top, plan.outputs)
        if now is not None:
            fixed = exp.Cast(this=exp.Literal.string(now), to=exp.DataType.build("TIMESTAMP", dialect="spark"))
            tree = tree.transform(lambda n: fixed.copy() if isinstance(n, exp.CurrentTimestamp) else n)
        return self.placed(tree, versions)
