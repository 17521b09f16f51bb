"""When states that lag take what waits in their tails: in a batch that finds a tail long, or in an idle moment."""

from __future__ import annotations

from compiler.maintain.kept import Lagging, lagging
from compiler.maintain.plan import ViewPlan, states_of
from connectors.engine import Engine

LEAST = 20_000  # rows of a tail that are never too many: a reader adds them up in a few milliseconds
SHARE = 0.1  # of the state's own rows
LOOK = 16  # batches, after which tails are looked at
AFTER = 2.0  # seconds without a batch, after which all of them are taken
BATCHES = 32  # that may wait where an engine does not tell rows without reading them


class Folding:
    """Counts the batches that may have been put into tails since they were folded. All tails are folded at once, so
    there are two programs for a kind of batch and not one for each set of tails."""

    def __init__(self) -> None:
        self.waiting: dict[str, int] = {}  # by engine

    def due(self, on: Engine, plans: list[ViewPlan]) -> frozenset[str]:
        """All states that lag, where a tail is too long; before a batch."""
        states = lagging(states_of(plans))
        if not states:
            return frozenset()
        waiting = self.waiting[on.name] = self.waiting.get(on.name, 0) + 1
        if waiting % LOOK or not any(_long(on, s, waiting) for s in states):
            return frozenset()
        self.waiting[on.name] = 0
        return frozenset(s.name for s in states)

    def some(self, on: Engine, plans: list[ViewPlan]) -> frozenset[str]:
        """All states that lag, where anything waits."""
        states = lagging(states_of(plans))
        return frozenset(s.name for s in states) if any(_rows(on, s) for s in states) else frozenset()


def _long(on: Engine, s: Lagging, waiting: int) -> bool:
    rows = _rows(on, s)
    if rows is None:
        return waiting >= BATCHES
    return rows > LEAST and rows > SHARE * (on.rows(s.name) or 0)


def _rows(on: Engine, s: Lagging) -> int | None:
    """Of its tail."""
    assert s.tail is not None
    return on.rows(s.tail.name)
