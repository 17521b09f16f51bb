"""A first copy that was cut short goes on: ranges of tables that are there are not read again.

What is read later is read in another snapshot. That does no harm where rows have keys: the slot has kept everything
since the first snapshot, and once all of that is applied over the rows, each as of when it was read, they are what they
are in the source by then. Only after that states are filled.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import psycopg

from compiler.catalog import Catalog
from compiler.errors import TidemarkError
from connectors.failpoints import reach
from connectors.postgres.connection import connect
from connectors.postgres.origin import ask_server, check_slot
from connectors.postgres.ranges import counted
from connectors.postgres.snapshot import ExportedSnapshot, SharedSnapshot
from pipelines import deployment as deployments
from pipelines.applying.catching_up import catch_up
from pipelines.applying.unaltered import check_deployed
from pipelines.config import Config
from pipelines.deploying.building import build, catalog_tables, columns, drop_others, needed, plans, records
from pipelines.deploying.by_key import Tables, empty, tables_by_key, without_holder
from pipelines.deploying.initial_copy import copy_tables
from pipelines.deploying.order import Order
from pipelines.deployment import Copying, Deployment
from pipelines.kinds import ONE_MACHINE
from pipelines.project import Compiled
from pipelines.refused import qualified
from pipelines.warehouse import Warehouse

LARGE = 1 << 62  # rows, of which no mirror has so many


class Restart(Exception):
    """It has to begin anew; says why."""


@dataclass(frozen=True)
class Wanted:
    """What a copy is to bring: tables by engine, those that are for some keys alone, and the columns of each."""

    tables: dict[str, list[str]]
    by_key: Tables
    columns: dict[str, dict[str, list[str]]]


def wanted(views: list[Compiled], catalog: Catalog) -> Wanted:
    """What these views need, in a first deploy."""
    tables = needed(views)
    return Wanted(tables, tables_by_key(views, catalog), columns(views, tables, catalog))


def begun(conn: psycopg.Connection, d: Deployment, snapshot: ExportedSnapshot) -> Copying:
    """What a copy in this snapshot goes on with."""
    tables = [t for t in d.catalog if t.key and not t.deferrable]
    return Copying(snapshot.lsn, snapshot.files.found, {qualified(t): counted(conn, t) for t in tables})


def resume(
    o: Order,
    d: Deployment,
    only: Wanted | None = None,
    opened: Callable[[Config, Deployment], Warehouse] = Warehouse,
) -> None:
    """Bring the copy to its end, and fill what the views need; `only` says what is to be there, where that is not what
    they need. Raises Restart where what is there is of no use; then nothing was changed but data that goes with it."""
    _check(o.config, d, only or wanted(o.views, o.catalog), o.catalog)
    assert d.copying is not None
    d.views = records(o.views)
    _copy(o, d, opened)
    warehouse = opened(o.config, d)
    try:
        for e, of in d.by_key.items():
            empty(warehouse, e, of)
        filled(warehouse, o)
    finally:
        warehouse.close()
    live(o.config, d)


def filled(warehouse: Warehouse, o: Order) -> None:
    """What views need, of mirrors that are there."""
    build(warehouse, o.say, o.views if o.keep_going else [])
    without_holder(warehouse.deployment)
    drop_others(warehouse, plans(warehouse))
    warehouse.settle()
    reach("deploy.filled")


def live(config: Config, d: Deployment) -> None:
    """It is all there."""
    d.status, d.copying = "live", None
    deployments.save(config.warehouse_path, d)
    reach("deploy.live")


def _check(config: Config, d: Deployment, w: Wanted, catalog: Catalog) -> None:
    """Raises Restart."""
    c = d.copying
    if c is None or set(d.tables) != {ONE_MACHINE.name} or not (config.warehouse_path / ONE_MACHINE.data).exists():
        raise Restart("nothing is there that could be gone on with")
    check(config, d, w, catalog, c.lsn)
    if lacking := [t for t in _whole(d) if t not in c.ranges]:
        raise Restart(f"{lacking[0]} has no key, or one that two rows may have for a while")


def check(config: Config, d: Deployment, w: Wanted, catalog: Catalog, frontier: int = 0) -> None:
    """Raises Restart where tables, columns or the source are others than those that were copied."""
    same = w == Wanted(d.tables, d.by_key, d.columns)
    if not same or catalog_tables({t for ts in w.tables.values() for t in ts}, catalog) != d.catalog:
        raise Restart("the views read other tables or columns by now")
    try:
        ask_server(config.source.dsn, d.origin, frontier)
        with connect(config.source.dsn) as conn:
            check_slot(conn, d.slot, None)
            if altered := check_deployed(conn, d):
                raise altered[0]
    except TidemarkError as e:
        if e.exit_code == 3:
            raise
        raise Restart(e.message) from e


def _whole(d: Deployment) -> list[str]:
    """The tables that are copied."""
    return [t for e, ts in d.tables.items() for t in ts if t not in d.by_key.get(e, {})]


def _copy(o: Order, d: Deployment, opened: Callable[[Config, Deployment], Warehouse]) -> None:
    """What is left of it; then mirrors take what has happened since it began, by their keys, until now."""
    assert d.copying is not None
    config = o.config
    whole = _whole(d)
    only = replace(d, views=[], by_key={}, tables={ONE_MACHINE.name: whole}, refused={})
    small = config.model_copy(update={"duckdb": config.duckdb.model_copy(update={"index_rows": LARGE})})
    warehouse = opened(small, only)
    warehouse.settling = True
    try:
        engine = warehouse.engine(ONE_MACHINE.name)
        for name in engine.states():
            engine.drop_state(name)
        tables = [d.mirrored(ONE_MACHINE.name, t) for t in whole]
        snapshot = SharedSnapshot(config.source.dsn, [t.quoted for t in d.catalog])
        try:
            _unmoved(d.copying, snapshot.files.found)
            if not engine.frontier():
                assert engine.ranges is not None
                left = sum(d.copying.ranges[qualified(t)] - len(engine.ranges.done(t)) for t in tables)
                o.say(f"going on with a copy that was cut short: {left} of {_ranges(d)} ranges are left")
                at, ranges = snapshot.snapshot, d.copying.ranges
                if copy_tables(config, warehouse, engine.name, tables, at, o.progress, parts=ranges):
                    raise Restart("a value does not fit")
                _unmoved(d.copying, snapshot.files.now())
                reach("deploy.copied")
                engine.set_frontier(d.copying.lsn)
                engine.ranges.forget()
        finally:
            snapshot.close()
        catch_up(small, warehouse)
        _unmoved(d.copying, snapshot.files.now())
        if only.refused or engine.frontier() < snapshot.lsn:
            raise Restart("a table was altered meanwhile, or has a value that does not fit")
        warehouse.settle()
        reach("deploy.met")
    finally:
        warehouse.close()


def _ranges(d: Deployment) -> int:
    assert d.copying is not None
    return sum(n for t, n in d.copying.ranges.items() if t in _whole(d))


def _unmoved(c: Copying, now: dict[str, list[int]]) -> None:
    if now != c.files:
        raise Restart("a table was truncated or rewritten meanwhile")
