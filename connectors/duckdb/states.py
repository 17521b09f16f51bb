"""The states of a warehouse's file, and its views, which are queries over them."""

from __future__ import annotations

import time

import duckdb

from compiler.maintain.kept import Kept, Log
from compiler.maintain.plan import ViewPlan
from compiler.spelling import ident
from connectors.duckdb import keys, reached
from connectors.duckdb.session import beside
from connectors.duckdb.statements import Statements
from connectors.engine import Printer


def stored(name: str) -> str:
    """A state's table, as SQL has it."""
    return f"state.{ident(name).sql('duckdb')}"


def viewed(name: str) -> str:
    return f"main.{ident(name).sql('duckdb')}"


def create(con: duckdb.DuckDBPyConnection) -> None:
    """What a new file needs to know its states."""
    con.execute("CREATE TABLE meta.states (name VARCHAR)")


class States:
    """A state is listed in `meta.states` once it is filled."""

    def __init__(self, statements: Statements, printer: Printer) -> None:
        self.statements, self.con, self.printer = statements, statements.con, printer
        self.elsewhere = statements.elsewhere

    def names(self) -> set[str]:
        return {r[0] for r in self.con.execute("SELECT name FROM meta.states").fetchall()}

    def create(self, s: Kept) -> None:
        """Filled from the mirrors as they are; durable on return."""
        begun = time.perf_counter()
        with self.statements.transaction(f'filling "{s.name}"'):
            self._remove(s.name)
            if not isinstance(s, Log) and s.held is not None:
                keys.create(self.con, s.held.asked)
            if not self.elsewhere.fill(s):
                self.con.execute(self.printer.create_state(s))
                self.statements.run(self.printer.fill_state(s))
                self.elsewhere.place(s)
            self.con.execute("INSERT INTO meta.states VALUES (?)", [s.name])
            if not isinstance(s, Log) and s.waits:
                reached.filled(self.con, s.name, time.perf_counter() - begun)

    def _remove(self, name: str) -> None:
        self.statements.held.renew()
        self.statements.summed.drop(name)
        if name in self.elsewhere.states:
            self.elsewhere.drop_state(name)
        else:
            self.con.execute(f"DROP TABLE IF EXISTS {stored(name)}")

    def drop(self, name: str) -> None:
        with self.statements.transaction(f'dropping "{name}"'):
            self._remove(name)
            self.con.execute("DELETE FROM meta.states WHERE name = ?", [name])
            reached.gone(self.con, name)

    def set_aside(self, states: set[str]) -> None:
        """Give up states that can no longer be maintained."""
        for name in states:
            self.drop(name)

    def size(self, state: str) -> tuple[int, int]:
        """Its rows, and the bytes of its blocks."""
        summed, con = self.statements.summed, beside(self.con)
        total = 0
        for table in summed.tables(state) if state in summed.waiting else [stored(state)]:
            blocks = con.execute(
                "SELECT count(DISTINCT block_id) * 262144 FROM pragma_storage_info(?) WHERE persistent", [table]
            ).fetchone()
            total += int(blocks[0]) if blocks else 0
        return self.rows(state), total

    def rows(self, state: str) -> int:
        row = beside(self.con).execute(f"SELECT count(*) FROM {stored(state)}").fetchone()
        return int(row[0]) if row else 0

    def create_view(self, plan: ViewPlan) -> None:
        self.con.execute(f"CREATE OR REPLACE VIEW {viewed(plan.view)} AS\n{self.printer.view(plan)}")

    def drop_view(self, name: str) -> None:
        self.con.execute(f"DROP VIEW IF EXISTS {viewed(name)}")
