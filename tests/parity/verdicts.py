"""What becomes of each expression on an engine: equal to Postgres, refused with a reason, or different."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace

import psycopg

from compiler.catalog import Catalog
from compiler.errors import TidemarkError, UnsupportedSql
from compiler.maintain.plan import ViewPlan
from compiler.parse import parse_view
from compiler.view import compile_view
from connectors.postgres.catalog import load_catalog
from pipelines.verifying.comparison import Verified, difference
from tests.parity.engines import Evaluator
from tests.parity.expressions import Expression
from tests.parity.source import Source, only, view

EQUAL, REFUSED, DIFFERS, ERROR, NOTHING = "equal", "refused", "differs", "error", "no value in Postgres"


@dataclass(frozen=True)
class Verdict:
    expression: Expression
    status: str
    why: str = ""


class Parity:
    """Compiles and evaluates expressions; those with the same rows go together in one view."""

    def __init__(self, source: Source, engine: Evaluator) -> None:
        self.source, self.engine = source, engine

    def verdicts(self, exprs: list[Expression]) -> Iterator[Verdict]:
        groups: dict[tuple[tuple[str, ...], tuple[int, ...]], list[Expression]] = defaultdict(list)
        for kinds in {e.kinds for e in exprs}:
            self.source.table(kinds)
        catalog = load_catalog(self.source.conn)
        for e in exprs:
            try:
                rows = self.source.rows(e)
            except psycopg.Error as err:
                yield Verdict(e, NOTHING, str(err).splitlines()[0])
                continue
            try:
                plan = self._plan([e], catalog)
            except TidemarkError as err:
                yield Verdict(e, REFUSED, err.message)
                continue
            ours, theirs = plan.outputs[1][1].type.name, self.source.type(e)
            if not _same_type(ours, theirs):
                yield Verdict(e, DIFFERS, f"type {ours}, in Postgres {theirs}")
            elif not rows:
                yield Verdict(e, NOTHING, "an error for every row")
            else:
                groups[(e.kinds, rows)].append(e)
        for (_, rows), together in groups.items():
            yield from self._compared(together, rows, catalog)

    def _plan(self, exprs: list[Expression], catalog: Catalog) -> ViewPlan:
        text = view(exprs, self.source.table(exprs[0].kinds))
        return compile_view("parity", parse_view(f"CREATE MATERIALIZED VIEW parity AS {text}").query, catalog, {})

    def _compared(self, exprs: list[Expression], rows: tuple[int, ...], catalog: Catalog) -> Iterator[Verdict]:
        name = self.source.table(exprs[0].kinds)
        table = next(t for t in catalog.tables.values() if t.name == name)
        plan = self._plan(exprs, catalog)
        try:
            arrived = self.source.text(f"SELECT * FROM {name}{only(rows)}", len(table.columns))
            got = self.engine.evaluate(table, arrived, plan)
        except Exception as err:
            if len(exprs) == 1:
                yield self._alone(exprs[0], rows, catalog, err)
                return
            half = len(exprs) // 2
            yield from self._compared(exprs[:half], rows, catalog)
            yield from self._compared(exprs[half:], rows, catalog)
            return
        for i, e in enumerate(exprs):
            one = replace(plan, outputs=[plan.outputs[0], plan.outputs[i + 1]])
            want = self.source.text(f"SELECT k, ({e.sql}) FROM {name}{only(rows)}", 2)
            why = self._difference(one, want, got.select([0, i + 1]), name)
            yield Verdict(e, DIFFERS if why else EQUAL, why)

    def _alone(self, e: Expression, rows: tuple[int, ...], catalog: Catalog, err: Exception) -> Verdict:
        """An expression that failed: refused by the engine, or an error for some rows, which are then left out."""
        if isinstance(err, UnsupportedSql):
            return Verdict(e, REFUSED, err.message)
        what = str(getattr(err, "detail", "") or err).splitlines()[0][:160]
        if len(rows) == 1:
            return Verdict(e, ERROR, what)
        half = len(rows) // 2
        parts = [v for part in (rows[:half], rows[half:]) for v in self._compared([e], part, catalog)]
        return next((v for v in parts if v.status == DIFFERS), None) or next(
            (v for v in parts if v.status == ERROR), parts[0]
        )

    def _difference(self, plan: ViewPlan, want: list, got, name: str) -> str:  # type: ignore[no-untyped-def, type-arg]
        try:
            d = Verified("parity")
            difference(d, [c.type for _, c in plan.outputs], want, got)
        except Exception as err:
            return f"cannot be compared: {str(err).splitlines()[0][:160]}"
        return "" if d.equal else f"{d.missing} of {d.rows} rows; {d.example}; {self._arguments(d.example, name)}"

    def _arguments(self, example: str, name: str) -> str:
        """The arguments of the row in an example `… {'c0': k, …`."""
        k = example.partition("'c0': ")[2].partition(",")[0]
        row = (
            self.source.conn.execute(f"SELECT {name}::text FROM {name} WHERE k = {k}".encode()).fetchone()
            if k.isdigit()
            else None
        )
        return f"of {row[0]}" if row else ""


def _same_type(ours: str, theirs: str) -> bool:
    if theirs.endswith("[]"):
        return ours == "array"
    names = {
        "integer": "int4",
        "bigint": "int8",
        "smallint": "int2",
        "double precision": "float8",
        "real": "float4",
        "boolean": "bool",
        "character varying": "varchar",
        "character": "bpchar",
        "timestamp without time zone": "timestamp",
        "timestamp with time zone": "timestamptz",
        "time without time zone": "time",
    }
    return names.get(theirs, theirs) == ("bpchar" if ours == "blanks" else ours)
