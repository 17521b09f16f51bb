"""The first copy: tables read with COPY in the snapshot that the slot exported, several at once."""

from __future__ import annotations

import io
import logging
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import psycopg
import pyarrow as pa
import pyarrow.csv as pa_csv
from psycopg import pq, sql

from compiler.catalog import Column, Table
from compiler.errors import TidemarkError
from connectors.failpoints import reach
from connectors.postgres.connection import ANSWER, connect, parse_lsn
from connectors.postgres.origin import identify
from connectors.postgres.ranges import Range
from connectors.postgres.replication import command, open_replication

log = logging.getLogger("tidemark")
CHUNK = 16 << 20
FAILOVER = 170000  # the version from which on standbys keep a copy of a slot, to go on with when they take over


class Files:
    """The files of tables and their partitions, as they were: another file means other rows, for every snapshot."""

    def __init__(self, dsn: str, tables: Iterable[str]) -> None:
        self.dsn, self.tables = dsn, list(tables)
        self.found = self.now()

    def other(self) -> set[str]:
        """The tables that have other files by now."""
        now = self.now()
        return {t for t in self.tables if now.get(t) != self.found.get(t)}

    def now(self) -> dict[str, list[int]]:
        """By quoted name."""
        with connect(self.dsn) as c:
            return dict(
                c.execute(
                    "WITH RECURSIVE t (n, oid) AS (SELECT n, to_regclass(n)::oid FROM unnest(%s::text[]) n "
                    "UNION ALL SELECT t.n, i.inhrelid FROM pg_inherits i JOIN t ON i.inhparent = t.oid) "
                    "SELECT n, array_agg(pg_relation_filenode(oid)::bigint ORDER BY oid) FROM t GROUP BY n",
                    (self.tables,),
                ).fetchall()
            )


class Waiting:
    """Says which transactions hold up a new slot: it begins where all that were open before it have ended."""

    def __init__(self, dsn: str) -> None:
        self.dsn, self.said = dsn, 0.0

    def __call__(self, seconds: float) -> None:
        if seconds < self.said + WAITED:
            return
        self.said = seconds
        with connect(self.dsn) as c:
            for pid, age, state, query in c.execute(OLDER).fetchall():
                log.warning(
                    "waiting for a transaction of the source to end: pid %s, open for %s s, %s: %s",
                    pid,
                    age,
                    state,
                    query,
                )


OLDER = """
SELECT pid, extract(epoch FROM now() - xact_start)::int, state, left(regexp_replace(query, '[[:space:]]+', ' ', 'g'),
  80) FROM pg_stat_activity
WHERE backend_xid IS NOT NULL AND pid <> pg_backend_pid() ORDER BY xact_start LIMIT 3
"""
WAITED = 3.0  # seconds


class ExportedSnapshot:
    """A slot and the snapshot it exported; the snapshot lives until this is closed. `lsn`: where the slot starts.

    TRUNCATE, and an ALTER TABLE that rewrites, show in snapshots taken before them: what was read of `rewritten`
    tables may be neither what they were then nor what they are now.
    """

    def __init__(self, dsn: str, slot: str, tables: Iterable[str], temporary: bool = False) -> None:
        """`tables`: quoted names."""
        self.files = Files(dsn, tables)
        self._export(dsn, slot, temporary)

    def rewritten(self) -> set[str]:
        """The tables that have other files than before the snapshot was taken."""
        return self.files.other()

    def _export(self, dsn: str, slot: str, temporary: bool) -> None:
        self.conn = open_replication(dsn)
        try:
            self.system, self.timeline, _ = identify(self.conn, ANSWER)
            kind = "TEMPORARY " if temporary else ""
            lasting = ", FAILOVER" if not temporary and self.conn.server_version >= FAILOVER else ""
            text = f"CREATE_REPLICATION_SLOT \"{slot}\" {kind}LOGICAL pgoutput (SNAPSHOT 'export'{lasting})"
            result = command(self.conn, text, None, Waiting(dsn))
            if result.status != pq.ExecStatus.TUPLES_OK:
                detail = result.get_error_message()
                hint = (
                    "Drop a slot that is not used, or raise max_replication_slots."
                    if "all replication slots" in detail
                    else "Set wal_level = logical in postgresql.conf and restart Postgres."
                    if "wal_level" in detail
                    else ""
                )
                raise TidemarkError(
                    f'cannot create replication slot "{slot}"', detail=detail.strip(), hint=hint, code="slot_failed"
                )
        except BaseException:
            self.conn.finish()
            raise
        self.lsn = parse_lsn((result.get_value(0, 1) or b"0/0").decode())
        self.snapshot = (result.get_value(0, 2) or b"").decode()
        reach("snapshot.exported")

    def close(self) -> None:
        self.conn.finish()


@contextmanager
def in_snapshot(dsn: str, snapshot: str) -> Iterator[psycopg.Connection[Any]]:
    """A connection that sees what the exported snapshot does; its statements take the time they take."""
    with connect(dsn, autocommit=False, patience=None) as conn:
        conn.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        conn.execute(sql.SQL("SET TRANSACTION SNAPSHOT {}").format(sql.Literal(snapshot)))
        yield conn


class SharedSnapshot:
    """An ordinary snapshot that other connections can use, and which transactions it sees. It waits for nobody.

    `lsn`: every transaction that it sees has its commit record below. Those that it sees need not be the first ones
    of the commit order: a commit is in the WAL a moment before others see it.
    """

    def __init__(self, dsn: str, tables: Iterable[str]) -> None:
        """`tables`: quoted names. Nothing is seen before it is taken."""
        self.files = Files(dsn, tables)
        self.conn = connect(dsn, autocommit=False)
        self.take()

    def take(self) -> None:
        """Anew, as of now."""
        self.conn.rollback()
        self.conn.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        row = self.conn.execute("SELECT pg_export_snapshot(), pg_current_snapshot()::text").fetchone()
        assert row is not None
        self.snapshot = str(row[0])
        low, high, running = str(row[1]).split(":")
        self.low, self.high = int(low), int(high)
        self.running = {int(x) for x in running.split(",") if x}
        row = self.conn.execute("SELECT pg_current_wal_insert_lsn()").fetchone()
        assert row is not None
        self.lsn = parse_lsn(row[0])

    def sees(self, xid: int) -> bool:
        """Whether it sees the transaction, committed by now, of this 32-bit id."""
        full = self.high + ((xid - self.high + HALF) % (2 * HALF) - HALF)
        return full < self.high and full not in self.running

    def rewritten(self) -> set[str]:
        """The tables that have other files than before the snapshot was taken."""
        return self.files.other()

    def close(self) -> None:
        self.conn.close()


HALF = 1 << 31  # of the ids of transactions, which go round


def copy_table(
    dsn: str,
    snapshot: str,
    t: Table,
    progress: Callable[[int, int], None],
    unread: Collection[str] = (),
    part: Range | None = None,
) -> Generator[pa.Table, None, None]:
    """Arrow tables of text columns c0…, read in the exported snapshot; `progress(rows, bytes)` after each. The columns
    `unread` are NULL, whether they are there or not. Of a `part` those rows alone. Who stops before the end closes it:
    until then its transaction is open, and the table cannot be altered."""
    query = table_query(t, unread=unread) + (part.condition() if part is not None else sql.SQL(""))
    with in_snapshot(dsn, snapshot) as conn:
        yield from copy_query(conn, query, len(t.columns), progress)


def table_query(t: Table, columns: Sequence[Column] | None = None, unread: Collection[str] = ()) -> sql.Composed:
    wanted = t.columns if columns is None else columns
    cols = sql.SQL(", ").join(sql.SQL("NULL") if c.name in unread else sql.Identifier(c.now) for c in wanted)
    return sql.SQL("SELECT {} FROM {}").format(cols, sql.Identifier(*t.now))


def copy_query(
    conn: psycopg.Connection,
    query: sql.Composable,
    width: int,
    progress: Callable[[int, int], None] = lambda r, b: None,
) -> Iterator[pa.Table]:
    """A query's rows as text, in Postgres' own output format, NULL apart from the empty string."""
    statement = sql.SQL("COPY (\n{}\n) TO STDOUT (FORMAT csv, FORCE_QUOTE *)").format(query)
    names = [f"c{i}" for i in range(width)]
    buffer, size = io.BytesIO(), 0

    def flush() -> pa.Table:
        data = buffer.getvalue()
        t = pa_csv.read_csv(
            pa.BufferReader(data),
            pa_csv.ReadOptions(column_names=names, block_size=max(len(data) + 1, 1 << 20)),
            pa_csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False),
            pa_csv.ConvertOptions(
                column_types={n: pa.large_string() for n in names},
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
                null_values=[""],
            ),
        )
        progress(t.num_rows, len(data))
        reach("snapshot.chunk")
        return t

    with conn.cursor() as cur, cur.copy(statement) as copy:
        for block in copy:
            buffer.write(block)
            size += len(block)
            if size >= CHUNK:
                yield flush()
                buffer, size = io.BytesIO(), 0
    if size:
        yield flush()
