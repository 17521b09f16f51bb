"""Views that come to others while those lag: what they share is brought to the frontier first."""

from __future__ import annotations

from collections.abc import Iterable

from compiler.maintain.cohort import cohorts
from compiler.maintain.plan import ViewPlan
from pipelines.pacing.finishing import ASKED, brought
from pipelines.warehouse import Warehouse


def join(warehouse: Warehouse, engine: str, before: Iterable[ViewPlan]) -> None:
    """Before the states of the warehouse's views are filled, at rest: of views that were there `before`, those that
    share a state with one that was not, or was another, are finished. What is filled from the mirrors as they are is of
    the same time then, and who reads a state that was an inner one until now finds it as of one LSN with the rest.

    Raises EngineFailure where that cannot be, and nothing is done."""
    on, was = warehouse.engine(engine), [p for p in before if p.lag is not None]
    same = {(p.view, repr(p.top)) for p in was}
    new = {s.name for p in warehouse.plans(engine) if (p.view, repr(p.top)) not in same for s in p.states}
    there = on.states()
    for c in cohorts(was):
        names = {s.name for s in c.states}
        if not names & new:
            continue
        if names <= there:
            brought(warehouse, engine, c, ASKED)
        else:  # of a deploy that was killed: filled anew, with the rest
            for name in names & there:
                on.drop_state(name)
