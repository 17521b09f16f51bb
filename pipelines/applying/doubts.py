"""Partitioned tables of which every partition was emptied at once: by a TRUNCATE of the table, which the stream has, or
by one that names its partitions, which it has not.

Such a table is in doubt until the stream has told of the TRUNCATE, or is past the moment at which the catalog was seen.
"""

from __future__ import annotations

from collections.abc import Mapping

import psycopg

from compiler.catalog import Table
from connectors.changed import TableChanged
from connectors.postgres.connection import connect, parse_lsn
from connectors.postgres.files import emptied, parted, truncated_by_parts
from pipelines.applying.batch import SOME, Batch
from pipelines.applying.unaltered import note
from pipelines.refused import qualified, watched
from pipelines.warehouse import Warehouse


def in_doubt(conn: psycopg.Connection, tables: list[Table]) -> dict[str, int]:
    """By qualified name, the LSN before which they were emptied."""
    if not (found := emptied(conn, tables)):
        return {}
    ((lsn,),) = conn.execute("SELECT pg_current_wal_insert_lsn()::text").fetchall()
    return {qualified(t): parse_lsn(lsn) for t, _ in found}


class Doubts:
    """Of a warehouse whose stream is read; on the loop's thread."""

    def __init__(self, warehouse: Warehouse) -> None:
        self.warehouse, self.dsn = warehouse, warehouse.config.source.dsn
        self.until: dict[str, int] = {}  # LSN by qualified name
        self.truncated: dict[str, int] = {}  # by the same, the last transaction that the stream said to truncate it

    def look(self) -> None:
        """Before anything is read of a stream."""
        tables = watched(self.warehouse.deployment)
        if any(map(parted, tables)):
            with connect(self.dsn) as conn:
                self.found(in_doubt(conn, tables))

    def found(self, doubts: Mapping[str, int]) -> None:
        """Somebody has looked. What was in doubt before stays so no longer than it was to."""
        self.until = {**doubts, **self.until}

    def told(self, batch: Batch) -> None:
        """The stream tells of TRUNCATEs: where rows are by now is noted with the deployment, if it is so by these."""
        d = self.warehouse.deployment
        by = {qualified(t): xid for t in d.catalog if (xid := batch.truncated_by(t)) and parted(t)}
        if not by:
            return
        self.truncated |= by
        self._settled([t for t in watched(d) if qualified(t) in by])
        self.truncated = {name: xid for name, xid in self.truncated.items() if xid != SOME}  # it tells of no later one

    def unsent(self, reached: int) -> list[TableChanged]:
        """The tables of which the stream, read up to an LSN, has told nothing, and the catalog still does."""
        due = {name for name, lsn in self.until.items() if lsn <= reached}
        if not due:
            return []
        tables = [t for t in watched(self.warehouse.deployment) if qualified(t) in due]
        still = self._settled(tables)
        self.until = {name: lsn for name, lsn in self.until.items() if name not in due}
        return [truncated_by_parts(t) for t in tables if qualified(t) in still]

    def _settled(self, tables: list[Table]) -> set[str]:
        """The tables that are emptied by what the stream has not told; what it has is noted."""
        with connect(self.dsn) as conn:
            found = emptied(conn, tables)
        known = [t for t, xid in found if self.truncated.get(qualified(t)) in (xid, SOME)]
        if known:
            note(self.warehouse.deployment, known)
            self.warehouse.keep_notes()
        for t in known:
            self.until.pop(qualified(t), None)
        return {qualified(t) for t, _ in found} - set(map(qualified, known))
