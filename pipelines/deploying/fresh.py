"""A warehouse filled where nothing is yet, at once or in steps; and one that was begun brought to its end."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from contextlib import suppress

import psycopg

from compiler.catalog import Catalog
from compiler.errors import TidemarkError
from connectors.engine import EngineFailure
from connectors.postgres.connection import SourceUnreachable, connect
from pipelines import deployment as deployments
from pipelines.config import Config
from pipelines.deploying.arriving import arriving, large
from pipelines.deploying.first import first, remove_warehouse
from pipelines.deploying.location import bytes_of
from pipelines.deploying.order import Order
from pipelines.deploying.redeploy import caught_up, redeploy
from pipelines.deploying.resuming import Restart, resume
from pipelines.deploying.source_objects import drop_source_objects, publish_deployed
from pipelines.deployment import Deployment
from pipelines.engines import executors
from pipelines.kinds import EXECUTORS


def fresh(o: Order) -> None:
    """Fill the warehouse, of which nothing is there."""
    executed: set[str] = set().union(*(v.plan.tables for v in o.views if v.plan and v.engine == EXECUTORS.name))
    if large(o.config, o.catalog, executed) and not _executors_copy(o.config, o.catalog, executed):
        _first_and_later(o)
    else:
        first(o)


def go_on(o: Order, d: Deployment) -> None:
    """The same, where a deploy was cut short. Raises Restart where what is there is of no use."""
    try:
        if d.status == "snapshot":
            resume(o, d)
        else:
            with arriving(o, alone=True):
                later(o, d)
    except TidemarkError as e:
        if e.exit_code == 3:
            raise
        raise Restart(e.message) from e


def _executors_copy(config: Config, catalog: Catalog, tables: AbstractSet[str]) -> bool:
    """Whether they keep some of the tables, and read the source themselves: then all is copied at once."""
    them = executors(config)
    if them is None or config.source.copy_bytes:
        return False
    with connect(config.source.dsn) as conn:
        size = sum(bytes_of(conn, tables, catalog).values())
    return (config.spark.alone or size > config.spark.local_bytes) and not them.why_not(config.source.dsn)


def _first_and_later(o: Order) -> None:
    """A first deploy with large tables for Spark: one without views, and then the tables as for later ones. What is
    there of them when it is killed the next deploy goes on with."""
    first(o.of([]))
    d = deployments.require(o.config.warehouse_path)
    try:
        with arriving(o, alone=True):
            later(o, d)
    except (psycopg.OperationalError, SourceUnreachable):
        raise
    except BaseException:
        forget(o.config, d)
        raise


def later(o: Order, d: Deployment) -> None:
    """Bring what is deployed in line with the views."""
    try:
        try:
            redeploy(o, d)
        except EngineFailure as e:
            if not caught_up(o.config, deployments.require(o.config.warehouse_path)):
                raise
            o.say(f"{e.message}: once more, as of now")  # what it failed on may be mended in the source
            redeploy(o, deployments.require(o.config.warehouse_path))
    except BaseException:
        _take_back(o.config)
        raise


def _take_back(config: Config) -> None:
    """After a deploy that failed: tables that are not deployed leave the publication."""
    with suppress(TidemarkError, psycopg.Error):
        if (d := deployments.load(config.warehouse_path)) is not None:
            publish_deployed(config.source.dsn, d)


def forget(config: Config, d: Deployment) -> None:
    """Leave nothing of it, in the source and here."""
    drop_source_objects(config.source.dsn, d)
    remove_warehouse(config)
