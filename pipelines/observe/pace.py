"""How long batches take and how much they bring. Held by `RunState`, under its lock."""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from itertools import accumulate

from pipelines.observe.snapshot import BatchSeconds

BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0)
WINDOW = 5.0  # seconds over which changes per second are told


class Pace:
    """Batches by how long they took, and the changes of the last seconds; `now` is a monotonic clock's."""

    def __init__(self, now: float) -> None:
        self.since = now
        self.counts = [0] * (len(BUCKETS) + 1)  # the last one: longer than all bounds
        self.spent = 0.0
        self.last: float | None = None
        self.recent: deque[tuple[float, int]] = deque()

    def add(self, now: float, changes: int, seconds: float) -> None:
        self.counts[bisect_left(BUCKETS, seconds)] += 1
        self.spent, self.last = self.spent + seconds, seconds
        self.recent.append((now, changes))
        self._forget(now)

    def per_second(self, now: float) -> float:
        self._forget(now)
        return sum(n for _, n in self.recent) / min(max(now - self.since, 1.0), WINDOW)

    def shot(self) -> BatchSeconds:
        return {
            "buckets": list(zip(BUCKETS, accumulate(self.counts))),
            "count": sum(self.counts),
            "sum": self.spent,
            "last": self.last,
        }

    def _forget(self, now: float) -> None:
        while self.recent and self.recent[0][0] <= now - WINDOW:
            self.recent.popleft()
