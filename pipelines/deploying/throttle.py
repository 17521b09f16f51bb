"""How fast tables are read from the source while they are copied."""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Lock


class Throttle:
    """Of all readers together: who has read its share waits, and with it the source, which sends no more than is taken.

    `rate`: bytes a second, of rows as text; 0: as fast as it goes.
    """

    def __init__(
        self, rate: int, clock: Callable[[], float] = time.monotonic, sleep: Callable[[float], object] = time.sleep
    ) -> None:
        self.rate, self.clock, self.sleep = rate, clock, sleep
        self.lock = Lock()
        self.due = 0.0  # when all that was read is paid for

    def read(self, size: int) -> None:
        """So many bytes were read; waits until they are due."""
        if not self.rate:
            return
        with self.lock:
            now = self.clock()
            self.due = max(self.due, now) + size / self.rate
            wait = self.due - now
        self.sleep(wait)
