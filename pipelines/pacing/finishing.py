"""How far paced views are, and bringing them to the frontier."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from compiler.maintain.cohort import Cohort
from compiler.maintain.kept import own
from compiler.maintain.paced import logs
from compiler.maintain.plan import ViewPlan
from connectors.engine import Engine, EngineFailure
from connectors.paced_states import Refresh
from pipelines.pacing.planning import Found, better_anew, promised
from pipelines.warehouse import Warehouse

LAG, PACE, ASKED, PROBE = "lag", "pace", "asked", "probe"  # why a view is finished


@dataclass(frozen=True)
class Behind:
    """How far a paced view is: the LSN and the time at which it was finished last, and how many rows wait since."""

    lsn: int
    at: float
    waiting: int


def behind(on: Engine, plan: ViewPlan) -> Behind:
    """Of a view with a lag; nothing is evaluated."""
    reached = on.paced.reached()
    found = [(r.lsn, r.at) for s in plan.states if (r := reached.get(s.name)) is not None]
    lsn, at = min(found, default=(0, 0.0))
    return Behind(lsn, at, sum(on.rows(log) or 0 for log in logs(plan.states)))


def paced(warehouse: Warehouse, read: Collection[str]) -> list[str]:
    """Of views that are read, by their names in small letters, those that may lag."""
    plans = [p for e in warehouse.used_engines() for p in warehouse.plans(e)]
    return [p.view for p in plans if p.lag is not None and p.view.lower() in read]


def finish(warehouse: Warehouse, views: Iterable[str] | None = None) -> list[Refresh]:
    """Bring paced views to the frontier, by default all, for who asks; the others are there already. On the thread
    that applies batches. One that fails is set aside."""
    out = []
    chosen = None if views is None else set(views)
    for engine in warehouse.used_engines():
        for c in warehouse.cohorts(engine):
            if chosen is None or chosen & {*c.views}:
                out += finished(warehouse, engine, c, ASKED)
    return out


def finished(warehouse: Warehouse, engine: str, c: Cohort, why: str, found: Found | None = None) -> list[Refresh]:
    """Views that share states brought to the frontier, `found` being what waits; nothing where that failed, and those
    are set aside that have the state."""
    try:
        return brought(warehouse, engine, c, why, found)
    except EngineFailure as e:
        warehouse.set_aside(engine, e)
        return []


def brought(warehouse: Warehouse, engine: str, c: Cohort, why: str, found: Found | None = None) -> list[Refresh]:
    """The same; raises EngineFailure where that fails, and nothing is done."""
    on = warehouse.engine(engine)
    bounds = promised(on, c)
    if better_anew(on, c, found if found is not None else on.paced.waiting(logs(c.states))):
        return on.paced.renew(c.states, why, bounds)
    states = [s.name for s in own(c.states)]
    return on.paced.finish(warehouse.maintaining.finishing(on, c), states, why, bounds)
