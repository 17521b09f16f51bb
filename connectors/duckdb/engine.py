"""DuckDB as an engine: one file, one writer; landing, maintenance and frontier in one transaction."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from threading import Lock

import duckdb

from compiler.catalog import Table
from compiler.maintain.kept import Kept
from connectors.duckdb import frontier, macros, mirror, reached, states
from connectors.duckdb.batches import Batches
from connectors.duckdb.elsewhere import Elsewhere, Nowhere
from connectors.duckdb.filling import Filling
from connectors.duckdb.held import Held
from connectors.duckdb.indexes import Indexes
from connectors.duckdb.key_rows import KeyRows
from connectors.duckdb.lending import Lending
from connectors.duckdb.mirrors import Mirrors
from connectors.duckdb.paced import Paced
from connectors.duckdb.ranges import Ranges
from connectors.duckdb.reading import Reading
from connectors.duckdb.session import beside, connect, memory
from connectors.duckdb.statements import Statements
from connectors.duckdb.states import States
from connectors.duckdb.summed import Summed
from connectors.engine import Printer
from connectors.postgres.origin import LastCommit
from connectors.staging import Staged


class DuckDBEngine:
    """The warehouse's DuckDB file: `Mirrors`, `States`, `Batches` and `Reading` of one connection."""

    threads = 1
    folds = True
    parts = True
    lags = False
    first_batch = 0.0

    def __init__(
        self,
        path: Path,
        printer: Printer,
        read_only: bool = False,
        index_memory: int | None = None,
        index_rows: int = 500_000,
        *,
        name: str = "duckdb",
        landed: Callable[[Staged], None] | None = None,
        elsewhere: Callable[[duckdb.DuckDBPyConnection], Elsewhere] = lambda con: Nowhere(),
        appends: bool = True,
    ) -> None:
        """`landed` as `Batches` has it; `elsewhere` gives the mirrors that are no tables of the file; `appends` says
        whether small states may have tails."""
        self.name, self.path, self.printer = name, path, printer
        new = not path.exists()
        self.con = connect(path, read_only)
        self.standing, self.lock = beside(self.con), Lock()  # to tell the frontier on any thread
        self._open(new, read_only)
        held = Held(self.con, Lending(self.con))
        self.indexes = Indexes(self.con, index_memory if index_memory is not None else memory(), held)
        summed = Summed(self.con, printer, appends and not read_only)
        self.statements = Statements(self.con, path, self.indexes, elsewhere(self.con), summed)
        self.mirrors = Mirrors(self.statements)
        self.ranges, self.wide = Ranges(self.con, self.mirrors), None
        self.kept_states = States(self.statements, printer)
        self.filling = Filling(self.statements, self.mirrors, printer)
        self.batches = Batches(name, self.statements, self.mirrors, self.filling, printer, index_rows, landed)
        self.paced = Paced(self.statements, self.mirrors, printer, self.batches)
        self.reading = Reading(self.con, printer)
        self.key_rows = KeyRows(self.con)
        self.timings = self.batches.timings

        self.load = self.mirrors.load
        self.large = self.batches.large
        self.adopt, self.give = self.mirrors.adopt, self.mirrors.give
        self.mirror_bytes = self.mirrors.bytes
        self.states, self.drop_state = self.kept_states.names, self.kept_states.drop
        self.size, self.rows, self.set_aside = self.kept_states.size, self.kept_states.rows, self.kept_states.set_aside
        self.create_view, self.drop_view = self.kept_states.create_view, self.kept_states.drop_view
        self.apply, self.fold = self.batches.apply, self.batches.fold
        self.pinned, self.read, self.count = self.reading.pinned, self.reading.read, self.reading.count
        self.read_mirror, self.export = self.reading.read_mirror, self.reading.export
        self.counted, self.as_defined = self.reading.counted, self.reading.as_defined
        self.keys, self.look_up, self.asked_for = self.reading.keys, self.reading.look_up, self.reading.asked_for
        self.weight, self.weights = self.reading.weight, self.reading.weights
        self.whole, self.read_whole = self.reading.whole, self.reading.read_whole

    def _open(self, new: bool, read_only: bool) -> None:
        if new:
            for s in mirror.SCHEMAS:
                self.con.execute(f'CREATE SCHEMA "{s}"')
            macros.make(self.con, self.printer.setup())
            frontier.create(self.con)
            states.create(self.con)
            reached.create(self.con)
            return
        frontier.check_format(self.con, self.path)
        if not read_only:
            frontier.upgrade(self.con)
            reached.create(self.con)
            macros.make(self.con, self.printer.setup())

    def close(self) -> None:
        self.con.close()

    def create_mirror(self, t: Table, some_keys: bool = False) -> None:
        self.filling.spoil(t.mirror)
        self.mirrors.create(t, some_keys)

    def drop_mirror(self, name: str) -> None:
        self.filling.spoil(name)
        self.mirrors.drop(name)

    def create_state(self, s: Kept) -> None:
        self.mirrors.fold()
        self.kept_states.create(s)

    def compact(self, tables: list[Table], force: bool = False) -> list[str]:
        self.statements.summed.fold(self.statements.transaction, force)
        return self.mirrors.compact(tables, force)

    def frontier(self) -> int:
        """As it was committed last. A connection is one thread's at a time, so that this has its own."""
        with self.lock:
            return frontier.lsn(self.standing)

    def place(self, state: str) -> str:
        return ""

    def kept(self) -> int:
        return self.frontier()

    def settle(self, force: bool = False) -> None:
        return None

    def moved(self) -> float:
        with self.lock:
            return frontier.moved(self.standing)

    def last_commit(self) -> LastCommit | None:
        with self.lock:
            return frontier.last_commit(self.standing)

    def forget_commit(self) -> None:
        frontier.forget_commit(self.con)

    def set_frontier(self, lsn: int) -> None:
        frontier.move(self.con, lsn)

    def deployment(self) -> str:
        return frontier.deployment(self.con)

    def belong(self, mark: str) -> None:
        frontier.belong(self.con, mark)
