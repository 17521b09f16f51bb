"""What drives an engine without a source: the programs of the deployed views, and the comparison with their queries."""

from __future__ import annotations

from typing import Any

import duckdb

from compiler.catalog import mirror_name
from compiler.maintain.again import beside, touched
from compiler.maintain.differentiate import Same, program
from compiler.maintain.fetch import fetched
from compiler.maintain.plan import ViewPlan, states_of
from compiler.maintain.program import Prepared
from connectors.duckdb.engine import DuckDBEngine
from connectors.spark.local.engine import LocalEngine
from dialects.printer import Printer
from pipelines.folding import Folding

DIGITS = 6  # floats are compared to as many digits after the point: Spark gives an average no more


class Driven:
    """The programs of the views that are deployed, each made once."""

    plans: list[ViewPlan]

    def __init__(self, printer: Printer) -> None:
        self.printer, self.plans = printer, []
        self.prepared: dict[tuple[object, ...], Prepared] = {}
        self.folding = Folding()

    def large(self) -> frozenset[str]:
        return frozenset()

    def folded(self) -> frozenset[str]:
        return frozenset()

    def programs(self, changed: frozenset[str], same: Same = frozenset()) -> Prepared:
        key = (changed, self.large(), self.folded(), same)
        if key not in self.prepared:
            p = fetched(program(self.plans, changed, key[2], same), lambda t: mirror_name(t) in key[1])
            anew, rest = touched(self.plans, changed), beside(self.plans, changed, same)
            self.prepared[key] = self.printer.prepare(p, anew, rest)
        return self.prepared[key]


class InFile(Driven):
    """An engine whose states are in a DuckDB file."""

    engine: DuckDBEngine | LocalEngine

    def large(self) -> frozenset[str]:
        return self.engine.large()

    def folded(self) -> frozenset[str]:
        return self.folding.due(self.engine, self.plans)

    def frontier(self) -> int:
        return self.engine.frontier()

    def deploy(self, plans: list[ViewPlan]) -> None:
        for p in self.plans:
            self.engine.drop_view(p.view)
        for s in self.engine.states():
            self.engine.drop_state(s)
        for state in states_of(plans):
            self.engine.create_state(state)
        for p in plans:
            self.engine.create_view(p)
        self.plans = plans
        self.prepared.clear()


def compare(con: duckdb.DuckDBPyConnection, kept: str, again: str) -> int:
    """How many rows one has and the other has not, as bags; columns are compared in order, floats rounded."""
    a, b = (con.execute(f"DESCRIBE SELECT * FROM {x}").fetchall() for x in (kept, again))
    floats = [
        any(t in ("DOUBLE", "FLOAT") for t in (x[1], y[1]))
        or (x[1] != y[1] and x[1].startswith(y[1][:7]) and "DECIMAL" in x[1])
        for x, y in zip(a, b, strict=True)
    ]  # averages have other scales in other engines

    def items(cols: list[Any]) -> str:
        return ", ".join(f'round("{c[0]}"::DOUBLE, {DIGITS})' if f else f'"{c[0]}"' for c, f in zip(cols, floats))

    left, right = f"(SELECT {items(a)} FROM {kept})", f"(SELECT {items(b)} FROM {again})"
    row = con.execute(
        f"SELECT (SELECT count(*) FROM ({left} EXCEPT ALL {right})), (SELECT count(*) FROM ({right} EXCEPT ALL {left}))"
    ).fetchone()
    assert row is not None
    return int(row[0]) + int(row[1])
