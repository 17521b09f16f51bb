"""deploy: publication, slot, snapshot, states and views, brought to match views/*.sql; idempotent."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Set as AbstractSet
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field

import psycopg

from compiler.catalog import Catalog
from compiler.errors import TidemarkError
from connectors.engine import EngineFailure
from connectors.postgres.connection import SourceUnreachable, connect
from pipelines import deployment as deployments
from pipelines.config import Config
from pipelines.deploying.arriving import arriving, large, names, sweep
from pipelines.deploying.first import check_leftovers, first, remove_warehouse
from pipelines.deploying.initial_copy import Progress
from pipelines.deploying.location import bytes_of, outgrown
from pipelines.deploying.placement import place
from pipelines.deploying.redeploy import caught_up, redeploy
from pipelines.deploying.resuming import Restart, resume
from pipelines.deploying.resync import again
from pipelines.deploying.source_objects import drop_former, drop_source_objects, orphans, publish_deployed
from pipelines.deploying.unsuited import check_capture, check_tables
from pipelines.deployment import Deployment
from pipelines.engines import executors
from pipelines.kinds import EXECUTORS, LOCAL
from pipelines.project import Compiled, compile_project, read_views, refuse
from pipelines.source_catalog import source_catalog


@dataclass
class Deployed:
    """Each view's outcome, and warnings."""

    views: list[Compiled]
    warnings: list[str] = field(default_factory=list)


Say = Callable[[str], None]


def deploy(
    config: Config,
    keep_going: bool = False,
    progress: Progress = lambda *_: None,
    say: Say = lambda _: None,
    resync: bool = False,
    held: bool = False,
) -> Deployed:
    """Bring the warehouse in line with views/; raises the errors of all that are refused unless `keep_going`.

    With `resync` the tables whose changes were lost are copied again: those that the publication left out for a
    while, or all. `held`: this process has the warehouse already.
    """
    catalog, views = compiled(config)
    if not keep_going:
        refuse(views)
    good = [v for v in views if v.error is None]
    with nullcontext() if held else deployments.locked(config.warehouse_path):
        sweep(config)
        found = deployments.load(config.warehouse_path)
        if found is None:
            check_leftovers(config)
        if found is not None and found.status == "snapshot" and not resync:
            try:
                resume(config, found, good, catalog, progress, say, keep_going)
                return Deployed(views, _orphans(config) + _warnings(good, catalog))
            except Restart as e:
                say(f"copying all tables anew: {e}")
        if found is not None and found.status == "snapshot":
            _forget(config, found)
            found = None
        executed: set[str] = set().union(*(v.plan.tables for v in good if v.plan and v.engine == EXECUTORS.name))
        if found is None and large(config, catalog, executed) and not _executors_copy(config, catalog, executed):
            _first_and_later(config, good, catalog, progress, say, keep_going)
        elif found is None:
            first(config, good, catalog, progress, say, keep_going)
        elif resync:
            drop_former(config.source.dsn, config.warehouse_path, found)
            again(config, found, good, catalog, progress, say, keep_going)
        else:
            deployments.require(config.warehouse_path)
            drop_former(config.source.dsn, config.warehouse_path, found)
            with nullcontext() if held else arriving(config, catalog, good, progress, say, alone=True):
                _later(config, found, good, catalog, progress, say, keep_going)
        warnings = _orphans(config) + _outgrown(config, good, catalog)
    return Deployed(views, warnings + _warnings(good, catalog))


def _executors_copy(config: Config, catalog: Catalog, tables: AbstractSet[str]) -> bool:
    """Whether they keep some of the tables, and read the source themselves: then all is copied at once."""
    them = executors(config)
    if them is None or config.source.copy_bytes:
        return False
    with connect(config.source.dsn) as conn:
        size = sum(bytes_of(conn, tables, catalog).values())
    return (config.spark.alone or size > config.spark.local_bytes) and not them.why_not(config.source.dsn)


def _first_and_later(
    config: Config, views: list[Compiled], catalog: Catalog, progress: Progress, say: Say, keep_going: bool
) -> None:
    """A first deploy with large tables for Spark: one without views, and then the tables as for later ones. What is
    there of them when it is killed the next deploy goes on with."""
    first(config, [], catalog, progress, say, keep_going)
    d = deployments.require(config.warehouse_path)
    try:
        with arriving(config, catalog, views, progress, say, alone=True):
            _later(config, d, views, catalog, progress, say, keep_going)
    except (psycopg.OperationalError, SourceUnreachable):
        raise
    except BaseException:
        _forget(config, d)
        raise


def _later(
    config: Config,
    d: Deployment,
    views: list[Compiled],
    catalog: Catalog,
    progress: Progress,
    say: Say,
    keep_going: bool,
) -> None:
    try:
        try:
            redeploy(config, d, views, catalog, progress, say, keep_going)
        except EngineFailure as e:
            if not caught_up(config, deployments.require(config.warehouse_path)):
                raise
            say(f"{e.message}: once more, as of now")  # what it failed on may be mended in the source
            redeploy(config, deployments.require(config.warehouse_path), views, catalog, progress, say, keep_going)
    except BaseException:
        _take_back(config)
        raise


def _take_back(config: Config) -> None:
    """After a deploy that failed: tables that are not deployed leave the publication."""
    with suppress(TidemarkError, psycopg.Error):
        if (d := deployments.load(config.warehouse_path)) is not None:
            publish_deployed(config.source.dsn, d)


def compiled(config: Config) -> tuple[Catalog, list[Compiled]]:
    """The source's catalog, and every view over it; one that is refused carries its error."""
    with connect(config.source.dsn) as conn:
        catalog = source_catalog(conn, config)
        views = compile_project(
            read_views(config.views_path), catalog, config.defaults.engine, config.defaults.strategy
        )
        check_tables(views, catalog)
        check_capture(views, catalog, config.source.capture)
        place(conn, [v for v in views if v.error is None], catalog, config)
    return catalog, views


def _orphans(config: Config) -> list[str]:
    with connect(config.source.dsn) as conn:
        found = orphans(conn, deployments.load(config.warehouse_path), names(config.warehouse_path))
    return (
        [
            f"the source has slots or publications of another deployment; if nothing uses them any more: "
            f"{' '.join(found)}"
        ]
        if found
        else []
    )


def _outgrown(config: Config, views: list[Compiled], catalog: Catalog) -> list[str]:
    d = deployments.load(config.warehouse_path)
    if d is None or d.location != LOCAL or EXECUTORS.name not in d.tables:
        return []
    with connect(config.source.dsn) as conn:
        return outgrown(conn, views, config, {*d.dist, *d.by_key.get(EXECUTORS.name, {})}, catalog)


def _warnings(views: list[Compiled], catalog: Catalog) -> list[str]:
    out = []
    used = {n for v in views if v.plan for n in v.plan.tables}
    for t in catalog.tables.values():
        if f"{t.schema}.{t.name}" in used:
            for c in t.columns:
                if c.type.name == "opaque":
                    out.append(f"{t.schema}.{t.name}.{c.name} has type {c.source_type}, which is carried as text")
    return out + [f'view "{v.name}" may differ from Postgres: {w}' for v in views if v.plan for w in v.plan.warnings]


def _forget(config: Config, d: Deployment) -> None:
    drop_source_objects(config.source.dsn, d)
    remove_warehouse(config)
