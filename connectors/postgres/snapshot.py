"""The first copy: tables read with COPY in the snapshot that the slot exported, several at once."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator

import psycopg
import pyarrow as pa
import pyarrow.csv as pa_csv
from psycopg import pq, sql

from compiler.catalog import Table
from compiler.errors import TidemarkError
from connectors.failpoints import reach
from connectors.postgres.connection import SourceUnreachable, connect, describe, parse_lsn, replication_dsn

CHUNK = 16 << 20


class ExportedSnapshot:
    """A slot and the snapshot it exported; the snapshot lives until this is closed. `lsn`: where the slot starts.

    TRUNCATE, and an ALTER TABLE that rewrites, show in snapshots taken before them: what was read of `rewritten` tables may be
    neither what they were then nor what they are now.
    """

    def __init__(self, dsn: str, slot: str, tables: Iterable[str], temporary: bool = False) -> None:
        """`tables`: quoted names."""
        self.dsn, self.tables = dsn, list(tables)
        self.files = self._files()
        self._export(dsn, slot, temporary)

    def rewritten(self) -> set[str]:
        """The tables that have other files than before the snapshot was taken."""
        now = self._files()
        return {t for t in self.tables if now.get(t) != self.files.get(t)}

    def _files(self) -> dict[str, list[int]]:
        """The files of each table and its partitions: another file means other rows, for every snapshot."""
        with connect(self.dsn) as c:
            return dict(c.execute(
                "WITH RECURSIVE t (n, oid) AS (SELECT n, to_regclass(n)::oid FROM unnest(%s::text[]) n "
                "UNION ALL SELECT t.n, i.inhrelid FROM pg_inherits i JOIN t ON i.inhparent = t.oid) "
                "SELECT n, array_agg(pg_relation_filenode(oid)::bigint ORDER BY oid) FROM t GROUP BY n", (self.tables,)).fetchall())

    def _export(self, dsn: str, slot: str, temporary: bool) -> None:
        self.conn = pq.PGconn.connect(replication_dsn(dsn))
        if self.conn.status != pq.ConnStatus.OK:
            raise SourceUnreachable(f"cannot open a replication connection to {describe(dsn)}", code="source_unreachable",
                                    detail=self.conn.get_error_message().strip(),
                                    hint="The user needs the REPLICATION attribute: ALTER ROLE … REPLICATION.")
        kind = "TEMPORARY " if temporary else ""
        result = self.conn.exec_(f'CREATE_REPLICATION_SLOT "{slot}" {kind}LOGICAL pgoutput (SNAPSHOT \'export\')'.encode())
        if result.status != pq.ExecStatus.TUPLES_OK:
            detail = result.get_error_message()
            self.conn.finish()
            hint = ("Drop a slot that is not used, or raise max_replication_slots." if "all replication slots" in detail
                    else "Set wal_level = logical in postgresql.conf and restart Postgres." if "wal_level" in detail else "")
            raise TidemarkError(f'cannot create replication slot "{slot}"', detail=detail.strip(), hint=hint,
                                code="slot_failed")
        self.lsn = parse_lsn((result.get_value(0, 1) or b"0/0").decode())
        self.snapshot = (result.get_value(0, 2) or b"").decode()
        reach("snapshot.exported")

    def close(self) -> None:
        self.conn.finish()


def copy_table(dsn: str, snapshot: str, t: Table, progress: Callable[[int, int], None]) -> Iterator[pa.Table]:
    """Arrow tables of text columns c0…, read in the exported snapshot; `progress(rows, bytes)` after each."""
    with connect(dsn, autocommit=False) as conn:
        conn.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        conn.execute(sql.SQL("SET TRANSACTION SNAPSHOT {}").format(sql.Literal(snapshot)))
        yield from copy_query(conn, table_query(t), len(t.columns), progress)


def table_query(t: Table) -> sql.Composed:
    cols = sql.SQL(", ").join(sql.Identifier(c.name) for c in t.columns)
    return sql.SQL("SELECT {} FROM {}").format(cols, sql.Identifier(t.schema, t.name))


def copy_query(conn: psycopg.Connection, query: sql.Composable, width: int,
               progress: Callable[[int, int], None] = lambda r, b: None) -> Iterator[pa.Table]:
    """A query's rows as text, in Postgres' own output format, NULL apart from the empty string."""
    statement = sql.SQL("COPY (\n{}\n) TO STDOUT (FORMAT csv, FORCE_QUOTE *)").format(query)
    names = [f"c{i}" for i in range(width)]
    buffer, size = io.BytesIO(), 0

    def flush() -> pa.Table:
        data = buffer.getvalue()
        t = pa_csv.read_csv(
            pa.BufferReader(data), pa_csv.ReadOptions(column_names=names, block_size=max(len(data) + 1, 1 << 20)),
            pa_csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False),
            pa_csv.ConvertOptions(column_types={n: pa.large_string() for n in names}, strings_can_be_null=True,
                                  quoted_strings_can_be_null=False, null_values=[""]))
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
