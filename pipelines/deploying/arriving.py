"""Tables that are copied beside a pipeline that runs, whose batches do not wait for it.

Whoever deploys copies them into a file of DuckDB, in the snapshot of a slot of its own, and keeps up with the source
from there, as a pipeline without views would. The pipeline's publication has the tables before that slot is made, and
a slot is made when every transaction that was open has ended. So of whatever commits later, the pipeline's stream has
all that concerns them. The pipeline then goes to one LSN with them, and takes them over (`adding`).
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg

from compiler.catalog import Catalog
from compiler.errors import TidemarkError
from connectors.changed import TableChanged
from connectors.duckdb.engine import DuckDBEngine
from connectors.duckdb.session import share
from connectors.failpoints import reach
from connectors.postgres.altered import marks
from connectors.postgres.connection import SourceUnreachable, connect
from connectors.postgres.origin import SourceReplaced
from connectors.postgres.stream import SlotUnavailable
from pipelines import deployment as deployments
from pipelines.applying.catching_up import catch_up
from pipelines.applying.unaltered import check_source
from pipelines.carried import taken
from pipelines.config import Config
from pipelines.deploying.building import plans
from pipelines.deploying.by_key import Tables
from pipelines.deploying.first import ARRIVING, copied, remove_warehouse
from pipelines.deploying.initial_copy import Progress
from pipelines.deploying.location import Located, located
from pipelines.deploying.needs import Needs, needs
from pipelines.deploying.resuming import Restart, Wanted, check, resume
from pipelines.deploying.source_objects import drop_source_objects, publish, publish_deployed
from pipelines.deployment import Deployment
from pipelines.kinds import KINDS, ONE_MACHINE
from pipelines.project import Compiled
from pipelines.refused import parts, qualified
from pipelines.warehouse import Warehouse

READY = "ready"  # a file that is there once all is copied, and nobody has it open
TOUCHED = "publishing"  # a file that is there while the pipeline's publication may have tables for it
PUBLISHED = "published.json"  # what the pipeline's publication was like before anything was copied
MEMORY = 0.25  # of what a warehouse may have: beside it there is one
NEAR = 1.0  # seconds for which a pipeline may wait for the rest
TRIES = 5  # to copy tables that are not truncated meanwhile
ROUNDS = 100  # in which it may come so near
KEPT = 3600.0  # seconds for which a copy that was cut short is kept, and its slot keeps WAL
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


@contextmanager
def arriving(
    config: Config, catalog: Catalog, views: list[Compiled], progress: Progress, say: Callable[[str], None]
) -> Iterator[None]:
    """Has the tables ready that a deploy of these views copies, as far as they can be copied beside a pipeline; nothing
    of it is left at the end."""
    side = beside(config)
    with _alone(side):
        yield from _arriving(config, side, catalog, views, progress, say)


def _arriving(
    config: Config,
    side: Config,
    catalog: Catalog,
    views: list[Compiled],
    progress: Progress,
    say: Callable[[str], None],
) -> Iterator[None]:
    old = deployments.require(config.warehouse_path)
    n, at = _needs(config, old, catalog, [replace(v) for v in views if v.error is None])
    tables = _tables(n, at)
    if not tables:
        if n.tables:
            say(f"batches wait while {', '.join(sorted(n.tables))} are copied for executors")
        _clear(config, side)
        yield
        return
    (side.warehouse_path / READY).unlink(missing_ok=True)
    try:
        if not _gone_on(config, side, old, catalog, tables, progress, say):
            _forget(side)
            _copy(config, side, old, catalog, tables, progress, say)
            _catch_up(side)
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


def cut_short(side: Config) -> Deployment | None:
    """What was being copied, or kept up with the source since, when its deploy was killed or lost the source."""
    with suppress(TidemarkError):
        d = deployments.load(side.warehouse_path) if (side.warehouse_path / PUBLISHED).exists() else None
        if d is not None and (d.copying is not None or d.status == "live"):
            return d
    return None


def _gone_on(
    config: Config,
    side: Config,
    old: Deployment,
    catalog: Catalog,
    tables: dict[str, set[str]],
    progress: Progress,
    say: Callable[[str], None],
) -> bool:
    """Whether a copy of these tables that was cut short was brought to its end."""
    d = cut_short(side)
    if d is None:
        return False
    only = Wanted(*_of(tables))
    try:
        if not _sent(config, side, old, tables):
            raise Restart("the publication was altered meanwhile")
        if d.status != "live":
            resume(side, d, [], catalog, progress, say, True, only=only, opened=open_beside)
        else:
            check(side, d, only, catalog)
        _catch_up(side)
        return True
    except (Restart, SourceReplaced, SlotUnavailable, TableChanged) as e:
        say(f"copying anew what was being copied: {e.args[0]}")
        return False


def _of(tables: dict[str, set[str]]) -> tuple[dict[str, list[str]], Tables, dict[str, dict[str, list[str]]]]:
    columns = {t: sorted(c) for t, c in tables.items()}
    return {ONE_MACHINE.name: sorted(tables)}, {}, {ONE_MACHINE.name: columns}


def _sent(config: Config, side: Config, old: Deployment, tables: dict[str, set[str]]) -> bool:
    """Whether the pipeline's stream has had all of these since they were published for it."""
    try:
        note = json.loads((side.warehouse_path / PUBLISHED).read_text())
    except (OSError, ValueError):
        return False
    with connect(config.source.dsn) as conn:
        return published(conn, old.publication, note, tables)


def published(conn: psycopg.Connection, publication: str, note: dict[str, Any], tables: Iterable[str]) -> bool:
    """Whether the publication has these tables as it had when that was noted."""
    own, now = marks(conn, publication)
    return bool(own == note["publication"] and all(now.get(t) == note["tables"].get(t, "") for t in tables))


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


def _needs(config: Config, old: Deployment, catalog: Catalog, views: list[Compiled]) -> tuple[Needs, Located]:
    """What the pipeline will find to be copied, and where to; it looks again."""
    altered: dict[str, dict[str, str]] = {}
    plans_of = [v.plan for v in views if v.plan is not None]
    for e in (*check_source(config.source.dsn, old), *taken(old.catalog, plans_of, catalog)):
        if e.table is not None:
            altered.setdefault(qualified(e.table), {}).update(dict.fromkeys(parts(e), e.message))
    refused = {
        e: {t: {**old.refused.get(e, {}).get(t, {}), **altered.get(t, {})} for t in ts} for e, ts in old.tables.items()
    }
    with connect(config.source.dsn) as conn:
        at = located(conn, views, catalog, config, old)
    good = [v for v in views if v.error is None]
    former = plans(Warehouse(config, old))
    return needs(replace(old, refused=refused), good, catalog, former=former), at


def fits_in_process(n: Needs, at: Located) -> bool:
    """Whether all that is copied is for engines that work in one process: others read no file of DuckDB."""
    return all(
        KINDS[e].in_process(at.where) and not (KINDS[e].executors and t in at.dist)
        for e, ts in n.new.items()
        for t in ts
    )


def _tables(n: Needs, at: Located) -> dict[str, set[str]]:
    """The tables and their columns; none where they do not fit."""
    out: dict[str, set[str]] = {}
    for e, ts in n.new.items() if fits_in_process(n, at) else ():
        for t in ts:
            out.setdefault(t, set()).update(n.narrow[e][t])
    return out


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


def _copy(
    config: Config,
    side: Config,
    old: Deployment,
    catalog: Catalog,
    tables: dict[str, set[str]],
    progress: Progress,
    say: Callable[[str], None],
) -> None:
    mine = [t for t in catalog.tables.values() if qualified(t) in tables]
    others = [t for t in old.catalog if catalog.has(t)]
    (side.warehouse_path / TOUCHED).touch()
    publish(config.source.dsn, old.publication, [*others, *mine], alter=True)
    reach("arriving.published")
    with connect(config.source.dsn) as conn:
        own, of = marks(conn, old.publication)
    note = {"publication": own, "tables": {t: of.get(t, "") for t in tables}}
    (side.warehouse_path / PUBLISHED).write_text(json.dumps(note))
    for tried in range(TRIES):
        d = deployments.new_deployment()
        d.catalog = mine
        d.tables, d.by_key, d.columns = _of(tables)
        try:
            copied(side, d, [], progress, say, keep_going=True, opened=open_beside)
            break
        except TidemarkError as e:
            if e.code != "table_changed" or tried == TRIES - 1:
                raise
            say(f"{e.message}: copying again")


def _catch_up(side: Config) -> None:
    """Come near to where the source is."""
    warehouse = open_beside(side, deployments.require(side.warehouse_path))
    try:
        for _ in range(ROUNDS):
            begun = time.monotonic()
            catch_up(side, warehouse)
            if time.monotonic() - begun < NEAR:
                break
    finally:
        warehouse.close()


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
    with suppress(TidemarkError, psycopg.Error):
        if (d := deployments.load(config.warehouse_path)) is not None and d.status == "live":
            publish_deployed(config.source.dsn, d)
