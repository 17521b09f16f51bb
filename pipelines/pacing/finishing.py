"""How far paced views are, and bringing them to the frontier."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from compiler.maintain.kept import own
from compiler.maintain.paced import logs
from compiler.maintain.plan import ViewPlan
from connectors.engine import Engine, EngineFailure
from connectors.paced_states import Refresh
from pipelines.pacing.planning import Found, better_anew, filling
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
        for plan in warehouse.plans(engine):
            if plan.lag is not None and (chosen is None or plan.view in chosen):
                out += finished(warehouse, engine, plan, ASKED)
    return out


def finished(warehouse: Warehouse, engine: str, plan: ViewPlan, why: str, found: Found | None = None) -> list[Refresh]:
    """One view brought to the frontier, `found` being what waits; nothing where that failed, and it is set aside."""
    assert plan.lag is not None
    on = warehouse.engine(engine)
    whole = filling(on, plan)
    promised = plan.lag.final_work * whole if plan.lag.final_work < 1 else 0.0
    try:
        if better_anew(on, plan, found if found is not None else on.paced.waiting(logs(plan.states)), whole):
            return [on.paced.renew(plan, why, promised)]
        states = [s.name for s in own(plan.states)]
        return [on.paced.finish(plan.view, warehouse.finishing(plan.view), states, why, promised)]
    except EngineFailure as e:
        warehouse.set_aside(engine, e)
        return []
