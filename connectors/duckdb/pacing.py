"""Programs by which states take what waits for them, between batches."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence

from compiler.maintain.program import Prepared, Statement
from connectors.duckdb import frontier, reached
from connectors.duckdb.statements import Statements
from connectors.duckdb.states import stored
from connectors.engine import Refresh, Taken
from connectors.failpoints import reach


class Pacing:
    """Of one warehouse. `maintain` runs the statements of a program; what it is given is empty is not read. `ready`
    makes indexes for statements, before a transaction begins."""

    def __init__(
        self,
        statements: Statements,
        maintain: Callable[[Sequence[Statement], set[str]], None],
        ready: Callable[[Sequence[Prepared]], None],
    ) -> None:
        self.statements, self.con = statements, statements.con
        self.maintain, self.ready = maintain, ready

    def take(self, programs: Sequence[Prepared]) -> list[Taken]:
        """Each in a transaction of its own with the others; nothing on failure."""
        self.ready(programs)
        with self.statements.transaction("taking what waits"):
            out = self._take(programs)
        self.statements.indexes.settle()
        reach("duckdb.taken")
        return out

    def finish(
        self, view: str, programs: Sequence[Prepared], states: Collection[str], why: str, promised: float
    ) -> Refresh:
        """All that waits for a view, in one transaction: who reads it sees it as it was, or finished."""
        self.ready(programs)
        begun = time.perf_counter()
        with self.statements.transaction(f'finishing "{view}"'):
            took = self._take(programs)
            lsn, now = frontier.lsn(self.con), time.time()
            for s in states:
                reached.filled(self.con, s)
            done = Refresh(view, lsn, now, why, sum(t.rows for t in took), time.perf_counter() - begun, promised)
            if done.waited:
                reached.remember(self.con, done)
        self.statements.indexes.settle()
        reach("duckdb.taken")
        return done

    def _take(self, programs: Sequence[Prepared]) -> list[Taken]:
        out = []
        for p in programs:
            begun = time.perf_counter()
            if rows := sum(map(self._waiting, p.program.takes)):
                stands = len(p.program.waiting)
                for s in p.statements[:stands]:
                    self.statements.run(s)
                self.maintain(p.statements[stands:], self._empty(p))
                reach("duckdb.taking")
            out.append(Taken(rows, time.perf_counter() - begun))
        return out

    def _empty(self, p: Prepared) -> set[str]:
        """Tables of which nothing waits that would change the state."""
        out = set()
        for s in p.statements[: len(p.program.waiting)]:
            row = self.con.execute(f"SELECT count(*) FROM {s.writes}").fetchone()
            out |= set() if row and row[0] else {s.target}
        return out

    def _waiting(self, log: str) -> int:
        row = self.con.execute(f"SELECT count(*) FROM {stored(log)}").fetchone()
        return int(row[0]) if row else 0
