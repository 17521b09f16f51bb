"""Small states that take their changes by an append: rows, and a tail that readers add to them.

For a state of few groups a MERGE is mostly planning, and is dearer than to append what a batch adds; adding up some
thousand rows costs a reader a millisecond. So `state.<name>` becomes a view of both. The program is as it was: only
how its additions are done differs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import replace

import duckdb

from compiler.maintain.change import Add
from compiler.maintain.kept import Accumulated, Log
from compiler.maintain.program import STEPS, Statement
from connectors.duckdb import frontier
from connectors.duckdb.mirror import q
from connectors.duckdb.tailed import named
from connectors.engine import Printer
from connectors.failpoints import reach

FEW = 10_000  # rows of a state that readers add up
MANY = 20_000  # rows of one that becomes a table again
WAITING = 1_000  # rows of a tail, and as many again as its state has, until they are taken

Transaction = Callable[[str], AbstractContextManager[None]]


class Summed:
    """The states of a file that have a tail beside them; none begins to have one if not `able`."""

    def __init__(self, con: duckdb.DuckDBPyConnection, printer: Printer, able: bool) -> None:
        self.con, self.printer, self.able = con, printer, able
        self.large: set[str] = set()  # states that were seen to have more than few rows
        self.texts: dict[str, str] = {}  # an addition's statement → the query of what it adds
        self.waiting: dict[str, int] = {}  # by state, at most so many rows of its tail; all states that have one
        self.rows: dict[str, int] = {}  # by state, how many it had when that was seen last
        self.look()

    def look(self) -> None:
        """Find out which states have a tail."""
        tables = self._names("duckdb_tables()", "table_name")
        names = {n for n in self._names("duckdb_views()", "view_name") if named(n, "tail") in tables}
        self.waiting = {n: self._count(_tail(n)) for n in names}

    def prepare(self, statements: Iterable[Statement], transaction: Transaction) -> None:
        """Before a batch: small states that it adds to have a tail from now on."""
        if not self.able:
            return
        for s in statements:
            if isinstance(c := s.change, Add) and _may(c.state) and self._few(s.target):
                with transaction(f'a tail for "{s.target}"'):
                    self._begin(c.state)
                self.waiting[s.target] = 0

    def appended(self, s: Statement) -> tuple[str, str] | None:
        """For a statement that adds to a state with a tail, the tail and a query of what it takes; to be asked in the
        statement's transaction. A state that takes more than additions is a table again."""
        if s.target not in self.waiting or s.does in STEPS:
            return None
        if not isinstance(s.change, Add):
            self.end(s.target)
            return None
        if s.sql not in self.texts:
            self.texts[s.sql] = self.printer.added(s.change)
        return _tail(s.target), self.texts[s.sql]

    def ran(self, s: Statement, rows: int) -> None:
        if s.target in self.waiting:
            self.waiting[s.target] += rows

    def end(self, name: str) -> None:
        """In a transaction that has not changed its rows: the state is one table.

        DuckDB 1.5.5 writes what a transaction changed in a table under the name that it has at the commit: the log of a
        table that is changed and then takes the name of a view cannot be read again. So it has its name first.
        """
        rows = f"state.{q(named(name, 'rows'))}"
        for statement in (
            f"CREATE OR REPLACE TEMP TABLE added_up AS SELECT * FROM state.{q(name)}",
            f"DROP VIEW state.{q(name)}",
            f"DROP TABLE {_tail(name)}",
            f"ALTER TABLE {rows} RENAME TO {q(name)}",
            f"DELETE FROM state.{q(name)}",
            f"INSERT INTO state.{q(name)} SELECT * FROM added_up",
        ):
            self.con.execute(statement)
        del self.waiting[name]

    def drop(self, name: str) -> None:
        """In a transaction: nothing of it is there any more."""
        if self.waiting.pop(name, None) is not None:
            self.con.execute(f"DROP VIEW state.{q(name)}")
            for table in self.tables(name):
                self.con.execute(f"DROP TABLE {table}")
        self.large.discard(name)

    def tables(self, name: str) -> list[str]:
        """Of a state that has a tail."""
        return [f"state.{q(named(name, 'rows'))}", _tail(name)]

    def fold(self, transaction: Transaction, force: bool = False) -> None:
        """Between batches: rows take what waits in tails that have become long, with `force` in any."""
        for name, waiting in list(self.waiting.items()):
            if waiting < (1 if force else WAITING + self.rows.get(name, 0)):
                continue
            with transaction(f'folding the tail of "{name}"'):
                self.rows[name] = self._count(f"state.{q(name)}")
                if self.rows[name] > MANY:
                    self.end(name)
                    self.large.add(name)
                else:
                    self._take(name)
                reach("duckdb.summing")
            reach("duckdb.summed")
            if name in self.waiting:
                self.waiting[name] = 0

    def _take(self, name: str) -> None:
        rows, tail = self.tables(name)
        for statement in (
            f"CREATE OR REPLACE TEMP TABLE added_up AS SELECT * FROM state.{q(name)}",
            f"DELETE FROM {rows}",
            f"DELETE FROM {tail}",
            f"INSERT INTO {rows} SELECT * FROM added_up",
        ):
            self.con.execute(statement)

    def _begin(self, s: Accumulated) -> None:
        name, tail = named(s.name, "rows"), Log(named(s.name, "tail"), s.columns)
        both = replace(s, name=name, tail=tail).present()
        for statement in (
            f"ALTER TABLE state.{q(s.name)} RENAME TO {q(name)}",
            self.printer.create_state(tail),
            f"CREATE VIEW state.{q(s.name)} AS\n{self.printer.query(both, weight=False)}",
        ):
            self.con.execute(statement)
        frontier.has(self.con, frontier.SUMMED)

    def _few(self, name: str) -> bool:
        if name in self.waiting or name in self.large:
            return False
        self.rows[name] = self._count(f"state.{q(name)}")
        if self.rows[name] > FEW:
            self.large.add(name)
        return name not in self.large

    def _count(self, table: str) -> int:
        row = self.con.execute(f"SELECT count(*) FROM {table}").fetchone()
        return int(row[0]) if row else 0

    def _names(self, of: str, column: str) -> set[str]:
        return {r[0] for r in self.con.execute(f"SELECT {column} FROM {of} WHERE schema_name = 'state'").fetchall()}


def _may(s: Accumulated) -> bool:
    """Whether its rows are all there is to know of it."""
    return s.tail is None and s.held is None and not s.waits


def _tail(name: str) -> str:
    return f"state.{q(named(name, 'tail'))}"
