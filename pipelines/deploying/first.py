"""The first deploy: publication, slot with its snapshot, copies, states. What fails leaves neither slot nor
warehouse."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from dataclasses import replace

import psycopg

from compiler.errors import TidemarkError
from connectors.failpoints import reach
from connectors.postgres.connection import SourceUnreachable, connect
from connectors.postgres.snapshot import ExportedSnapshot
from pipelines import deployment as deployments
from pipelines.config import Config
from pipelines.deploying.building import (
    catalog_tables,
    check_copied,
    columns,
    needed,
    records,
    without_refused,
)
from pipelines.deploying.by_key import empty, tables_by_key
from pipelines.deploying.initial_copy import copy_tables, record
from pipelines.deploying.location import locate
from pipelines.deploying.order import Order
from pipelines.deploying.resuming import begun, filled, live
from pipelines.deploying.source_objects import drop_source_objects, marked, publish
from pipelines.deployment import Deployment
from pipelines.kinds import EXECUTORS, ONE_MACHINE
from pipelines.project import refuse
from pipelines.warehouse import FRESH_FILE, HEALING_FILE, UNFINISHED, Warehouse

BESIDE = "resync"  # the folder in the warehouse in which another one is filled (`resync`)
ARRIVING = "arriving"  # the folder in it in which tables are copied for a pipeline that runs (`arriving`)
DATA = (ONE_MACHINE.data, f"{ONE_MACHINE.data}.wal", EXECUTORS.data)


def first(o: Order) -> None:
    """Fill the warehouse, where nothing is yet."""
    with connect(o.config.source.dsn) as conn:
        at = locate(conn, o.views, o.config, o.catalog)
    if not o.keep_going:
        refuse(o.views)
    views = [v for v in o.views if v.error is None]
    d = deployments.new_deployment()
    d.tables = needed(views)
    names = {t for ts in d.tables.values() for t in ts}
    d.catalog = catalog_tables(names, o.catalog)
    d.views, d.columns = records(views), columns(views, d.tables, o.catalog)
    d.by_key = tables_by_key(views, o.catalog)
    d.location, d.dist, d.project = at.where, list(at.dist), str(o.config.home.resolve())
    copied(o.of(views), d)


def copied(o: Order, d: Deployment, opened: Callable[[Config, Deployment], Warehouse] = Warehouse) -> None:
    """Make of it what is live: its slot and publication, its tables as of one LSN, the states of its views."""
    config = o.config
    deployments.save(config.warehouse_path, d)
    reach("deploy.saved")
    began = time.time()
    publish(config.source.dsn, d.publication, d.catalog)
    reach("deploy.published")
    try:
        warehouse = opened(config, d)
        try:
            snapshot = ExportedSnapshot(config.source.dsn, d.slot, [t.quoted for t in d.catalog])
            try:
                d.origin = replace(d.origin, system=snapshot.system, timeline=snapshot.timeline)
                with connect(config.source.dsn) as conn:
                    d.origin = marked(conn, d, d.catalog)
                    d.copying = begun(conn, d, snapshot)
                deployments.save(config.warehouse_path, d)
                for e, ts in d.tables.items():
                    tables = [d.mirrored(e, t) for t in ts if t not in d.by_key.get(e, {})]
                    parts = d.copying.ranges
                    refusals = copy_tables(config, warehouse, e, tables, snapshot.snapshot, o.progress, parts=parts)
                    without_refused(warehouse, e, refusals, o.views, strict=not o.keep_going)
                    record(warehouse, e, refusals, tables)
                for e, of in d.by_key.items():
                    empty(warehouse, e, of)
                check_copied(snapshot)
                reach("deploy.copied")
            finally:
                snapshot.close()
            for e in d.tables:
                engine = warehouse.engine(e)
                engine.set_frontier(snapshot.lsn)
                if engine.ranges is not None:
                    engine.ranges.forget()
            warehouse.remember_fresh(dict.fromkeys(d.tables, began))
            filled(warehouse, o)
        finally:
            warehouse.close()
    except BaseException as e:
        if d.copying is None or not isinstance(e, psycopg.OperationalError | SourceUnreachable):  # else it goes on
            drop_source_objects(config.source.dsn, d)
            remove_warehouse(config)
        raise
    live(config, d)


def leftovers(config: Config) -> list[str]:
    """Data in the warehouse folder, which is nobody's where there is no deployment.json."""
    return [name for name in DATA if (config.warehouse_path / name).exists()]


def check_leftovers(config: Config) -> None:
    if found := leftovers(config):
        raise TidemarkError(
            f"there is data in {config.warehouse_path}, and no deployment.json",
            code="stranger",
            detail=f"{', '.join(found)}: what it was filled with, and how far, is not known.",
            hint="Put deployment.json back; or run tidemark teardown --yes, which removes the data, and tidemark "
            "deploy.",
        )


def remove_warehouse(config: Config) -> None:
    path = config.warehouse_path
    for name in (*DATA[:2], deployments.FILE, "run.json", UNFINISHED, FRESH_FILE, HEALING_FILE):
        (path / name).unlink(missing_ok=True)
    for folder in (EXECUTORS.data, BESIDE, ARRIVING):
        shutil.rmtree(path / folder, ignore_errors=True)
