"""What runs on the connection that writes: statements of a program, and transactions around them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import duckdb

from compiler.maintain.program import STEPS, Does, Statement
from connectors.duckdb.elsewhere import Elsewhere
from connectors.duckdb.held import reads_of
from connectors.duckdb.indexes import Indexes
from connectors.duckdb.mirror import batch_of, q
from connectors.duckdb.summed import Summed
from connectors.engine import EngineFailure

BEFORE = "before."  # a mirror as it was: a view of it and of the batch's rows
OF_A_STATE = (duckdb.DataError, duckdb.ProgrammingError)  # what a state's data or text can cause; not a full disk


class Statements:
    """The connection that writes to the file at `path`, and the indexes and tails that follow what it does."""

    def __init__(
        self, con: duckdb.DuckDBPyConnection, path: Path, indexes: Indexes, elsewhere: Elsewhere, summed: Summed
    ) -> None:
        self.con, self.path, self.indexes, self.elsewhere, self.summed = con, path, indexes, elsewhere, summed
        self.held = indexes.held

    def run(self, s: Statement) -> int:
        """One statement; a fetch by an index where there is one. Gives how many rows it made. Raises EngineFailure."""
        if s.target in self.elsewhere.states and s.does not in STEPS:
            return self.take([s])
        with self._blaming(s):
            for was in (w.removeprefix(BEFORE) for w in s.reads if w.startswith(BEFORE)):
                self.held.store(batch_of(was))
            if s.fetch is not None and (found := self.indexes.fetch(s.target, s.fetch)) is not None:
                return found
            if s.does in STEPS:
                return self.held.make(q(s.writes), s.query, reads_of(s.reads))
            if (into := self.summed.appended(s)) is not None:
                rows = self.held.insert(*into, reads_of(s.reads[:-1]))  # not the state itself
                self.summed.ran(s, rows)
            elif s.does is Does.APPEND:
                rows = self.held.insert(f"state.{q(s.target)}", s.query, reads_of(s.reads))
            else:
                rows = self.held.run(s.sql, reads_of(s.reads))
            return rows

    def take(self, changes: Sequence[Statement]) -> int:
        """Changes of states that are no tables of the file, of all at once. Raises EngineFailure."""
        return self.elsewhere.take(changes, self._blaming)

    @contextmanager
    def _blaming(self, s: Statement) -> Iterator[None]:
        """What DuckDB refuses is an EngineFailure about the statement."""
        try:
            yield
        except duckdb.Error as e:
            blamed = s.state if isinstance(e, OF_A_STATE) else ""
            raise EngineFailure(
                f'{s.does} of "{s.target}" failed',
                detail=str(e).split("\n")[0],
                code="engine",
                hint="tidemark explain shows the statement; scripts/inspect prints all of them.",
                state=blamed,
            ) from e

    @contextmanager
    def transaction(self, what: str) -> Iterator[None]:
        """All of the block, or nothing. What DuckDB refuses of it is an EngineFailure about `what`."""
        self.con.execute("BEGIN")
        try:
            yield
            self.con.execute("COMMIT")
        except duckdb.Error as e:
            self._undo()
            raise self._failed(what, e) from e
        except BaseException:
            self._undo()
            raise

    def _undo(self) -> None:
        """Roll back, where there still is a transaction: a commit that failed has ended it."""
        self.indexes.undo()
        self.held.forget()
        with suppress(duckdb.Error):
            self.con.execute("ROLLBACK")
        with suppress(duckdb.Error):
            self.summed.look()
        with suppress(duckdb.Error):  # where the file can be used no more, it is opened again
            self.elsewhere.undone()

    def _failed(self, what: str, e: duckdb.Error) -> EngineFailure:
        return EngineFailure(
            f"{what} failed in {self.path.name}",
            detail=str(e).split("\n")[0],
            code="engine",
            hint="Nothing of it was stored; what was captured is read again. Is the disk full?",
        )
