"""Rows that come, go or change without a change in the stream: tables that were rewritten, and partitions that were
attached, detached, dropped, rewritten, or truncated by their own names.

Postgres gives a table another file when it is rewritten or truncated, and notes in its catalog which transaction
altered a column last. A rewrite that computes values anew (`ALTER … TYPE … USING`) does both at once; VACUUM FULL and
TRUNCATE leave columns alone. Partitions have files of their own: of a new one the catalog tells whether it was made as
a partition, so that the stream has all its rows, or had rows before.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import pairwise

import psycopg

from compiler.catalog import Table
from connectors.changed import TableChanged, changed

FILES = """
WITH RECURSIVE tree (root, oid, link, made) AS (
  SELECT o, o, 0::bigint, true FROM unnest(%s::oid[]) o
  UNION ALL
  SELECT tree.root, i.inhrelid, i.xmin::text::bigint, i.xmin = t.xmin AND NOT EXISTS (
    SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND a.xmin = i.xmin
      AND a.cmin::text::bigint > t.cmin::text::bigint AND a.cmin::text::bigint <= i.cmin::text::bigint)
  FROM tree JOIN pg_inherits i ON i.inhparent = tree.oid JOIN pg_class c ON c.oid = i.inhrelid
  JOIN pg_type t ON t.oid = c.reltype)
SELECT tree.root::bigint AS root, c.oid::bigint,
  CASE WHEN c.relkind = 'r' THEN c.relfilenode::bigint ELSE 0 END AS file,
  c.xmin::text::bigint AS entry, link, made,
  CASE WHEN c.relkind = 'r' AND c.relpersistence <> 'p' THEN 'is unlogged'
       WHEN c.relkind NOT IN ('r', 'p') THEN 'is a foreign table'
       WHEN c.relkind = 'r' AND c.relreplident NOT IN (r.relreplident, 'f') THEN 'has another replica identity'
       ELSE '' END AS unsent
FROM tree JOIN pg_class c ON c.oid = tree.oid JOIN pg_class r ON r.oid = tree.root ORDER BY 1, 2
"""
UNTOLD = "Postgres does not send a TRUNCATE of one partition, and tells it from VACUUM FULL by nothing."
COLUMNS = """
SELECT attrelid::bigint, attname::text, xmin::text::bigint AS altered FROM pg_attribute
WHERE attrelid = ANY (%s::oid[]) AND attnum > 0 AND NOT attisdropped
"""


@dataclass
class Stored:
    """Where a table's rows are: by oid the file of each of its parts, the transaction that made its entry, the one that
    made it a part, and whether it was made as one; what is wrong with a part; and by name the transaction that altered
    each column last."""

    files: dict[int, int] = field(default_factory=dict)
    entries: dict[int, int] = field(default_factory=dict)
    links: dict[int, int] = field(default_factory=dict)
    made_as_part: set[int] = field(default_factory=set)
    unsent: str = ""
    columns: dict[str, int] = field(default_factory=dict)


def stored(conn: psycopg.Connection, oids: Iterable[int]) -> dict[int, Stored]:
    """By oid of the table."""
    wanted = list(oids)
    out: dict[int, Stored] = {}
    if not wanted:
        return out
    # one statement, that both are of one moment: an alteration between them would be seen in one, and noted in both
    both = f"SELECT (SELECT json_agg(f) FROM ({FILES}) f), (SELECT json_agg(c) FROM ({COLUMNS}) c)"
    ((files, columns),) = conn.execute(both, (wanted, wanted)).fetchall()
    for root, oid, file, entry, link, as_part, unsent in map(dict.values, files or []):
        s = out.setdefault(root, Stored())
        s.files[oid], s.entries[oid] = file, entry
        if oid != root:
            s.links[oid] = link
        if as_part:
            s.made_as_part.add(oid)
        s.unsent = s.unsent or unsent
    for root, name, altered in map(dict.values, columns or []):
        out.setdefault(root, Stored()).columns[name] = altered
    return out


def noted(t: Table, s: Stored) -> Table:
    """The table with where its rows are."""
    columns = tuple(replace(c, altered=s.columns.get(c.now, c.altered)) for c in t.columns)
    return replace(t, columns=columns, files=tuple(sorted(s.files.items())), links=tuple(sorted(s.links.items())))


def moved(conn: psycopg.Connection, tables: Iterable[Table]) -> tuple[list[TableChanged], list[Table]]:
    """Of tables as they were noted: those whose rows are others by now, and those to be noted anew. One of which an
    earlier version noted nothing is noted, and looked at from then on. Of one that was `emptied` the stream tells."""
    watched = [t for t in tables if t.oid]
    now = stored(conn, [t.oid for t in watched])
    found, anew = [], []
    for t in watched:
        if t.oid not in now:
            continue  # it is gone, which others tell
        if t.files and (other := _other_rows(t, now[t.oid])) is not None:
            found.append(other)
        elif t.files and _emptied_by(t, now[t.oid]):
            continue
        elif _notes(again := noted(t, now[t.oid])) != _notes(t):
            anew.append(again)
    return found, anew


def emptied(conn: psycopg.Connection, tables: Iterable[Table]) -> list[tuple[Table, int]]:
    """Of tables as they were noted: those all of whose parts were emptied by one transaction, to be noted anew, with
    its id. Postgres sends a TRUNCATE of the table, and none that names each of its parts."""
    some = [t for t in tables if t.oid and parted(t)]
    now = stored(conn, [t.oid for t in some])
    found = ((t, now[t.oid], _emptied_by(t, now[t.oid])) for t in some if t.oid in now)
    return [(noted(t, s), xid) for t, s, xid in found if xid]


def truncated_by_parts(t: Table) -> TableChanged:
    """What such a table is, once the stream is past that moment and told of no TRUNCATE."""
    return changed(t, f'each partition of "{t.schema}.{t.name}" was truncated or rewritten', UNTOLD)


def parted(t: Table) -> bool:
    """Whether it was noted as one that has partitions, or may have some."""
    return dict(t.files).get(t.oid, -1) == 0


def vanished(conn: psycopg.Connection, tables: list[Table], announced: list[int]) -> list[TableChanged]:
    """After the stream told these forms: the tables of which it had rows of a part that is there no longer.

    Before the first row of a part Postgres tells the form of the table, and then the part's own.
    """
    roots, others = {t.oid: t for t in tables if parted(t)}, {t.oid for t in tables}
    told = {(root, part) for root, part in pairwise(announced) if root in roots and part not in others}
    now = stored(conn, {root for root, _ in told})
    lost = {root for root, part in told if root in now and part not in now[root].files}
    why = "Postgres does not send its rows' leaving."
    return [
        changed(t, f'a partition of "{t.schema}.{t.name}" was made, and detached or dropped since', why)
        for oid, t in roots.items()
        if oid in lost
    ]


def _notes(t: Table) -> tuple[object, ...]:
    return t.files, t.links, tuple(c.altered for c in t.columns)


def _other_rows(t: Table, now: Stored) -> TableChanged | None:
    name, was, rewritten = f'"{t.schema}.{t.name}"', _files(t, now), _rewritten(t, now)
    altered = tuple(c.name for c in t.columns if c.altered and now.columns.get(c.now, c.altered) != c.altered)
    if rewritten and altered:
        return changed(
            t,
            f'column "{altered[0]}" of {name} was altered, and the table rewritten',
            "Its values may have been computed anew, which is not in the stream.",
            columns=altered,
        )
    if now.unsent:
        why = "Postgres does not send its changes, or not what they changed."
        return changed(t, f"a partition of {name} {now.unsent}", why)
    if any(now.links.get(oid, link) != link for oid, link in t.links):
        why = "Postgres does not send what was changed meanwhile."
        return changed(t, f"a partition of {name} was detached and attached again", why)
    if set(was) - {t.oid} - set(now.files):
        return changed(t, f"a partition of {name} was detached or dropped", "Postgres does not send its rows' leaving.")
    if set(now.files) - set(was):
        return changed(t, f"a partition with rows of its own was attached to {name}", "Postgres does not send them.")
    if parted(t) and rewritten and not _at_once(t, now):
        return changed(t, f"a partition of {name} was truncated or rewritten", UNTOLD)
    return None


def _files(t: Table, now: Stored) -> dict[int, int]:
    """As they were noted, with those that parts had that were made since: a table's first file is called as it is."""
    was = dict(t.files)
    return was | {oid: oid if now.files[oid] else 0 for oid in now.made_as_part - set(was)}


def _rewritten(t: Table, now: Stored) -> set[int]:
    return {oid for oid, file in _files(t, now).items() if now.files.get(oid, file) != file}


def _at_once(t: Table, now: Stored) -> int:
    """The transaction that gave all parts other files that were there before it; 0 where none did."""
    rewritten = _rewritten(t, now)
    by = {now.entries.get(oid, 0) for oid in rewritten}
    every = {oid for oid, file in t.files if file}
    return by.pop() if parted(t) and rewritten >= every and len(by) == 1 else 0


def _emptied_by(t: Table, now: Stored) -> int:
    """The same, where that was no change of a column: one that is not kept may be altered, and rewrites all."""
    xid = _at_once(t, now)
    return 0 if xid in now.columns.values() else xid
