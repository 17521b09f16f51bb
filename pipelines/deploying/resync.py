"""deploy --resync: what to do where changes were lost. The tables concerned are copied again, no others.

Where the publication left tables out for a while, these are copied again at one LSN, as new tables are. Where the
slot, the server or its history is another one, nothing of the stream can be believed: a new warehouse is filled
beside the old one, which can be read meanwhile, and takes its place. One that was killed goes on with what is there.
"""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from dataclasses import replace

from compiler.errors import TidemarkError
from connectors.failpoints import reach
from connectors.postgres.altered import altered_between
from connectors.postgres.connection import connect
from connectors.postgres.origin import SourceReplaced, ask_server, check_slot
from pipelines import deployment as deployments
from pipelines.config import Config
from pipelines.deploying.first import BESIDE, DATA, remove_warehouse
from pipelines.deploying.fresh import fresh, go_on
from pipelines.deploying.order import Order
from pipelines.deploying.redeploy import redeploy
from pipelines.deploying.resuming import Restart
from pipelines.deploying.source_objects import drop_former, drop_source_objects, publish
from pipelines.deployment import Deployment
from pipelines.kinds import KINDS
from pipelines.warehouse import FRESH_FILE, UNFINISHED, Warehouse


def again(o: Order, old: Deployment) -> None:
    """Copy again what has to be."""
    tables = _left_out(o.config, old)
    if not tables:  # every one, or asked for without need
        _all(o, old)
        return
    o.say(f"copying again {', '.join(sorted(tables))}")
    publish(o.config.source.dsn, old.publication, old.catalog, alter=True)
    redeploy(o, old, tables)


def _left_out(config: Config, d: Deployment) -> set[str] | None:
    """The tables whose changes may be missing from the stream; None where that is every table: nothing of it can be
    believed."""
    if d.status != "live":
        return None
    try:
        warehouse = Warehouse(config, d, read_only=True)
        try:
            frontiers = [warehouse.frontier(e) for e in warehouse.used_engines()]
        finally:
            warehouse.close()
        ask_server(config.source.dsn, d.origin, max(frontiers, default=0))
        with connect(config.source.dsn) as conn:
            check_slot(conn, d.slot, config.source.held(min(frontiers, default=None)))
            found = altered_between(conn, d.publication, d.origin)
    except (SourceReplaced, TidemarkError) as e:
        if getattr(e, "exit_code", 1) == 3 and e.code == "source_unreachable":
            raise
        return None
    return found


def _all(o: Order, old: Deployment) -> None:
    """A new warehouse in a folder beside the data; then its files take their place. The deployment's mark tells
    halves apart."""
    config = o.config
    path = config.warehouse_path
    folder = path / BESIDE
    beside = config.model_copy(
        update={"warehouse": config.warehouse.model_copy(update={"path": str(folder.absolute())})}
    )
    o.say("copying all tables again, beside what is there")
    reach("resync.marked")
    _fill(o.into(beside), old)
    new = deployments.load(folder)
    assert new is not None
    reach("resync.filled")
    deployments.save(path, replace(old, status=deployments.RESYNC))  # from here on what is there is no whole
    for name in (*DATA, UNFINISHED, FRESH_FILE):
        target = path / name
        if target.is_dir():
            shutil.rmtree(target)
        else:
            target.unlink(missing_ok=True)
        if (folder / name).exists():
            os.replace(folder / name, target)
    reach("resync.copied")
    new.former = [*old.former, old.slot]
    deployments.save(path, new)
    (folder / deployments.FILE).unlink()
    shutil.rmtree(folder)
    _open(config, new)
    reach("resync.saved")
    drop_former(config.source.dsn, path, new)


def _fill(o: Order, old: Deployment) -> None:
    """The new warehouse, from what one that was killed has left of it, or from nothing."""
    beside = o.config
    found = None
    with suppress(TidemarkError):
        found = deployments.load(beside.warehouse_path)
    if found is not None and found.slot != old.slot and _goes_on(beside, found):
        try:
            go_on(o, found)
            return
        except Restart as e:
            o.say(f"copying all tables anew: {e}")
    _forget_unfinished(beside, old)
    fresh(o)


def _goes_on(beside: Config, d: Deployment) -> bool:
    """Whether what was filled is as the source's stream left it; what is being copied is looked at where it goes on."""
    return d.status == "snapshot" or _left_out(beside, d) == set()


def _open(config: Config, d: Deployment) -> None:
    """Once, for what names files by their folder."""
    warehouse = Warehouse(config, d)
    try:
        for name in warehouse.used_engines():
            if KINDS[name].in_process(d.location):
                warehouse.engine(name)
    finally:
        warehouse.close()


def _forget_unfinished(beside: Config, live: Deployment) -> None:
    """What a resync that was killed has left: its folder, and its slot unless that is the live one by now."""
    with suppress(TidemarkError):
        unfinished = deployments.load(beside.warehouse_path)
        if unfinished is not None and unfinished.slot != live.slot:
            drop_source_objects(beside.source.dsn, unfinished)
    remove_warehouse(beside)
