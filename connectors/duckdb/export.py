"""A view into a file, by DuckDB itself; JSON columns get the types that their values share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from compiler.maintain.plan import ViewPlan
from compiler.spelling import ident
from connectors.duckdb.parquet import options
from connectors.duckdb.session import scratch
from connectors.duckdb.values import exported
from connectors.engine import EngineFailure
from connectors.exported import NOTHING, declared, export_batch, fits, is_json, shapes

EXPORT_ROWS = 100_000
Read = Callable[[str], duckdb.DuckDBPyConnection]  # runs a query on a cursor of its own


def write(read: Read, plan: ViewPlan, path: Path, fmt: str, rows: str = "") -> None:
    """The rows of the view, in its columns' order, as `parquet` or `csv`; or the `rows` of a query in its place. Raises
    EngineFailure."""
    target = str(path).replace("'", "''")
    items = ", ".join(exported(n, c.type) for n, c in plan.outputs) or "*"
    source = f"({rows})" if rows else f"main.{ident(plan.view).sql('duckdb')}"
    query = f"SELECT {items} FROM {source}"
    if fmt == "parquet" and any(is_json(c.type) for _, c in plan.outputs):
        _with_json(read("BEGIN"), plan, query, path, target)
    else:
        how = options(read, query) if fmt == "parquet" else "FORMAT csv, HEADER true"
        read(f"COPY ({query}) TO '{target}' ({how})")


def _with_json(con: duckdb.DuckDBPyConnection, plan: ViewPlan, query: str, path: Path, target: str) -> None:
    """Two passes over the same rows: the types that JSON columns have, and the file."""
    try:
        _write_json(con, plan, query, target)
    except (duckdb.Error, pa.ArrowException, ValueError) as e:
        path.unlink(missing_ok=True)
        raise EngineFailure(f'export of view "{plan.view}" failed', detail=str(e).split("\n")[0]) from e
    con.execute("DROP TABLE exported")
    con.execute("COMMIT")


def _parts(con: duckdb.DuckDBPyConnection) -> Iterator[pa.RecordBatch]:
    """Of what is exported, each part by a query of its own."""
    (last,) = con.execute("SELECT coalesce(max(rowid), -1) FROM exported").fetchall()[0]
    for first in range(0, last + 1, EXPORT_ROWS):
        part = f"SELECT * FROM exported WHERE rowid BETWEEN {first} AND {first + EXPORT_ROWS - 1}"
        yield from con.execute(part).to_arrow_table().to_batches()


def _write_json(con: duckdb.DuckDBPyConnection, plan: ViewPlan, query: str, target: str) -> None:
    names = {n: declared(c.type) for n, c in plan.outputs if is_json(c.type)}
    kinds: dict[str, Any] = {}
    con.execute(f"CREATE TEMP TABLE exported AS {query}")
    for b in _parts(con):
        kinds = shapes(b, names, kinds)
    kinds = {n: k if fits(k, kinds.get(n, NOTHING)) else kinds.get(n, NOTHING) for n, k in names.items()}
    schema = con.execute("FROM exported LIMIT 0").to_arrow_table().schema
    empty = export_batch(pa.RecordBatch.from_pylist([], schema=schema), kinds)
    rows = pa.RecordBatchReader.from_batches(empty.schema, (export_batch(b, kinds) for b in _parts(con)))
    items = ", ".join(
        f"CAST(CAST({c} AS JSON) AS VARIANT) AS {c}" if kinds.get(n, NOTHING) is None else c
        for n in empty.schema.names
        for c in [ident(n).sql("duckdb")]
    )
    writer = scratch()
    writer.register("rows", rows)
    query = f"SELECT {items} FROM rows"
    writer.execute(f"COPY ({query}) TO '{target}' ({options(writer.execute, query)})")
