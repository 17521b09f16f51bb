"""deploy, where there is a deployment: tables and views come, go and change beside those that stay."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import replace

from compiler import compile_view
from compiler.catalog import Catalog
from compiler.errors import TidemarkError
from compiler.state import ViewPlan
from connectors.changed import AGAIN
from connectors.failpoints import reach
from connectors.postgres.snapshot import ExportedSnapshot
from pipelines import deployment as store
from pipelines.building import build, catalog_tables, check_copied, drop_others, needed, plans, records
from pipelines.capture import Capture, current_lsn
from pipelines.config import Config
from pipelines.deployment import Deployment
from pipelines.initial_copy import Progress, copy_tables
from pipelines.project import Compiled, refuse
from pipelines.run import catch_up, limits
from pipelines.source_objects import publish
from pipelines.unaltered import check_source
from pipelines.warehouse import DUCKDB_FILE, UNFINISHED, Warehouse


def redeploy(config: Config, old: Deployment, views: list[Compiled], catalog: Catalog, progress: Progress,
             say: Callable[[str], None], keep_going: bool) -> None:
    """Bring what is deployed in line with the views; where that fails, it is as it was."""
    if "duckdb" in old.tables and not (config.warehouse_path / DUCKDB_FILE).exists():
        raise TidemarkError(f"the DuckDB file of the warehouse {config.warehouse_path} is gone", code="warehouse_gone", hint=AGAIN)
    _check_columns(old, views, catalog)
    if not keep_going:
        refuse(views)
    views = [v for v in views if v.error is None]
    wanted = needed(views)
    stay = {t for ts in wanted.values() for t in ts}
    check_source(config.source.dsn, replace(old, catalog=[t for t in old.catalog if f"{t.schema}.{t.name}" in stay]))
    d = Deployment(old.slot, old.publication, "live", dict(old.tables), list(old.catalog), old.views)
    new: dict[str, list[str]] = {e: [t for t in ts if t not in old.tables.get(e, [])] for e, ts in wanted.items()}
    new = {e: ts for e, ts in new.items() if ts}
    if new:
        _add_tables(config, d, new, catalog, progress)
    elif any(v.error for v in old.views):
        _catch_up(config, old)  # what was mended in the source is not in the mirrors yet
    gone = {e: [t for t in ts if t not in wanted.get(e, [])] for e, ts in d.tables.items()}
    d.tables = wanted
    names = {t for ts in d.tables.values() for t in ts}
    d.catalog = [t for t in d.catalog if f"{t.schema}.{t.name}" in names]
    previous = {v.name: v.engine for v in d.views}
    maintained = _maintained(config, old)
    d.views = records(views)
    warehouse = Warehouse(config, d)
    unfinished = config.warehouse_path / UNFINISHED
    try:
        drop_others(warehouse, maintained)  # of views set aside, or left by a deploy that was killed: nothing has maintained them
        unfinished.touch()
        try:
            build(warehouse, say, views if keep_going else [])
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
        reach("redeploy.built")
        store.save(config.warehouse_path, d)
        reach("redeploy.saved")
        unfinished.unlink(missing_ok=True)
        for name, engine in previous.items():
            if not any(v.name.lower() == name.lower() and v.engine == engine for v in d.views):  # which engines take for one name
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
    publish(config.source.dsn, d.publication, d.catalog, alter=True)


def _check_columns(old: Deployment, views: list[Compiled], catalog: Catalog) -> None:
    """Give views an error that read columns which their tables had not when they were copied."""
    copied = {(t.schema, t.name): t for t in old.catalog}
    grown = {f"{t.schema}.{t.name}" for k, t in catalog.tables.items()
             if k in copied and {c.name for c in t.columns} - {c.name for c in copied[k].columns}}
    before = replace(catalog, tables={**catalog.tables, **copied})
    queries = {v.name: v.text.query for v in views if v.text is not None}
    for v in views:
        if v.plan is None or not v.plan.tables & grown:
            continue
        try:
            same = [n for n, _ in compile_view(v.name, queries[v.name], before, queries).outputs] == [n for n, _ in v.plan.outputs]
        except TidemarkError:
            same = False
        if not same:
            v.error = TidemarkError(f"it reads a column of {min(v.plan.tables & grown)} that was added after the table was copied",
                                    code="column_added", hint=AGAIN)


def _add_tables(config: Config, d: Deployment, new: dict[str, list[str]], catalog: Catalog, progress: Progress) -> None:
    """Bring new tables in at one LSN: everything else is first moved exactly there."""
    fresh = {t for ts in new.values() for t in ts} - {f"{t.schema}.{t.name}" for t in d.catalog}
    every = d.catalog + catalog_tables(fresh, catalog)
    publish(config.source.dsn, d.publication, every, alter=True)
    reach("redeploy.published")
    snapshot = ExportedSnapshot(config.source.dsn, f"tidemark_{uuid.uuid4().hex[:10]}", [t.quoted for t in every], temporary=True)
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
            for e, ts in new.items():
                engine = warehouse.engine(e)
                copy_tables(config, warehouse, e, [d.table(t) for t in ts], snapshot.snapshot, progress)
                engine.set_frontier(snapshot.lsn)
                d.tables[e] = sorted({*d.tables.get(e, []), *ts})
            check_copied(snapshot)
            reach("redeploy.copied")
        finally:
            warehouse.close()
    finally:
        snapshot.close()
    store.save(config.warehouse_path, d)


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
