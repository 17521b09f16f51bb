"""Tables copied into an engine in one snapshot, several at once."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from compiler.catalog import Table
from connectors.postgres.connection import connect
from connectors.postgres.snapshot import copy_table
from pipelines.config import Config
from pipelines.warehouse import Warehouse

Progress = Callable[[str, int, int, int], None]  # table, rows, bytes, rows expected


def copy_tables(config: Config, warehouse: Warehouse, engine: str, tables: list[Table], snapshot: str, progress: Progress) -> None:
    """Fill the mirrors of `tables` on an engine; each COPY reports as it goes."""
    target = warehouse.engine(engine)
    expected = _estimates(config.source.dsn, tables)
    for t in tables:
        target.create_mirror(t)

    def one(t: Table) -> None:
        seen = [0, 0]

        def moved(rows: int, size: int) -> None:
            seen[0] += rows
            seen[1] += size
            progress(f"{t.schema}.{t.name}", seen[0], seen[1], expected.get(t, 0))

        target.load(t, copy_table(config.source.dsn, snapshot, t, moved))
        progress(f"{t.schema}.{t.name}", seen[0], seen[1], seen[0])

    with ThreadPoolExecutor(4) as pool:
        for f in [pool.submit(one, t) for t in tables]:
            f.result()


def _estimates(dsn: str, tables: list[Table]) -> dict[Table, int]:
    with connect(dsn) as c:
        out = {}
        for t in tables:
            row = c.execute("SELECT greatest(reltuples, 0)::bigint FROM pg_class WHERE oid = %s::regclass",
                            (t.quoted,)).fetchone()
            out[t] = row[0] if row else 0
        return out
