"""deploy: publication, slot, snapshot, states and views, brought to match views/*.sql; idempotent."""

from __future__ import annotations

import os
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path

from compiler.catalog import Catalog
from compiler.errors import TidemarkError
from connectors.postgres.connection import connect
from pipelines import deployment as deployments
from pipelines.config import FILE, Config, load_config
from pipelines.deploying.arriving import arriving, names, sweep
from pipelines.deploying.first import check_leftovers
from pipelines.deploying.fresh import forget, fresh, later
from pipelines.deploying.initial_copy import Progress
from pipelines.deploying.location import outgrown
from pipelines.deploying.order import Order, Say
from pipelines.deploying.placement import place
from pipelines.deploying.resuming import Restart, resume
from pipelines.deploying.resync import again
from pipelines.deploying.source_objects import drop_former, orphans
from pipelines.deploying.unsuited import check_capture, check_tables
from pipelines.deployment import Deployment
from pipelines.kinds import EXECUTORS, LOCAL
from pipelines.project import Compiled, compile_project, read_views, refuse
from pipelines.source_catalog import source_catalog


@dataclass
class Deployed:
    """Each view's outcome, and warnings."""

    views: list[Compiled]
    warnings: list[str] = field(default_factory=list)


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
    o = Order(config, catalog, good, progress, say, keep_going)
    with nullcontext() if held else deployments.locked(config.warehouse_path):
        sweep(config)
        found = deployments.load(config.warehouse_path)
        if found is not None:
            _check_project(config, found)
        if found is None:
            check_leftovers(config)
        if found is not None and found.status == "snapshot" and not resync:
            try:
                resume(o, found)
                return Deployed(views, _orphans(config) + _warnings(good, catalog))
            except Restart as e:
                say(f"copying all tables anew: {e}")
        if found is not None and found.status == "snapshot":
            forget(config, found)
            found = None
        if found is None:
            fresh(o)
        elif resync:
            drop_former(config.source.dsn, config.warehouse_path, found)
            again(o, found)
        else:
            deployments.require(config.warehouse_path)
            drop_former(config.source.dsn, config.warehouse_path, found)
            with nullcontext() if held else arriving(o, alone=True):
                later(o, found)
        warnings = _orphans(config) + _outgrown(config, good, catalog)
    return Deployed(views, warnings + _warnings(good, catalog))


def _check_project(config: Config, found: Deployment) -> None:
    """Raises TidemarkError where what is deployed is another project's, which would lose its views."""
    if found.project in ("", str(config.home.resolve())) or not os.path.exists(Path(found.project, FILE)):
        return  # or it was moved, or given up
    with suppress(TidemarkError, OSError):
        if load_config(Path(found.project)).warehouse_path.resolve() != config.warehouse_path.resolve():
            return
    raise TidemarkError(
        f"the warehouse {config.warehouse_path} has the views of another project",
        code="other_project",
        detail=f"They are those of {found.project}, and would be dropped.",
        hint="Give this project a warehouse of its own ([warehouse] path); or put its views into the other's folder.",
    )


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
        return outgrown(conn, views, config, d.dist, d.by_key.get(EXECUTORS.name, {}), catalog)


def _warnings(views: list[Compiled], catalog: Catalog) -> list[str]:
    out = []
    used = {n for v in views if v.plan for n in v.plan.tables}
    for t in catalog.tables.values():
        if f"{t.schema}.{t.name}" in used:
            for c in t.columns:
                if c.type.name == "opaque":
                    out.append(f"{t.schema}.{t.name}.{c.name} has type {c.source_type}, which is carried as text")
    return out + [f'view "{v.name}" may differ from Postgres: {w}' for v in views if v.plan for w in v.plan.warnings]
