"""Spark's tables where they are small: a DuckDB file of the driver, and what it holds in Delta, for Spark and for
everyone. No session is started, and a batch is no job.

The batch is done when the file has it. Delta follows in rounds, and the source is told no more than what is there:
the file is a cache, and where it is lost it is made of Delta again.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from threading import Lock

import duckdb
import pyarrow as pa

from compiler.catalog import Table
from compiler.maintain.asked import SCHEMA as ASKED
from compiler.maintain.differentiate import Same
from compiler.maintain.plan import ViewPlan, states_of
from compiler.maintain.program import Prepared
from connectors.duckdb.elsewhere import Nowhere
from connectors.duckdb.engine import DuckDBEngine
from connectors.duckdb.session import beside
from connectors.engine import Printer, Programs
from connectors.postgres.origin import LastCommit
from connectors.spark import durable
from connectors.spark.local import outbox, rebuild
from connectors.spark.local.away import Away
from connectors.spark.local.bases import base_files, check_root
from connectors.spark.local.copies import Copies, Store
from connectors.spark.local.dist import BASE, Dist, NoReader, Reader
from connectors.spark.local.outbox import Outbox
from connectors.spark.local.paced import PacedInRounds
from connectors.spark.local.rounds import Rounds
from connectors.spark.local.states import DistStates
from connectors.spark.local.stored import mirror_folder, view_folder
from connectors.spark.mirror import size as file_size
from connectors.spark.wide import Executors, WideMirrors
from connectors.staging import Staged

FILE = "local.duckdb"


class LocalEngine:
    """A DuckDB engine under another name, and the Delta tables that follow it."""

    name = "spark"
    threads = 1
    folds = True
    parts = True
    lags = True  # what a batch brought is put into Delta after some of them
    first_batch = 0.0

    def __init__(
        self,
        root: Path,
        printer: Printer,
        tables: Iterable[Table],
        plans: Iterable[ViewPlan],
        read_only: bool = False,
        dist: Iterable[str] = (),
        by_key: Iterable[str] = (),
        reader: Reader | None = None,
        index_memory: int | None = None,
        index_rows: int = 500_000,
        state_memory: int | None = None,
        executors: Executors | None = None,
        copies: Store | None = None,
    ) -> None:
        """`tables` and `plans` are those of the deployment: what a lost file is made again for. `dist` are the
        mirrors that stay in Delta, of which `reader` fetches rows, `by_key` those that have the rows of some keys and
        are in the file alone; states of more than `state_memory` bytes together are Dist, too. `executors` copy tables
        that are Dist, where they are other processes. Views are copied to `copies`."""
        root = root.absolute()  # a view of the file names files under it
        rebuild.check_path(root)
        self.root, self.away, self.by_key = root, frozenset(dist), set(by_key)
        self.lock = Lock()  # several tables are copied at once
        self.tables, self.plans = {t.mirror: t for t in tables}, {p.view: p for p in plans}
        if read_only:
            rebuild.check(root, root / FILE)
        else:
            listed = list(self.tables.values())
            places = rebuild.Places(self.away, frozenset(self.by_key))
            rebuild.recover(root, root / FILE, printer, listed, list(self.plans.values()), places)
        assert read_only or reader is not None or not self.away, "who reads what is in Delta is not known"
        self.inner = DuckDBEngine(
            root / FILE,
            printer,
            read_only,
            index_memory,
            index_rows,
            name=self.name,
            landed=self._landed,
            elsewhere=lambda con: (
                self._nowhere(con) if read_only else self._away(con, reader or NoReader(), printer, state_memory)
            ),
            appends=False,
        )
        self.rounds: Rounds | None = None
        self.copies = Copies(root, copies) if copies is not None and not read_only else None
        if not read_only:
            try:
                self.rounds = Rounds(self.inner, self.root, self.dist)
                noted = self._outbox.mirrors()
                for t in self.tables.values():  # a copy that was to be made in the place of some keys' rows
                    if t.mirror not in noted | self.by_key:
                        self._outbox.create(t)
                        self._outbox.write_whole([mirror_folder(t.mirror)])
            except BaseException:
                self.inner.close()
                raise
        inner = self.inner
        if self.copies is not None:
            self.copies.wake()  # who had the warehouse before may have been killed
        self.con, self.timings = inner.con, inner.timings
        self.frontier, self.moved = inner.frontier, inner.moved
        self.last_commit, self.forget_commit = inner.last_commit, inner.forget_commit
        self.large, self.compact, self.fold = inner.large, inner.compact, inner.fold
        self.paced = PacedInRounds(inner.paced, self._moved)
        self.states, self.rows = inner.states, inner.rows
        self.create_state, self.drop_state, self.set_aside = inner.create_state, inner.drop_state, inner.set_aside
        self.pinned, self.read, self.count = inner.pinned, inner.read, inner.count
        self.read_mirror, self.export = inner.read_mirror, inner.export
        self.key_rows, self.ranges, self.give = inner.key_rows, None, inner.give
        self.wide = (
            WideMirrors(executors, lambda t: t.mirror in self.away, self._new_folder, self._put, extra=f", {BASE}")
            if executors is not None
            else None
        )
        self.filling = inner.filling
        self.filling.able = not self.away  # what is elsewhere is seen as it is now
        self.keys, self.look_up, self.asked_for = inner.keys, inner.look_up, inner.asked_for
        self.weight, self.weights = inner.weight, inner.weights
        self.whole, self.read_whole = inner.whole, inner.read_whole
        self.counted, self.as_defined = inner.counted, inner.as_defined

    def _nowhere(self, con: duckdb.DuckDBPyConnection) -> Nowhere:
        """For who reads: views alone know what is not in the file."""
        check_root(con, self.root)
        return Nowhere()

    def _away(self, con: duckdb.DuckDBPyConnection, reader: Reader, printer: Printer, memory: int | None) -> Away:
        """The mirrors and states that are not in the file."""
        self.dist = Dist(con, self.root, reader)
        there = self.dist.there()
        for t in self.tables.values():  # also one that is to be in the file once it is made anew
            if t.mirror in there:
                self.dist.know(t)
        self.dist_states = DistStates(con, self.root, reader, printer, memory)
        self.dist_states.know(states_of(list(self.plans.values())))
        return Away(self.dist, self.dist_states)

    def size(self, state: str) -> tuple[int, int]:
        """Its rows, and the bytes of its blocks, or of its files where it is Dist."""
        cursor = beside(self.con)
        files = base_files(cursor, self.root, state)
        return (self.rows(state), sum(map(file_size, files))) if files else self.inner.size(state)

    def mirror_bytes(self, name: str) -> int | None:
        return None if name in self.away else self.inner.mirror_bytes(name)

    def place(self, state: str) -> str:
        return "Dist" if base_files(beside(self.con), self.root, state) else "Local"

    @property
    def _writing(self) -> Rounds:
        assert self.rounds is not None, "the warehouse was opened to be read"
        return self.rounds

    @property
    def _outbox(self) -> Outbox:
        return self._writing.outbox

    def close(self) -> None:
        if self.copies is not None:
            self.copies.close()
        self.inner.close()

    def kept(self) -> int:
        return self._writing.kept

    def settle(self, force: bool = False) -> None:
        rounds = self._writing
        if rounds.due() or force and (rounds.waiting or rounds.kept < self.frontier()):
            copies = [t for t in self.tables.values() if t.mirror not in self.by_key]
            rounds.run(copies, self.plans.values())
            self.dist_states.tend(states_of(list(self.plans.values())))
            if self.copies is not None:
                self.copies.wake()
        self.dist_states.bases.sweep()

    def set_frontier(self, lsn: int) -> None:
        self.inner.set_frontier(lsn)
        self.settle(force=True)

    def deployment(self) -> str:
        return self.inner.deployment() or durable.read(self.root / "deployment", str, "")

    def belong(self, mark: str) -> None:
        self.inner.belong(mark)
        durable.write(self.root / "deployment", mark)

    def create_mirror(self, t: Table, some_keys: bool = False) -> None:
        """Nobody begins to read what is in Delta of it. With `some_keys` it is in the file alone."""
        with self.lock:
            self._writing.forget(mirror_folder(t.mirror))
            self.tables[t.mirror] = t
            self.by_key.discard(t.mirror)
            if self.dist.has(t.mirror):
                self.dist.drop(t.mirror)
            if some_keys:
                self.by_key.add(t.mirror)
                self._outbox.drop(t.mirror)
                self._writing.remove(mirror_folder(t.mirror))
                self.inner.create_mirror(t)
                return
            self._outbox.create(t)
            if t.mirror in self.away:
                self._writing.remove(mirror_folder(t.mirror))
                self.inner.drop_mirror(t.mirror)
                self.dist.create(t)
            else:
                self.inner.create_mirror(t)

    def drop_mirror(self, name: str) -> None:
        if name in self.keys():
            self.inner.drop_mirror(name)
            return
        self.tables.pop(name, None)
        self.by_key.discard(name)
        if self.dist.has(name):
            self.dist.drop(name)
        else:
            self.inner.drop_mirror(name)
        self._outbox.drop(name)
        self._writing.remove(mirror_folder(name))

    def load(self, t: Table, batches: Iterable[pa.Table]) -> int:
        if t.mirror not in self.away:
            return self.inner.load(t, batches)
        with self.lock:
            new_file = self._writing.new_file(t)
        rows, files = self.dist.write(t, batches, new_file)
        self._put(t, files)
        return rows

    def _new_folder(self, t: Table) -> Path:
        with self.lock:
            return self._writing.new_file(t)().parent

    def _put(self, t: Table, files: list[Path]) -> None:
        with self.lock:
            self._writing.put(t, files)

    def adopt(self, t: Table, file: Path) -> None:
        if t.mirror not in self.away:
            self.inner.adopt(t, file)
            return
        with self.lock:
            new_file = self._writing.new_file(t)
        self._put(t, self.dist.written(t, file, new_file))

    def create_view(self, plan: ViewPlan) -> None:
        self.inner.create_view(plan)
        self.plans[plan.view] = plan
        self._writing.queries.pop(plan.view, None)
        self._outbox.write_whole([view_folder(plan.view)])
        self._writing.waiting = True

    def drop_view(self, name: str) -> None:
        self.inner.drop_view(name)
        self.plans.pop(name, None)
        self._writing.remove(view_folder(name))

    def _moved(self) -> None:
        """What readers see of a view has changed without a batch."""
        self._writing.waiting = True

    def _landed(self, s: Staged) -> None:
        if s.table.schema != ASKED and s.table.mirror not in self.by_key:  # what was asked for is no part of Delta
            self._outbox.note(s)

    def apply(
        self,
        staged: list[Staged],
        end: int,
        programs: Programs,
        *,
        start: int | None = None,
        last: LastCommit | None = None,
        more: Iterable[list[Staged]] = (),
        rows: int = 0,
    ) -> int:
        """Applies a batch up to LSN `end` in the file, and notes it for Delta, which follows later. Gives rows
        landed."""
        self._outbox.end = end
        noted = _whole_rows(programs, self.tables.values())
        landed = self.inner.apply(staged, end, noted, start=start, last=last, more=more, rows=rows)
        self._writing.waiting = True
        self.settle()
        return landed


def _whole_rows(programs: Programs, tables: Iterable[Table]) -> Programs:
    """Rows that nothing but all their columns tells apart are noted with all of them."""
    bare = {f"{t.schema}.{t.name}": frozenset(c.name for c in t.columns) for t in tables if not outbox.key_of(t)}
    if not bare:
        return programs

    def whole(changed: frozenset[str], same: Same = frozenset()) -> Prepared:
        p = programs(changed, same)
        return replace(p, columns={**p.columns, **{t: c for t, c in bare.items() if t in changed}})

    return whole
