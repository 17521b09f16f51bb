"""Whether states hold what their definitions give, over the mirrors as a pinned connection sees them."""

from __future__ import annotations

import duckdb

from compiler.maintain.kept import Own, own, seen, weighted
from compiler.maintain.plan import ViewPlan
from compiler.spelling import ident
from connectors.engine import Printer

COUNTS = ("_count", "_weight")  # columns of states that say how many rows there are


def _stored(printer: Printer, s: Own) -> str:
    """A state with what waits in its tail."""
    rows = seen(s)
    if rows is not None:
        return f"({printer.query(rows, weight=weighted(s))})"
    return f"state.{ident(s.name).sql('duckdb')}"


def counted(con: duckdb.DuckDBPyConnection, printer: Printer, plan: ViewPlan) -> bool:
    """Whether every state has as many rows as its definition, also those that no reader sees."""
    for s in own(plan.states):
        counts = "".join(f", sum({c.name})" for c in s.columns if c.name in COUNTS)
        found = [
            con.execute(f"SELECT count(*){counts} FROM {x}").fetchone()
            for x in (_stored(printer, s), f"({printer.contents(s)})")
        ]
        if found[0] != found[1]:
            return False
    return True


def as_defined(con: duckdb.DuckDBPyConnection, printer: Printer, plan: ViewPlan) -> bool:
    """Whether every state has the very rows of its definition."""
    for s in own(plan.states):
        stored, anew = f"SELECT * FROM {_stored(printer, s)}", printer.contents(s)
        both = f"(({stored}) EXCEPT ALL ({anew})) UNION ALL (({anew}) EXCEPT ALL ({stored}))"
        if con.execute(f"SELECT count(*) FROM ({both})").fetchone() != (0,):
            return False
    return True
