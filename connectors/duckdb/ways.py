"""Two ways for a batch: large mirrors fetched by keys in steps of their own, or read where rules read them.

The faster one is taken, by what each took: one row in a clustered mirror is found as fast by a scan, and so are very
many.
"""

from __future__ import annotations

from collections import defaultdict, deque
from statistics import median

Kind = tuple[frozenset[str], int]  # the tables that change, and how many digits the number of rows has
SAMPLES = 5  # the last ones count
FIRST = 2  # samples of the fetching way, before the other is tried
AGAIN = 50  # batches of a kind, until the slower way is tried again
HOPELESS = 3.0  # times slower: then it is not


class Ways:
    """What batches took, by their kind and their way."""

    def __init__(self) -> None:
        self.seconds: dict[tuple[Kind, bool], deque[float]] = defaultdict(lambda: deque(maxlen=SAMPLES))
        self.batches: dict[Kind, int] = defaultdict(int)

    def fetches(self, kind: Kind) -> bool:
        """Whether a batch of this kind is to fetch."""
        fetching, reading = self.seconds[kind, True], self.seconds[kind, False]
        if len(fetching) < FIRST:
            return True
        if not reading:
            return False
        self.batches[kind] += 1
        a, b = median(fetching), median(reading)
        again = self.batches[kind] % AGAIN == 0 and max(a, b) < HOPELESS * min(a, b)
        return (a <= b) is not again

    def took(self, kind: Kind, fetching: bool, seconds: float) -> None:
        """A sample, of the way that was taken in fact."""
        self.seconds[kind, fetching].append(seconds)
