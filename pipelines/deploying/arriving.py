"""Tables that are copied beside a pipeline that runs, whose batches do not wait for it.

Whoever deploys copies them into a file of DuckDB, in the snapshot of a slot of its own, and keeps up with the source
from there, as a pipeline without views would. The pipeline's publication has the tables before that slot is made, and
a slot is made when every transaction that was open has ended. So of whatever commits later, the pipeline's stream has
all that concerns them. The pipeline then goes to one LSN with them, and takes them over (`adding`).
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import psycopg

from compiler.catalog import Catalog
from compiler.errors import TidemarkError
from connectors.failpoints import reach
from connectors.postgres.connection import SourceUnreachable, connect
from connectors.postgres.ranges import counted
from pipelines import deployment as deployments
from pipelines.applying.unaltered import check_source
from pipelines.carried import taken
from pipelines.config import Config
from pipelines.deploying.beside import PUBLISHED, READY, TOUCHED, Copying, beside, cut_short
from pipelines.deploying.building import needed, plans
from pipelines.deploying.first import ARRIVING, remove_warehouse
from pipelines.deploying.location import located
from pipelines.deploying.moving import givers
from pipelines.deploying.needs import Needs, needs
from pipelines.deploying.order import Order
from pipelines.deploying.source_objects import drop_source_objects, publish_deployed
from pipelines.deployment import Deployment
from pipelines.project import Compiled
from pipelines.refused import parts, qualified
from pipelines.warehouse import Warehouse

LARGE = 8  # ranges of a table: a gigabyte
KEPT = 3600.0  # seconds for which a copy that was cut short is kept, and its slot keeps WAL


@contextmanager
def arriving(o: Order, alone: bool = False) -> Iterator[None]:
    """Has the tables ready that a deploy copies; nothing of it is left at the end.

    `alone`: no pipeline runs, and nobody waits. What is small, and was not begun before, is then left to whoever takes
    it over: a copy that is killed is gone on with from here alone.
    """
    side = beside(o.config)
    with _alone(side):
        yield from _arriving(o, side, alone)


def _arriving(o: Order, side: Config, alone: bool) -> Iterator[None]:
    config, catalog, views = o.config, o.catalog, o.views
    begins = alone and cut_short(side) is None
    old = deployments.require(config.warehouse_path)
    n = None
    if not begins or large(config, catalog, _read(views)):
        n = _needs(config, old, catalog, [replace(v) for v in views if v.error is None])
    tables = _tables(n) if n is not None and givers(old, n) is None else {}
    if not tables or begins and not large(config, catalog, tables):
        _clear(config, side)
        yield
        return
    (side.warehouse_path / READY).unlink(missing_ok=True)
    try:
        copying = Copying(config, side, old, catalog, tables, o.progress, o.say)
        if not copying.go_on():
            _forget(side)
            copying.begin()
        (side.warehouse_path / READY).touch()
        reach("arriving.caught_up")
        yield
    except (psycopg.OperationalError, SourceUnreachable):
        if cut_short(side) is None:
            _clear(config, side)
        raise  # else the next one goes on with it
    except BaseException:
        _clear(config, side)
        raise
    _clear(config, side)


def _clear(config: Config, side: Config) -> None:
    """Leave nothing of it, unless the source is away: then it is swept later."""
    (side.warehouse_path / PUBLISHED).unlink(missing_ok=True)  # nobody goes on with it
    with suppress(TidemarkError, psycopg.Error):
        if _left(side):
            _forget(side)
            _unpublish(config)
            (side.warehouse_path / TOUCHED).unlink(missing_ok=True)


def _left(side: Config) -> bool:
    """Whether anything of a deploy is there."""
    return any((side.warehouse_path / name).exists() for name in (deployments.FILE, TOUCHED))


@contextmanager
def _alone(side: Config) -> Iterator[None]:
    try:
        with deployments.locked(side.warehouse_path):
            yield
    except deployments.WarehouseBusy as e:
        raise deployments.WarehouseBusy(
            "another deploy is at work beside this pipeline",
            code="warehouse_in_use",
            detail="It copies tables.",
            hint="Wait until it has ended.",
        ) from e


def sweep(config: Config, at_once: bool = False) -> None:
    """Remove what a deploy that was killed has left, if the source is there; not of one that goes on, nor for a while a
    copy that the next one may go on with."""
    side = beside(config)
    if not _left(side) or (not at_once and cut_short(side) is not None and time.time() < _touched(side) + KEPT):
        return
    with suppress(deployments.WarehouseBusy), deployments.locked(side.warehouse_path):
        _clear(config, side)


def _touched(side: Config) -> float:
    """When anything of it was written last."""
    last = 0.0
    with suppress(OSError):  # of one that is at work files go meanwhile
        for f in side.warehouse_path.iterdir():
            last = max(last, f.stat().st_mtime)
    return last


def names(path: Path) -> list[str]:
    """The slot, and publication, of what is copied beside the pipeline of a warehouse."""
    with suppress(TidemarkError):
        d = deployments.load(path / ARRIVING)
        return [d.slot] if d is not None else []
    return []


def _needs(config: Config, old: Deployment, catalog: Catalog, views: list[Compiled]) -> Needs:
    """What the pipeline will find to be copied, and where to; it looks again."""
    altered: dict[str, dict[str, str]] = {}
    plans_of = [v.plan for v in views if v.plan is not None]
    stay = {t for ts in needed([v for v in views if v.error is None]).values() for t in ts}
    watched = replace(old, catalog=[t for t in old.catalog if qualified(t) in stay])
    for e in (*check_source(config.source.dsn, watched), *taken(old.catalog, plans_of, catalog)):
        if e.table is not None:
            altered.setdefault(qualified(e.table), {}).update(dict.fromkeys(parts(e), e.message))
    refused = {
        e: {t: {**old.refused.get(e, {}).get(t, {}), **altered.get(t, {})} for t in ts} for e, ts in old.tables.items()
    }
    with connect(config.source.dsn) as conn:
        located(conn, views, catalog, config, old)
    good = [v for v in views if v.error is None]
    former = plans(Warehouse(config, old))
    return needs(replace(old, refused=refused), good, catalog, former=former)


def _tables(n: Needs) -> dict[str, set[str]]:
    """The tables and their columns."""
    out: dict[str, set[str]] = {}
    for e, ts in n.new.items():
        for t in ts:
            out.setdefault(t, set()).update(n.narrow[e][t])
    return out


def large(config: Config, catalog: Catalog, tables: Collection[str]) -> bool:
    """Whether one of them is read in many ranges, so that much may be there when a copy is killed."""
    if not tables:
        return False
    with connect(config.source.dsn) as conn:
        return any(counted(conn, t) >= LARGE for t in catalog.tables.values() if qualified(t) in tables)


def _read(views: list[Compiled]) -> set[str]:
    return set().union(*(v.plan.tables for v in views if v.plan is not None))


def _forget(side: Config) -> None:
    """Drop what there is of it, in the source and then here, where its slot is named."""
    d = None
    with suppress(TidemarkError):  # one that cannot be read: what it names is told as an orphan
        d = deployments.load(side.warehouse_path)
    if d is not None:
        drop_source_objects(side.source.dsn, d)
    remove_warehouse(side)
    for name in (PUBLISHED, READY):
        (side.warehouse_path / name).unlink(missing_ok=True)


def _unpublish(config: Config) -> None:
    """Let the pipeline's publication have the tables that are deployed: others are not sent, nor held to its rules."""
    if (d := deployments.load(config.warehouse_path)) is not None and d.status == "live":
        publish_deployed(config.source.dsn, d)
