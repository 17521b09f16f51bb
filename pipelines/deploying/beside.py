"""What a deploy copies beside a pipeline that runs: a warehouse of its own, with mirrors and no views."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import psycopg

from compiler.catalog import Catalog
from compiler.errors import TidemarkError
from connectors.changed import TableChanged
from connectors.duckdb.engine import DuckDBEngine
from connectors.duckdb.session import share
from connectors.failpoints import reach
from connectors.postgres.altered import marks
from connectors.postgres.connection import connect
from connectors.postgres.origin import SourceReplaced
from connectors.postgres.stream import SlotUnavailable
from pipelines import deployment as deployments
from pipelines.applying.catching_up import catch_up
from pipelines.config import Config
from pipelines.deploying.first import ARRIVING, copied
from pipelines.deploying.initial_copy import Progress
from pipelines.deploying.order import Order, Say
from pipelines.deploying.resuming import Restart, Wanted, check, resume
from pipelines.deploying.source_objects import publish
from pipelines.deployment import Deployment
from pipelines.kinds import ONE_MACHINE
from pipelines.refused import qualified
from pipelines.warehouse import Warehouse

READY = "ready"  # a file that is there once all is copied, and nobody has it open
TOUCHED = "publishing"  # a file that is there while the pipeline's publication may have tables for it
PUBLISHED = "published.json"  # what the pipeline's publication was like before anything was copied
MEMORY = 0.25  # of what a warehouse may have: beside it there is one
NEAR = 1.0  # seconds for which a pipeline may wait for the rest
TRIES = 5  # to copy tables that are not truncated meanwhile
ROUNDS = 100  # in which it may come so near
NEVER = 1 << 62  # rows of a batch: no index is made for a few
INDEXLESS = {"index_memory": "0", "index_rows": NEVER}


def beside(config: Config) -> Config:
    """A project that is the same, but for its warehouse: a folder in that of the other."""
    folder = str((config.warehouse_path / ARRIVING).absolute())
    return config.model_copy(
        update={
            "warehouse": config.warehouse.model_copy(update={"path": folder}),
            "source": config.source.model_copy(update={"capture": "stream"}),
            "duckdb": config.duckdb.model_copy(update=INDEXLESS),
        }
    )


def cut_short(side: Config) -> Deployment | None:
    """What was being copied, or kept up with the source since, when its deploy was killed or lost the source."""
    with suppress(TidemarkError):
        d = deployments.load(side.warehouse_path) if (side.warehouse_path / PUBLISHED).exists() else None
        if d is not None and (d.copying is not None or d.status == "live"):
            return d
    return None


def published(conn: psycopg.Connection, publication: str, note: dict[str, Any], tables: Iterable[str]) -> bool:
    """Whether the publication has these tables as it had when that was noted."""
    own, now = marks(conn, publication)
    return bool(own == note["publication"] and all(now.get(t) == note["tables"].get(t, "") for t in tables))


def open_beside(side: Config, d: Deployment) -> Warehouse:
    """What was copied so far; it takes little of the machine's memory."""
    warehouse = Warehouse(side, d)
    try:
        engine = warehouse.engine(ONE_MACHINE.name)
        assert isinstance(engine, DuckDBEngine)
        share(engine.con, MEMORY)
    except BaseException:
        warehouse.close()
        raise
    return warehouse


@dataclass(frozen=True)
class Copying:
    """Tables, by their columns that are wanted, on their way into the warehouse `side` beside that of a pipeline, which
    has deployed `old`."""

    config: Config
    side: Config
    old: Deployment
    catalog: Catalog
    tables: dict[str, set[str]]
    progress: Progress
    say: Say

    @property
    def order(self) -> Order:
        """A deploy of these tables alone."""
        return Order(self.side, self.catalog, [], self.progress, self.say, keep_going=True)

    @cached_property
    def wanted(self) -> Wanted:
        columns = {t: sorted(c) for t, c in self.tables.items()}
        return Wanted({ONE_MACHINE.name: sorted(self.tables)}, {}, {ONE_MACHINE.name: columns})

    def begin(self) -> None:
        """Copy them, and come near to where the source is."""
        path, dsn = self.side.warehouse_path, self.config.source.dsn
        mine = [t for t in self.catalog.tables.values() if qualified(t) in self.tables]
        (path / TOUCHED).touch()
        publish(dsn, self.old.publication, [*self.old.catalog, *mine], alter=True)
        reach("arriving.published")
        with connect(dsn) as conn:
            own, of = marks(conn, self.old.publication)
        note = {"publication": own, "tables": {t: of.get(t, "") for t in self.tables}}
        (path / PUBLISHED).write_text(json.dumps(note))
        for tried in range(TRIES):
            d, w = deployments.new_deployment(), self.wanted
            d.catalog, d.tables, d.by_key, d.columns = mine, w.tables, w.by_key, w.columns
            try:
                copied(self.order, d, opened=open_beside)
                break
            except TidemarkError as e:
                if e.code != "table_changed" or tried == TRIES - 1:
                    raise
                self.say(f"{e.message}: copying again")
        self._catch_up()

    def go_on(self) -> bool:
        """Whether what was cut short of it was brought to its end, near to where the source is."""
        d = cut_short(self.side)
        if d is None:
            return False
        try:
            if not self._sent():
                raise Restart("the publication was altered meanwhile")
            if d.status != "live":
                resume(self.order, d, only=self.wanted, opened=open_beside)
            else:
                check(self.side, d, self.wanted, self.catalog)
            self._catch_up()
            return True
        except (Restart, SourceReplaced, SlotUnavailable, TableChanged) as e:
            self.say(f"copying anew what was being copied: {e.args[0]}")
            return False

    def _sent(self) -> bool:
        """Whether the pipeline's stream has had all of these since they were published for it."""
        try:
            note = json.loads((self.side.warehouse_path / PUBLISHED).read_text())
        except (OSError, ValueError):
            return False
        with connect(self.config.source.dsn) as conn:
            return published(conn, self.old.publication, note, self.tables)

    def _catch_up(self) -> None:
        warehouse = open_beside(self.side, deployments.require(self.side.warehouse_path))
        try:
            for _ in range(ROUNDS):
                begun = time.monotonic()
                catch_up(self.side, warehouse)
                if time.monotonic() - begun < NEAR:
                    break
        finally:
            warehouse.close()
