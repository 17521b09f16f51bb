"""The SQL of states, batches and views for an engine: what `connectors.engine.Printer` asks for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlglot import exp

from compiler.ir.relation import Relation
from compiler.maintain.change import Add, Append, Change
from compiler.maintain.kept import Kept, Log
from compiler.maintain.plan import ViewPlan
from compiler.maintain.program import Prepared, Program, Statement
from dialects import maintain, merge
from dialects.dialect import Dialect, ident
from dialects.lower import lowering


class Printer:
    """Prints in one dialect."""

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect

    def setup(self) -> Sequence[str]:
        return self.dialect.setup()

    def create_state(self, s: Kept) -> str:
        return maintain.create_state(self.dialect, s).sql

    def fill_state(self, s: Kept) -> Statement:
        return maintain.fill_state(self.dialect, s)

    def contents(self, s: Kept) -> str:
        """The query that fills a state."""
        return self.dialect.sql(maintain.fill_tree(self.dialect, s))

    def statements(self, p: Program) -> list[Statement]:
        return maintain.statements(self.dialect, p)

    def prepare(self, p: Program, touched: tuple[Kept, ...] = (), beside: Program | None = None) -> Prepared:
        """`beside`: of the program, what is run where the states `touched` are filled anew."""
        rest = self.prepare(beside) if beside is not None else None
        return Prepared(p, tuple(self.statements(p)), p.columns("delta", "before"), touched, rest)

    def refill(self, states: Iterable[Kept]) -> list[Statement]:
        """States emptied, and filled from the mirrors as they are."""
        return [x for s in states for x in maintain.refill_state(self.dialect, s)]

    def taken(self, c: Change, source: str, into: tuple[str, str]) -> str:
        """The statement of a change that is stored in the temp table `source`, on a table that has the state's rows:
        its schema and name."""
        schema, name = into
        at = exp.Table(this=ident(name), db=exp.to_identifier(schema))
        return self.dialect.sql(merge.taken(self.dialect, c, exp.Table(this=ident(source)), at))

    def added(self, c: Add) -> str:
        """The query of what is added to a state, its columns in the order of the state's."""
        log = Append(Log(c.state.name, c.state.columns), c.source, c.rule)
        return self.dialect.sql(merge.taken(self.dialect, log).expression)

    def query(self, r: Relation, weight: bool, small: bool = False) -> str:
        return self.dialect.sql(lowering(self.dialect).query(r, weight=weight))

    def view(self, plan: ViewPlan, now: str | None = None) -> str:
        """The query that reads a view; DuckDB takes `now` from the variable tidemark_now."""
        return maintain.read_select(self.dialect, plan.top, plan.outputs)
