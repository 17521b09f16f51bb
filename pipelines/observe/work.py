"""What maintaining each view has taken, and what of it a batch costs whatever it changes."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

FEW = 20  # batches, of which nothing is said


@dataclass
class Work:
    """Of a view: batches that touched it, their rows, the seconds that its states took; and sums for a line through
    them."""

    batches: int = 0
    rows: float = 0.0
    seconds: float = 0.0
    squares: float = 0.0
    products: float = 0.0

    def add(self, rows: int, seconds: float) -> None:
        self.batches += 1
        self.rows += rows
        self.seconds += seconds
        self.squares += rows * rows
        self.products += rows * seconds

    @property
    def fixed(self) -> float:
        """Seconds that a batch costs without its rows: where the line through all batches begins, by least squares,
        between 0 and the mean."""
        mean = self.seconds / self.batches if self.batches else 0.0
        spread = self.batches * self.squares - self.rows * self.rows
        if spread <= 0:
            return mean
        slope = (self.batches * self.products - self.rows * self.seconds) / spread
        return min(max(mean - slope * self.rows / self.batches, 0.0), mean)


class Works:
    """Of all views, since `since` (seconds on `clock`). Any thread may ask."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock, self.since, self.lock = clock, clock(), threading.Lock()
        self.views: dict[str, Work] = {}

    def batch(self, rows: int, seconds: Mapping[str, float]) -> None:
        """A batch of so many rows took a view so long."""
        with self.lock:
            for view, s in seconds.items():
                self.views.setdefault(view, Work()).add(rows, s)

    def of(self, view: str) -> Work:
        with self.lock:
            return self.views.get(view, Work())

    @property
    def lasted(self) -> float:
        return self.clock() - self.since
