"""Ways to do a batch: large mirrors fetched by keys in steps of their own, or read where rules read them, or all
states that it touches filled anew.

The fastest one is taken, by what each took: one row in a clustered mirror is found as fast by a scan, and so are very
many; and where most rows change, a query over all of them is less work than their difference.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Sequence
from enum import Enum
from typing import Generic, TypeVar


class Way(Enum):
    FETCH = "fetch"
    READ = "read"
    ANEW = "anew"


ANEW_ROWS = 1_000  # of a batch, below which no state is filled anew: it takes no time either way
ANEW_SHARE = 0.05  # of the rows that are read then
MOST_SHARE = 0.5  # of them: then nothing else is tried
Kind = tuple[frozenset[str], int]  # the tables and states that change, and how many digits the number of rows has
W = TypeVar("W", bound=Enum)
SAMPLES = 5  # the last ones count
FIRST = 2  # samples of the first way, before the others are tried
TRIES = 4  # samples of each way that is near: a statement is planned, then prepared, and fast from its third run on
NEAR = 1.5  # times slower than the best one
AGAIN = 50  # batches of a kind, until the second best way is tried again
HOPELESS = 3.0  # times slower: then it is not


def open_ways(rows: int, whole: int, fetching: bool) -> list[Way]:
    """The ways for a batch of so many rows, the likeliest first: with so many to read where states are filled anew, and
    mirrors that could be read by keys or not."""
    some = [Way.FETCH, Way.READ] if fetching else [Way.READ]
    if rows < max(ANEW_ROWS, ANEW_SHARE * whole):
        return some
    return [Way.ANEW] if rows >= MOST_SHARE * whole else [*some, Way.ANEW]


class Ways(Generic[W]):
    """What pieces of work took, by their kind and their way."""

    def __init__(self) -> None:
        self.seconds: dict[tuple[Kind, W], deque[float]] = defaultdict(lambda: deque(maxlen=SAMPLES))
        self.done: dict[Kind, int] = defaultdict(int)

    def choose(self, kind: Kind, ways: Sequence[W]) -> W:
        """The way for one of this kind, of those that it could go, the likeliest first."""
        first = ways[0]
        if len(self.seconds[kind, first]) < min(FIRST, len(ways)) and len(ways) > 1:
            return first
        for w in ways:
            if not self.seconds[kind, w]:
                return w
        best, *others = sorted(ways, key=lambda w: (self._usual(kind, w), w.value))
        for w in ways:
            if others and len(self.seconds[kind, w]) < TRIES and self._usual(kind, w) < NEAR * self._usual(kind, best):
                return w
        self.done[kind] += 1
        if not others or self.done[kind] % AGAIN:
            return best
        hopeless = self._usual(kind, others[0]) >= HOPELESS * self._usual(kind, best)
        return best if hopeless else others[0]

    def _usual(self, kind: Kind, way: W) -> float:
        """What it takes but for a first run, and for what disturbs one."""
        seconds = sorted(self.seconds[kind, way])
        return seconds[len(seconds) // TRIES]

    def took(self, kind: Kind, way: W, seconds: float) -> None:
        """A sample, of the way that was taken in fact."""
        self.seconds[kind, way].append(seconds)
