"""What `deploy` made, gone again: slot, publication and warehouse."""

from __future__ import annotations

from collections.abc import Callable

from compiler.errors import TidemarkError
from connectors.postgres.connection import connect
from pipelines import deployment
from pipelines.config import Config
from pipelines.deploying.arriving import sweep
from pipelines.deploying.first import leftovers, remove_warehouse
from pipelines.deploying.source_objects import drop_source_objects, orphans


def teardown(config: Config, warn: Callable[[str], None]) -> str:
    """Drop them; gives what was done. What may be left in the source is named by `warn`."""
    try:
        found = deployment.load(config.warehouse_path)
    except TidemarkError as e:
        if e.code != "deployment_unreadable":
            raise
        found = None
        warn(f"warning: {e.message}: which slot it used is not known")
    if found is None and not leftovers(config) and not (config.warehouse_path / deployment.FILE).exists():
        return "nothing is deployed"
    with deployment.locked(config.warehouse_path):
        if found is not None:
            drop_source_objects(config.source.dsn, found)
        else:
            with connect(config.source.dsn) as conn:
                for statement in orphans(conn, None):
                    warn(f"left in the source, perhaps by this warehouse; if nothing uses it: {statement}")
        sweep(config, at_once=True)
        remove_warehouse(config)
    return "dropped slot, publication and warehouse" if found is not None else "removed the warehouse"
