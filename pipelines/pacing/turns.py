"""When paced views take what waits for them: so that none lags longer than it may and no more work is left than it
says, and at once for who asks. Those that share states do so together (`cohort`), as often as one of them has to."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from compiler.maintain.cohort import Cohort
from compiler.maintain.kept import own
from compiler.maintain.pace.cardinality import Amounts
from compiler.maintain.pace.paces import LEVELS, Pace
from compiler.maintain.paced import Path, logs, paths, waiting
from connectors.engine import Engine, EngineFailure
from connectors.paced_states import Refresh
from pipelines.observe.snapshot import PacedShot
from pipelines.pacing.finishing import LAG, PACE, PROBE, finish, finished
from pipelines.pacing.planning import Left, Planned, planned
from pipelines.warehouse import Warehouse

LOOK = 0.5  # seconds between two looks at what waits
SHARE = 20.0  # times as long as a look took, at least, until the next
EARLY = 2.0  # times what finishing took last, before a view's time is up
FEW = 100  # rows of changes, before paces are planned
SOON = 5.0  # seconds between two plans of a view, and of what is known of its rates before the first
OTHER = 1.5  # times as many changes, or as few, that make another plan worthwhile
HALF = 60.0  # seconds after which what arrived counts half for the rate

Views = tuple[str, ...]  # those of a cohort


@dataclass
class Progress:
    """What arrived of some views' tables since the pipeline began, and where their paths are in that."""

    begun: float
    empty: float  # when nothing waited for them
    complete: int | None = None  # the frontier then, where that is not noted yet
    seen: dict[str, tuple[int, int]] = field(default_factory=dict)  # rows of its logs, at the last look
    arrived: float = 0.0
    finished: int = 0  # how often
    refreshed: float = 0.0  # of what arrived, where they were finished last
    at: dict[Path, float] = field(default_factory=dict)  # and where a path was taken last
    rates: dict[str, Amounts] = field(default_factory=dict)  # changes a second of each table, of late
    looked: float = 0.0
    plan: Planned | None = None
    planned_at: float = 0.0
    planning: float = 0.0  # seconds that it took
    stale: bool = False  # whether taking something was measured since
    left: Left | None = None  # what finishing them took of late
    probed: bool = False  # whether they were finished soon after another time, for these rates

    def look(self, now: float, tables: dict[str, str], found: dict[str, tuple[int, int]]) -> None:
        """`tables`: of logs, the tables that they are of."""
        spent = max(now - (self.looked or self.begun), 1e-3)
        keep = 0.5 ** (spent / HALF) if self.looked else 0.0
        fresh: dict[str, Amounts] = {}
        for log, table in tables.items():
            new, old = (max(a - b, 0) for a, b in zip(found.get(log, (0, 0)), self.seen.get(log, (0, 0)), strict=True))
            both = min(new, old)
            most = Amounts(new - both, both, old - both)
            if table not in fresh or most.rows > fresh[table].rows:
                fresh[table] = most
        self.arrived += sum(change.rows for change in fresh.values())
        for table, change in fresh.items():
            before = self.rates.get(table, Amounts())
            self.rates[table] = before * keep + change * ((1 - keep) / spent)
        self.seen, self.looked = found, now

    def took(self, log: str) -> None:
        self.seen[log] = (0, 0)


class Pacing:
    """Looks at paced views now and then, on the thread that applies batches. `rest` waits until nothing is at work in
    an engine."""

    def __init__(self, warehouse: Warehouse, rest: Callable[[str], None] = lambda engine: None) -> None:
        self.warehouse, self.rest = warehouse, rest
        self.next, self.looking = 0.0, 0.0
        self.progress: dict[Views, Progress] = {}
        self.took: dict[Views, float] = {}  # seconds that finishing them took last

    def turn(self) -> None:
        """Take what may wait no longer."""
        begun = time.time()
        if begun < self.next:
            return
        self.looking, due = 0.0, float("inf")
        there = [(e, c) for e in self.warehouse.used_engines() for c in self.warehouse.cohorts(e)]
        self.progress = {views: p for views, p in self.progress.items() if any(views == c.views for _, c in there)}
        for engine, c in there:
            due = min(due, self._look(engine, c, begun))
        now = time.time()
        self.next = now + max(LOOK, min(SHARE * self.looking, 10 * LOOK, due - now))

    def shots(self) -> dict[str, PacedShot]:
        """How far views were at the last look."""
        there = {v.name for v in self.warehouse.deployment.views}
        return {
            v: {"waiting": sum(a + b for a, b in p.seen.values()), "complete_at": p.empty, "finished": p.finished}
            for views, p in self.progress.items()
            for v in views
            if v in there
        }

    def finish(self, views: Iterable[str] | None = None) -> list[Refresh]:
        """At once, for who asks."""
        for engine in self.warehouse.used_engines():
            self.rest(engine)
        return self._noted(finish(self.warehouse, views))

    def _look(self, engine: str, c: Cohort, now: float) -> float:
        """Finish views that share states, or take some of what waits, if it is time; gives when their time is up."""
        on, states = self.warehouse.engine(engine), c.states
        p = self.progress.get(c.views) or self._begun(on, c, now)
        since, at = time.perf_counter(), on.frontier()  # no later than what waits
        found = on.paced.waiting(logs(states))
        self.looking += time.perf_counter() - since
        p.look(now, {w.log.name: path.source for path, w in waiting(states) if w.scan}, found)
        if not any(a or b for a, b in found.values()):
            p.empty, p.complete = now, at
            return float("inf")
        if p.complete is not None:
            self.rest(engine)
            on.paced.complete([s.name for s in own(states)], p.complete, p.empty)
            p.complete = None
        self._plan(engine, on, c, p, now)
        due = self._due(c, p)
        if (why := LAG if now >= due else self._often(p)) is not None:
            self.rest(engine)
            self._noted(finished(self.warehouse, engine, c, why, found))
            return float("inf")
        self._inner(engine, c, p)
        return due

    def _begun(self, on: Engine, c: Cohort, now: float) -> Progress:
        """What waits when the pipeline begins, does since the views were finished last."""
        reached = on.paced.reached()
        since = min((reached[s.name].at for s in own(c.states) if s.name in reached), default=now)
        return self.progress.setdefault(c.views, Progress(now, since))

    def _plan(self, engine: str, on: Engine, c: Cohort, p: Progress, now: float) -> None:
        """Paces for the rates of late, where they are others than were planned for, or more is known of the costs."""
        if p.arrived < FEW or now - p.begun < min(SOON, c.lag / 4):
            return
        if now - p.planned_at < max(SOON, SHARE * p.planning):
            return
        arriving = {t: a * c.lag for t, a in p.rates.items()}
        before, rows = p.plan, sum(a.rows for a in arriving.values())
        alike = before is not None and 1 / OTHER < rows / max(sum(before.arriving.values()), 1.0) < OTHER
        if alike and not p.stale:
            return
        begun = time.perf_counter()
        p.plan, p.planned_at, p.stale = planned(on, c, arriving, p.left), now, False
        p.probed &= alike
        p.planning = time.perf_counter() - begun
        self.rest(engine)
        for plan in c.plans:
            on.paced.note(plan.view, p.plan.to_json(paths(plan.states)))

    def _due(self, c: Cohort, p: Progress) -> float:
        """When views have to be finished, that none lags longer than it may."""
        return p.empty + c.lag - LOOK - min(EARLY * self.took.get(c.views, 0.0), c.lag / 2)

    def _often(self, p: Progress) -> str | None:
        """Whether so much arrived since they were finished that they are planned to be again. Where no paces are known
        that leave as little as may be left, they are once, soon after another time: what few rows take may be told
        wrong by what many took."""
        if p.plan is None:
            return None
        share = (p.arrived - p.refreshed) / max(sum(p.plan.arriving.values()), 1.0)
        if p.plan.paces.refresh > 1 and share >= 1 / p.plan.paces.refresh:
            return PACE
        if p.plan.unmet and not p.probed and p.finished and share >= 1 / LEVELS[-1]:
            p.probed = True
            return PROBE
        return None

    def _inner(self, engine: str, c: Cohort, p: Progress) -> None:
        """Take the paths into states that no reader sees whose time has come, the lowest first."""
        if p.plan is None:
            return
        whole = sum(p.plan.arriving.values())
        waits = {path: w.log.name for path, w in waiting(c.states)}
        due = [
            path
            for path in waits
            if path in p.plan.paces.inner
            and p.plan.paces.inner[path] > p.plan.paces.refresh
            and p.arrived - p.at.get(path, p.refreshed) >= whole / p.plan.paces.inner[path]
        ]
        if not due:
            return
        self.rest(engine)
        try:
            on = self.warehouse.engine(engine)
            done = on.paced.take([self.warehouse.maintaining.taking(on, c, x.state, [x.source]) for x in due])
        except EngineFailure as e:
            self.warehouse.set_aside(engine, e)
            return
        p.stale |= any(t.rows for t in done)
        for path in due:
            p.at[path] = p.arrived
            p.took(waits[path])

    def _noted(self, done: list[Refresh]) -> list[Refresh]:
        of = {v: c.views for e in self.warehouse.used_engines() for c in self.warehouse.cohorts(e) for v in c.views}
        for views, r in {of.get(r.view, (r.view,)): r for r in done}.items():
            p = self.progress.setdefault(views, Progress(r.at, r.at))
            p.empty, p.complete, p.refreshed = r.at, None, p.arrived
            p.finished += 1
            if r.why == PACE and r.waited and p.plan is not None:
                pace = Pace(p.plan.paces.refresh, p.plan.paces.inner)
                before = p.left.seconds if p.left is not None and p.left.pace == pace else r.seconds
                p.left = Left(pace, (before + r.seconds) / 2)
            p.at.clear()
            p.seen.clear()
            if r.waited:
                self.took[views], p.stale = r.seconds, True
        return done
