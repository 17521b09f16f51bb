"""What is read of a warehouse's file, on connections of its own: at a pin, or as it is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from compiler.catalog import Table
from compiler.maintain.asked import Asked
from compiler.maintain.plan import ViewPlan
from connectors.duckdb import definition, export, frontier, keys, mirror
from connectors.duckdb.session import beside
from connectors.duckdb.states import viewed
from connectors.engine import VALUE, EngineFailure, Pin, Printer


@dataclass(frozen=True)
class DuckDBPin:
    """A connection in a transaction that only reads, and the frontier that it sees."""

    con: duckdb.DuckDBPyConnection
    lsn: int


@contextmanager
def _failing(what: str) -> Iterator[None]:
    """What DuckDB refuses is an EngineFailure, of the code VALUE where a value is the cause."""
    try:
        yield
    except duckdb.Error as e:
        code = VALUE if isinstance(e, OF_A_VALUE) else "engine"
        raise EngineFailure(what, detail=str(e).split("\n")[0], code=code) from e


OF_A_VALUE = (duckdb.ConversionException, duckdb.OutOfRangeException, duckdb.InvalidInputException)


class Reading:
    """Cursors of `con` read beside what it writes, and see what was committed last."""

    def __init__(self, con: duckdb.DuckDBPyConnection, printer: Printer) -> None:
        self.con, self.printer = con, printer

    @contextmanager
    def pinned(self) -> Iterator[DuckDBPin]:
        """One frontier, whatever is applied meanwhile."""
        con = self._cursor()
        con.execute("BEGIN TRANSACTION READ ONLY")
        try:
            yield DuckDBPin(con, frontier.lsn(con))
        finally:
            with suppress(duckdb.Error):
                con.execute("ROLLBACK")
            con.close()

    def _at(self, at: Pin | None) -> duckdb.DuckDBPyConnection:
        return at.con if isinstance(at, DuckDBPin) else self._cursor()

    def _cursor(self) -> duckdb.DuckDBPyConnection:
        return beside(self.con)

    def _query(self, view: str, query: str, now: str | None = None, at: Pin | None = None) -> duckdb.DuckDBPyConnection:
        """Raises EngineFailure; after which nothing is read any more at that pin."""
        con = self._at(at)
        with _failing(f'reading view "{view}" failed'):
            if now is not None:
                con.execute("SET VARIABLE tidemark_now = ?::TIMESTAMPTZ", [now])
            return con.execute(query)

    def _table(self, view: str, query: str, now: str | None = None, at: Pin | None = None) -> pa.Table:
        found = self._query(view, query, now, at)
        with _failing(f'reading view "{view}" failed'):
            return found.to_arrow_table()

    def read(self, plan: ViewPlan, now: str | None = None, at: Pin | None = None) -> pa.Table:
        return self._table(plan.view, f"SELECT * FROM {viewed(plan.view)}", now, at)

    def count(self, view: str) -> int:
        row = self._query(view, f"SELECT count(*) FROM {viewed(view)}").fetchone()
        return int(row[0]) if row else 0

    def export(self, plan: ViewPlan, path: Path, fmt: str) -> None:
        every = self.whole(plan) if plan.asked is not None else ""
        export.write(lambda query: self._query(plan.view, query), plan, path, fmt, every)

    def read_mirror(self, t: Table, at: Pin | None = None) -> pa.Table:
        cols, name = mirror.columns(t), mirror.q(t.mirror)
        times = "" if t.key else ", unnest(range(_weight))"
        with _failing(f'reading the mirror of "{t.schema}.{t.name}" failed'):
            return self._at(at).execute(f"SELECT {cols} FROM (SELECT {cols}{times} FROM base.{name})").to_arrow_table()

    def counted(self, plan: ViewPlan, at: Any) -> bool | None:
        with _failing(f'counting what is kept for "{plan.view}" failed'):
            return definition.counted(at.con, self.printer, plan)

    def as_defined(self, plan: ViewPlan, at: Any) -> bool | None:
        with _failing(f'computing "{plan.view}" again failed'):
            return definition.as_defined(at.con, self.printer, plan)

    # -- views of which the keys are kept that were asked for

    def keys(self) -> set[str]:
        return keys.tables(self.con)

    def look_up(self, asked: Asked, wanted: pa.Table, at: Pin | None = None) -> pa.Table:
        return keys.looked_up(self._at(at), asked, wanted)

    def asked_for(self, asked: Asked, at: Pin | None = None) -> pa.Table:
        return keys.held(self._at(at), asked)

    def weight(self, plan: ViewPlan) -> tuple[int, int]:
        return keys.weight(self._cursor(), plan)

    def weights(self, plan: ViewPlan) -> pa.Table:
        return keys.weights(self._cursor(), self.printer, plan)

    def whole(self, plan: ViewPlan) -> str:
        assert plan.whole is not None
        return self.printer.view(replace(plan, states=[], top=plan.whole))

    def read_whole(self, plan: ViewPlan, at: Pin | None = None) -> pa.Table:
        return self._table(plan.view, self.whole(plan), None, at)
