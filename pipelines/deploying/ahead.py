"""Views over mirrors that are there: a pipeline that runs fills their states beside its batches, and takes them up when
it deploys. What reads a state that is kept already, or a table that is copied, is filled while batches wait."""

from __future__ import annotations

import logging

from compiler.errors import TidemarkError
from compiler.maintain.plan import ViewPlan, states_of
from connectors.engine import Begun
from pipelines.deploying.filling import in_order
from pipelines.project import Compiled
from pipelines.refused import lacking, qualified, reads, to_keep
from pipelines.warehouse import Warehouse

log = logging.getLogger("tidemark")


def begin(warehouse: Warehouse, views: list[Compiled]) -> list[Begun]:
    """Between batches: what is to be filled of these views, on each engine."""
    out = []
    for e in warehouse.used_engines():
        filling = warehouse.engine(e).filling
        plans = [v.plan for v in views if v.engine == e and v.plan is not None and v.error is None]
        if filling is not None and filling.able and (some := _suited(warehouse, e, plans)):
            read = [t for t in warehouse.tables(e) if any(qualified(t) in p.tables for p in some)]
            states = [s for ready in in_order(states_of(some)) for s in ready]
            out.append(filling.begin(states, [(t, frozenset(to_keep(t, some))) for t in read]))
    return out


def _suited(warehouse: Warehouse, engine: str, plans: list[ViewPlan]) -> list[ViewPlan]:
    """Those of which nothing is kept yet, over mirrors that have all that they read."""
    d, there = warehouse.deployment, warehouse.engine(engine).states()
    mirrored = {qualified(t) for t in warehouse.tables(engine)} - d.by_key.get(engine, {}).keys()
    refused = [(t, c) for t, columns in warehouse.refused(engine).items() for c in columns]
    return [
        p
        for p in plans
        if p.states
        and p.asked is None
        and p.lag is None
        and p.tables <= mirrored
        and not there & {s.name for s in p.states}
        and not lacking(d, engine, p)
        and not any(reads(p, t, c) for t, c in refused)
    ]


def take(warehouse: Warehouse, engine: str) -> None:
    """While nothing else is at work: states that were filled so are brought to the frontier, and those of which a view
    needs others too are given up."""
    filling = warehouse.engine(engine).filling
    if filling is None:
        return
    names = filling.names()
    tables = {qualified(t): t for t in warehouse.tables(engine)}

    def kept(p: ViewPlan, table: str) -> bool:
        t = tables.get(table)
        return t is not None and {*to_keep(t, [p])} <= filling.since.get(t.mirror, frozenset())

    plans = [
        p
        for p in warehouse.plans(engine)
        if p.states and {s.name for s in p.states} <= names and all(kept(p, t) for t in p.tables)
    ]
    try:
        if plans:
            read = [t for name, t in tables.items() if any(name in p.tables for p in plans)]
            programs = warehouse.maintaining.batches(warehouse.engine(engine), plans)
            filling.take(states_of(plans), read, programs)
    except TidemarkError as e:
        log.warning("states are filled once more, %s: %s", e.message, e.detail)
    if filling.since or names:
        filling.clear()


def clear(warehouse: Warehouse) -> None:
    """While nothing else is at work: leave nothing of what was filled, or begun, and never taken."""
    for e in warehouse.used_engines():
        filling = warehouse.engine(e).filling
        if filling is not None and (filling.since or filling.names()):
            filling.clear()


def left(warehouse: Warehouse) -> bool:
    """Whether batches note for some what they change."""
    return any(f is not None and f.since for f in (warehouse.engine(e).filling for e in warehouse.used_engines()))
