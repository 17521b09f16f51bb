"""deploy, where there is a deployment: tables and views come, go and change beside those that stay."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from copy import deepcopy
from dataclasses import dataclass, replace

from compiler.catalog import Catalog
from compiler.errors import TidemarkError
from compiler.maintain.plan import ViewPlan
from compiler.view import compile_view
from connectors.changed import TableChanged
from connectors.failpoints import reach
from connectors.postgres.connection import connect
from connectors.postgres.origin import RESYNC
from connectors.postgres.snapshot import ExportedSnapshot
from pipelines import deployment as deployments
from pipelines.applying.capture import Capture, current_lsn
from pipelines.applying.catching_up import catch_up, limits
from pipelines.applying.unaltered import check_source
from pipelines.config import Config
from pipelines.deploying.building import (
    build,
    catalog_tables,
    check_copied,
    columns,
    drop_others,
    needed,
    plans,
    records,
    shape,
    without_refused,
)
from pipelines.deploying.initial_copy import Progress, copy_tables, record
from pipelines.deploying.location import located
from pipelines.deploying.source_objects import marked, publish
from pipelines.deployment import Deployment
from pipelines.kinds import KINDS
from pipelines.project import Compiled, refuse
from pipelines.refused import ALL, lacking, qualified, reads
from pipelines.warehouse import UNFINISHED, Warehouse


def redeploy(
    config: Config,
    old: Deployment,
    views: list[Compiled],
    catalog: Catalog,
    progress: Progress,
    say: Callable[[str], None],
    keep_going: bool,
    again: AbstractSet[str] = frozenset(),
    left: Mapping[str, AbstractSet[str]] | None = None,
) -> None:
    """Bring what is deployed in line with the views; where that fails, it is as it was. Views of `left` that are not
    among them stay set aside, with the tables that they read.

    Tables are copied again of which a view reads a column that is not kept, or that was not there when they were
    copied; and those of `again`, whose changes were lost: the states that read these are filled again, too.
    """
    for kind in (KINDS[e] for e in old.tables):
        if kind.lost(config.warehouse_path):
            raise TidemarkError(
                f"the data on {kind.title} of the warehouse {config.warehouse_path} is gone",
                detail=f"There is no {kind.data} in it.",
                code="warehouse_gone",
                hint=RESYNC,
            )
    with connect(config.source.dsn) as conn:
        at = located(conn, views, catalog, config, old)
    if not keep_going:
        refuse(views)
    views = [v for v in views if v.error is None]
    wanted = needed(views)
    stay = {t for ts in wanted.values() for t in ts}
    left = {v: ts for v, ts in (left or {}).items() if v not in {x.name for x in views}}
    for v in (v for v in old.views if v.name in left):
        wanted[v.engine] = sorted({*wanted.get(v.engine, []), *(left[v.name] & {*old.tables.get(v.engine, [])})})
    origin = replace(old.origin, tables=tuple((t, m) for t, m in old.origin.tables if t not in again))
    altered = check_source(
        config.source.dsn,
        replace(old, origin=origin, catalog=[t for t in old.catalog if qualified(t) in stay]),
        _frontier(config, old),
    )
    _follow(config, old, altered)
    if any(v.error for v in old.views):
        _catch_up(config, old)  # what was mended in the source is not in the mirrors yet
    copied = again | _reshaped(old, views, catalog) | _lacking(old, views)
    d = replace(
        old,
        origin=replace(origin, tables=tuple((t, m) for t, m in origin.tables if t not in copied)),
        tables=dict(old.tables),
        catalog=list(old.catalog),
        refused=deepcopy(old.refused),
        columns=deepcopy(old.columns),
        location=at.where,
        dist=list(at.dist),
    )
    new: dict[str, list[str]] = {
        e: [t for t in ts if t not in old.tables.get(e, []) or t in copied] for e, ts in wanted.items()
    }
    new = {e: ts for e, ts in new.items() if ts}
    maintained = _maintained(config, old)
    narrow = columns(views, new, catalog)
    if left:
        _with_former(narrow, old, catalog)
    if new:
        _add_tables(config, d, new, narrow, catalog, progress, Lost(old, again, views, not keep_going))
        _refused_meanwhile(d, old, views, not keep_going)
    gone = {e: [t for t in ts if t not in wanted.get(e, [])] for e, ts in d.tables.items()}
    d.tables = wanted
    names = {t for ts in d.tables.values() for t in ts}
    d.catalog = [t for t in d.catalog if f"{t.schema}.{t.name}" in names]
    d.origin = replace(d.origin, tables=tuple((t, m) for t, m in d.origin.tables if t in names))
    d.refused = {e: {t: c for t, c in of.items() if t in wanted.get(e, [])} for e, of in d.refused.items()}
    d.columns = {e: {t: c for t, c in of.items() if t in wanted.get(e, [])} for e, of in d.columns.items()}
    previous = {v.name: v.engine for v in old.views}
    bad = [v for v in views if v.error is not None]
    views = [v for v in views if v.error is None]
    d.views = records(views)
    if bad and (lost := [v for v in old.views if v.name in {b.name for b in bad}]):
        d.views += [replace(v, error=v.error or str(b.error)) for v in lost for b in bad if b.name == v.name]
    names_now = {v.name for v in d.views}
    d.views += [v for v in old.views if v.name in left.keys() - names_now]
    warehouse = Warehouse(config, d)
    unfinished = config.warehouse_path / UNFINISHED
    try:
        drop_others(
            warehouse, maintained
        )  # of views set aside, or left by a deploy that was killed: nothing has maintained them
        unfinished.touch()
        try:
            build(warehouse, say, views if keep_going else [])
            reach("resync.filled")
        except BaseException:
            drop_others(warehouse, maintained)
            for v in d.views:
                if v.name not in previous:
                    warehouse.engine(v.engine).drop_view(v.name)
            for e, kept in maintained.items():
                for p in kept:
                    warehouse.engine(e).create_view(p)
            unfinished.unlink(missing_ok=True)
            raise
        warehouse.settle()
        reach("redeploy.built")
        deployments.save(config.warehouse_path, d)
        reach("redeploy.saved")
        unfinished.unlink(missing_ok=True)
        for name, engine in previous.items():
            if not any(
                v.name.lower() == name.lower() and v.engine == engine for v in d.views
            ):  # which engines take for one name
                warehouse.engine(engine).drop_view(name)
        drop_others(warehouse, plans(warehouse))
        for e, ts in gone.items():
            if not d.tables.get(e):
                for s in warehouse.engine(e).states():
                    warehouse.engine(e).drop_state(s)
            for t in ts:
                table = next(x for x in old.catalog if f"{x.schema}.{x.name}" == t)
                warehouse.engine(e).drop_mirror(table.mirror)
    finally:
        warehouse.close()
    there = [t for t in d.catalog if (t.schema, t.name) in catalog.tables]  # one of a view of `left` may be gone
    publish(config.source.dsn, d.publication, there, alter=True)


def _reshaped(old: Deployment, views: list[Compiled], catalog: Catalog) -> set[str]:
    """The tables that have other columns than when they were copied, where a view reads others for it."""
    copied = {(t.schema, t.name): t for t in old.catalog}
    other = {
        qualified(t)
        for k, t in catalog.tables.items()
        if k in copied and [c.name for c in t.columns] != [c.name for c in copied[k].columns]
    }
    before = replace(catalog, tables={**catalog.tables, **copied})
    queries = {v.name: v.text.query for v in views if v.text is not None}
    out: set[str] = set()
    for v in views:
        if v.plan is None or not v.plan.tables & other:
            continue
        try:
            was = compile_view(v.name, queries[v.name], before, queries, strategy=v.plan.strategy)
            same = shape(was) == shape(v.plan)
        except TidemarkError:
            same = False
        if not same:
            out |= v.plan.tables & other
    return out


def _lacking(old: Deployment, views: list[Compiled]) -> set[str]:
    """The tables of which a view reads a column that its engine does not keep."""
    out: set[str] = set()
    for v in views:
        if v.plan is not None:
            out.update(lacking(old, v.engine, v.plan))
            for table, columns in old.refused.get(v.engine, {}).items():
                if any(reads(v.plan, table, c) for c in columns):
                    out.add(table)
    return out


def _with_former(narrow: dict[str, dict[str, list[str]]], old: Deployment, catalog: Catalog) -> None:
    """What mirrors have had, views may read that are left aside."""
    for e, tables in narrow.items():
        for t in catalog_tables({*tables} & {*old.tables.get(e, [])}, catalog):
            before = {c.name for c in old.mirrored(e, qualified(t)).columns}
            tables[qualified(t)] = [c.name for c in t.columns if c.name in before | {*tables[qualified(t)]}]


def _refused_meanwhile(d: Deployment, old: Deployment, views: list[Compiled], strict: bool) -> None:
    """The views that read what was refused while tables were brought in carry that as their error: their mirrors lack
    it from then on. Of one that is new it is raised, if `strict`."""
    there = {v.name for v in old.views}
    for v in (v for v in views if v.plan is not None and v.error is None):
        lost = [
            (table, why)
            for table, columns in d.refused.get(v.engine, {}).items()
            for c, why in columns.items()
            if v.plan is not None and reads(v.plan, table, c)
        ]
        if not lost:
            continue
        table, why = lost[0]
        v.error = TidemarkError(
            f"what it reads of {table} is not kept",
            detail=why,
            code="not_kept",
            hint="Mend the row or the column in the source, and deploy again.",
        )
        if strict and v.name not in there:
            v.error.view = v.name
            raise v.error


def _follow(config: Config, old: Deployment, altered: list[TableChanged]) -> None:
    """Keep no longer what was altered in the source, as the pipeline would if it ran."""
    if altered:
        warehouse = Warehouse(config, old)
        try:
            warehouse.follow(altered)
        finally:
            warehouse.close()


@dataclass(frozen=True)
class Lost:
    """What is copied beside new tables: those whose changes were lost, `tables`. `strict`: a value that does not fit
    ends it."""

    old: Deployment
    tables: AbstractSet[str]
    views: list[Compiled]
    strict: bool


def _add_tables(
    config: Config,
    d: Deployment,
    new: dict[str, list[str]],
    narrow: dict[str, dict[str, list[str]]],
    catalog: Catalog,
    progress: Progress,
    lost: Lost,
) -> None:
    """Bring tables in at one LSN: everything else is first moved exactly there."""
    again = {t for ts in new.values() for t in ts}
    every = [t for t in d.catalog if qualified(t) not in again] + catalog_tables(again, catalog)
    there = [t for t in every if (t.schema, t.name) in catalog.tables]  # one that nobody reads any more may be gone
    publish(config.source.dsn, d.publication, there, alter=True)
    reach("redeploy.published")
    status = d.status
    if lost.tables:  # whatever is saved of it until they are copied says that they are not
        d.status = deployments.RESYNC
    with connect(config.source.dsn) as conn:
        d.origin = marked(conn, d)
    copied = [t.quoted for t in there if qualified(t) in again]
    snapshot = ExportedSnapshot(config.source.dsn, f"tidemark_{uuid.uuid4().hex[:10]}", copied, temporary=True)
    d.origin = replace(
        d.origin, system=d.origin.system or snapshot.system, timeline=d.origin.timeline or snapshot.timeline
    )
    try:
        warehouse = Warehouse(config, d)
        try:
            capture = Capture(warehouse, limits(config))
            try:
                capture.catch_up(max(snapshot.lsn, current_lsn(config.source.dsn)), before=snapshot.lsn)
            finally:
                capture.close()
            reach("redeploy.caught_up")
            d.catalog = every
            for e, of in narrow.items():
                d.columns.setdefault(e, {}).update(of)
            kept = {t for ts in new.values() for t in ts} & {t for ts in lost.old.tables.values() for t in ts}
            if kept:  # until they are copied whole
                halves = replace(d, status=deployments.RESYNC) if lost.tables else _without(d, kept, plans(warehouse))
                deployments.save(config.warehouse_path, halves)
            for e, ts in new.items():
                engine, tables = warehouse.engine(e), [d.mirrored(e, t) for t in ts]
                refusals = copy_tables(config, warehouse, e, tables, snapshot.snapshot, progress)
                without_refused(warehouse, e, refusals, lost.views, strict=lost.strict and not kept)
                record(warehouse, e, refusals, tables)
                if engine.frontier() < snapshot.lsn:
                    engine.set_frontier(snapshot.lsn)
                if not capture.engines:  # nothing has followed the stream until here
                    engine.forget_commit()
                d.tables[e] = sorted({*d.tables.get(e, []), *ts})
            check_copied(snapshot)
            for e in warehouse.used_engines():
                for name in {s.name for p in warehouse.plans(e) if p.tables & lost.tables for s in p.states}:
                    warehouse.engine(e).drop_state(name)
            warehouse.settle()
            reach("redeploy.copied")
        finally:
            warehouse.close()
    finally:
        snapshot.close()
    deployments.save(config.warehouse_path, d)
    d.status = status


def _without(d: Deployment, tables: AbstractSet[str], maintained: dict[str, list[ViewPlan]]) -> Deployment:
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


def _frontier(config: Config, d: Deployment) -> int | None:
    """What every engine holds; None where there is none."""
    warehouse = Warehouse(config, d)
    try:
        return min((warehouse.frontier(e) for e in warehouse.used_engines()), default=None)
    finally:
        warehouse.close()


def _catch_up(config: Config, d: Deployment) -> None:
    warehouse = Warehouse(config, d)
    try:
        catch_up(config, warehouse)
    finally:
        warehouse.close()


def _maintained(config: Config, d: Deployment) -> dict[str, list[ViewPlan]]:
    """What is kept fresh already; nothing where this version of the compiler takes a deployed view no longer."""
    try:
        return plans(Warehouse(config, d))
    except TidemarkError:
        return {}
