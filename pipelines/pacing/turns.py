"""When paced views take what waits for them: so that none lags longer than it may, and at once for who asks."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

from compiler.maintain.plan import ViewPlan
from connectors.engine import Refresh
from pipelines.pacing.finishing import LAG, behind, finish, finished
from pipelines.warehouse import Warehouse

LOOK = 0.5  # seconds between two looks at what waits
SHARE = 20.0  # times as long as a look took, at least, until the next
EARLY = 2.0  # times what finishing took last, before a view's time is up


class Pacing:
    """Looks at paced views now and then, on the thread that applies batches. `rest` waits until nothing is at work in
    an engine."""

    def __init__(self, warehouse: Warehouse, rest: Callable[[str], None] = lambda engine: None) -> None:
        self.warehouse, self.rest = warehouse, rest
        self.next = 0.0
        self.empty: dict[str, float] = {}  # view → when nothing waited for it
        self.took: dict[str, float] = {}  # view → seconds that finishing it took last

    def turn(self) -> list[Refresh]:
        """Finish what may wait no longer."""
        begun = time.time()
        if begun < self.next:
            return []
        out = []
        for engine in self.warehouse.used_engines():
            for plan in self.warehouse.plans(engine):
                if plan.lag is not None and self._due(engine, plan, plan.lag.seconds, begun):
                    self.rest(engine)
                    out += self._noted(finished(self.warehouse, engine, plan, LAG))
        self.next = time.time() + max(LOOK, SHARE * (time.time() - begun) if not out else LOOK)
        return out

    def finish(self, views: Iterable[str] | None = None) -> list[Refresh]:
        """At once, for who asks."""
        for engine in self.warehouse.used_engines():
            self.rest(engine)
        return self._noted(finish(self.warehouse, views))

    def _due(self, engine: str, plan: ViewPlan, lag: float, now: float) -> bool:
        found = behind(self.warehouse.engine(engine), plan)
        if not found.waiting:
            self.empty[plan.view] = now
            return False
        since = self.empty.get(plan.view, found.at)
        return now - since >= lag - LOOK - min(EARLY * self.took.get(plan.view, 0.0), lag / 2)

    def _noted(self, done: list[Refresh]) -> list[Refresh]:
        for r in done:
            self.empty[r.view] = r.at
            if r.waited:
                self.took[r.view] = r.seconds
        return done
