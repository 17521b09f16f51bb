"""Decoded changes to staged rows: text columns with a position, ready for an engine to cast and land.

Tables with REPLICA IDENTITY FULL bring their old images: every change becomes −old, +new. For the others a change
becomes events on keys: key K now has this row, or none; old images are looked up in the mirror when landing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from compiler.catalog import Table
from connectors.changed import as_deployed, changed, check_columns, check_identity, replaced
from connectors.postgres.pgoutput import Changes, Decoded, Op, RelationMessage, Tuples

PRESENT, SEQ, LSN, SIGN, MET = "_present", "_seq", "_lsn", "_weight", "_met"


@dataclass
class Staged:
    """Changes of one table. `rows` holds text columns c0…, and k0… (event keys) when `keyed`.

    `unchanged` names the columns whose value is the mirror's, where `u<i>` is true; f0… is the key to take it from.
    Of an event on a key `_met` says whether a row had it before.
    `inserts_only`: no key can be in the mirror yet. `truncated`: every row of the mirror goes first, as of the
    transaction that commits at `truncated_at`.
    """

    table: Table
    rows: pa.Table
    keyed: bool
    truncated: bool
    inserts_only: bool
    unchanged: tuple[int, ...] = ()
    truncated_at: int = 0


def stage(
    tables: dict[tuple[str, str], Table],
    decoded: Decoded,
    relations: dict[int, RelationMessage],
    after: int,
    refused: Mapping[str, Collection[str]] | None = None,
    places: Callable[[RelationMessage], tuple[int, ...]] = lambda r: (),
) -> list[Staged]:
    """Staged rows per table, for transactions that commit at or after LSN `after`.

    `places` gives the numbers of a form's columns. `refused` names columns that are not kept, by schema-qualified
    table: they are NULL, whatever the stream has there. Raises TableChanged where it does not have the others as they
    were deployed.
    """
    out = []
    oids = set(decoded.changes) | set(decoded.truncated)
    for oid in sorted(oids, key=lambda o: (relations[o].schema, relations[o].name)):
        r = relations[oid]
        table = next((t for t in tables.values() if t.oid == oid), None) or tables.get((r.schema, r.name))
        if table is None:
            continue
        if table.oid not in (0, oid) and table.called:
            continue  # another table has the name that it had
        if table.oid not in (0, oid) or (r.schema, r.name) not in table.names:
            error = replaced(table)
            error.told_by_name = table.oid in (0, oid)
            error.between = (r.schema, r.name) if table.oid == oid else ()
            raise error
        changes = [c for c in map(lambda c: _from(c, after), decoded.changes.get(oid, [])) if len(c.lsn)]
        cut = decoded.truncated.get(oid)
        if cut is not None and cut[1] < after:
            cut = None
        if cut is not None:
            changes = [c for c in (_later(c, cut[0]) for c in changes) if len(c.lsn)]
        if not changes and cut is None:
            continue
        without = frozenset((refused or {}).get(f"{table.schema}.{table.name}", ()))
        forms = [as_deployed(table, f, places(f), without) for f in (c.relation or r for c in changes)]
        arranged = [_arranged(c, _order(table, form, without)) for c, form in zip(changes, forms, strict=True)]
        whole = _has_old_images(table, changes)
        if not whole:
            check_identity(table, forms)
        staged = (_full if whole else _keyed)(table, arranged, cut is not None)
        out.append(staged if cut is None else replace(staged, truncated_at=cut[1]))
    return out


def _has_old_images(table: Table, changes: list[Changes]) -> bool:
    """Whether every change brings its old image; a table without a key needs them."""
    if table.identity != "full":
        return False
    whole = all(c.op is Op.INSERT or (c.old is not None and not c.old_is_key) for c in changes)
    if not whole and not table.key:
        raise changed(
            table,
            f'the replica identity of "{table.schema}.{table.name}" is no longer FULL',
            "It has no key, so its changes cannot be followed without old images.",
            f'ALTER TABLE {table.schema}."{table.name}" REPLICA IDENTITY FULL, then: tidemark deploy',
        )
    return whole


def _order(table: Table, r: RelationMessage, without: frozenset[str]) -> list[int | None]:
    """For each column of the mirror, its place in the stream's tuples; None for one that is not kept."""
    check_columns(table, r, without)
    return [None if c.name in without else r.columns.index(c.name) for c in table.columns]


def _arranged(c: Changes, order: list[int | None]) -> Changes:
    """The changes with their columns in the mirror's order."""
    nothing = pa.nulls(len(c.seq), pa.string_view()) if None in order else None

    def placed(t: Tuples | None) -> Tuples | None:
        if t is None:
            return None
        return Tuples(
            [nothing if i is None else t.columns[i] for i in order],
            [None if i is None else t.unchanged[i] for i in order],
        )

    return replace(c, new=placed(c.new), old=placed(c.old))


def _mask(c: Changes, keep: np.ndarray) -> Changes:
    if keep.all():
        return c

    def cut(t: Tuples | None) -> Tuples | None:
        if t is None:
            return None
        m = pa.array(keep)
        return Tuples(
            [a.cast(pa.large_string()).filter(m).cast(pa.string_view()) for a in t.columns],
            [u[keep] if u is not None else None for u in t.unchanged],
        )

    return Changes(c.op, c.lsn[keep], c.seq[keep], cut(c.new), cut(c.old), c.old_is_key, c.relation)


def _from(c: Changes, after: int) -> Changes:
    return _mask(c, c.lsn >= after)


def _later(c: Changes, seq: int) -> Changes:
    return _mask(c, c.seq > seq)


def _table(cols: dict[str, list[pa.Array]]) -> pa.Table:
    return pa.table({k: pa.chunked_array(v) for k, v in cols.items()})


def _full(table: Table, changes: list[Changes], truncated: bool) -> Staged:
    n = len(table.columns)
    cols: dict[str, list[pa.Array]] = {k: [] for k in (SEQ, LSN, SIGN, *(f"c{i}" for i in range(n)))}

    def add(c: Changes, t: Tuples, sign: int, other: Tuples | None) -> None:
        cols[SEQ].append(pa.array(c.seq))
        cols[LSN].append(pa.array(c.lsn))
        cols[SIGN].append(pa.array(np.full(len(c.seq), sign, dtype=np.int32)))
        for i, (a, u) in enumerate(zip(t.columns, t.unchanged, strict=True)):
            cols[f"c{i}"].append(_filled(a, u, other.columns[i]) if u is not None and other is not None else a)

    for c in changes:
        if c.old is not None:
            add(c, c.old, -1, None)
        if c.new is not None:
            add(c, c.new, 1, c.old)
    if not cols[SEQ]:
        return Staged(table, _empty(cols, (SEQ, LSN), (SIGN,)), False, truncated, False)
    return Staged(table, _table(cols), False, truncated, all(c.op is Op.INSERT for c in changes))


def _empty(cols: dict[str, list[pa.Array]], ints: tuple[str, ...], small: tuple[str, ...]) -> pa.Table:
    kinds = {
        k: pa.int64()
        if k in ints
        else pa.int32()
        if k in small
        else pa.bool_()
        if k in (PRESENT, MET)
        else pa.string_view()
        for k in cols
    }
    return pa.table({k: pa.array([], type=t) for k, t in kinds.items()})


def _keyed(table: Table, changes: list[Changes], truncated: bool) -> Staged:
    n = len(table.columns)
    names = [c.name for c in table.columns]
    key = [names.index(k) for k in table.identity_key]
    cols: dict[str, list[pa.Array]] = {
        k: [] for k in (SEQ, LSN, PRESENT, MET, *(f"k{i}" for i in range(len(key))), *(f"c{i}" for i in range(n)))
    }

    def add(c: Changes, keys: Tuples, values: Tuples | None) -> None:
        m = len(c.seq)
        cols[MET].append(pa.array(np.full(m, values is None or (c.op is Op.UPDATE and c.old is None))))
        cols[SEQ].append(pa.array(c.seq * 2 + (1 if values is not None else 0)))
        cols[LSN].append(pa.array(c.lsn))
        cols[PRESENT].append(pa.array(np.full(m, values is not None)))
        for i, k in enumerate(key):
            cols[f"k{i}"].append(keys.columns[k])
        for i in range(n):
            cols[f"c{i}"].append(values.columns[i] if values is not None else pa.nulls(m, pa.string_view()))

    has_unchanged: set[int] = set()
    changes = [_with_key(c, key) for c in changes]
    for c in changes:
        if c.old is not None:
            add(c, c.old, None)
        if c.new is not None:
            add(c, c.new, c.new)
            has_unchanged |= {i for i, u in enumerate(c.new.unchanged) if u is not None}
    if not cols[SEQ]:
        return Staged(table, _empty(cols, (SEQ, LSN), ()), True, truncated, False)
    rows = _table(cols)
    inserts = all(c.op is Op.INSERT for c in changes)
    if has_unchanged:
        rows = _resolve_unchanged(rows, changes, key, sorted(has_unchanged))
    return Staged(table, rows, True, truncated, inserts, tuple(sorted(has_unchanged)))


def _with_key(c: Changes, key: list[int]) -> Changes:
    """A key kept out of line that does not change is sent with the old image alone: the new one takes it from there."""
    if c.new is None or c.old is None or all(c.new.unchanged[j] is None for j in key):
        return c
    columns, unchanged = list(c.new.columns), list(c.new.unchanged)
    for j in key:
        if unchanged[j] is not None:
            columns[j] = _filled(columns[j], unchanged[j], c.old.columns[j])
            unchanged[j] = None
    return replace(c, new=Tuples(columns, unchanged))


def _filled(new: pa.Array, unchanged: np.ndarray | None, old: pa.Array) -> pa.Array:
    """New values, and the old ones where they are unchanged."""
    text = pa.large_string()
    return pc.if_else(pa.array(unchanged), old.cast(text), new.cast(text)).cast(pa.string_view())


def _resolve_unchanged(rows: pa.Table, changes: list[Changes], key: list[int], cols: list[int]) -> pa.Table:
    """TOAST values that were not sent come from an earlier change of the batch to the same row, or from the mirror.

    Walks the batch's events by key; only batches with such values pay for it.
    """
    flags: dict[int, list[np.ndarray]] = {i: [] for i in cols}
    for c in changes:
        if c.old is not None:
            for i in cols:
                flags[i].append(np.zeros(len(c.seq), dtype=bool))
        if c.new is not None:
            for i in cols:
                u = c.new.unchanged[i]
                flags[i].append(u if u is not None else np.zeros(len(c.seq), dtype=bool))
    unchanged = {i: np.concatenate(flags[i]) for i in cols}
    seq = rows[SEQ].to_numpy()
    keys = list(zip(*(rows[f"k{i}"].cast(pa.large_string()).to_pylist() for i in range(len(key))), strict=True))
    present = rows[PRESENT].to_numpy()
    by_seq = np.argsort(seq, kind="stable")
    removed: dict[int, tuple[str, ...]] = {}  # change → key its old image had
    latest: dict[tuple[str, ...], int] = {}  # key → row with its latest image in this batch
    source = {i: np.arange(len(seq)) for i in cols}
    mirror_key: list[tuple[str, ...] | None] = [None] * len(seq)
    for at in by_seq:
        k = keys[at]
        if not present[at]:
            removed[int(seq[at]) // 2] = k
            continue
        old = removed.get(int(seq[at]) // 2, k)
        previous = latest.get(old)
        if any(unchanged[i][at] for i in cols):
            if previous is None:
                mirror_key[at] = old
            else:
                mirror_key[at] = mirror_key[previous]
                for i in cols:
                    if unchanged[i][at]:
                        source[i][at] = source[i][previous]
                        unchanged[i][at] = unchanged[i][previous]
        if old != k:
            latest.pop(old, None)
        latest[k] = int(at)
    out = rows
    for i in cols:
        name = f"c{i}"
        taken = rows[name].cast(pa.large_string()).combine_chunks().take(pa.array(source[i])).cast(pa.string_view())
        out = out.set_column(out.schema.get_field_index(name), name, taken)
        out = out.append_column(f"u{i}", pa.array(unchanged[i]))
    for j in range(len(key)):
        out = out.append_column(f"f{j}", pa.array([m[j] if m else None for m in mirror_key], type=pa.string()))
    return out
