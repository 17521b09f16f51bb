"""Parts of tables that are copied by themselves: ranges of pages, so that several are read at once, and those that were
read need not be again."""

from __future__ import annotations

from dataclasses import dataclass

import psycopg
from psycopg import sql

from compiler.catalog import Table

PAGES = 16_384  # of a range: 128 MB
FIRST_VERSION = 140000  # reads a range of ctids without reading the table

SIZES = """
SELECT c.relkind = 'r', pg_relation_size(c.oid) / current_setting('block_size')::int,
  coalesce(pg_relation_size(nullif(c.reltoastrelid, 0)), 0) > 0
FROM pg_class c WHERE c.oid = %s::regclass
"""


@dataclass(frozen=True)
class Range:
    """Pages of a table, from `low` on and below `high`; without these the whole of it. `number` names it."""

    number: int
    low: int = 0
    high: int | None = None

    def condition(self) -> sql.Composable:
        if self.high is None and not self.low:
            return sql.SQL("")
        text = f" WHERE ctid >= '({self.low},0)'"
        return sql.SQL(text + (f" AND ctid < '({self.high},0)'" if self.high is not None else ""))


def counted(conn: psycopg.Connection, t: Table, at_once: bool = False) -> int:
    """How many ranges a table has: one where it is partitioned or, unless all are read `at_once`, has values out of
    line, which the stream does not always send, so that rows may be put together only with what was read at the same
    time."""
    row = conn.execute(SIZES, (t.quoted,)).fetchone()
    if row is None or not row[0] or (row[2] and not at_once) or conn.info.server_version < FIRST_VERSION:
        return 1
    return max(1, -(-int(row[1]) // PAGES))


def ranges(n: int) -> list[Range]:
    """The last one has no end."""
    return [Range(i, i * PAGES, (i + 1) * PAGES if i + 1 < n else None) for i in range(n)]
