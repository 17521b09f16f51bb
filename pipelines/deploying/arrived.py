"""What was copied beside a pipeline (`arriving`) and waits for it: brought to one LSN with it, and taken over."""

from __future__ import annotations

import json
import logging
from contextlib import suppress
from dataclasses import replace

from compiler.catalog import Catalog, Table
from compiler.errors import TidemarkError
from connectors.changed import TableChanged
from connectors.failpoints import reach
from connectors.postgres.connection import connect
from pipelines import deployment as deployments
from pipelines.applying.capture import Capture, current_lsn
from pipelines.applying.catching_up import limits
from pipelines.config import Config
from pipelines.deploying.beside import PUBLISHED, READY, beside, open_beside, published
from pipelines.deploying.building import catalog_tables
from pipelines.deploying.initial_copy import Refusals
from pipelines.deploying.moving import adopt
from pipelines.deploying.needs import Needs
from pipelines.deployment import Deployment
from pipelines.kinds import ONE_MACHINE
from pipelines.refused import qualified
from pipelines.warehouse import Warehouse

log = logging.getLogger("tidemark")


class Stale(Exception):
    """What was copied is not, or no longer, what is needed; says why."""


def find(config: Config, d: Deployment, n: Needs, catalog: Catalog) -> tuple[Config, Deployment] | None:
    """What was copied, if that is all that is needed, and the pipeline's stream has had all of it since."""
    side = beside(config)
    if not deployments.busy(side.warehouse_path):  # of a deploy that was killed
        return None
    if not (side.warehouse_path / READY).exists():
        return None
    with suppress(TidemarkError, OSError, ValueError, KeyError):
        of = deployments.load(side.warehouse_path)
        note = json.loads((side.warehouse_path / PUBLISHED).read_text())
        with connect(config.source.dsn) as conn:
            sent = published(conn, d.publication, note, n.tables)
        if of is not None and of.status == "live" and sent and _has(of, n, catalog):
            return side, of
    log.warning(
        "what was copied beside the pipeline is not what is needed by now: batches wait while tables are copied"
    )
    return None


def _has(of: Deployment, n: Needs, catalog: Catalog) -> bool:
    """Whether these are the tables and columns, and nothing of them was refused."""
    there = {qualified(t): t for t in of.catalog}
    return all(
        qualified(t) in there
        and replace(there[qualified(t)], files=t.files, links=t.links) == t
        and all(
            {*c[qualified(t)]} <= {*of.columns[ONE_MACHINE.name][qualified(t)]}
            for c in n.narrow.values()
            if qualified(t) in c
        )
        for t in catalog_tables(n.tables, catalog)
    ) and not any(of.refused.values())


class Arrived:
    """A warehouse with mirrors and no views, beside the pipeline's."""

    def __init__(self, side: Config, of: Deployment) -> None:
        self.side, self.of = side, of
        self.system, self.timeline = of.origin.system, of.origin.timeline
        self.warehouse = open_beside(side, of)
        self.lsn = self.warehouse.frontier(ONE_MACHINE.name)

    def meet(self, capture: Capture) -> None:
        """Both to where the source is now. Raises Stale where a table was altered meanwhile."""
        self.lsn = max(current_lsn(self.side.source.dsn), self.lsn, *capture.frontiers.values())
        try:
            own = Capture(self.warehouse, limits(self.side))
            try:
                own.catch_up(self.lsn, before=self.lsn)
            finally:
                own.close()
        except TableChanged as e:
            raise Stale(e.message) from e
        if refused := [why for of in self.of.refused.values() for c in of.values() for why in c.values()]:
            raise Stale(refused[0])
        capture.catch_up(self.lsn, before=self.lsn)
        reach("redeploy.met")

    def fill(self, warehouse: Warehouse, engine: str, tables: list[Table]) -> Refusals:
        self.warehouse.close()  # a file is one connection's
        file = self.side.warehouse_path / ONE_MACHINE.data
        for t in tables:
            adopt(warehouse.engine(engine), t, file)
        return {}

    def check(self) -> None:
        """The stream has told of whatever was altered."""

    def close(self) -> None:
        self.warehouse.close()
