"""Tables that go to another engine: what one engine of the warehouse keeps is not read from the source once more."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

from compiler.catalog import Table
from connectors.engine import Engine
from connectors.failpoints import reach
from pipelines.applying.capture import Capture, current_lsn
from pipelines.config import Config
from pipelines.deploying.initial_copy import Refusals
from pipelines.deploying.needs import Needs
from pipelines.deployment import Deployment
from pipelines.kinds import KINDS, ONE_MACHINE
from pipelines.refused import ALL, qualified
from pipelines.warehouse import Warehouse

Givers = Mapping[str, Mapping[str, str]]  # engine → table → the engine that has it


def givers(old: Deployment, n: Needs) -> Givers | None:
    """Who has what is needed, in all of its columns; None where something has to be read from the source."""
    if n.empty or not n.new:
        return None
    out: dict[str, dict[str, str]] = {}
    for e, tables in n.new.items():
        for t in tables:
            giver = next((o for o in old.tables if o != e and _has(old, n, o, t, n.narrow[e][t])), None)
            if giver is None:
                return None
            out.setdefault(e, {})[t] = giver
    return out


def _has(old: Deployment, n: Needs, engine: str, table: str, names: list[str]) -> bool:
    if table not in old.tables[engine] or table in n.copied or table in old.by_key.get(engine, {}):
        return False
    refused = old.refused.get(engine, {}).get(table, {})
    there = {c.name for c in old.mirrored(engine, table).columns} - refused.keys()
    return KINDS[engine].in_process(old.location) and {*names} <= there and ALL not in refused


def adopt(target: Engine, t: Table, file: Path) -> None:
    """A mirror made of the one in a file of DuckDB."""
    target.create_mirror(t)
    target.adopt(t, file)
    reach("redeploy.adopted")


class Moved:
    """The rows that other engines have, once all are where the source is now."""

    def __init__(self, config: Config, d: Deployment, of: Givers) -> None:
        self.config, self.of = config, of
        self.lsn, self.system, self.timeline = 0, d.origin.system, d.origin.timeline

    def meet(self, capture: Capture) -> None:
        self.lsn = max(current_lsn(self.config.source.dsn), *capture.frontiers.values())
        capture.catch_up(self.lsn, before=self.lsn)
        reach("redeploy.met")

    def fill(self, warehouse: Warehouse, engine: str, tables: list[Table]) -> Refusals:
        for t in tables:
            with tempfile.TemporaryDirectory(prefix=".moving-", dir=self.config.warehouse_path) as folder:
                file = Path(folder) / ONE_MACHINE.data
                give = warehouse.engine(self.of[engine][qualified(t)]).give
                assert give is not None, "executors were asked for rows"
                give(t, file)
                adopt(warehouse.engine(engine), t, file)
        return {}

    def check(self) -> None:
        """The stream has told of whatever was altered."""

    def close(self) -> None:
        """Nothing is open."""
