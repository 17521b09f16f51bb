"""deploy: publication, slot, snapshot, states and views, brought to match views/*.sql; idempotent."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass, field

from compiler.catalog import Catalog, Table
from compiler.errors import TidemarkError
from compiler.maintenance import states_of
from compiler.state import ViewPlan
from connectors.postgres.catalog import load_catalog
from connectors.postgres.connection import connect
from connectors.postgres.snapshot import ExportedSnapshot
from pipelines import deployment as store
from pipelines.capture import Capture, current_lsn
from pipelines.config import Config
from pipelines.deployment import DeployedView, Deployment
from pipelines.filling import fill
from pipelines.initial_copy import Progress, copy_tables
from pipelines.placement import place
from pipelines.project import Compiled, compile_project, read_views
from pipelines.run import limits
from pipelines.source_objects import drop_source_objects, publish
from pipelines.unsuited import check_tables
from pipelines.warehouse import Warehouse


@dataclass
class Deployed:
    """Each view's outcome, and warnings."""

    views: list[Compiled]
    warnings: list[str] = field(default_factory=list)


def deploy(config: Config, keep_going: bool = False, progress: Progress = lambda *_: None,
           say: Callable[[str], None] = lambda _: None) -> Deployed:
    """Bring the warehouse in line with views/; raises the first view's error unless `keep_going`."""
    with connect(config.source.dsn) as conn:
        catalog = load_catalog(conn)
        views = compile_project(read_views(config.views_path), catalog, config.defaults.engine)
        check_tables(views, catalog)
        place(conn, [v for v in views if v.error is None], config)
    failed = [v for v in views if v.error is not None]
    if failed and not keep_going:
        error = failed[0].error
        assert error is not None
        error.view = failed[0].name  # type: ignore[attr-defined]
        raise error
    good = [v for v in views if v.error is None]
    with store.locked(config.warehouse_path):
        found = store.load(config.warehouse_path)
        if found is not None and found.status != "live":
            _forget(config, found)
            found = None
        if found is None:
            _first(config, good, catalog, progress, say, keep_going)
        else:
            _again(config, found, good, catalog, progress, say, keep_going)
    return Deployed(views, _warnings(good, catalog))


def _warnings(views: list[Compiled], catalog: Catalog) -> list[str]:
    out = []
    used = {n for v in views if v.plan for n in v.plan.tables}
    for t in catalog.tables.values():
        if f"{t.schema}.{t.name}" in used:
            if t.form == "partitions":
                out.append(f"{t.schema}.{t.name} is partitioned: TRUNCATE of one partition, and attaching, detaching or dropping one, are not "
                           "sent by Postgres; after these, deploy anew (teardown --yes, deploy)")
            for c in t.columns:
                if c.type.name == "opaque":
                    out.append(f'{t.schema}.{t.name}.{c.name} has type {c.source_type}, which is carried as text')
    return out + [f'view "{v.name}" may differ from Postgres: {w}' for v in views if v.plan for w in v.plan.warnings]


def _needed(views: list[Compiled]) -> dict[str, list[str]]:
    """Tables to mirror, by engine."""
    out: dict[str, list[str]] = {}
    for v in views:
        assert v.plan is not None
        known = out.setdefault(v.engine, [])
        known += [t for t in sorted(v.plan.tables) if t not in known]
    return {e: sorted(ts) for e, ts in out.items()}


def _catalog_tables(names: set[str], catalog: Catalog) -> list[Table]:
    return [t for t in catalog.tables.values() if f"{t.schema}.{t.name}" in names]


def _records(views: list[Compiled]) -> list[DeployedView]:
    return [DeployedView(v.name, _create(v), v.engine, v.maintenance, v.reason) for v in views]


def _create(v: Compiled) -> str:
    assert v.text is not None
    options = ", ".join(f"{k} = '{x}'" for k, x in v.text.options.items())
    name = v.name.replace('"', '""')
    columns = v.text.query.args.get("_columns") or []
    listed = " (" + ", ".join('"' + c.replace('"', '""') + '"' for c in columns) + ")" if columns else ""
    return f'CREATE MATERIALIZED VIEW "{name}"{listed}{f" WITH ({options})" if options else ""} AS\n{v.text.sql}'


# -- the first time


def _first(config: Config, views: list[Compiled], catalog: Catalog, progress: Progress, say: Callable[[str], None],
           keep_going: bool) -> None:
    d = store.new_deployment()
    d.tables = _needed(views)
    names = {t for ts in d.tables.values() for t in ts}
    d.catalog = _catalog_tables(names, catalog)
    d.views = _records(views)
    store.save(config.warehouse_path, d)
    publish(config.source.dsn, d.publication, d.catalog)
    try:
        warehouse = Warehouse(config, d)
        try:
            snapshot = ExportedSnapshot(config.source.dsn, d.slot, [t.quoted for t in d.catalog])
            try:
                for e, tables in d.tables.items():
                    copy_tables(config, warehouse, e, [d.table(t) for t in tables], snapshot.snapshot, progress)
            finally:
                snapshot.close()
            for e in d.tables:
                warehouse.engine(e).set_frontier(snapshot.lsn)
            _build(warehouse, say, views if keep_going else [])
            _drop_others(warehouse, _plans(warehouse))
        finally:
            warehouse.close()
    except BaseException:
        _forget(config, d)
        raise
    d.status = "live"
    store.save(config.warehouse_path, d)


def _build(warehouse: Warehouse, say: Callable[[str], None], may_fail: list[Compiled]) -> None:
    """Create the states and views that are not there yet.

    Of the views `may_fail`, one whose state cannot be filled is left out and carries the error.
    """
    for e in warehouse.used_engines():
        engine = warehouse.engine(e)
        failures = fill(engine, states_of(warehouse.plans(e)), say)
        for p in warehouse.plans(e):
            try:
                if broken := [failures[s.name] for s in p.states if s.name in failures]:
                    raise broken[0]
                engine.create_view(p)
            except Exception as found:
                error = found if isinstance(found, TidemarkError) else TidemarkError(
                    f'view "{p.view}" could not be built', detail=f"{type(found).__name__}: {found}"[:300], code="compiler_bug",
                    hint="This is a bug of Tidemark; please report it.")
                failed = next((v for v in may_fail if v.name == p.view), None)
                if failed is None:
                    raise error from found
                failed.error = error
                warehouse.forget(p.view)


def _drop_others(warehouse: Warehouse, plans: dict[str, list[ViewPlan]]) -> None:
    """Drop the states that no plan has: `plans` by engine."""
    for e in warehouse.used_engines():
        engine = warehouse.engine(e)
        for name in engine.states() - {s.name for s in states_of(plans.get(e, []))}:
            engine.drop_state(name)


def _catch_up(config: Config, d: Deployment) -> None:
    warehouse = Warehouse(config, d)
    try:
        capture = Capture(warehouse, limits(config))
        try:
            capture.catch_up(current_lsn(config.source.dsn))
        finally:
            capture.close()
    finally:
        warehouse.close()


def _maintained(config: Config, d: Deployment) -> dict[str, list[ViewPlan]]:
    """What is kept fresh already; nothing where this version of the compiler takes a deployed view no longer."""
    try:
        return _plans(Warehouse(config, d))
    except TidemarkError:
        return {}


def _plans(warehouse: Warehouse) -> dict[str, list[ViewPlan]]:
    return {e: warehouse.plans(e) for e in warehouse.used_engines()}


# -- later


def _again(config: Config, old: Deployment, views: list[Compiled], catalog: Catalog, progress: Progress,
           say: Callable[[str], None], keep_going: bool) -> None:
    needed = _needed(views)
    d = Deployment(old.slot, old.publication, "live", dict(old.tables), list(old.catalog), old.views)
    new: dict[str, list[str]] = {e: [t for t in ts if t not in old.tables.get(e, [])] for e, ts in needed.items()}
    new = {e: ts for e, ts in new.items() if ts}
    if new:
        _add_tables(config, d, new, catalog, progress)
    gone = {e: [t for t in ts if t not in needed.get(e, [])] for e, ts in d.tables.items()}
    d.tables = {e: ts for e, ts in needed.items()}
    names = {t for ts in d.tables.values() for t in ts}
    d.catalog = [t for t in d.catalog if f"{t.schema}.{t.name}" in names]
    previous = {v.name: v.engine for v in d.views}
    if any(v.error for v in old.views):
        _catch_up(config, d)  # what was mended in the source is not in the mirrors yet
    maintained = _maintained(config, old)
    d.views = _records(views)
    warehouse = Warehouse(config, d)
    try:
        _drop_others(warehouse, maintained)  # of views set aside, or left by a deploy that was killed: nothing has maintained them
        try:
            _build(warehouse, say, views if keep_going else [])
        except BaseException:
            _drop_others(warehouse, maintained)
            for e, plans in maintained.items():
                for p in plans:
                    warehouse.engine(e).create_view(p)
            raise
        store.save(config.warehouse_path, d)
        for name, engine in previous.items():
            if not any(v.name == name and v.engine == engine for v in d.views):
                warehouse.engine(engine).drop_view(name)
        _drop_others(warehouse, _plans(warehouse))
        for e, ts in gone.items():
            if not d.tables.get(e):
                for s in warehouse.engine(e).states():
                    warehouse.engine(e).drop_state(s)
            for t in ts:
                table = next(x for x in old.catalog if f"{x.schema}.{x.name}" == t)
                warehouse.engine(e).drop_mirror(table.mirror)
    finally:
        warehouse.close()
    publish(config.source.dsn, d.publication, d.catalog, alter=True)


def _add_tables(config: Config, d: Deployment, new: dict[str, list[str]], catalog: Catalog, progress: Progress) -> None:
    """Bring new tables in at one LSN: everything else is first moved exactly there."""
    fresh = {t for ts in new.values() for t in ts} - {f"{t.schema}.{t.name}" for t in d.catalog}
    every = d.catalog + _catalog_tables(fresh, catalog)
    publish(config.source.dsn, d.publication, every, alter=True)
    snapshot = ExportedSnapshot(config.source.dsn, f"tidemark_{uuid.uuid4().hex[:10]}", [t.quoted for t in every], temporary=True)
    try:
        warehouse = Warehouse(config, d)
        try:
            capture = Capture(warehouse, limits(config))
            try:
                capture.catch_up(max(snapshot.lsn, current_lsn(config.source.dsn)), before=snapshot.lsn)
            finally:
                capture.close()
            d.catalog = every
            for e, ts in new.items():
                engine = warehouse.engine(e)
                copy_tables(config, warehouse, e, [d.table(t) for t in ts], snapshot.snapshot, progress)
                engine.set_frontier(snapshot.lsn)
                d.tables[e] = sorted({*d.tables.get(e, []), *ts})
        finally:
            warehouse.close()
    finally:
        snapshot.close()
    store.save(config.warehouse_path, d)


def remove_warehouse(config: Config) -> None:
    import shutil

    path = config.warehouse_path
    for name in ("tidemark.duckdb", "tidemark.duckdb.wal", store.FILE, "run.json"):
        (path / name).unlink(missing_ok=True)
    shutil.rmtree(path / "delta", ignore_errors=True)


def _forget(config: Config, d: Deployment) -> None:
    drop_source_objects(config.source.dsn, d)
    remove_warehouse(config)
