"""Fill again what was set aside, once what stopped it is gone: a table that was altered, a value that no type held.

Views are those that are deployed, not those of views/, which may be edited for a later deploy. A view that still
cannot be stays set aside. Nothing else may change by it: where a view that is well would be another one by now
(`SELECT *` of a table with a new column), it is left to a deploy.
"""

from __future__ import annotations

from compiler.catalog import Catalog
from compiler.declared import declared
from connectors.postgres.catalog import load_catalog
from connectors.postgres.connection import connect
from pipelines import deployment as deployments
from pipelines.carried import under_deployed_names
from pipelines.config import Config
from pipelines.deploying.building import shape
from pipelines.deploying.failed import recompiled
from pipelines.deploying.initial_copy import Progress
from pipelines.deploying.location import bytes_of
from pipelines.deploying.needs import needs
from pipelines.deploying.order import Order, Say
from pipelines.deploying.redeploy import redeploy
from pipelines.deploying.unsuited import check_capture, check_tables
from pipelines.deployment import Deployment
from pipelines.project import Compiled

LARGEST = 1 << 30  # bytes of tables that are copied without being asked: batches wait meanwhile


def able(config: Config, d: Deployment) -> list[Compiled]:
    """All views, where one that is set aside could be by now, as far as the catalog tells; else none."""
    return _able(config, d)[1]


def heal(config: Config, progress: Progress, say: Say) -> None:
    """Fill again the views that could be."""
    d = deployments.require(config.warehouse_path)
    catalog, views = _able(config, d)
    if views:
        aside = {v.name for v in d.views if v.error}
        before = [v for v in _compiled(d, d.to_catalog()) if v.name in aside]
        left = {v.name: v.plan.tables if v.plan is not None else frozenset() for v in before}
        redeploy(Order(config, catalog, views, progress, say, keep_going=True), d, left=left)


def _able(config: Config, d: Deployment) -> tuple[Catalog, list[Compiled]]:
    """The source's catalog, and the views that can be; none where none that is set aside is among them, or where that
    is not for a pipeline to do."""
    with connect(config.source.dsn) as conn:
        types = config.source.types  # by names of now, or as they were deployed
        catalog = under_deployed_names(declared(load_catalog(conn), types, strict=False), d.catalog)
        catalog = declared(catalog, types, strict=False)
        views, before = _compiled(d, catalog), _compiled(d, d.to_catalog())
        check_tables(views, catalog)
        check_capture(views, catalog, config.source.capture)
        aside = {v.name for v in d.views if v.error}
        again = [v for v in views if v.name in aside and v.error is None]
        if not again or _others(views, before, aside):
            return catalog, []
        copied = needs(d, [v for v in views if v.error is None], catalog).tables
        if sum(bytes_of(conn, copied, catalog).values()) > LARGEST:
            return catalog, []
    return catalog, [v for v in views if v.error is None]


def _compiled(d: Deployment, catalog: Catalog) -> list[Compiled]:
    views = recompiled(d, catalog)
    for v, was in zip(views, d.views, strict=True):
        v.engine, v.maintenance, v.reason, v.strategy = was.engine, was.maintenance, was.reason, was.strategy
    return views


def _others(views: list[Compiled], before: list[Compiled], aside: set[str]) -> bool:
    """Whether a view that is well would be another one."""
    return any(
        v.name not in aside and (v.error is not None or shape(v.plan) != shape(b.plan))
        for v, b in zip(views, before, strict=True)
    )
