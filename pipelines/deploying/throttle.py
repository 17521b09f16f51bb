"""How fast tables are read from the source while they are copied."""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Event, Lock


class Stopped(Exception):
    """The copy has failed, or was interrupted: who reads for it ends."""


class Throttle:
    """Of all readers together: who has read its share waits, and with it the source, which sends no more than is taken.

    `rate`: bytes a second, of rows as text; 0: as fast as it goes. Once `stopped` is set, nobody reads on.
    """

    def __init__(
        self,
        rate: int,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], object] | None = None,
    ) -> None:
        self.rate, self.clock, self.stopped = rate, clock, Event()
        self.sleep = sleep or self.stopped.wait
        self.lock = Lock()
        self.due = 0.0  # when all that was read is paid for

    def read(self, size: int) -> None:
        """So many bytes were read; waits until they are due. Raises Stopped."""
        if self.rate:
            with self.lock:
                now = self.clock()
                self.due = max(self.due, now) + size / self.rate
                wait = self.due - now
            self.sleep(wait)
        if self.stopped.is_set():
            raise Stopped
