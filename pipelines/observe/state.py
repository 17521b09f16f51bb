"""What a running pipeline knows of itself: plain data behind one lock, no I/O. The loop writes, anyone reads."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from pipelines.observe.pace import Pace
from pipelines.observe.snapshot import Counters, EngineShot, PacedShot, PartialShot, Phase, Snapshot, ViewShot, nothing
from pipelines.observe.source_state import SourceState


class ViewInfo(NamedTuple):
    """A deployed view; `set_aside` says why it is not maintained, without values (`reason`)."""

    view: str
    engine: str
    maintenance: str = ""
    set_aside: str = ""


@dataclass
class _Engine:
    frontier: int = 0
    fresh_at: float | None = None
    error: str = ""


class RunState:
    """Every method may be called from any thread. `clock` gives seconds since the epoch."""

    def __init__(self, clock: Callable[[], float] = time.time, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._monotonic, self._lock = clock, monotonic, threading.Lock()
        self._phase: Phase = "starting"
        self._reason = self._slot = ""
        self._started_at, self._moved = clock(), monotonic()
        self._engines: dict[str, _Engine] = {}
        self._views: dict[str, ViewInfo] = {}
        self._refresh: dict[str, float] = {}
        self._partial: dict[str, PartialShot] = {}
        self._paced: dict[str, PacedShot] = {}
        self._source = SourceState("away", self._started_at, "not connected yet")
        self._counters = nothing()
        self._pace = Pace(self._moved)
        self._resident: int | None = None

    def started(
        self,
        slot: str,
        views: Iterable[ViewInfo],
        frontiers: Mapping[str, int],
        fresh_at: Mapping[str, float] | None = None,
    ) -> None:
        """The stream is open. `fresh_at` only where it is known from before; else an engine is stale since now."""
        with self._lock:
            self._phase, self._slot, self._started_at = "running", slot, self._clock()
            self._engines = {e: _Engine(f, (fresh_at or {}).get(e)) for e, f in frontiers.items()}
            self._views = {v.view: v for v in views}
            self._source = SourceState("connected", self._started_at)
            self._moved = self._monotonic()
            self._pace = Pace(self._moved)

    def deployed(self, views: Iterable[ViewInfo], frontiers: Mapping[str, int]) -> None:
        """Views and engines are others than before; those that stay are as fresh as they were."""
        with self._lock:
            self._moved = self._monotonic()
            self._engines = {e: _Engine(f, self._engines.get(e, _Engine()).fresh_at) for e, f in frontiers.items()}
            self._views = {v.view: v for v in views}
            self._refresh = {v: s for v, s in self._refresh.items() if v in self._views}
            self._partial = {v: s for v, s in self._partial.items() if v in self._views}
            self._paced = {v: s for v, s in self._paced.items() if v in self._views}

    def beat(self) -> None:
        """The loop's thread has turned: on every turn, also while it waits to connect again."""
        with self._lock:
            self._moved = self._monotonic()

    def batch(
        self,
        changes: int,
        rows: int,
        seconds: float,
        frontiers: Mapping[str, int],
        transactions: int = 0,
        received_bytes: int = 0,
    ) -> None:
        """The loop took a batch; `rows` are those it landed itself, not what workers will (`landed`)."""
        with self._lock:
            self._moved = self._monotonic()
            self._pace.add(self._moved, changes, seconds)
            c = self._counters
            c["batches"] += 1
            c["transactions"] += transactions
            c["changes"] += changes
            c["rows"] += rows
            c["received_bytes"] += received_bytes
            for e, f in frontiers.items():
                self._reached(e, f)

    def landed(self, engine: str, rows: int, frontier: int) -> None:
        """A worker's engine has applied what was handed to it."""
        with self._lock:
            self._counters["rows"] += rows
            self._reached(engine, frontier)

    def fresh(self, engine: str, at: float) -> None:
        """At `at` the server said that it had nothing that the engine does not hold."""
        with self._lock:
            self._engines.setdefault(engine, _Engine()).fresh_at = at

    def source_away(self, reason: str, retry_in: float | None = None) -> int:
        """The connection broke, or an attempt to connect failed; attempts so far. `reason` holds no values."""
        with self._lock:
            self._moved = self._monotonic()
            return self._source.away(self._clock(), reason, retry_in)

    def source_back(self) -> float:
        """The stream is open again; gives the seconds that it was not."""
        with self._lock:
            self._moved = self._monotonic()
            return self._source.back(self._clock())

    def set_aside(self, view: str, reason: str) -> None:
        """A view is not maintained any more. `reason` holds no values."""
        with self._lock:
            self._views[view] = self._views.get(view, ViewInfo(view, ""))._replace(set_aside=reason)

    def failed(self, reason: str, engine: str = "") -> None:
        """Something failed and the run goes on; an engine shows it until its frontier moves again."""
        with self._lock:
            self._counters["failures"] += 1
            if engine:
                self._engines.setdefault(engine, _Engine()).error = reason

    def source(
        self,
        source_lsn: int,
        retained_bytes: int | None = None,
        at: float | None = None,
        safe_bytes: int | None = None,
    ) -> None:
        """Where the source's WAL is; how much of it the slot keeps (where asked), and how much more it may keep."""
        with self._lock:
            s = self._source
            s.lsn, s.told_at = source_lsn, self._clock() if at is None else at
            if retained_bytes is not None:
                s.retained, s.safe = retained_bytes, safe_bytes

    def refreshed(self, seconds: Mapping[str, float]) -> None:
        """View → seconds that its states took in the last batch."""
        with self._lock:
            self._refresh.update(seconds)

    def keyed(self, partial: Mapping[str, PartialShot]) -> None:
        """What partial views keep, and how they were asked."""
        with self._lock:
            self._partial.update(partial)

    def paced(self, paced: Mapping[str, PacedShot]) -> None:
        """How far views are that may lag."""
        with self._lock:
            self._paced.update(paced)

    def resident(self, size: int) -> None:
        """Bytes of memory that this process has."""
        with self._lock:
            self._resident = size

    def stopped(self, reason: str) -> None:
        with self._lock:
            self._phase, self._reason = "stopped", reason

    def counters(self) -> Counters:
        with self._lock:
            return self._counters.copy()

    def snapshot(self) -> Snapshot:
        """A copy, JSON-able; ages are as of now, whenever the loop last moved."""
        with self._lock:
            now, moved = self._clock(), self._monotonic()
            return {
                "at": now,
                "phase": self._phase,
                "reason": self._reason,
                "slot": self._slot,
                "started_at": self._started_at,
                "heartbeat_seconds": max(moved - self._moved, 0.0),
                "engines": {n: self._engine(e, now) for n, e in self._engines.items()},
                "views": [self._view(v) for v in self._views.values()],
                "partial": {v: p.copy() for v, p in self._partial.items()},
                "paced": {v: p.copy() for v, p in self._paced.items()},
                "source": self._source.shot(now),
                "counters": self._counters.copy(),
                "batch_seconds": self._pace.shot(),
                "changes_per_second": self._pace.per_second(moved),
                "resident_bytes": self._resident,
            }

    def _reached(self, engine: str, frontier: int) -> None:
        e = self._engines.setdefault(engine, _Engine())
        if frontier > e.frontier:
            e.frontier, e.error = frontier, ""

    def _engine(self, e: _Engine, now: float) -> EngineShot:
        lsn, since = self._source.lsn, self._started_at if e.fresh_at is None else e.fresh_at
        return {
            "frontier": e.frontier,
            "fresh_at": e.fresh_at,
            "stale_seconds": max(now - since, 0.0),
            "stale_bytes": None if lsn is None else max(lsn - e.frontier, 0),
            "error": e.error,
        }

    def _view(self, v: ViewInfo) -> ViewShot:
        return {
            "view": v.view,
            "engine": v.engine,
            "maintenance": v.maintenance,
            "set_aside": v.set_aside,
            "refresh_seconds": self._refresh.get(v.view),
        }
