"""What the loop is given: it tells it everything once; the state keeps it, and the log says what is worth a line."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping

from pipelines.deployment import Deployment
from pipelines.observe.log import Log
from pipelines.observe.memory import resident_bytes
from pipelines.observe.reason import stored
from pipelines.observe.state import RunState, ViewInfo
from pipelines.observe.summary import EVERY, Summary
from pipelines.observe.work import Works
from pipelines.warehouse import Warehouse

MEASURE = 5.0  # seconds between two looks at this process's memory


def views_of(d: Deployment) -> list[ViewInfo]:
    return [ViewInfo(v.name, v.engine, v.maintenance, stored(v.error)) for v in d.views]


def refresh_seconds(warehouse: Warehouse) -> dict[str, float]:
    """View → seconds that its states took in the last batch, where the engine has timed it."""
    out = {}
    for v in warehouse.deployment.views:
        timings = getattr(warehouse.engines.get(v.engine), "timings", {})
        if timings and not v.error:
            out[v.name] = sum(timings.get(s.name, 0.0) for s in warehouse.view(v.name)[1].states)
    return out


def spent_seconds(warehouse: Warehouse) -> dict[str, float]:
    """View → seconds that its states took in the last batch, of those that it touched, where the engine has timed
    it."""
    out = {}
    for v in warehouse.deployment.views:
        spent = getattr(getattr(warehouse.engines.get(v.engine), "batches", None), "spent", {})
        names = {s.name for s in warehouse.view(v.name)[1].states} if spent and not v.error else set()
        if names & spent.keys():
            out[v.name] = sum(spent[n] for n in names & spent.keys())
    return out


class Observer:
    """A `RunState` and, where there is one, a `Log`. What is worth no line is told to `state` itself."""

    def __init__(
        self,
        state: RunState | None = None,
        log: Log | None = None,
        every: float = EVERY,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.state = state or RunState()
        self.works = Works()
        self._log, self._clock, self._measured = log, clock, float("-inf")
        self._summary = Summary(log, every, clock) if log else None

    def started(
        self,
        slot: str,
        views: Iterable[ViewInfo],
        frontiers: Mapping[str, int],
        fresh_at: Mapping[str, float] | None = None,
        listen: str = "",
    ) -> None:
        views = list(views)
        self.state.started(slot, views, frontiers, fresh_at)
        if self._log:
            self._log.started(slot, views, frontiers, listen)

    def deployed(self, views: Iterable[ViewInfo], frontiers: Mapping[str, int], seconds: float) -> None:
        """Views came, went or changed, in so many seconds."""
        views = list(views)
        self.state.deployed(views, frontiers)
        if self._log:
            self._log.deployed(views, frontiers, seconds)

    def turn(self) -> None:
        """Every turn of the loop, with or without a batch, also while it waits to connect again."""
        self.state.beat()
        if self._clock() - self._measured >= MEASURE:
            self._measured = self._clock()
            self.state.resident(resident_bytes())
        if self._summary and self._summary.due(self.state.counters()):
            self._summary.say(self.state.snapshot())

    def source_away(self, reason: str, retry_in: float | None = None) -> None:
        attempt = self.state.source_away(reason, retry_in)
        if self._log:
            self._log.source_away(reason, attempt, retry_in)

    def source_back(self) -> None:
        seconds = self.state.source_back()
        if self._log:
            self._log.source_back(seconds, self.state.snapshot()["source"]["reconnects"])

    def set_aside(self, view: str, reason: str) -> None:
        self.state.set_aside(view, reason)
        if self._log:
            self._log.set_aside(view, reason)

    def renamed(self, what: str, called: str) -> None:
        if self._log:
            self._log.renamed(what, called)

    def failed(self, reason: str, engine: str = "") -> None:
        self.state.failed(reason, engine)
        if self._log:
            self._log.failed(reason, engine)

    def stopped(self, reason: str, error: bool = False) -> None:
        """`error`: it did not stop because it was asked to."""
        self.state.stopped(reason)
        s = self.state.snapshot()
        if self._log and self._summary:
            self._summary.say(s)
            self._log.stopped(reason, {e: x["frontier"] for e, x in s["engines"].items()}, error)
