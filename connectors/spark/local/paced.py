"""Views that may lag, in the driver's file: what readers see of one changes between batches, and Delta is to follow."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from compiler.maintain.plan import ViewPlan
from connectors.duckdb.paced import Paced
from connectors.paced_states import Refresh, Taking


class PacedInRounds:
    """The file's own, and `moved` is called after what readers see."""

    def __init__(self, inner: Paced, moved: Callable[[], None]) -> None:
        self.inner, self.moved = inner, moved
        self.take, self.large, self.complete = inner.take, inner.large, inner.complete
        self.waiting, self.sizes, self.reached = inner.waiting, inner.sizes, inner.reached
        self.measured, self.refreshes = inner.measured, inner.refreshes
        self.note, self.noted = inner.note, inner.noted

    def finish(
        self, view: str, takings: Sequence[Taking], states: Collection[str], why: str, promised: float
    ) -> Refresh:
        done = self.inner.finish(view, takings, states, why, promised)
        self.moved()
        return done

    def renew(self, plan: ViewPlan, why: str, promised: float) -> Refresh:
        done = self.inner.renew(plan, why, promised)
        self.moved()
        return done
