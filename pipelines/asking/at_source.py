"""Every key of partial views of which no copy is kept: the source computes it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
import psycopg
import pyarrow as pa
from psycopg import sql

from compiler.catalog import Column, Table
from compiler.errors import TidemarkError
from compiler.ir.types import Type
from compiler.maintain.plan import ViewPlan
from compiler.spelling import ident
from connectors.duckdb.export import write
from connectors.duckdb.session import scratch, whole
from connectors.duckdb.text import from_text
from connectors.duckdb.values import cast_errors
from connectors.engine import EngineFailure
from connectors.literal_rows import parsed
from connectors.postgres.connection import connect, parse_lsn
from connectors.postgres.snapshot import copy_query
from pipelines.asking.inlined import inlined
from pipelines.warehouse import Warehouse


@dataclass(frozen=True)
class Computed:
    """Rows of views, of one snapshot; what that sees was committed below `lsn`."""

    rows: dict[str, pa.Table]
    lsn: int


def source_alone(warehouse: Warehouse, view: str) -> bool:
    """Whether no copy is kept of some table that a view reads, so that the source alone can compute it for every
    key."""
    return any(h.asked.view == view for h in warehouse.holds(warehouse.view(view)[0].engine).values())


def computed(warehouse: Warehouse, views: Iterable[str]) -> Computed:
    """Raises TidemarkError where the source cannot, SourceUnreachable where it is away."""
    rows = {}
    with _snapshot(warehouse) as (conn, lsn):
        for view in views:
            plan = warehouse.view(view)[1]
            rows[view] = pa.concat_tables(_typed(conn, warehouse, plan))
    return Computed(rows, lsn)


def export(warehouse: Warehouse, plan: ViewPlan, path: Path, fmt: str) -> None:
    """All rows of a view into a file, by a temporary one. Raises as `computed`, and EngineFailure."""
    with (
        TemporaryDirectory(prefix="tidemark-") as folder,
        duckdb.connect(str(Path(folder) / "rows.duckdb")) as con,
        _snapshot(warehouse) as (conn, _),
    ):
        whole(con).execute("SET TimeZone = 'UTC'; SET enable_progress_bar = false")
        try:
            for i, rows in enumerate(_typed(conn, warehouse, plan)):
                con.register("arrived", rows)
                con.execute("INSERT INTO every_key FROM arrived" if i else "CREATE TABLE every_key AS FROM arrived")
                con.unregister("arrived")
            write(con.execute, plan, path, fmt, "SELECT * FROM every_key")
        except duckdb.Error as e:
            path.unlink(missing_ok=True)
            raise EngineFailure(f'export of view "{plan.view}" failed', detail=str(e).split("\n")[0]) from e


@contextmanager
def _snapshot(warehouse: Warehouse) -> Iterator[tuple[psycopg.Connection[Any], int]]:
    """A snapshot of the source, and an LSN below which everything was committed that it sees."""
    with connect(warehouse.config.source.dsn, autocommit=False, patience=None) as conn:
        conn.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        row = conn.execute("SELECT pg_current_wal_insert_lsn()").fetchone()
        yield conn, parse_lsn(row[0]) if row else 0


def _typed(conn: psycopg.Connection[Any], warehouse: Warehouse, plan: ViewPlan) -> Iterator[pa.Table]:
    """The rows of a view piece by piece, with its columns' names and types; at least one piece."""
    outputs = [(name, c.type) for name, c in plan.outputs]
    names = [f"c{i}" for i in range(len(outputs))]
    yield _cast(pa.table({n: pa.array([], pa.large_string()) for n in names}), outputs, plan.view)
    try:
        for piece in copy_query(conn, sql.SQL(inlined(warehouse, plan.view, conn)), len(outputs)):
            yield _cast(piece, outputs, plan.view)
    except psycopg.Error as e:
        raise TidemarkError(
            f'the source could not compute view "{plan.view}" for every key',
            code="source_failed",
            detail=str(e).split("\n")[0],
            hint="Ask for keys.",
        ) from e


def _cast(rows: pa.Table, outputs: list[tuple[str, Type]], view: str) -> pa.Table:
    names = rows.column_names
    shape = Table("", view, tuple(Column(n, t) for n, (_, t) in zip(names, outputs, strict=True)))
    items = ", ".join(
        f"{from_text(n, t)} AS {ident(name).sql('duckdb')}" for n, (name, t) in zip(names, outputs, strict=True)
    )
    con, got = scratch(), list[pa.Table]()
    try:
        con.register("arrived", parsed(rows, shape))
        cast_errors(shape, rows, lambda: got.append(con.execute(f"SELECT {items} FROM arrived").to_arrow_table()))
    finally:
        con.close()
    return got[0]
