"""Large mirrors that take their changes by an append: rows, and a tail with what has changed since it was folded.

A DELETE by key reads the keys of all rows (67 ms for 1,000 of 6 M), an append reads none. What a batch meets is found
by an index; who reads the mirror whole reads the view `base.<mirror>` of both.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable

import duckdb

from compiler.catalog import Table
from compiler.maintain.asked import SCHEMA as ASKED
from compiler.spelling.duckdb import type_name
from connectors.duckdb import frontier, landing, mirror
from connectors.duckdb.held import Held, Reads
from connectors.duckdb.landing import AT, Find, Make, Run, Work
from connectors.duckdb.mirror import batch, columns, on_key, q
from connectors.staging import Staged

_OTHERS = "* EXCLUDE (_present, _seq, _at)"  # the columns of a tail that are the mirror's
FOLD_ROWS, FOLD_SHARE = 20_000, 0.01  # a tail of so many rows, and of this share of all, is folded


class Tailed:
    """The mirrors of a file that have a tail. What they do is done in the caller's transaction."""

    def __init__(self, con: duckdb.DuckDBPyConnection, held: Held) -> None:
        self.con, self.held = con, held
        self.turns: dict[str, int] = {}  # of a tail, the last _seq that was given out, if only to what was rolled back
        found = con.execute("SELECT table_name, comment FROM duckdb_tables() WHERE schema_name = 'base'").fetchall()
        views = con.execute("SELECT view_name FROM duckdb_views() WHERE schema_name = 'base'").fetchall()
        tables = dict(found)
        self.keys: dict[str, list[str]] = {  # of each mirror that has a tail
            name: json.loads(tables[named(name, "tail")]) for (name,) in views if named(name, "tail") in tables
        }

    @property
    def mirrors(self) -> set[str]:
        return set(self.keys)

    @staticmethod
    def may(t: Table) -> bool:
        """Whether a row is told by its key at every moment. Keys that were asked for are found by the table's name."""
        return bool(t.key) and not t.deferrable and t.schema != ASKED

    def table(self, name: str) -> str:
        """The table with a mirror's rows."""
        return f"base.{q(self.name(name))}"

    def name(self, name: str) -> str:
        return named(name, "rows") if name in self.mirrors else name

    def tables(self, name: str) -> list[str]:
        """All tables of the mirror."""
        return [self.table(name), *([_tail(name)] if name in self.mirrors else [])]

    def rows(self, name: str) -> int:
        """How many wait in the tail."""
        row = self.con.execute(f"SELECT count(*) FROM {_tail(name)}").fetchone()
        return int(row[0]) if row else 0

    def begin(self, t: Table) -> None:
        """From now on it has a tail."""
        name, body = q(t.mirror), ", ".join(f"{q(c.name)} {type_name(c.type)}" for c in t.columns)
        rows = q(named(t.mirror, "rows"))
        for s in (
            f"ALTER TABLE base.{name} RENAME TO {rows}",
            f"CREATE TABLE {_tail(t.mirror)} ({body}, _present BOOLEAN, _seq BIGINT)",
            f"CREATE VIEW base.{name} AS SELECT {columns(t, 'b.')} FROM base.{rows} b ANTI JOIN {_tail(t.mirror)} n "
            f"ON {on_key(t.key, 'b', 'n')} UNION ALL {_latest(t.mirror, t.key, columns(t))}",
            f"COMMENT ON TABLE {_tail(t.mirror)} IS {_literal(json.dumps(t.key))}",
        ):
            self.con.execute(s)
        frontier.has(self.con, frontier.TAILS)

    def end(self, t: Table) -> None:
        """Its rows in one table again, without those that were deleted."""
        name, new = q(t.mirror), q(named(t.mirror, "new"))
        for s in (
            mirror.table(t, new),
            f"INSERT INTO base.{new} SELECT * FROM base.{name}",
            *_drop(t.mirror),
            f"ALTER TABLE base.{new} RENAME TO {name}",
        ):
            self.con.execute(s)

    def drop(self, name: str) -> None:
        """With what a process left that was killed in it."""
        if name in self.mirrors:
            self.con.execute(f"DROP VIEW base.{q(name)}")
        for what in ("rows", "tail", "new"):
            self.con.execute(f"DROP TABLE IF EXISTS base.{q(named(name, what))}")
        self.keys.pop(name, None)

    def land(self, s: Staged, source: str, needed: frozenset[str], find: Find | None) -> list[Work]:
        """As `landing.land`; `find` looks up old images, where it has the columns."""
        t, wanted = s.table, landing.wanted_of(s, needed)
        has = find is not None and wanted <= find.columns
        how = landing.land(s, source, needed, find if has else _BySql(self.held, t))
        if s.truncated:
            rows = f"INSERT INTO {self.table(t.mirror)} SELECT {columns(t)} FROM {batch(t)} WHERE _weight > 0"
            emptied = [Run(f"DELETE FROM {x}", Reads()) for x in (self.table(t.mirror), _tail(t.mirror))]
            return [*how.deltas, *emptied, Run(rows)]
        return [*how.deltas, lambda: self._append(s)]

    def _append(self, s: Staged) -> None:
        """The tail takes what has landed, as what came last."""
        tail = _tail(s.table.mirror)
        if tail not in self.turns:
            self.turns[tail] = self.con.execute(f"SELECT coalesce(max(_seq), 0) FROM {tail}").fetchall()[0][0]
        self.turns[tail] += 1
        with self.held.number("turn", self.turns[tail]) as (seq, turn):
            rows, reads = _changed(s, seq)
            self.held.insert(tail, rows, Reads((*reads, *turn), True))

    def fold(self, name: str) -> tuple[int, int]:
        """The rows take what waits in the tail; gives how many rows were deleted, and how many there are."""
        rows, key = self.table(name), tuple(self.keys[name])
        gone = self.con.execute(
            f"DELETE FROM {rows} AS b USING (SELECT DISTINCT {', '.join(map(q, key))} FROM {_tail(name)}) AS n "
            f"WHERE {on_key(key, 'b', 'n')}"
        ).fetchall()
        self.con.execute(f"INSERT INTO {rows} {_latest(name, key, _OTHERS)}")
        self.con.execute(f"DELETE FROM {_tail(name)}")
        left = self.con.execute(f"SELECT count(*) FROM {rows}").fetchall()
        return int(gone[0][0]), int(left[0][0])


class _BySql:
    """Old images from the mirror as it is read whole."""

    def __init__(self, held: Held, t: Table) -> None:
        self.held, self.table, self.columns = held, t, frozenset(c.name for c in t.columns)

    def images(self, key: tuple[str, ...], make: Callable[[str], Make], gone: str) -> None:
        on = " AND ".join(f"m.{q(k)} = l._key_{i}" for i, k in enumerate(key))
        name = q(self.table.mirror)
        made = make(f"(SELECT *, NULL::BIGINT AS {AT} FROM base.{name} m SEMI JOIN latest l ON {on})")
        self.held.make(made.name, made.query, made.reads)

    def nothing_left(self) -> None: ...

    def check(self, said: int | None) -> None: ...

    def delete(self, statement: str) -> None:
        raise AssertionError("rows leave by the tail")


def named(name: str, what: str) -> str:
    """A name that no mirror and no state has: theirs are of at most 63 bytes, or have two underscores in a row
    (`mirror_name`)."""
    short = name.replace("__", "_")[:40].rstrip("_")
    return f"{short} {what} {hashlib.sha256(name.encode()).hexdigest()}"


def _tail(name: str) -> str:
    return f"base.{q(named(name, 'tail'))}"


def _drop(name: str) -> list[str]:
    return [
        f"DROP VIEW base.{q(name)}",
        f"DROP TABLE base.{q(named(name, 'rows'))}",
        f"DROP TABLE {_tail(name)}",
    ]


def _latest(name: str, key: tuple[str, ...], cols: str) -> str:
    """The rows that the tail has now."""
    return (
        f"SELECT {cols} FROM (SELECT *, row_number() OVER (PARTITION BY {', '.join(map(q, key))} ORDER BY _seq DESC) "
        f"AS _at FROM {_tail(name)}) WHERE _at = 1 AND _present"
    )


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _changed(s: Staged, seq: str) -> tuple[str, tuple[str, ...]]:
    """For each key of the batch its row, or that there is none; with the temp tables that have them."""
    t, rows = s.table, batch(s.table)
    if s.inserts_only:
        return f"SELECT {columns(t)}, true, {seq} FROM {rows}", (rows,)
    by_key = s.keyed and not s.unchanged
    if by_key and t.identity_key == t.key:
        at = {k: i for i, k in enumerate(t.key)}
        cols = ", ".join(
            f"CASE WHEN _present THEN {q(c.name)} ELSE _key_{at[c.name]} END" if c.name in at else q(c.name)
            for c in t.columns
        )
        return f"SELECT {cols}, _present, {seq} FROM latest", ("latest",)
    new = "latest WHERE _present" if by_key else f"{rows} WHERE _weight > 0"
    gone = ", ".join(q(c.name) if c.name in t.key else f"NULL::{type_name(c.type)}" for c in t.columns)
    return (
        f"SELECT {columns(t)}, true, {seq} FROM {new} UNION ALL SELECT {gone}, false, {seq} FROM "
        f"(SELECT DISTINCT {', '.join(map(q, t.key))} FROM {rows} WHERE _weight < 0) o "
        f"ANTI JOIN (SELECT * FROM {new}) n ON {on_key(t.key, 'o', 'n')}",
        (rows, "latest") if by_key else (rows,),
    )
