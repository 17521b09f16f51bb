"""States that take what waits for them between batches, at paces of their own."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from threading import Lock
from typing import TypeVar

import duckdb

from compiler.maintain.kept import Kept, Log
from compiler.maintain.paced import logs
from compiler.maintain.program import Prepared
from connectors.duckdb import frontier, reached
from connectors.duckdb.batches import Batches
from connectors.duckdb.mirrors import Mirrors
from connectors.duckdb.session import beside
from connectors.duckdb.statements import Statements
from connectors.duckdb.states import stored
from connectors.duckdb.times import Times
from connectors.engine import Printer
from connectors.failpoints import reach
from connectors.paced_states import Measured, Reached, Refresh, Taken, Taking

T = TypeVar("T")


class Paced:
    """Of one warehouse. Programs run as they do in `batches`."""

    def __init__(self, statements: Statements, mirrors: Mirrors, printer: Printer, batches: Batches) -> None:
        self.statements, self.con, self.mirrors, self.printer = statements, statements.con, mirrors, printer
        self.maintain, self.ready, self.large = batches.maintain, batches.ready, batches.read_by_keys
        self.holds = batches.holds
        self.standing, self.lock = beside(self.con), Lock()  # to be asked on any thread
        self.known: Times | None = None
        self.making: list[float] = []  # seconds that programs took to be made, in the transaction at hand

    @property
    def times(self) -> Times:
        if self.known is None:
            self.known = Times(self._asked(reached.measured, []))
        return self.known

    def take(self, takings: Sequence[Taking]) -> list[Taken]:
        self.ready([t.prepared for t in takings])
        begun = time.perf_counter()
        with self.statements.transaction("taking what waits"):
            out = self._take(takings)
        self._timed(begun, out)
        self.statements.indexes.settle()
        reach("duckdb.taken")
        return out

    def finish(
        self, takings: Sequence[Taking], states: Collection[str], why: str, promised: Mapping[str, float]
    ) -> list[Refresh]:
        """In one transaction: who reads the views sees them as they were, or finished."""
        self.ready([t.prepared for t in takings])
        begun = time.perf_counter()
        with self.statements.transaction(f"finishing {_quoted(promised)}"):
            taken = self._take(takings)
            reached.finished(self.con, states)
            of = {t.paths[0].state for t in takings}
            reached.write(self.con, (m for m in self.times.all() if m.paths[0].state in of))
            done = self._remembered(promised, why, sum(t.rows for t in taken), time.perf_counter() - begun)
        self._timed(begun, taken)
        self.statements.indexes.settle()
        reach("duckdb.taken")
        return done

    def renew(self, states: Sequence[Kept], why: str, promised: Mapping[str, float]) -> list[Refresh]:
        """In one transaction, too."""
        self.mirrors.fold()
        begun = time.perf_counter()
        with self.statements.transaction(f"filling {_quoted(promised)} anew"):
            waited = sum(map(self._rows, logs(states)))
            for s in states:
                since = time.perf_counter()
                for statement in self.printer.refill([s]):
                    self.statements.run(statement)
                if not isinstance(s, Log):
                    reached.filled(self.con, s.name, time.perf_counter() - since)
                reach("duckdb.taking")
            done = self._remembered(promised, why, waited, time.perf_counter() - begun)
        reach("duckdb.taken")
        return done

    def _remembered(self, promised: Mapping[str, float], why: str, waited: int, took: float) -> list[Refresh]:
        lsn, now = frontier.lsn(self.con), time.time()
        done = [Refresh(view, lsn, now, why, waited, took, most) for view, most in promised.items()]
        if waited:
            for r in done:
                reached.remember(self.con, r)
        return done

    def _take(self, takings: Sequence[Taking]) -> list[Taken]:
        out = []
        for t in takings:
            begun, p = time.perf_counter(), t.prepared
            each = tuple(map(self._rows, p.program.takes))
            if any(each):
                if not all(each):
                    p = self._without(t, each)
                    begun += self.making[-1]
                stands, rest = p.statements[: len(p.program.waiting)], p.statements[len(p.program.waiting) :]
                with self.statements.held.batch(sum(each), self.holds):
                    self.maintain(rest, {s.target for s in stands if not self.statements.run(s)})
            out.append(Taken(each, time.perf_counter() - begun))
            if any(each):
                self.times.add(t.paths, out[-1])
                reach("duckdb.taking")
        return out

    def _without(self, t: Taking, each: tuple[int, ...]) -> Prepared:
        """The program without the inputs of which nothing waits. To make it, once, is no part of what it takes."""
        begun = time.perf_counter()
        p = t.without(frozenset(path.source for path, n in zip(t.paths, each, strict=True) if not n))
        self.making.append(time.perf_counter() - begun)
        return p

    def _timed(self, begun: float, taken: Sequence[Taken]) -> None:
        """A transaction is over, which ran these programs."""
        made, self.making = sum(self.making), []
        if any(t.rows for t in taken):
            self.times.transaction(time.perf_counter() - begun - made - sum(t.seconds for t in taken))

    def _rows(self, log: str) -> int:
        row = self.con.execute(f"SELECT count(*) FROM {stored(log)}").fetchone()
        return int(row[0]) if row else 0

    def complete(self, states: Collection[str], lsn: int, at: float) -> None:
        reached.complete(self.con, states, lsn, at)

    def waiting(self, logs: Collection[str]) -> dict[str, tuple[int, int]]:
        if not logs:
            return {}
        each = " UNION ALL ".join(
            f"SELECT {i}, count(*) FILTER (_weight > 0), count(*) FILTER (_weight < 0) FROM {stored(log)}"
            for i, log in enumerate(logs)
        )
        names = list(logs)
        with self.lock:
            return {names[i]: (int(new), int(old)) for i, new, old in self.standing.execute(each).fetchall()}

    def sizes(self) -> dict[str, int]:
        if not self.mirrors.estimates:
            self.mirrors.estimate()
        return dict(self.mirrors.estimates)

    def reached(self) -> dict[str, Reached]:
        return self._asked(reached.reached, {})

    def measured(self) -> list[Measured]:
        return self.times.all()

    def beside_programs(self) -> float:
        return self.times.beside

    def refreshes(self) -> list[Refresh]:
        return self._asked(reached.refreshes, [])

    def finished(self) -> dict[str, float]:
        """When views took what waited last, in seconds since the epoch."""
        return self._asked(reached.last_refreshes, {})

    def note(self, view: str, text: str) -> None:
        reached.note(self.con, view, text)

    def noted(self) -> dict[str, str]:
        return self._asked(reached.noted, {})

    def _asked(self, ask: Callable[[duckdb.DuckDBPyConnection], T], nothing: T) -> T:
        with self.lock:
            return ask(self.standing) if reached.has_tables(self.standing) else nothing


def _quoted(views: Iterable[str]) -> str:
    return ", ".join(f'"{v}"' for v in views)
