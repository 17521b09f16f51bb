"""Batches, told of every ten seconds instead of one by one."""

from __future__ import annotations

import time
from collections.abc import Callable

from pipelines.observe.log import Log
from pipelines.observe.snapshot import Counters, Snapshot, nothing

EVERY = 10.0  # seconds


class Summary:
    """What came since the last line; a line is due when ten seconds have passed since something came."""

    def __init__(self, log: Log, every: float = EVERY, clock: Callable[[], float] = time.monotonic) -> None:
        self._log, self._every, self._clock = log, every, clock
        self._said = nothing()
        self._spent = 0.0
        self._since = clock()  # when nothing new was last seen

    def due(self, now: Counters) -> bool:
        """To be asked often: the time between two calls is what the rate is uncertain by."""
        if not self._new(now):
            self._since = self._clock()
            return False
        return self._clock() - self._since >= self._every

    def say(self, s: Snapshot) -> None:
        """What came, and how far the engine is that is furthest behind; no line where nothing came."""
        now, before, engines = s["counters"], self._said, s["engines"].values()
        if self._new(now):
            span = max(self._clock() - self._since, 0.001)
            rows = now["rows"] - before["rows"]
            self._log.batches(
                now["batches"] - before["batches"],
                now["transactions"] - before["transactions"],
                now["changes"] - before["changes"],
                rows,
                rows / span,
                s["batch_seconds"]["sum"] - self._spent,
                min((e["frontier"] for e in engines), default=0),
                max((e["stale_seconds"] for e in engines), default=0.0),
            )
        self._said, self._spent, self._since = now, s["batch_seconds"]["sum"], self._clock()

    def _new(self, now: Counters) -> bool:
        return (now["batches"], now["rows"]) != (self._said["batches"], self._said["rows"])
