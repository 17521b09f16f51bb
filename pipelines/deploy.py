"""deploy: publication, slot, snapshot, states and views, brought to match views/*.sql; idempotent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from compiler.catalog import Catalog
from connectors.failpoints import reach
from connectors.postgres.catalog import load_catalog
from connectors.postgres.connection import connect
from connectors.postgres.snapshot import ExportedSnapshot
from pipelines import deployment as store
from pipelines.building import build, catalog_tables, check_copied, drop_others, needed, plans, records
from pipelines.config import Config
from pipelines.deployment import Deployment
from pipelines.initial_copy import Progress, copy_tables
from pipelines.placement import place
from pipelines.project import Compiled, compile_project, read_views, refuse
from pipelines.redeploy import redeploy
from pipelines.source_objects import drop_source_objects, publish
from pipelines.unsuited import check_capture, check_tables
from pipelines.warehouse import Warehouse


@dataclass
class Deployed:
    """Each view's outcome, and warnings."""

    views: list[Compiled]
    warnings: list[str] = field(default_factory=list)


def deploy(config: Config, keep_going: bool = False, progress: Progress = lambda *_: None,
           say: Callable[[str], None] = lambda _: None) -> Deployed:
    """Bring the warehouse in line with views/; raises the errors of all that are refused unless `keep_going`."""
    with connect(config.source.dsn) as conn:
        catalog = load_catalog(conn)
        views = compile_project(read_views(config.views_path), catalog, config.defaults.engine)
        check_tables(views, catalog)
        check_capture(views, catalog, config.source.capture)
        place(conn, [v for v in views if v.error is None], config)
    if not keep_going:
        refuse(views)
    good = [v for v in views if v.error is None]
    with store.locked(config.warehouse_path):
        found = store.load(config.warehouse_path)
        if found is not None and found.status != "live":
            _forget(config, found)
            found = None
        if found is None:
            _first(config, good, catalog, progress, say, keep_going)
        else:
            redeploy(config, found, good, catalog, progress, say, keep_going)
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


def _first(config: Config, views: list[Compiled], catalog: Catalog, progress: Progress, say: Callable[[str], None],
           keep_going: bool) -> None:
    d = store.new_deployment()
    d.tables = needed(views)
    names = {t for ts in d.tables.values() for t in ts}
    d.catalog = catalog_tables(names, catalog)
    d.views = records(views)
    store.save(config.warehouse_path, d)
    reach("deploy.saved")
    publish(config.source.dsn, d.publication, d.catalog)
    reach("deploy.published")
    try:
        warehouse = Warehouse(config, d)
        try:
            snapshot = ExportedSnapshot(config.source.dsn, d.slot, [t.quoted for t in d.catalog])
            try:
                for e, tables in d.tables.items():
                    copy_tables(config, warehouse, e, [d.table(t) for t in tables], snapshot.snapshot, progress)
                check_copied(snapshot)
                reach("deploy.copied")
            finally:
                snapshot.close()
            for e in d.tables:
                warehouse.engine(e).set_frontier(snapshot.lsn)
            build(warehouse, say, views if keep_going else [])
            drop_others(warehouse, plans(warehouse))
            reach("deploy.filled")
        finally:
            warehouse.close()
    except BaseException:
        _forget(config, d)
        raise
    d.status = "live"
    store.save(config.warehouse_path, d)
    reach("deploy.live")


def remove_warehouse(config: Config) -> None:
    import shutil

    path = config.warehouse_path
    for name in ("tidemark.duckdb", "tidemark.duckdb.wal", store.FILE, "run.json"):
        (path / name).unlink(missing_ok=True)
    shutil.rmtree(path / "delta", ignore_errors=True)


def _forget(config: Config, d: Deployment) -> None:
    drop_source_objects(config.source.dsn, d)
    remove_warehouse(config)
