"""deploy, where there is a deployment: tables and views come, go and change beside those that stay."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from copy import deepcopy
from dataclasses import replace

from compiler.errors import TidemarkError
from compiler.maintain.plan import ViewPlan
from connectors.changed import TableChanged
from connectors.failpoints import reach
from connectors.postgres.connection import connect
from connectors.postgres.origin import RESYNC
from pipelines import deployment as deployments
from pipelines.applying.catching_up import catch_up
from pipelines.applying.unaltered import check_source
from pipelines.carried import expressions, taken
from pipelines.config import Config
from pipelines.deploying.adding import Lost, add_tables
from pipelines.deploying.building import (
    build,
    drop_others,
    needed,
    plans,
    records,
)
from pipelines.deploying.by_key import without_holder
from pipelines.deploying.failed import set_others_aside
from pipelines.deploying.location import located
from pipelines.deploying.needs import Needs, needs
from pipelines.deploying.order import Order
from pipelines.deploying.source_objects import publish
from pipelines.deployment import Deployment
from pipelines.kinds import EXECUTORS, KINDS
from pipelines.pacing.joining import join
from pipelines.project import Compiled, refuse
from pipelines.refused import qualified, reads
from pipelines.warehouse import UNFINISHED, Warehouse


def redeploy(
    o: Order,
    old: Deployment,
    again: AbstractSet[str] = frozenset(),
    left: Mapping[str, AbstractSet[str]] | None = None,
) -> None:
    """Bring what is deployed in line with the views; where that fails, it is as it was. Views of `left` that are not
    among them stay set aside, with the tables that they read.

    Tables are copied again of which a view reads a column that is not kept, or that was not there when they were
    copied; and those of `again`, whose changes were lost: the states that read these are filled again, too.
    """
    config, catalog, views = o.config, o.catalog, o.views
    for kind in (KINDS[e] for e in old.tables):
        if kind.lost(config.warehouse_path):
            raise TidemarkError(
                f"the data on {kind.title} of the warehouse {config.warehouse_path} is gone",
                detail=f"There is no {kind.data} in it.",
                code="warehouse_gone",
                hint=RESYNC,
            )
    with connect(config.source.dsn) as conn:
        at = located(conn, views, catalog, config, old, _without(left, views))
    if not o.keep_going:
        refuse(views)
    views = [v for v in views if v.error is None]
    stay = {t for ts in needed(views).values() for t in ts}
    left = _without(left, views)
    there = {qualified(t) for t in old.catalog} - again  # of others a deploy that failed may have left marks
    origin = replace(old.origin, tables=tuple((t, m) for t, m in old.origin.tables if t in there))
    altered = check_source(
        config.source.dsn,
        replace(old, origin=origin, catalog=[t for t in old.catalog if qualified(t) in stay]),
        config.source.held(_frontier(config, old)),
    )
    altered += taken(old.catalog, [v.plan for v in views if v.plan is not None], catalog)
    _follow(config, old, altered)
    if any(v.error for v in old.views):
        _catch_up(config, old)  # what was mended in the source is not in the mirrors yet
    maintained = _maintained(config, old)
    n = needs(old, views, catalog, again, left, maintained)
    d = replace(
        old,
        origin=replace(origin, tables=tuple((t, m) for t, m in origin.tables if t not in n.copied)),
        tables=dict(old.tables),
        catalog=list(old.catalog),
        refused=deepcopy(old.refused),
        columns=deepcopy(old.columns),
        by_key=dict(old.by_key),
        location=at.where,
        dist=list(at.dist),
        project=str(config.home.resolve()),
    )
    if n.made:
        add_tables(config, d, n, catalog, o.progress, Lost(old, again, views, not o.keep_going))
    previous = {v.name: v.engine for v in old.views}
    try:
        if n.made:
            _refused_meanwhile(d, old, views, not o.keep_going)
        warehouse = _filled(o.of(views), old, d, n, left, maintained)
    except BaseException as failure:
        if n.made:
            set_others_aside(config, maintained, failure)
        raise
    try:
        without_holder(d)
        _stay(d, old, views)
        deployments.save(config.warehouse_path, d)
        reach("redeploy.saved")
        (config.warehouse_path / UNFINISHED).unlink(missing_ok=True)
        for name, engine in previous.items():
            if not any(
                v.name.lower() == name.lower() and v.engine == engine for v in d.views
            ):  # which engines take for one name
                warehouse.engine(engine).drop_view(name)
        drop_others(warehouse, plans(warehouse))
        _let_go(warehouse, old)
    finally:
        warehouse.close()
    publish(config.source.dsn, d.publication, d.catalog, alter=True)


def _filled(
    o: Order,
    old: Deployment,
    d: Deployment,
    n: Needs,
    left: Mapping[str, AbstractSet[str]],
    maintained: Mapping[str, list[ViewPlan]],
) -> Warehouse:
    """The warehouse with what the views need, once the tables are there; `d` says so. Where that fails, what is
    `maintained` is maintained on."""
    config = o.config
    by_oid = {t.oid: t for t in o.catalog.tables.values()}
    d.catalog = [replace(t, expressions=expressions(t, by_oid.get(t.oid, t))) for t in d.catalog]
    lost = [(e, p) for e, ps in maintained.items() for p in ps if p.tables & {*n.empty.get(e, [])}]
    maintained = {e: [p for p in ps if (e, p) not in lost] for e, ps in maintained.items()}
    wanted = n.wanted
    d.tables, d.by_key = wanted, n.by_key
    names = {t for ts in d.tables.values() for t in ts}
    d.dist = [t for t in d.dist if t in wanted.get(EXECUTORS.name, [])]
    d.catalog = [t for t in d.catalog if f"{t.schema}.{t.name}" in names]
    d.origin = replace(d.origin, tables=tuple((t, m) for t, m in d.origin.tables if t in names))
    d.refused = {e: {t: c for t, c in of.items() if t in wanted.get(e, [])} for e, of in d.refused.items()}
    d.columns = {e: {t: c for t, c in of.items() if t in wanted.get(e, [])} for e, of in d.columns.items()}
    bad = [v for v in o.views if v.error is not None]
    views = [v for v in o.views if v.error is None]
    d.views = records(views)
    if bad and (failed := [v for v in old.views if v.name in {b.name for b in bad}]):
        d.views += [replace(v, error=v.error or str(b.error)) for v in failed for b in bad if b.name == v.name]
    names_now = {v.name for v in d.views}
    d.views += [v for v in old.views if v.name in left.keys() - names_now]
    warehouse = Warehouse(config, d)
    try:
        for view, why in warehouse.unfit.items():
            raise TidemarkError(f'view "{view}" cannot be maintained on what was copied', detail=why, code="unfit")
        drop_others(
            warehouse, maintained
        )  # of views set aside, or left by a deploy that was killed: nothing has maintained them
        unfinished = config.warehouse_path / UNFINISHED
        unfinished.touch()
        try:
            for e, kept in maintained.items():
                join(warehouse, e, kept)
            build(warehouse, o.say, views if o.keep_going else [])
            reach("resync.filled")
        except BaseException:
            drop_others(warehouse, maintained)
            for v in d.views:
                if v.name not in {o.name for o in old.views}:
                    warehouse.engine(v.engine).drop_view(v.name)
            for e, kept in maintained.items():
                for p in kept:
                    warehouse.engine(e).create_view(p)
            for e, p in lost:  # what it read is gone
                warehouse.engine(e).drop_view(p.view)
            unfinished.unlink(missing_ok=True)
            raise
        warehouse.settle()
        reach("redeploy.built")
    except BaseException:
        warehouse.close()
        raise
    return warehouse


def _let_go(warehouse: Warehouse, old: Deployment) -> None:
    """Of the tables that are needed no more."""
    d = warehouse.deployment
    for e, ts in old.tables.items():
        if not d.tables.get(e):
            for s in warehouse.engine(e).states():
                warehouse.engine(e).drop_state(s)
        for t in (t for t in ts if t not in d.tables.get(e, [])):
            table = next(x for x in old.catalog if f"{x.schema}.{x.name}" == t)
            warehouse.engine(e).drop_mirror(table.mirror)


def _stay(d: Deployment, old: Deployment, views: list[Compiled]) -> None:
    """What was there and could not be built stays, set aside."""
    failed = {v.name: v.error for v in views if v.error is not None}
    there = {v.name for v in d.views}
    d.views += [
        replace(v, error=v.error or str(failed[v.name])) for v in old.views if v.name in failed and v.name not in there
    ]


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


def _frontier(config: Config, d: Deployment) -> int | None:
    """What every engine holds; None where there is none."""
    warehouse = Warehouse(config, d)
    try:
        return min((warehouse.frontier(e) for e in warehouse.used_engines()), default=None)
    finally:
        warehouse.close()


def caught_up(config: Config, d: Deployment) -> bool:
    """Bring what is deployed to where the source is; gives whether it was behind."""
    before = _frontier(config, d)
    _catch_up(config, d)
    return _frontier(config, d) != before


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


def _without(left: Mapping[str, AbstractSet[str]] | None, views: list[Compiled]) -> dict[str, AbstractSet[str]]:
    """The tables of views that stay as they are, but for these."""
    return {v: ts for v, ts in (left or {}).items() if v not in {x.name for x in views}}
