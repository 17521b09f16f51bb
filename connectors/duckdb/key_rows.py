"""What mirrors of some keys' rows take of the stream, found by SQL over the mirror and the table of keys."""

from __future__ import annotations

from collections.abc import Mapping

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from compiler.catalog import Column, Table
from compiler.maintain.asked import Asked
from compiler.spelling.duckdb import type_name
from connectors.duckdb.keys import text
from connectors.duckdb.mirror import q
from connectors.duckdb.text import from_text
from connectors.duckdb.values import cast_errors
from connectors.key_rows import Hold
from connectors.literal_rows import parsed
from connectors.postgres.snapshot import HALF
from connectors.staging import LSN, MET, PRESENT, SEQ, Staged

ROUND = 2 * HALF  # ids of transactions


def seen(asked: str, xid: str, lsn: str) -> str:
    """SQL: whether the snapshot of a key, in the table of this name, sees a transaction, by its id of 32 bits and the
    LSN of its commit: ids go round, and what a snapshot sees has committed before the WAL's end of that time."""
    high = f"{asked}._seen_high"
    full = f"({high} + ((({xid} - {high} + {HALF}) % {ROUND} + {ROUND}) % {ROUND}) - {HALF})"
    running = f"list_contains(string_split({asked}._seen_running, ','), CAST({full} AS VARCHAR))"
    return f"coalesce({lsn} < {asked}._seen_lsn AND {full} < {high} AND NOT {running}, false)"


class KeyRows:
    """For one connection (`connectors.key_rows`)."""

    def __init__(self, con: duckdb.DuckDBPyConnection) -> None:
        self.con = con

    def follow(self, s: Staged, hold: Hold, xids: Mapping[int, int]) -> tuple[Staged | None, pa.Table]:
        """An event is passed over where the mirror has a later row, and where what it brings was read already; it takes
        a row away where the mirror has one that is to have another key."""
        found = self._looked_up(s, hold, xids)
        there, newer, wanted, known, present, apart = (
            found[n].to_numpy(zero_copy_only=False).astype(bool)
            for n in ("there", "newer", "wanted", "known", "present", "apart")
        )
        stays = there & newer
        taken = ~stays & present & wanted & ~known
        keys = found.select([f"c{i}" for i in range(len(hold.columns))])
        late = taken & apart
        if late.any():
            return None, keys.filter(pa.array(late)).group_by(keys.column_names).aggregate([])
        moved = stays & wanted & found["elsewhere"].to_numpy(zero_copy_only=False).astype(bool)
        if moved.any():
            self._as_late_as(hold, found.filter(pa.array(moved)))
        some = taken | (~stays & there)
        seqs = found["seq"].to_numpy()[some]
        parts = [_of(s, seqs, taken[some], there[some])]
        if s.truncated:
            parts.append(self._truncated(s, hold, xids[s.truncated_at], s.truncated_at))
        rows = pa.concat_tables(parts)
        none = keys.slice(0, 0)
        return (Staged(s.table, rows, True, False, False, s.unchanged) if rows.num_rows else None), none

    def _looked_up(self, s: Staged, hold: Hold, xids: Mapping[int, int]) -> pa.Table:
        """Of each key's last event, what the mirror has of it, and what was asked for.

        `there`, `newer`: the mirror has a row of this key, which is later than the event. `wanted`, `known`: the key
        that the new row has was asked for, and read later than the event. `apart`: values were not sent, and the mirror
        does not have them. `elsewhere`: the mirror has the row for another key.
        """
        t, k = s.table, _identity(s.table)
        places = {c.name: i for i, c in enumerate(t.columns)}
        distinct, where = np.unique(s.rows[LSN].to_numpy(), return_inverse=True)
        ids = np.array([xids[int(x)] for x in distinct], dtype=np.int64)
        names = [SEQ, LSN, PRESENT, *(f"k{i}" for i in range(len(k)))]
        names += sorted({f"c{places[c]}" for c in hold.columns})
        if s.unchanged:
            names += [*(f"u{i}" for i in s.unchanged), *(f"f{i}" for i in range(len(k)))]
        events = s.rows.select(names).append_column("_xid", pa.array(ids[where] if len(ids) else ids))

        def held(i: int, c: str) -> str:
            value = from_text(f"c{places[c]}", _column(t, c).type)
            return f"{value} AS h_{i}" + (f", u{places[c]} AS hu_{i}" if places[c] in s.unchanged else "")

        cast = [f"{from_text(f'k{i}', c.type)} AS p_{i}" for i, c in enumerate(k)]
        cast += [held(i, c) for i, c in enumerate(hold.columns)]
        mirror, asked = f"base.{q(t.mirror)}", f"base.{q(hold.asked.table.mirror)}"
        origin, apart, values = "", "false", [f"l.h_{i}" for i in range(len(hold.columns))]
        if s.unchanged:
            cast += [f"{from_text(f'f{i}', c.type)} AS f_{i}" for i, c in enumerate(k)]
            cast.append(f"({' OR '.join(f'u{i}' for i in s.unchanged)}) AS some")
            origin = f"LEFT JOIN {mirror} o ON {_on(k, 'o', 'l.f')}"
            values = [
                f"CASE WHEN l.hu_{i} THEN o.{q(c)} ELSE l.h_{i} END" if places[c] in s.unchanged else f"l.h_{i}"
                for i, c in enumerate(hold.columns)
            ]
            same = " AND ".join(f"o.{q(c)} IS NOT DISTINCT FROM {v}" for c, v in zip(hold.columns, values, strict=True))
            apart = f"coalesce(l.some, false) AND (o.{q(k[0].name)} IS NULL OR NOT ({same}))"
        new = " AND ".join(f"n.{q(c.name)} = {v}" for c, v in zip(hold.asked.columns, values, strict=True))
        elsewhere = " OR ".join(f"m.{q(h)} IS DISTINCT FROM {v}" for h, v in zip(hold.columns, values, strict=True))
        shown = ", ".join(f"{text(f'n.{q(c.name)}', c.type)} AS c{i}" for i, c in enumerate(hold.asked.columns))
        by = ", ".join(f"p_{i}" for i in range(len(k)))
        sql = (
            f"WITH events AS MATERIALIZED (SELECT * FROM events_of_keys), "
            f"cast_events AS (SELECT _seq, _lsn, _present, _xid, {', '.join(cast)} FROM events), "
            f"l AS (SELECT * FROM cast_events QUALIFY row_number() OVER (PARTITION BY {by} ORDER BY _seq DESC) = 1) "
            f"SELECT l._seq AS seq, l._present AS present, m.{q(k[0].name)} IS NOT NULL AS there, "
            f"{seen('a', 'l._xid', 'l._lsn')} AS newer, n.{q(hold.asked.columns[0].name)} IS NOT NULL AS wanted, "
            f"{seen('n', 'l._xid', 'l._lsn')} AS known, {apart} AS apart, coalesce({elsewhere}, false) AS elsewhere, "
            f"a._seen_lsn AS lsn, {shown} FROM l LEFT JOIN {mirror} m ON {_on(k, 'm', 'l.p')} {origin} "
            f"LEFT JOIN {asked} a ON {_own(hold)} LEFT JOIN {asked} n ON {new} ORDER BY seq"
        )
        got: list[pa.Table] = []
        self.con.register("events_of_keys", parsed(events, t))
        try:
            cast_errors(t, s.rows, lambda: got.append(self.con.execute(sql).to_arrow_table()))
        finally:
            self.con.unregister("events_of_keys")
        return got[0]

    def _as_late_as(self, hold: Hold, late: pa.Table) -> None:
        """Keys, as text in c0…, agree with the source from `lsn` on and not before."""
        on = " AND ".join(
            f"k.{q(c.name)} = CAST(l.c{i} AS {type_name(c.type)})" for i, c in enumerate(hold.asked.columns)
        )
        names = [f"c{i}" for i in range(len(hold.columns))]
        self.con.register("late_keys", late)
        try:
            self.con.execute(
                f"UPDATE base.{q(hold.asked.table.mirror)} k SET _seen_lsn = greatest(k._seen_lsn, l.lsn) FROM "
                f"(SELECT {', '.join(names)}, max(lsn) AS lsn FROM late_keys GROUP BY ALL) l WHERE {on}"
            )
        finally:
            self.con.unregister("late_keys")

    def _truncated(self, s: Staged, hold: Hold, xid: int, lsn: int) -> pa.Table:
        """Events by which the rows go that a TRUNCATE took away, before all others."""
        t, k = s.table, _identity(s.table)
        keys = _keys(k)
        gone = self.con.execute(
            f"SELECT {keys} FROM base.{q(t.mirror)} m LEFT JOIN base.{q(hold.asked.table.mirror)} a ON {_own(hold)} "
            f"WHERE NOT {seen('a', str(xid), str(lsn))}"
        ).to_arrow_table()
        return _gone(t, gone, np.arange(-gone.num_rows, 0), s.unchanged)

    def arriving(self, hold: Hold, keys: pa.Table, rows: pa.Table, lsn: int) -> Staged:
        """First events by which the rows go that are there with these keys, then those of the rows that were read."""
        t, k = hold.table, _identity(hold.table)
        gone = self._rows(hold, keys)
        places = {c.name: i for i, c in enumerate(t.columns)}
        read = ", ".join(f"{from_text(f'c{places[c.name]}', c.type)} AS p_{i}" for i, c in enumerate(k))
        others = ", ".join(f"{text(f'm.{q(h)}', _column(t, h).type)} AS c{i}" for i, h in enumerate(hold.columns))
        self.con.register("rows_of_keys", parsed(rows, t))
        got: list[pa.Table] = []
        sql = (
            f"WITH r AS MATERIALIZED (SELECT * FROM rows_of_keys), p AS (SELECT row_number() OVER () AS at, {read} "
            f"FROM r) SELECT p.at, m.{q(k[0].name)} IS NOT NULL AS there, {lsn}::BIGINT AS lsn, {others} FROM p "
            f"LEFT JOIN base.{q(t.mirror)} m ON {_on(k, 'm', 'p.p')} ORDER BY p.at"
        )
        try:
            cast_errors(t, rows, lambda: got.append(self.con.execute(sql).to_arrow_table()))
        finally:
            self.con.unregister("rows_of_keys")
        (found,) = got
        there = found["there"].to_numpy(zero_copy_only=False).astype(bool)
        if there.any():
            self._as_late_as(hold, found.filter(pa.array(there)))
        n = rows.num_rows
        new = {
            SEQ: pa.array(np.arange(n, dtype=np.int64)),
            LSN: pa.nulls(n, pa.int64()),
            PRESENT: pa.array(np.ones(n, dtype=bool)),
            MET: pa.array(there),
        }
        new |= {f"k{i}": _text(rows, f"c{places[c.name]}") for i, c in enumerate(k)}
        new |= {f"c{i}": _text(rows, f"c{i}") for i in range(len(t.columns))}
        both = pa.concat_tables([_gone(t, gone, np.arange(-gone.num_rows, 0)), pa.table(new)])
        return Staged(t, both, True, False, False)

    def leaving(self, hold: Hold, keys: pa.Table) -> Staged:
        gone = self._rows(hold, keys)
        return Staged(hold.table, _gone(hold.table, gone, np.arange(gone.num_rows)), True, False, False)

    def ahead(self, asked: Asked, lsn: int) -> pa.Table:
        shown = ", ".join(f"{text(q(c.name), c.type)} AS c{i}" for i, c in enumerate(asked.columns))
        return self.con.execute(
            f"SELECT {shown} FROM base.{q(asked.table.mirror)} WHERE _seen_lsn > {lsn}"
        ).to_arrow_table()

    def strangers(self, hold: Hold) -> Staged:
        t, k = hold.table, _identity(hold.table)
        shown = _keys(k)
        gone = self.con.execute(
            f"SELECT {shown} FROM base.{q(t.mirror)} m ANTI JOIN base.{q(hold.asked.table.mirror)} a ON {_own(hold)}"
        ).to_arrow_table()
        return Staged(t, _gone(t, gone, np.arange(gone.num_rows)), True, False, False)

    def _rows(self, hold: Hold, keys: pa.Table) -> pa.Table:
        """The primary keys, as text in k0…, of the mirror's rows with these keys."""
        t, k = hold.table, _identity(hold.table)
        shown = _keys(k)
        on = " AND ".join(
            f"m.{q(h)} = CAST(w.c{i} AS {type_name(c.type)})"
            for i, (h, c) in enumerate(zip(hold.columns, hold.asked.columns, strict=True))
        )
        self.con.register("keys_of_rows", keys)
        try:
            return self.con.execute(
                f"SELECT {shown} FROM base.{q(t.mirror)} m SEMI JOIN keys_of_rows w ON {on}"
            ).to_arrow_table()
        finally:
            self.con.unregister("keys_of_rows")


def _identity(t: Table) -> list[Column]:
    return [_column(t, k) for k in t.identity_key]


def _column(t: Table, name: str) -> Column:
    return next(c for c in t.columns if c.name == name)


def _own(hold: Hold) -> str:
    """SQL: a key, in the table `a`, is that of a row of the mirror, `m`."""
    return " AND ".join(f"a.{q(c.name)} = m.{q(h)}" for c, h in zip(hold.asked.columns, hold.columns, strict=True))


def _keys(key: list[Column]) -> str:
    """SQL: the primary key of a row of the mirror, `m`, as text in k0…"""
    return ", ".join(f"{text(f'm.{q(c.name)}', c.type)} AS k{i}" for i, c in enumerate(key))


def _on(key: list[Column], table: str, events: str) -> str:
    return " AND ".join(f"{table}.{q(c.name)} = {events}_{i}" for i, c in enumerate(key))


def _text(rows: pa.Table, name: str) -> pa.Array:
    return rows[name].cast(pa.large_string()).combine_chunks().cast(pa.string_view())


def _of(s: Staged, seqs: np.ndarray, present: np.ndarray, met: np.ndarray) -> pa.Table:
    """The events of these places; those that are not `present` say that the key has no row."""
    order = np.argsort(s.rows[SEQ].to_numpy(), kind="stable")
    at = order[np.searchsorted(s.rows[SEQ].to_numpy()[order], seqs)]
    out: dict[str, pa.Array] = {}
    for name in s.rows.column_names:
        if name == PRESENT:
            out[name] = pa.array(present)
        elif name == MET:
            out[name] = pa.array(met)
        elif name in (SEQ, LSN):
            out[name] = pa.array(s.rows[name].to_numpy()[at])
        elif name[0] == "u":
            out[name] = pa.array(s.rows[name].to_numpy(zero_copy_only=False).astype(bool)[at] & present)
        else:
            values = s.rows[name].cast(pa.large_string()).combine_chunks().take(pa.array(at))
            if name[0] == "c":
                values = pc.if_else(pa.array(present), values, pa.scalar(None, pa.large_string()))
            out[name] = values.cast(pa.string() if name[0] == "f" else pa.string_view())
    return pa.table(out)


def _gone(t: Table, keys: pa.Table, seqs: np.ndarray, unchanged: tuple[int, ...] = ()) -> pa.Table:
    """Events by which rows go that are there, by primary keys as text in k0…"""
    n = keys.num_rows
    out: dict[str, pa.Array] = {
        SEQ: pa.array(seqs.astype(np.int64)),
        LSN: pa.nulls(n, pa.int64()),
        PRESENT: pa.array(np.zeros(n, dtype=bool)),
        MET: pa.array(np.ones(n, dtype=bool)),
    }
    out |= {name: _text(keys, name) for name in keys.column_names}
    out |= {f"c{i}": pa.nulls(n, pa.string_view()) for i in range(len(t.columns))}
    out |= {f"u{i}": pa.array(np.zeros(n, dtype=bool)) for i in unchanged}
    if unchanged:
        out |= {f"f{j}": pa.nulls(n, pa.string()) for j in range(len(t.identity_key))}
    return pa.table(out)
