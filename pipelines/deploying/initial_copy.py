"""Tables copied into an engine in one snapshot, several at once."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from compiler.catalog import Table
from connectors.literal_rows import ValueOutOfRange
from connectors.postgres.connection import connect
from connectors.postgres.snapshot import copy_table
from pipelines.config import Config
from pipelines.refused import ALL, Refused, part, qualified, without
from pipelines.warehouse import Warehouse

Progress = Callable[[str, int, int, int], None]  # table, rows, bytes, rows expected
Refusals = dict[tuple[str, str], ValueOutOfRange]  # (table, column), with the first value that does not fit


def copy_tables(
    config: Config,
    warehouse: Warehouse,
    engine: str,
    tables: list[Table],
    snapshot: str,
    progress: Progress = lambda *_: None,
    before: Refused | None = None,
) -> Refusals:
    """Fill the mirrors of `tables` on an engine; each COPY reports as it goes.

    A column with a value that no type of the engine holds is not kept: the table is copied without it. Gives those.
    Nor are those kept that were refused `before`.
    """
    target = warehouse.engine(engine)
    expected = _estimates(config.source.dsn, tables)

    def once(t: Table, refused: dict[str, dict[str, str]]) -> None:
        seen = [0, 0]

        def moved(rows: int, size: int) -> None:
            seen[0] += rows
            seen[1] += size
            progress(qualified(t), seen[0], seen[1], expected.get(t, 0))

        target.create_mirror(t)
        unread = (before or {}).get(qualified(t), {})
        read = copy_table(config.source.dsn, snapshot, t, moved, unread)
        target.load(t, (without(rows, t, refused) for rows in read))
        progress(qualified(t), seen[0], seen[1], seen[0])

    def one(t: Table) -> Refusals:
        found: Refusals = {}
        while ALL not in {c for _, c in found}:
            try:
                once(t, {qualified(t): {c: e.detail for (_, c), e in found.items()}})
                break
            except ValueOutOfRange as e:
                found[(qualified(t), part(e))] = e
                if part(e) == ALL:
                    target.create_mirror(t)
        return found

    with ThreadPoolExecutor(4) as pool:
        jobs = [pool.submit(one, t) for t in tables]
    return {k: e for job in jobs for k, e in job.result().items()}


def record(warehouse: Warehouse, engine: str, refusals: Refusals, copied: list[Table]) -> None:
    """What the engine keeps of the copied tables from now on."""
    refused = warehouse.deployment.refused.setdefault(engine, {})
    for t in copied:
        refused.pop(qualified(t), None)
    for (table, column), e in refusals.items():
        refused.setdefault(table, {})[column] = e.detail


def _estimates(dsn: str, tables: list[Table]) -> dict[Table, int]:
    with connect(dsn) as c:
        out = {}
        for t in tables:
            row = c.execute(
                "SELECT greatest(reltuples, 0)::bigint FROM pg_class WHERE oid = %s::regclass", (t.quoted,)
            ).fetchone()
            out[t] = row[0] if row else 0
        return out
