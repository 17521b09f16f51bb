"""verify: each view, and each mirror, against the source's own answer, both at one LSN, both ways.

The engines are brought to a snapshot of the source and pinned there; what is compared after that holds up neither the
pipeline nor anybody's transaction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import psycopg
import pyarrow as pa
from psycopg import sql

from compiler.catalog import Table
from compiler.differences import JSON_KEYS
from compiler.maintain.plan import ViewPlan
from connectors.engine import VALUE, EngineFailure, Pin
from connectors.postgres.connection import connect
from connectors.postgres.snapshot import SharedSnapshot, copy_query, in_snapshot, table_query
from pipelines import deployment as deployments
from pipelines.applying.capture import Capture
from pipelines.applying.catching_up import limits, persist
from pipelines.applying.unaltered import check_deployed, check_source
from pipelines.asking.inlined import inlined
from pipelines.config import Config
from pipelines.deployment import DeployedView
from pipelines.pacing.finishing import finish
from pipelines.refused import qualified
from pipelines.verifying.comparison import ALIKE, Keys, Verified, compared
from pipelines.verifying.repair import repair as mend
from pipelines.warehouse import Warehouse

__all__ = ["Loop", "Verified", "verify", "verify_with"]

PINS = 6  # of an engine: as many views may fail to be read while others are compared
TRIES = 5  # with tables that are truncated or rewritten while they are compared


@dataclass(frozen=True)
class Loop:
    """The thread that applies batches: `run` has work done there, and there `finish` brings views to the frontier."""

    run: Callable[[Callable[[], Any]], Any]
    finish: Callable[[list[str]], object]


def verify(
    config: Config, views: list[str], repair: bool = False, say: Callable[[str], None] = lambda _: None
) -> list[Verified]:
    """Through the running pipeline when there is one; otherwise by itself. `say` is told what it waits for."""
    from pipelines.asking.client import connect_running

    running = connect_running(config.warehouse_path)
    if running is not None:
        with running:
            if why := running.waits_for():
                say(why)
            return [Verified(**r) for r in running.verify(views, repair)]
    with deployments.locked(config.warehouse_path):
        warehouse = Warehouse(config, deployments.require(config.warehouse_path))
        try:
            warehouse.follow(check_source(config.source.dsn, warehouse.deployment))
            warehouse.finish_deploy()
            capture = Capture(warehouse, limits(config))
            try:
                return verify_with(
                    config,
                    warehouse,
                    capture,
                    views,
                    repair,
                    Loop(lambda work: persist(capture, work), partial(finish, warehouse)),
                )
            finally:
                capture.close()
        finally:
            warehouse.close()


def verify_with(
    config: Config,
    warehouse: Warehouse,
    capture: Capture,
    views: list[str],
    repair: bool,
    loop: Loop | None = None,
) -> list[Verified]:
    """Mirrors of the tables that the views read, then the views. Without a `loop` this thread applies batches."""
    loop = loop or Loop(lambda work: work(), partial(finish, warehouse))
    chosen = [warehouse.view(n)[0] for n in views] if views else list(warehouse.deployment.views)
    for attempt in range(TRIES):
        done, rewritten = _verify_once(config, warehouse, capture, chosen, loop)
        if not rewritten:
            break
        for v in done:
            if rewritten & v.tables and attempt == TRIES - 1:
                v.error = "a table it reads was truncated or rewritten each time it was compared"
    if repair and any(v.mendable for v in done):
        loop.run(lambda: mend(config, warehouse, capture, [v for v in done if v.mendable]))
        done, _ = _verify_once(config, warehouse, capture, chosen, loop)
    return done


def _verify_once(
    config: Config,
    warehouse: Warehouse,
    capture: Capture,
    views: list[DeployedView],
    loop: Loop,
) -> tuple[list[Verified], set[str]]:
    """Compare in one snapshot; and the tables, of those where something differs, that were truncated or rewritten
    meanwhile."""
    with connect(config.source.dsn) as conn:
        altered = check_deployed(conn, warehouse.deployment)
    if altered:
        loop.run(lambda: capture.follow(altered))
    read = set().union(*(warehouse.view(v.name)[1].tables for v in views))
    tables = [t for t in warehouse.deployment.catalog if qualified(t) in read]
    with _aligned(config, capture, tables, [v.name for v in views], loop) as (snapshot, pins):
        done = [
            _mirror(config, warehouse, e, t, snapshot.snapshot, pins[e])
            for e in warehouse.used_engines()
            for t in warehouse.tables(e)
            if qualified(t) in read
        ]
        done += [_view(config, warehouse, v, snapshot.snapshot, pins[v.engine]) for v in views]
        rewritten = snapshot.rewritten()
        concerned = {qualified(t) for t in tables if t.quoted in rewritten}
        return done, {t for v in done if not v.equal for t in v.tables & concerned}


@dataclass
class Pins:
    """Of an engine, all at one LSN. What fails to be read ends a pin for whatever would be read at it next."""

    rest: list[Pin]
    spent: bool = False

    @property
    def now(self) -> Pin:
        return self.rest[0]

    def failed(self) -> None:
        self.spent = len(self.rest) == 1
        self.rest = self.rest[1:] or self.rest


@contextmanager
def _aligned(
    config: Config, capture: Capture, tables: list[Table], views: list[str], loop: Loop
) -> Iterator[tuple[SharedSnapshot, dict[str, Pins]]]:
    """A snapshot of the source, and every engine pinned at just what that sees, with the views finished there."""
    snapshot = SharedSnapshot(config.source.dsn, [t.quoted for t in tables])
    with ExitStack() as pinned:
        pinned.callback(snapshot.close)

        def align() -> dict[str, Pins]:
            capture.align(snapshot)
            loop.finish(views)
            return {
                e: Pins([pinned.enter_context(capture.warehouse.engine(e).pinned()) for _ in range(PINS)])
                for e in capture.engines
            }

        yield snapshot, loop.run(align)


def _view(config: Config, warehouse: Warehouse, v: DeployedView, snapshot: str, pins: Pins) -> Verified:
    at = pins.now
    _, plan = warehouse.view(v.name)
    out = Verified(v.name, tables=set(plan.tables))
    if v.error:
        out.error = f"set aside: {v.error}"
        return out
    if pins.spent:
        out.error = "not compared: too many others could not be read"
        return out
    try:
        with in_snapshot(config.source.dsn, snapshot) as conn:
            body = inlined(warehouse, v.name, conn)
            now = conn.execute("SELECT now()::text").fetchone()
            chunks = list(copy_query(conn, sql.SQL(body), len(plan.outputs)))
    except psycopg.Error as e:
        out.error = str(e).split("\n")[0]
        return out
    except pa.ArrowInvalid as e:  # not the columns that the plan has
        out.error = f"cannot be compared: {str(e).splitlines()[0]}"
        return out
    try:
        engine = warehouse.engine(v.engine)
        ours = engine.read(plan, now[0] if now else None, at)
        only = Keys(_places(plan), engine.asked_for(plan.asked, at)) if plan.asked is not None else None
    except EngineFailure as e:
        out.error, out.unreadable = f"{e.message}: {e.detail}", e.code != VALUE
        pins.failed()
        return out
    if only is not None:
        out.keys = only.rows.num_rows
    alike = JSON_KEYS in plan.warnings
    types = [ALIKE if alike and c.type.name == "jsonb" else c.type for _, c in plan.outputs]
    compared(out, types, chunks, ours, only)
    if plan.hangs_on_ties and not out.error and (out.missing or out.extra):
        out.ties = bool(_asked(pins, lambda: engine.as_defined(plan, at)))
    if out.equal and _asked(pins, lambda: engine.counted(plan, at)) is False:
        out.extra, out.example = (
            1,
            "what is kept for it counts rows that are not there, or lacks some, and would go wrong later",
        )
    return out


def _asked(pins: Pins, ask: Callable[[], bool | None]) -> bool | None:
    """None also where it cannot be told."""
    try:
        return ask()
    except EngineFailure:
        pins.failed()
        return None


def _places(plan: ViewPlan) -> list[int]:
    """Where the key of a partial view is among its columns."""
    names = [n for n, _ in plan.outputs]
    return [names.index(c.name) for c in plan.asked.columns] if plan.asked is not None else []


def _mirror(config: Config, warehouse: Warehouse, engine: str, t: Table, snapshot: str, pins: Pins) -> Verified:
    """The columns that are kept, of every row."""
    at = pins.now
    name = qualified(t)
    out = Verified(name, tables={name}, mirror=engine)
    gone = warehouse.refused(engine).get(name, {})
    columns = [c for c in t.columns if c.name not in gone]
    try:
        with in_snapshot(config.source.dsn, snapshot) as conn:
            chunks = list(copy_query(conn, table_query(t, columns), len(columns)))
    except psycopg.Error as e:  # the others are compared
        out.error = str(e).split("\n")[0]
        return out
    try:
        ours = warehouse.engine(engine).read_mirror(t, at)
    except EngineFailure as e:
        out.error, out.unreadable = f"{e.message}: {e.detail}", True
        pins.failed()
        return out
    only = None
    if (hold := warehouse.holds(engine).get(name)) is not None:
        names = [c.name for c in columns]
        only = Keys([names.index(c) for c in hold.columns], warehouse.engine(engine).asked_for(hold.asked, at))
        out.keys = only.rows.num_rows
    return compared(out, [c.type for c in columns], chunks, ours.select([c.name for c in columns]), only)
