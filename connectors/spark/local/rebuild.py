"""The local file, where it is lost or older than Delta: mirrors from the versions that `frontier.json` names, states
from the mirrors. The source still has every change after them, as it is told of no more than what is in Delta."""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass
from pathlib import Path

import duckdb

from compiler.catalog import Table
from compiler.errors import TidemarkError
from compiler.maintain.plan import ViewPlan, states_of
from connectors.duckdb import frontier
from connectors.duckdb.engine import DuckDBEngine
from connectors.duckdb.mirror import q
from connectors.duckdb.session import connect
from connectors.engine import EngineFailure, Printer
from connectors.failpoints import reach
from connectors.postgres.origin import RESYNC
from connectors.spark import durable
from connectors.spark.local.delta import DeltaFolder
from connectors.spark.local.dist import Dist, NoReader
from connectors.spark.local.outbox import Outbox, latest, restored
from connectors.spark.local.stored import from_delta, mirror_folder, parquet
from connectors.spark.pins import Pin
from connectors.spark.published import Published

log = logging.getLogger("tidemark")


def check_path(root: Path) -> None:
    """Raises TidemarkError for a folder that `deltalake` would take for another."""
    if found := re.search(r"%[0-9a-fA-F]{2}", str(root.absolute())):
        raise TidemarkError(
            f"the warehouse's path, {root.absolute()}, has {found[0]} in it",
            code="bad_path",
            detail="What writes Delta tables without Spark reads that as another character.",
            hint="Choose another [warehouse] path, or set [spark] local_memory = 'none'.",
        )


def check(root: Path, file: Path) -> None:
    """For who only reads: raises TidemarkError where the file is to be made first."""
    if not file.exists() and Published(root).pin().versions is not None:
        raise TidemarkError(
            f"the local file of the warehouse, {file}, is gone",
            code="local_file_gone",
            detail="It is made again from the Delta tables by what writes to the warehouse.",
            hint="Run: tidemark run --once",
        )


@dataclass(frozen=True)
class Places:
    """Mirrors that are not copied into the file: those whose rows stay in Delta, and those that have the rows of keys
    that are asked for again."""

    away: frozenset[str]
    by_key: frozenset[str]


def recover(
    root: Path, file: Path, printer: Printer, tables: list[Table], plans: list[ViewPlan], places: Places
) -> None:
    """See that the file is there and not older than Delta. Raises TidemarkError where Delta does not have it all."""
    pin = Published(root).pin()
    if pin.versions is None or (file.exists() and _stands_at(file) >= pin.lsn):
        return
    copies = [t for t in tables if t.mirror not in places.by_key]
    lacking = [t for t in copies if mirror_folder(t.mirror) not in pin.versions]
    if lacking:
        raise TidemarkError(
            f"the local file of the warehouse, {file}, is {'older than Delta' if file.exists() else 'gone'}, and it "
            "cannot be made again",
            code="warehouse_gone",
            detail=f"The mirror of {lacking[0].schema}.{lacking[0].name} was not in Delta yet.",
            hint=RESYNC,
        )
    Published(root).check(pin)
    log.warning("%s is %s: it is made again from Delta", file, "older than Delta" if file.exists() else "gone")
    new = file.with_name(f"{file.name}.new")
    _remove(new)
    _fill(root, new, printer, tables, plans, pin, places)
    reach("local.rebuilt")
    _remove(file)
    new.rename(file)
    durable.sync(root)


def _stands_at(file: Path) -> int:
    con = connect(file, read_only=False)
    try:
        return frontier.lsn(con)
    finally:
        con.close()


def _remove(file: Path) -> None:
    for f in (file, file.with_name(f"{file.name}.wal")):
        f.unlink(missing_ok=True)


def _fill(
    root: Path,
    file: Path,
    printer: Printer,
    tables: list[Table],
    plans: list[ViewPlan],
    pin: Pin,
    places: Places,
) -> None:
    assert pin.versions is not None
    engine = DuckDBEngine(file, printer)
    try:
        outbox, dist = Outbox(engine.con), Dist(engine.con, root, NoReader())
        for t in tables:
            name = mirror_folder(t.mirror)
            if t.mirror in places.by_key:
                engine.create_mirror(t)
                continue
            outbox.create(t)
            if t.mirror in places.away:
                dist.create(t)
                _load_tail(dist, t, DeltaFolder(root / name), pin.versions[name])
            else:
                engine.create_mirror(t)
                _load(engine.con, t, root / name, pin.versions[name])
        frontier.move(engine.con, pin.lsn, pin.last)  # where states are that are filled
        for s in states_of(plans):
            engine.create_state(s)
        for p in plans:
            engine.create_view(p)
        engine.belong(durable.read(root / "deployment", str, ""))
        if pin.last is None:
            engine.forget_commit()
        with outbox.forgetting(pin.lsn):
            pass
        engine.con.execute("CHECKPOINT")
    finally:
        engine.close()


def _load(con: duckdb.DuckDBPyConnection, t: Table, folder: Path, version: int) -> None:
    """A mirror's rows at a version of its Delta table."""
    if names := DeltaFolder(folder).files(version):
        _insert(con, t, f"base.{q(t.mirror)}", restored(t, _rows(t, [folder / n for n in names])))


def _load_tail(dist: Dist, t: Table, folder: DeltaFolder, version: int) -> None:
    """What such a version has of a mirror that is Dist: its base stays where it is."""
    dist.rebase(t.mirror, folder.base(version), clear=True)
    if files := folder.log(version):
        _insert(dist.con, t, f"tail.{q(t.mirror)}", latest(t, _rows(t, files)))


def _rows(t: Table, files: list[Path]) -> str:
    return f"SELECT {from_delta(t.columns)}, _weight, _lsn, _log FROM {parquet(files)}"


def _insert(con: duckdb.DuckDBPyConnection, t: Table, into: str, rows: str) -> None:
    try:
        con.execute(f"INSERT INTO {into} BY NAME {rows}")
    except duckdb.Error as e:
        raise EngineFailure(
            f'the mirror of "{t.schema}.{t.name}" cannot be read from Delta', detail=str(e).split("\n")[0], hint=RESYNC
        ) from e
