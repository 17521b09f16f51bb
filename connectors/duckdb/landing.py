"""Landing staged changes: the batch's rows as deltas in the temp table `batch_<table>`, and the mirror that takes them.

Old images are looked up by key, together with their row identifiers, so that finding the rows to take away is one scan.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from compiler.catalog import Column, Table
from compiler.spelling.duckdb import type_name
from connectors.duckdb.held import Reads
from connectors.duckdb.mirror import batch, columns, grouping, of_several_forms, on_key, q, same_row
from connectors.duckdb.text import from_text
from connectors.staging import Staged

EVENTS = "WITH events AS MATERIALIZED (SELECT * FROM {})"  # read twice, and Arrow cannot filter string views


class Find(Protocol):
    """An index of a mirror, as landing uses it. What it found is checked by what is deleted."""

    @property
    def columns(self) -> frozenset[str]:
        """The columns that it knows."""
        ...

    def images(self, key: tuple[str, ...], make: Callable[[str], Make], gone: str) -> None:
        """Look up the rows with the keys of the temp table `latest` (_key_0, …), and make what `make` gives for what
        SQL reads them from. Then the table `gone` has them, with weights below 0 and their places as
        _row."""
        ...

    def nothing_left(self) -> None:
        """No row leaves by what landed."""
        ...

    def check(self, said: int | None) -> None:
        """Whether as many rows were found as the source has changed, `said` where that was counted; raises
        EngineFailure where they are not all that the mirror has."""
        ...

    def delete(self, statement: str) -> None:
        """Delete from the mirror by keys; raises EngineFailure where these are other rows than those found."""
        ...


AT = "_at"  # of a row that was found: where the index has it
SPELLED = ("numeric", "float4", "float8", "array", "interval", "bpchar")  # equal values may be written differently


@dataclass(frozen=True)
class Make:
    """A temp table to be made of the rows of a query; `reads` where that is known."""

    name: str
    query: str
    reads: Reads | None = None

    @property
    def sql(self) -> str:
        return f"CREATE OR REPLACE TEMP TABLE {self.name} AS {self.query}"


@dataclass(frozen=True)
class Run:
    """SQL that changes something; `reads` where that is known."""

    sql: str
    reads: Reads | None = None


@dataclass(frozen=True)
class Insert:
    """Rows of a query that a table takes; `reads` where that is known."""

    into: str
    query: str
    reads: Reads | None = None


Work = Make | Run | Insert | Callable[[], None]


@dataclass(frozen=True)
class Landing:
    """What lands staged rows: `deltas` makes the batch's rows, and then the mirror takes them by `taking`."""

    deltas: list[Work]
    taking: list[Work]


def land(s: Staged, source: str, needed: frozenset[str], find: Find | None = None) -> Landing:
    """What lands staged rows, registered as `source`. Columns that are not `needed` may be NULL in the batch. `find`
    looks up old images instead of a scan of the mirror."""
    if s.truncated:
        return _after_truncation(s, source)
    if s.inserts_only:
        weight = "1::BIGINT AS _weight"
        rows = Make(batch(s.table), f"SELECT {values(s.table)}, {weight} FROM {source}", Reads((source,), True))
        done: list[Work] = [find.nothing_left] if find is not None else []
        return Landing([rows, *done], [_add(s.table) if s.table.key or s.keyed else _merge(s.table)])
    if s.keyed:
        return _keyed(s, source, needed, find)
    return _with_old_images(s, source) if s.table.key else Landing([_netted(s, source)], [_merge(s.table)])


def values(t: Table, prefix: str = "") -> str:
    return ", ".join(f"{from_text(f'{prefix}c{i}', c.type)} AS {q(c.name)}" for i, c in enumerate(t.columns))


def _add(t: Table) -> Insert:
    """The mirror takes the batch's new rows."""
    cols = columns(t) if t.key else f"{columns(t)}, _weight"
    rows = f"SELECT {cols} FROM {batch(t)} WHERE _weight > 0"
    return Insert(f"base.{q(t.mirror)}", rows, Reads((batch(t),), True))


def _netted(s: Staged, source: str) -> Make:
    """What a row was between two changes of the batch is gone."""
    return Make(batch(s.table), _added_up(s.table, source, "<> 0"), Reads((source,), True))


def _added_up(t: Table, source: str, left: str) -> str:
    """Staged rows added up that are written alike, of which so many are left."""
    text = ", ".join(f"c{i}" for i in range(len(t.columns)))
    apart = "".join(f", CAST(c{i} AS VARCHAR)" for i, c in enumerate(t.columns) if of_several_forms(c.type))
    return (
        f"SELECT {values(t)}, _weight FROM (SELECT {text}, sum(_weight)::BIGINT AS _weight FROM {source} "
        f"GROUP BY {text}{apart} HAVING sum(_weight) {left})"
    )


def _merge(t: Table) -> Run:
    """For a table without a key: the mirror's weights take the batch's."""
    names = [q(c.name) for c in t.columns]
    return Run(
        f"MERGE INTO base.{q(t.mirror)} AS b USING (SELECT {columns(t)}, sum(_weight)::BIGINT AS _weight FROM "
        f"{batch(t)} "
        f"GROUP BY {grouping(t)}) AS n ON {same_row(t, 'b', 'n')} "
        "WHEN MATCHED AND b._weight + n._weight = 0 THEN DELETE "
        "WHEN MATCHED THEN UPDATE SET _weight = b._weight + n._weight "
        f"WHEN NOT MATCHED THEN INSERT ({', '.join(names)}, _weight) VALUES ({', '.join(f'n.{n}' for n in names)}, "
        f"n._weight)"
    )


def _with_old_images(s: Staged, source: str) -> Landing:
    """Each change brings its old image: of several changes to one key, the first old image and the last new one
    count, or, where two rows may have the key for a while, what is left when they are added up."""
    t, name = s.table, q(s.table.mirror)
    key = ", ".join(q(k) for k in t.key)
    events = (
        f"SELECT *, row_number() OVER (PARTITION BY {key} ORDER BY _seq, _weight) AS _at, count(*) OVER (PARTITION BY "
        f"{key}) AS _of "
        f"FROM (SELECT {values(t)}, _weight, _seq FROM {source})"
    )
    ends = (
        f"SELECT {columns(t)}, _weight::BIGINT AS _weight FROM ({events}) "
        "WHERE (_weight < 0 AND _at = 1) OR (_weight > 0 AND _at = _of)"
    )
    rows = _netted(s, source) if t.deferrable else Make(batch(t), ends, Reads((source,), True))
    gone = f"(SELECT * FROM {batch(t)} WHERE _weight < 0)"
    delete = Run(f"DELETE FROM base.{name} AS b USING {gone} AS n WHERE {on_key(t.key, 'b', 'n')}")
    return Landing([rows], [delete, _add(t)])


def _after_truncation(s: Staged, source: str) -> Landing:
    """Every row of the mirror goes; what came after the TRUNCATE is all there is."""
    t, name = s.table, q(s.table.mirror)
    gone = f"SELECT {columns(t)}, {'-1::BIGINT' if t.key else '-_weight'} AS _weight FROM base.{name}"
    if s.keyed:
        new = f"SELECT {values(t)}, 1::BIGINT AS _weight FROM events WHERE _present AND {last(s)}"
    else:
        new = _added_up(t, "events", "> 0")
    rows = Make(batch(t), f"{EVENTS.format(source)} {gone} UNION ALL {new}")
    return Landing([rows], [Run(f"DELETE FROM base.{name}"), _add(t)])


def wanted_of(s: Staged, needed: frozenset[str]) -> frozenset[str]:
    """Columns of the old images of keyed rows: the needed ones, keys, and those of which the value was not sent."""
    return needed | {*s.table.key, *s.table.identity_key} | {s.table.columns[i].name for i in s.unchanged}


def _keyed(s: Staged, source: str, needed: frozenset[str], find: Find | None) -> Landing:
    t = s.table
    name = q(t.mirror)
    key = [next(c for c in t.columns if c.name == k) for k in t.identity_key]
    once = _once(s)
    wanted = wanted_of(s, needed)
    by_index = find if find is not None and wanted <= find.columns else None
    images, weight = _only(t, wanted, "m."), "1" if t.key else "m._weight"
    row = f"m.{AT}" if by_index is not None else "m.rowid"
    new = _filled(s, key) if s.unchanged else f"SELECT {_only(t, wanted)}, 1 FROM latest WHERE _present"

    def old(where: str) -> str:
        on = _on(key, "m", "k", "_key")
        return f"SELECT {images}, -{weight}::BIGINT AS _weight, {row} AS _row FROM {where} m JOIN latest k ON {on}"

    def all_at_once(where: str) -> Make:
        return Make(batch(t), f"{old(where)} UNION ALL SELECT *, NULL FROM ({new})")

    then = Make(batch(t), f"SELECT {columns(t)}, _weight FROM old UNION ALL {new}", Reads(("old", "latest"), True))
    delete: Work = Run(f"DELETE FROM base.{name} WHERE rowid IN (SELECT _row FROM old)")
    if by_index is None:
        both: list[Work] = [Make("old", old(f"base.{name}")), then]
    else:
        by_key = f"DELETE FROM base.{name} AS b USING latest AS k WHERE {_on(key, 'b', 'k', '_key')}"
        delete = partial(by_index.delete, by_key)
        check = partial(by_index.check, _met(s) if once else None)
        if s.unchanged:  # values that were not sent are those of the old images
            both = [partial(by_index.images, t.identity_key, lambda where: Make("old", old(where)), "old"), check, then]
        else:
            both = [partial(by_index.images, t.identity_key, all_at_once, batch(t)), check]
    add = _add(t)
    if not s.unchanged:
        rows = f"SELECT {columns(t)}{'' if t.key else ', 1'} FROM latest WHERE _present"
        add = Insert(f"base.{name}", rows, Reads(("latest",), True))
    latest = Make("latest", _last_events(s, source, key, once), Reads((source,), True))
    return Landing([latest, *both], [delete, add])


def _last_events(s: Staged, source: str, key: list[Column], once: bool) -> str:
    """Of each key (_key_0, …) its row after the batch, whether it has one, and whether it had one before."""
    t = s.table
    kept = "".join(f", u{i} AS _u{i}" for i in s.unchanged)
    origin = "".join(f", {from_text(f'f{i}', c.type)} AS _from_{i}" for i, c in enumerate(key)) if s.unchanged else ""
    keys = ", ".join(f"{from_text(f'k{i}', c.type)} AS _key_{i}" for i, c in enumerate(key))
    if once:
        return f"SELECT {keys}, {values(t)}, _present, _met AS _key_was{kept}{origin} FROM {source}"
    ends = f"SELECT max(_seq) AS _last, arg_min(_met, _seq) AS _key_was FROM events GROUP BY {_by_key(s)}"
    return (
        f"{EVENTS.format(source)} SELECT {keys}, {values(t)}, _present, _key_was{kept}{origin} FROM events "
        f"JOIN ({ends}) ON _seq = _last"
    )


def _once(s: Staged) -> bool:
    """Whether each event is surely on a key of its own."""
    types = {c.name: c.type for c in s.table.columns}
    if any(types[k].name in SPELLED for k in s.table.identity_key):
        return False
    first, *others = (
        s.rows[f"k{i}"].cast(pa.large_string()).combine_chunks().dictionary_encode()
        for i in range(len(s.table.identity_key))
    )
    place, keys = first.indices.to_numpy().astype(np.int64), len(first.dictionary)
    for column in others:
        place = place * len(column.dictionary) + column.indices.to_numpy()  # no more than the square of the rows
        found, place = np.unique(place, return_inverse=True)
        keys = len(found)
    return bool(keys == s.rows.num_rows)


def _met(s: Staged) -> int:
    """How many of the keys had a row before, where each has one event."""
    return int(pc.sum(s.rows["_met"]).as_py() or 0)


def _only(t: Table, wanted: frozenset[str], prefix: str = "") -> str:
    """The columns somebody reads; the others are there, as NULL."""
    return ", ".join(
        f"{prefix}{q(c.name)}" if c.name in wanted else f"NULL::{type_name(c.type)} AS {q(c.name)}" for c in t.columns
    )


def _on(key: list[Column], table: str, events: str, prefix: str) -> str:
    return " AND ".join(f"{table}.{q(c.name)} = {events}.{prefix}_{i}" for i, c in enumerate(key))


def _filled(s: Staged, key: list[Column]) -> str:
    """Rows as they are after the batch; values that were not sent are the old image's."""
    t = s.table
    cols = ", ".join(
        f"CASE WHEN l._u{i} THEN o.{q(c.name)} ELSE l.{q(c.name)} END AS {q(c.name)}"
        if i in s.unchanged
        else f"l.{q(c.name)}"
        for i, c in enumerate(t.columns)
    )
    return f"SELECT {cols}, 1 FROM latest l LEFT JOIN old o ON {_on(key, 'o', 'l', '_from')} WHERE l._present"


def last(s: Staged) -> str:
    """Of several events on one key, the last: a condition on positions, found from the keys alone."""
    return f"_seq IN (SELECT max(_seq) FROM events GROUP BY {_by_key(s)})"


def _by_key(s: Staged) -> str:
    """What events on one key are one by."""
    types = {c.name: c.type for c in s.table.columns}
    return ", ".join(
        from_text(f"k{i}", types[k]) if types[k].name in SPELLED else f"k{i}"
        for i, k in enumerate(s.table.identity_key)
    )
