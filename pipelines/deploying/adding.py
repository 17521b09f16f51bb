"""Tables brought into a warehouse at one LSN, to which everything else is moved first."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Protocol

from compiler.catalog import Catalog, Table
from compiler.maintain.plan import ViewPlan
from connectors.failpoints import reach
from connectors.postgres.connection import connect
from connectors.postgres.ranges import counted
from connectors.postgres.snapshot import ExportedSnapshot
from pipelines import deployment as deployments
from pipelines.applying.capture import Capture, current_lsn
from pipelines.applying.catching_up import limits
from pipelines.config import Config
from pipelines.deploying.arrived import Arrived, Stale, find
from pipelines.deploying.building import catalog_tables, check_copied, plans, without_refused
from pipelines.deploying.by_key import empty
from pipelines.deploying.initial_copy import Progress, Refusals, copy_tables, record
from pipelines.deploying.moving import Moved, givers
from pipelines.deploying.needs import Needs
from pipelines.deploying.source_objects import marked, publish
from pipelines.deployment import Deployment
from pipelines.project import Compiled
from pipelines.refused import ALL, qualified
from pipelines.warehouse import Warehouse

log = logging.getLogger("tidemark")


@dataclass(frozen=True)
class Lost:
    """What is copied beside new tables: those whose changes were lost, `tables`. `strict`: a value that does not fit
    ends it."""

    old: Deployment
    tables: AbstractSet[str]
    views: list[Compiled]
    strict: bool


class Rows(Protocol):
    """The rows of tables as of one LSN of the server that they are from."""

    lsn: int
    system: str
    timeline: int

    def meet(self, capture: Capture) -> None:
        """Bring what `capture` applies to that LSN."""
        ...

    def fill(self, warehouse: Warehouse, engine: str, tables: list[Table]) -> Refusals:
        """Make the mirrors of these."""
        ...

    def check(self) -> None:
        """Raises where it is not certain that these are the rows."""
        ...

    def close(self) -> None: ...


class Snapshot:
    """Read from the source now. Also without tables: it begins once everything has ended that wrote before the
    publication had them, and that the stream has not, though keys may be read from them."""

    def __init__(self, config: Config, tables: list[Table], progress: Progress) -> None:
        self.config, self.progress = config, progress
        name = f"tidemark_{uuid.uuid4().hex[:10]}"
        self.exported = ExportedSnapshot(config.source.dsn, name, [t.quoted for t in tables], temporary=True)
        self.lsn, self.system, self.timeline = self.exported.lsn, self.exported.system, self.exported.timeline

    def meet(self, capture: Capture) -> None:
        capture.catch_up(max(self.lsn, current_lsn(self.config.source.dsn)), before=self.lsn)

    def fill(self, warehouse: Warehouse, engine: str, tables: list[Table]) -> Refusals:
        parts: dict[str, int] = {}
        ranges = warehouse.engine(engine).ranges
        if ranges is not None:  # several at once; none is kept of a copy that was killed
            ranges.forget()
            with connect(self.config.source.dsn) as conn:
                parts = {qualified(t): counted(conn, t) for t in tables if t.key and not t.deferrable}
        found = copy_tables(self.config, warehouse, engine, tables, self.exported.snapshot, self.progress, parts=parts)
        if ranges is not None:
            ranges.forget()
        return found

    def check(self) -> None:
        check_copied(self.exported)

    def close(self) -> None:
        self.exported.close()


def add_tables(
    config: Config,
    d: Deployment,
    n: Needs,
    catalog: Catalog,
    progress: Progress,
    lost: Lost,
) -> None:
    """Bring in the tables that are needed, and keep in `d` that they are there."""
    of = givers(lost.old, n) if not lost.tables else None
    if of is not None:
        _bring(config, d, n, list(d.catalog), lambda: Moved(config, d, of), lost, frozenset())
        return
    arrived = find(config, d, n, catalog) if not lost.tables else None
    again = n.made
    every = [t for t in d.catalog if qualified(t) not in again] + catalog_tables(again, catalog)
    publish(config.source.dsn, d.publication, every, alter=True)
    reach("redeploy.published")
    if arrived is not None:
        if n.empty:  # what was copied began before these were published
            Snapshot(config, [], progress).close()
        try:
            _bring(config, d, n, every, lambda: Arrived(*arrived), lost, n.made)
            return
        except Stale as e:
            log.warning("batches wait while tables are copied once more, %s", e)
    copied = [t for t in every if qualified(t) in n.tables]
    _bring(config, d, n, every, lambda: Snapshot(config, copied, progress), lost, n.made)


def _bring(
    config: Config,
    d: Deployment,
    n: Needs,
    every: list[Table],
    opened: Callable[[], Rows],
    lost: Lost,
    made: AbstractSet[str],
) -> None:
    """`made`: the tables that are another form, or copy, of what there was."""
    status = d.status
    if lost.tables:  # whatever is saved of it until they are copied says that they are not
        d.status = deployments.RESYNC
    with connect(config.source.dsn) as conn:
        d.origin = marked(conn, d, every)
    rows = opened()
    d.origin = replace(d.origin, system=d.origin.system or rows.system, timeline=d.origin.timeline or rows.timeline)
    try:
        warehouse = Warehouse(config, d)
        try:
            capture = Capture(warehouse, limits(config))
            try:
                rows.meet(capture)
            finally:
                capture.close()
            reach("redeploy.caught_up")
            by_now = {qualified(t): t for t in d.catalog}  # with what was noted of the others meanwhile
            d.catalog = [t if qualified(t) in made else by_now.get(qualified(t), t) for t in every]
            for e, of in n.narrow.items():
                d.columns.setdefault(e, {}).update(of)
            d.by_key = n.by_key
            kept = made & {t for ts in lost.old.tables.values() for t in ts}
            if kept:  # until they are copied whole
                halves = replace(d, status=deployments.RESYNC) if lost.tables else _without(d, kept, plans(warehouse))
                deployments.save(config.warehouse_path, halves)
            for e, ts in n.new.items():
                engine, tables = warehouse.engine(e), [d.mirrored(e, t) for t in ts]
                refusals = rows.fill(warehouse, e, tables)
                without_refused(warehouse, e, refusals, lost.views, strict=lost.strict and not kept)
                record(warehouse, e, refusals, tables)
                if engine.frontier() < rows.lsn:
                    engine.set_frontier(rows.lsn)
                if not capture.engines:  # nothing has followed the stream until here
                    engine.forget_commit()
                d.tables[e] = sorted({*d.tables.get(e, []), *ts})
            for e, ts in n.empty.items():
                _empty(warehouse, e, ts, lost.views)
                if (engine := warehouse.engine(e)).frontier() < rows.lsn:
                    engine.set_frontier(rows.lsn)
                    engine.forget_commit()
                d.tables[e] = sorted({*d.tables.get(e, []), *ts})
            rows.check()
            for e in warehouse.used_engines():
                for name in {s.name for p in warehouse.plans(e) if p.tables & lost.tables for s in p.states}:
                    warehouse.engine(e).drop_state(name)
            warehouse.settle()
            former = plans(warehouse)
            reach("redeploy.copied")
        finally:
            warehouse.close()
    finally:
        rows.close()
    emptied = {t for ts in n.empty.values() for t in ts}
    deployments.save(config.warehouse_path, _without(d, emptied, former) if emptied else d)
    d.status = status


def _empty(warehouse: Warehouse, engine: str, tables: list[str], views: list[Compiled]) -> None:
    """Mirrors for some keys' rows, without any; what is kept of these keys goes with them."""
    plans = [v.plan for v in views if v.engine == engine and v.plan is not None]
    there = warehouse.engine(engine).states()
    for name in {s.name for p in plans if p.tables & {*tables} for s in p.states} & there:
        warehouse.engine(engine).drop_state(name)
    empty(warehouse, engine, tables)
    record(warehouse, engine, {}, [warehouse.deployment.mirrored(engine, t) for t in tables])


def _without(d: Deployment, tables: AbstractSet[str], maintained: Mapping[str, list[ViewPlan]]) -> Deployment:
    """What is deployed if no more comes of copying these tables again: they are not kept, and views that read them are
    set aside, until they are copied once more."""
    why = "It was being copied again, and that was not finished."
    hit = {p.view for some in maintained.values() for p in some if p.tables & tables}
    refused = deepcopy(d.refused)
    for e, ts in d.tables.items():
        for t in tables & {*ts}:
            refused.setdefault(e, {})[t] = {ALL: why}
    views = [
        replace(v, error=v.error or f"a table it reads is not kept: {why}") if v.name in hit else v for v in d.views
    ]
    return replace(d, refused=refused, views=views)
