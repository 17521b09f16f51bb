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

import pyarrow as pa

from compiler.catalog import Table
from compiler.maintain.asked import SCHEMA as ASKED
from compiler.maintain.differentiate import Same
from compiler.maintain.plan import ViewPlan
from compiler.maintain.program import Prepared
from connectors.duckdb.engine import DuckDBEngine
from connectors.engine import Printer, Programs
from connectors.postgres.origin import LastCommit
from connectors.spark import durable
from connectors.spark.local import outbox, rebuild
from connectors.spark.local.dist import Dist, NoReader, Reader
from connectors.spark.local.outbox import Outbox
from connectors.spark.local.rounds import Rounds
from connectors.spark.local.stored import mirror_folder, view_folder
from connectors.staging import Staged

FILE = "local.duckdb"


class LocalEngine:
    """A DuckDB engine under another name, and the Delta tables that follow it."""

    name = "spark"
    threads = 1
    folds = True
    first_batch = 0.0

    def __init__(
        self,
        root: Path,
        printer: Printer,
        tables: Iterable[Table],
        plans: Iterable[ViewPlan],
        read_only: bool = False,
        dist: Iterable[str] = (),
        reader: Reader | None = None,
        index_memory: int | None = None,
        index_rows: int = 500_000,
    ) -> None:
        """`tables` and `plans` are those of the deployment: what a lost file is made again for. `dist` are the
        mirrors that stay in Delta, of which `reader` fetches rows."""
        root = root.absolute()  # a view of the file names files under it
        rebuild.check_path(root)
        self.root, self.away = root, frozenset(dist)
        self.lock = Lock()  # several tables are copied at once
        self.tables, self.plans = {t.mirror: t for t in tables}, {p.view: p for p in plans}
        if read_only:
            rebuild.check(root, root / FILE)
        else:
            known = list(self.tables.values())
            rebuild.recover(root, root / FILE, printer, known, list(self.plans.values()), self.away)
        self.inner = DuckDBEngine(root / FILE, printer, read_only, index_memory, index_rows, self._landed)
        self.inner.name = self.name
        self.rounds: Rounds | None = None
        if not read_only:
            assert reader is not None or not self.away, "who reads what is in Delta is not known"
            try:
                self._open(reader or NoReader())
            except BaseException:
                self.inner.close()
                raise
        self.con, self.timings = self.inner.con, self.inner.timings
        self.frontier, self.moved = self.inner.frontier, self.inner.moved
        self.last_commit, self.forget_commit = self.inner.last_commit, self.inner.forget_commit
        self.large, self.compact, self.fold = self.inner.large, self.inner.compact, self.inner.fold
        self.states, self.rows, self.size = self.inner.states, self.inner.rows, self.inner.size
        self.create_state, self.drop_state = self.inner.create_state, self.inner.drop_state
        self.set_aside = self.inner.set_aside
        self.pinned, self.read, self.count = self.inner.pinned, self.inner.read, self.inner.count
        self.read_mirror, self.export = self.inner.read_mirror, self.inner.export
        self.keys, self.look_up, self.asked_for = self.inner.keys, self.inner.look_up, self.inner.asked_for
        self.weight, self.weights = self.inner.weight, self.inner.weights
        self.whole, self.read_whole = self.inner.whole, self.inner.read_whole
        self.counted, self.as_defined = self.inner.counted, self.inner.as_defined

    def _open(self, reader: Reader) -> None:
        """For writing."""
        self.inner.elsewhere = self.dist = Dist(self.inner.con, self.root, reader)
        for t in self.tables.values():
            if t.mirror in self.away and self.dist.has(t.mirror):
                self.dist.know(t)
        self.rounds = Rounds(self.inner, self.root, self.dist)

    @property
    def _writing(self) -> Rounds:
        assert self.rounds is not None, "the warehouse was opened to be read"
        return self.rounds

    @property
    def _outbox(self) -> Outbox:
        return self._writing.outbox

    def close(self) -> None:
        self.inner.close()

    def kept(self) -> int:
        return self._writing.kept

    def settle(self, force: bool = False) -> None:
        rounds = self._writing
        if rounds.due() or force and (rounds.waiting or rounds.kept < self.frontier()):
            rounds.run(self.tables.values(), self.plans.values())

    def set_frontier(self, lsn: int) -> None:
        self.inner.set_frontier(lsn)
        self.settle(force=True)

    def deployment(self) -> str:
        return self.inner.deployment() or durable.read(self.root / "deployment", str, "")

    def belong(self, mark: str) -> None:
        self.inner.belong(mark)
        durable.write(self.root / "deployment", mark)

    def create_mirror(self, t: Table) -> None:
        with self.lock:
            self._writing.forget(mirror_folder(t.mirror))
            self.tables[t.mirror] = t
            self._outbox.create(t)
            if self.dist.has(t.mirror):
                self.dist.drop(t.mirror)
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
        with self.lock:
            self._writing.put(t, files)
        return rows

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

    def _landed(self, s: Staged) -> None:
        if s.table.schema != ASKED:  # keys that were asked for are no part of what Delta has
            self._outbox.note(s)

    def apply(
        self,
        staged: list[Staged],
        end: int,
        programs: Programs,
        *,
        start: int | None = None,
        last: LastCommit | None = None,
    ) -> int:
        self._outbox.end = end
        rows = self.inner.apply(staged, end, _whole_rows(programs, staged), start=start, last=last)
        self._writing.waiting = True
        self.settle()
        return rows


def _whole_rows(programs: Programs, staged: list[Staged]) -> Programs:
    """Rows that nothing but all their columns tells apart are noted with all of them."""
    bare = {
        f"{s.table.schema}.{s.table.name}": frozenset(c.name for c in s.table.columns)
        for s in staged
        if not outbox.key_of(s.table)
    }
    if not bare:
        return programs

    def whole(changed: frozenset[str], same: Same = frozenset()) -> Prepared:
        p = programs(changed, same)
        return replace(p, columns={**p.columns, **bare})

    return whole
