"""States that are filled beside the batches, which do not wait for it.

They are filled on a connection of their own, in one transaction: from the mirrors as they were when it began. What
batches have changed since is kept meanwhile, in the tables of the schema `since`, each batch's within its transaction.
In the end the states take that as they would take one batch: they then stand where all others do.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import duckdb

from compiler.catalog import Table
from compiler.maintain.kept import Kept
from compiler.maintain.program import Statement
from compiler.spelling.duckdb import type_name
from connectors.duckdb.held import Reads
from connectors.duckdb.mirror import batch, of_several_forms, q
from connectors.duckdb.mirrors import Mirrors
from connectors.duckdb.session import beside
from connectors.duckdb.statements import Statements
from connectors.duckdb.states import stored
from connectors.engine import Printer, Programs
from connectors.failpoints import reach

FILLED = "meta.filled"  # the states that are filled and not listed yet
PATIENCE = 100  # tenths of a second that a fill has to notice that it is to stop


@dataclass
class Begun:
    """A connection, with a transaction that sees what was there when it began, and the states to fill in it."""

    con: duckdb.DuckDBPyConnection
    states: Sequence[Kept]
    printer: Printer
    stopped: bool = False
    running: bool = False
    done: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        """On any thread: all of the states, or none, and the error is raised."""
        self.running = True
        try:
            for s in self.states:
                self._execute(f"DROP TABLE IF EXISTS {stored(s.name)}")
                self._execute(self.printer.create_state(s))
                self._execute(self.printer.fill_state(s).sql)
                self.con.execute(f"INSERT INTO {FILLED} VALUES (?)", [s.name])
            reach("duckdb.filling")
            self._execute("COMMIT")
            reach("duckdb.filled")
        finally:
            self.con.close()
            self.done.set()

    def _execute(self, statement: str) -> None:
        if self.stopped:
            raise duckdb.InterruptException("the pipeline stops")
        self.con.execute(statement)

    def stop(self) -> None:
        """What runs is interrupted until it ends: between two statements it would not hear it. What has not begun never
        does."""
        self.stopped = True
        for _ in range(PATIENCE):
            if not self.running or self.done.wait(0.1):
                break
            with suppress(duckdb.Error):  # it has ended meanwhile
                self.con.interrupt()


class Filling:
    """Of one file. `since`: the tables of which changes are kept, by mirror, with their columns that are."""

    def __init__(self, statements: Statements, mirrors: Mirrors, printer: Printer) -> None:
        self.statements, self.con, self.mirrors, self.printer = statements, statements.con, mirrors, printer
        self.since: dict[str, frozenset[str]] = {}
        self.able = True
        found = self.con.execute(
            "SELECT table_name, column_name FROM duckdb_columns() WHERE schema_name = 'since'"
        ).fetchall()
        for name, column in found:
            self.since[name] = self.since.get(name, frozenset()) | ({column} - {"_weight"})

    def begin(self, states: Sequence[Kept], read: Iterable[tuple[Table, frozenset[str]]]) -> Begun:
        """Between batches: from now on what they change of these tables is kept, in the columns that are read."""
        self.clear()
        self.mirrors.fold()
        kept = [(t, columns | {*t.key}) for t, columns in read]
        with self.statements.transaction("beginning to fill states"):
            self.con.execute("CREATE SCHEMA IF NOT EXISTS since")
            self.con.execute(f"CREATE TABLE {FILLED} (name VARCHAR)")
            for t, columns in kept:
                body = ", ".join(f"{q(c.name)} {type_name(c.type)}" for c in t.columns if c.name in columns)
                self.con.execute(f"CREATE TABLE since.{q(t.mirror)} ({body}, _weight BIGINT)")
        con = beside(self.con)
        con.execute("BEGIN")
        con.execute(f"SELECT name FROM {FILLED}").fetchall()  # from here on it sees the same
        self.since = {t.mirror: columns for t, columns in kept}
        return Begun(con, states, self.printer)

    def columns(self, t: Table) -> frozenset[str]:
        """Of the rows that a batch takes away, those that are kept."""
        return self.since.get(t.mirror, frozenset())

    def note(self, t: Table) -> None:
        """In a batch's transaction, once it has landed."""
        if t.mirror in self.since:
            cols = ", ".join(q(c.name) for c in t.columns if c.name in self.since[t.mirror])
            rows = f"SELECT {cols}, _weight FROM {batch(t)}"
            self.statements.held.insert(f"since.{q(t.mirror)} ({cols}, _weight)", rows, Reads((batch(t),), True))

    def names(self) -> set[str]:
        """The states that are filled, and stand where they were begun."""
        there = self.con.execute(
            "SELECT 1 FROM duckdb_tables() WHERE schema_name = 'meta' AND table_name = 'filled'"
        ).fetchall()
        if not there:
            return set()
        every = f"SELECT name FROM {FILLED} WHERE name NOT IN (SELECT name FROM meta.states)"
        return {r[0] for r in self.con.execute(every).fetchall()}

    def take(self, states: Sequence[Kept], tables: Iterable[Table], programs: Programs) -> None:
        """Between batches: these states, which are filled, take what was changed since, and are listed. `programs`:
        of the views that have them, and no others; `tables` are those that they read."""
        with self.statements.transaction("what was filled beside the batches"):
            changed = {t.mirror: f"{t.schema}.{t.name}" for t in tables if self._net(t)}
            if changed:
                self._run(programs(frozenset(changed.values())).statements)
            for state in states:
                self.statements.elsewhere.place(state)
                self.con.execute("INSERT INTO meta.states VALUES (?)", [state.name])
            self._give_up()
            reach("duckdb.catching_up")
        self.since = {}

    def _run(self, statements: Sequence[Statement]) -> None:
        for s in statements:
            self.statements.run(s)

    def _net(self, t: Table) -> int:
        """What has changed of a table, as a batch's rows; gives their number."""
        kept = [c for c in t.columns if c.name in self.since[t.mirror]]
        cols = ", ".join(q(c.name) for c in kept)
        apart = "".join(f", CAST({q(c.name)} AS VARCHAR)" for c in kept if of_several_forms(c.type))
        every = ", ".join(q(c.name) if c in kept else f"NULL::{type_name(c.type)} AS {q(c.name)}" for c in t.columns)
        return self.statements.held.make(
            batch(t),
            f"SELECT {every}, _weight FROM (SELECT {cols}, sum(_weight)::BIGINT AS _weight FROM since.{q(t.mirror)} "
            f"GROUP BY {cols}{apart} HAVING sum(_weight) <> 0)",
        )

    def spoil(self, mirror: str) -> None:
        """The mirror has become another: what was filled from it is not to be taken."""
        if mirror in self.since:
            del self.since[mirror]
            self.con.execute(f"DROP TABLE since.{q(mirror)}")

    def clear(self) -> None:
        """Leave nothing of what was not taken."""
        self.since = {}
        with self.statements.transaction("giving up states that were being filled"):
            self._give_up()

    def _give_up(self) -> None:
        for name in self.names():
            self.con.execute(f"DROP TABLE IF EXISTS {stored(name)}")
        self.con.execute(f"DROP TABLE IF EXISTS {FILLED}")
        self.con.execute("DROP SCHEMA IF EXISTS since CASCADE")
