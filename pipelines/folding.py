"""When states that lag take what waits in their tails: in a batch that finds a tail long, or in an idle moment."""

from __future__ import annotations

from compiler.maintain.kept import Accumulated, lagging
from compiler.maintain.plan import ViewPlan, states_of
from connectors.engine import Engine

LEAST = 20_000  # rows of a tail that are never too many: a reader adds them up in a few milliseconds
SHARE = 0.1  # of the state's own rows
AFTER = 2.0  # seconds without a batch, after which all of them are taken
BATCHES = 32  # that may wait where an engine does not tell rows without reading them


class Folding:
    """Counts, by state, the batches that were put into its tail since it was folded."""

    def __init__(self) -> None:
        self.waiting: dict[str, int] = {}

    def due(self, on: Engine, plans: list[ViewPlan]) -> frozenset[str]:
        """The states whose tails are too long, before a batch."""
        found = frozenset(s.name for s in lagging(states_of(plans)) if self._long(on, s))
        for s in lagging(states_of(plans)):
            self.waiting[s.name] = 0 if s.name in found else self.waiting.get(s.name, 0) + 1
        return found

    def some(self, on: Engine, plans: list[ViewPlan]) -> frozenset[str]:
        """The states that have anything waiting."""
        return frozenset(s.name for s in lagging(states_of(plans)) if _rows(on, s))

    def _long(self, on: Engine, s: Accumulated) -> bool:
        rows = _rows(on, s)
        if rows is None:
            return self.waiting.get(s.name, 0) >= BATCHES
        return rows > LEAST and rows > SHARE * (on.rows(s.name) or 0)


def _rows(on: Engine, s: Accumulated) -> int | None:
    assert s.tail is not None
    return on.rows(s.tail.name)
