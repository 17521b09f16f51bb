"""Views that may lag, in the driver's file: what readers see of one changes between batches, and Delta is to follow."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from compiler.maintain.kept import Kept
from connectors.duckdb.paced import Paced
from connectors.paced_states import Refresh, Taking


class PacedInRounds:
    """The file's own, and `moved` is called after what readers see."""

    def __init__(self, inner: Paced, moved: Callable[[], None]) -> None:
        self.inner, self.moved = inner, moved
        self.take, self.large, self.complete = inner.take, inner.large, inner.complete
        self.waiting, self.sizes, self.reached = inner.waiting, inner.sizes, inner.reached
        self.measured, self.refreshes = inner.measured, inner.refreshes
        self.beside_programs = inner.beside_programs
        self.note, self.noted = inner.note, inner.noted

    def finish(
        self, takings: Sequence[Taking], states: Collection[str], why: str, promised: Mapping[str, float]
    ) -> list[Refresh]:
        done = self.inner.finish(takings, states, why, promised)
        self.moved()
        return done

    def renew(self, states: Sequence[Kept], why: str, promised: Mapping[str, float]) -> list[Refresh]:
        done = self.inner.renew(states, why, promised)
        self.moved()
        return done
