"""The rows of keys, read from the source in one snapshot, which sees all that was applied already."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable
from dataclasses import dataclass

import pyarrow as pa
from psycopg import sql

from compiler.catalog import Table
from compiler.errors import TidemarkError
from connectors.key_rows import Hold
from connectors.postgres.snapshot import SharedSnapshot, copy_query, in_snapshot, table_query
from pipelines.refused import Refused, qualified

TRIES, PAUSE = 250, 0.02  # to find a snapshot that sees what was applied; seconds


@dataclass(frozen=True)
class Read:
    """Rows as text in the columns of each table, and the snapshot that they were read in."""

    rows: list[pa.Table]
    lsn: int
    low: int
    high: int
    running: str


@dataclass
class Former:
    """Transactions that may have been applied by an earlier process, which told nobody. They were open before this
    one's first snapshot; where commits wait for a synchronous standby they may still be, for all that is known."""

    high: int = 0  # xmax of the first snapshot

    def over(self, s: SharedSnapshot) -> bool:
        """Whether all of them are seen."""
        self.high = self.high or s.high
        row = s.conn.execute("SELECT current_setting('synchronous_standby_names')").fetchone()
        return s.low >= self.high or row is None or not row[0]


def read(
    dsn: str, holds: list[Hold], keys: pa.Table, applied: Collection[int], former: Former, refused: Refused
) -> Read:
    """The rows with these keys, as text in c0…, of each table. `applied`: the ids of transactions of which changes to
    other keys may have been passed over; `former` may be among them. Raises TidemarkError where no snapshot sees them.

    What was passed over has to be in the rows that are read. A commit is in the stream a moment before others see it;
    where it waits for a synchronous standby, for longer.
    """
    snapshot = SharedSnapshot(dsn, [h.table.quoted for h in holds])
    try:
        for _ in range(TRIES):
            if all(map(snapshot.sees, applied)) and former.over(snapshot):
                rows = [_rows(dsn, snapshot.snapshot, h, keys, refused) for h in holds]
                if not snapshot.rewritten():
                    running = ",".join(map(str, sorted(snapshot.running)))
                    return Read(rows, snapshot.lsn, snapshot.low, snapshot.high, running)
                snapshot.close()
                snapshot = SharedSnapshot(dsn, [h.table.quoted for h in holds])
                continue
            time.sleep(PAUSE)
            snapshot.take()
    finally:
        snapshot.close()
    raise TidemarkError(
        "the keys could not be read from the source",
        code="not_aligned",
        detail="A transaction is in the stream that the source's snapshots do not see yet, or a table is rewritten "
        "again and again.",
        hint="It may wait for a synchronous standby, or, right after a start, for one that is open. Try again.",
    )


def _rows(dsn: str, snapshot: str, h: Hold, keys: pa.Table, refused: Refused) -> pa.Table:
    t = h.table
    query = table_query(t, unread=refused.get(qualified(t), {})) + sql.SQL(" WHERE ") + condition(t, h.columns, keys)
    names = [f"c{i}" for i in range(len(t.columns))]
    with in_snapshot(dsn, snapshot) as conn:
        chunks = list(copy_query(conn, query, len(names)))
    return pa.concat_tables(chunks) if chunks else pa.table({n: pa.array([], pa.large_string()) for n in names})


def condition(t: Table, columns: Iterable[str], keys: pa.Table) -> sql.Composable:
    """SQL of the source: whether the columns of a row are one of the keys, as text in c0…"""
    names = [sql.Identifier(c) for c in columns]
    types = [next(c.source_type for c in t.columns if c.name == n) for n in columns]
    lists = [
        sql.SQL("{}::text[]::{}[]").format(sql.Literal(keys[f"c{i}"].to_pylist()), sql.SQL(kind))
        for i, kind in enumerate(types)
    ]
    if len(names) == 1:
        return sql.SQL("{} = ANY ({})").format(names[0], lists[0])
    listed = sql.SQL(", ")
    return sql.SQL("({}) IN (SELECT * FROM unnest({}))").format(listed.join(names), listed.join(lists))
