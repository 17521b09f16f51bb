"""The rows of keys, read from the source in one snapshot, which sees all that was applied already."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import psycopg
import pyarrow as pa
from psycopg import sql

from compiler.catalog import Table
from compiler.errors import TidemarkError
from connectors.key_rows import Hold
from connectors.postgres.snapshot import SharedSnapshot, copy_query, in_snapshot, table_query
from pipelines.refused import Refused, qualified

TRIES, PAUSE = 250, 0.02  # to find a snapshot that sees what was applied; seconds
LOCKED = 5  # seconds that a table may be locked


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
    """Raises TidemarkError for a table that is locked, or is not the one that was deployed."""
    t, names = h.table, [f"c{i}" for i in range(len(h.table.columns))]
    try:
        with in_snapshot(dsn, snapshot) as conn:
            conn.execute(sql.SQL("SET LOCAL lock_timeout = {}").format(sql.Literal(f"{LOCKED}s")))
            where = condition(conn, t, h.columns, keys)
            query = table_query(t, unread=refused.get(qualified(t), {})) + sql.SQL(" WHERE ") + where
            chunks = list(copy_query(conn, query, len(names)))
    except psycopg.errors.LockNotAvailable as e:
        raise TidemarkError(
            f'the keys could not be read: table "{qualified(t)}" is locked',
            code="source_locked",
            detail=f"It was for {LOCKED} s, and batches wait meanwhile.",
            hint="Try again when what alters or truncates it has ended.",
        ) from e
    except psycopg.DataError:  # a key that no value of the column's type can be
        n = keys.num_rows
        if n > 1:
            halves = (keys.slice(0, n // 2), keys.slice(n // 2))
            return pa.concat_tables([_rows(dsn, snapshot, h, k, refused) for k in halves])
        chunks = []
    return pa.concat_tables(chunks) if chunks else pa.table({n: pa.array([], pa.large_string()) for n in names})


TYPES = """
SELECT a.attname, format_type(a.atttypid, NULL), a.attnum, a.atttypid::bigint, y.typtype = 'e'
FROM pg_attribute a JOIN pg_type y ON y.oid = a.atttypid
WHERE a.attrelid = to_regclass(%s) AND a.attrelid::bigint = %s AND a.attnum > 0 AND NOT a.attisdropped
"""


def condition(conn: psycopg.Connection, t: Table, columns: Sequence[str], keys: pa.Table) -> sql.Composable:
    """SQL of the source: whether the columns of a row are one of the keys, as text in c0…; a label that an enum does
    not have is none. Raises TidemarkError where the table is not the one that was deployed."""
    found = {r[0]: r[1:] for r in conn.execute(TYPES, (t.quoted, t.oid)).fetchall()}
    for c in t.columns:
        if c.name not in found or (c.place and found[c.name][1:3] != (c.place, c.oid)):
            raise TidemarkError(
                f'the keys could not be read: "{qualified(t)}" is not the table that was deployed',
                code="table_changed",
                detail=f'Its column "{c.name}" was altered.',
                hint="Run: tidemark deploy",
            )
    lists = []
    for i, name in enumerate(columns):
        kind, _, _, enum = found[name]
        values = [v if "\0" not in v else None for v in keys[f"c{i}"].to_pylist()]  # which no text of Postgres has
        known = f"CASE WHEN x = ANY (enum_range(NULL::{kind})::text[]) THEN x::{kind} END" if enum else f"x::{kind}"
        one = sql.SQL("ARRAY(SELECT {} FROM unnest({}::text[]) WITH ORDINALITY u (x, n) ORDER BY n)")
        lists.append(one.format(sql.SQL(known), sql.Literal(values)))
    names = [sql.Identifier(c) for c in columns]
    if len(names) == 1:
        return sql.SQL("{} = ANY ({})").format(names[0], lists[0])
    listed = sql.SQL(", ")
    return sql.SQL("({}) IN (SELECT * FROM unnest({}))").format(listed.join(names), listed.join(lists))
