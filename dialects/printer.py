"""The SQL of states, batches and views for an engine: what `connectors.engine.Printer` asks for."""

from __future__ import annotations

from compiler.ir.relation import Relation
from compiler.maintenance import Merge, Program, Statement
from compiler.state import StateDef, ViewPlan
from dialects import maintain
from dialects.dialect import Dialect
from dialects.lower import Lower


class Printer:
    """Prints in one dialect."""

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect

    def setup(self) -> list[str]:
        return self.dialect.setup()

    def create_state(self, s: StateDef) -> str:
        return maintain.create_state(self.dialect, s).sql

    def fill_state(self, s: StateDef) -> Statement:
        return maintain.fill_state(self.dialect, s)

    def contents(self, s: StateDef) -> str:
        """The query that fills a state."""
        return self.dialect.sql(maintain.fill_tree(self.dialect, s))

    def statements(self, p: Program) -> list[Statement]:
        return maintain.statements(self.dialect, p)

    def query(self, r: Relation, weight: bool, small: bool = False) -> str:
        return self.dialect.sql(Lower(self.dialect).query(r, weight=weight))

    def merge(self, m: Merge, source: str) -> str:
        return maintain.merge_sql(self.dialect, m, source)

    def view(self, plan: ViewPlan, now: str | None = None) -> str:
        """The query that reads a view; DuckDB takes `now` from the variable tidemark_now."""
        return maintain.read_select(self.dialect, plan.top, plan.outputs)
