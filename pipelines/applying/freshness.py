"""How fresh an engine is: what the server said of itself, against what the engine holds. That nothing arrived says
nothing."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Mapping

KEPT = 4096  # positions of the server that no engine has reached yet; older ones are thinned


class Freshness:
    """Per engine, the last moment (seconds since the epoch) at which it is known to have held all that the server
    had."""

    def __init__(self, durable: Mapping[str, float]) -> None:
        self.at = dict(durable)
        self.answers: deque[tuple[float, int]] = (
            deque()
        )  # (moment, LSN of the server then), as not every engine is there yet
        self.source_lsn = 0
        self.source_at = 0.0
        self.lock = threading.Lock()

    def said(self, at: float, lsn: int) -> None:
        """The server was at `lsn` when it was asked, not before `at`."""
        self.answered(at, lsn)
        with self.lock:
            self.answers.append((at, lsn))
            if len(self.answers) > KEPT:
                self.answers = deque(list(self.answers)[::2])

    def answered(self, at: float, lsn: int) -> None:
        """The same of a source of which nothing may be called fresh for now."""
        with self.lock:
            self.source_lsn, self.source_at = lsn, at

    def holds(self, reached: Mapping[str, int]) -> None:
        """Each engine holds everything below its LSN."""
        with self.lock:
            for e, lsn in reached.items():
                for at, position in self.answers:
                    if position > lsn:
                        break
                    self.at[e] = max(self.at.get(e, 0.0), at)
            last = min(reached.values(), default=0)
            while self.answers and self.answers[0][1] <= last:
                self.answers.popleft()
