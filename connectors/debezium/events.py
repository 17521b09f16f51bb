"""Debezium's change events to columns: JSON in the order of the stream, without I/O; what `postgres.pgoutput` is for
its bytes.

Frames are the values of events: a transaction's changes and, after them, the event that ends it. DuckDB reads them
column by column into Postgres' text, so that what stages and lands changes is the same for both. Source: Debezium
documentation, "Debezium connector for PostgreSQL", data change events and transaction metadata.
"""

from __future__ import annotations

from dataclasses import dataclass

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from compiler.catalog import Table
from connectors.debezium.values import text_of
from connectors.duckdb.session import scratch
from connectors.postgres.pgoutput import I64, Changes, Decoded, Op, RelationMessage, Tuples

ENVELOPE = {
    "op": "/op",
    "schema": "/source/schema",
    "name": "/source/table",
    "lsn": "/source/lsn",
    "status": "/status",
    "id": "/id",
}
OPS = {"c": Op.INSERT, "u": Op.UPDATE, "d": Op.DELETE}


def end_of(identifier: str) -> int:
    """The LSN in the identifier of the event that ends a transaction: where its commit record ends."""
    return int(identifier.rpartition(":")[2])


@dataclass
class _Batch:
    """What the envelopes of a batch say, one entry an event."""

    op: npt.NDArray[np.object_]
    table: list[tuple[str, str]]
    lsn: npt.NDArray[np.object_]
    commit: I64


class EventDecoder:
    """Decodes batches of whole transactions. `unchanged` is what events have for a value that was not sent."""

    def __init__(self, tables: list[Table], unchanged: str) -> None:
        self.tables = {(t.schema, t.name): (t.oid or -1 - i, t) for i, t in enumerate(tables)}
        self.relations = {oid: _relation(oid, t, tuple(c.name for c in t.columns)) for oid, t in self.tables.values()}
        self.unchanged = unchanged

    def follow(self, tables: list[Table]) -> None:
        """Other tables, or other columns of them, are wanted from now on."""
        announced = {oid for oid, _ in self.tables.values()}
        self.tables = {(t.schema, t.name): (t.oid, t) for t in tables if t.oid in announced}

    def decode(self, frames: list[bytes], lsn: int = 0) -> Decoded:
        """Events of whole transactions, in order, to columns; each tells where it commits. Or of a part of one that
        commits at `lsn`."""
        out = Decoded()
        if not frames:
            return out
        con = scratch()
        con.register(
            "arrived",
            pa.table(
                {
                    "v": pa.array(frames, type=pa.large_binary()).cast(pa.large_string()),
                    "seq": pa.array(np.arange(len(frames))),
                }
            ),
        )
        paths = ", ".join(f"'{p}'" for p in ENVELOPE.values())
        con.execute(f"CREATE TABLE event AS SELECT seq, v, json_extract_string(v, [{paths}]) AS e FROM arrived")
        rows = con.execute(
            f"SELECT {', '.join(f'e[{i}] AS {n}' for i, n in enumerate(ENVELOPE, 1))} FROM event ORDER BY seq"
        ).to_arrow_table()
        found = {n: np.array(rows[n].to_pylist(), dtype=object) for n in ENVELOPE}
        ends = np.flatnonzero(found["status"] == "END")
        commits = np.array(
            [end_of(i) - 1 for i in found["id"][ends]], dtype=np.int64
        )  # after every earlier commit, before its own end
        out.transactions = len(ends)
        at = np.arange(len(frames))
        commit = np.full(len(frames), lsn, dtype=np.int64) if lsn else commits[np.searchsorted(ends, at)]
        batch = _Batch(found["op"], list(zip(found["schema"], found["name"], strict=True)), found["lsn"], commit)
        for name in dict.fromkeys(n for n in batch.table if n in self.tables):
            self._table(con, out, batch, name)
        con.close()
        return out

    def _table(self, con: duckdb.DuckDBPyConnection, out: Decoded, batch: _Batch, name: tuple[str, str]) -> None:
        oid, t = self.tables[name]
        mine = np.array([i for i, n in enumerate(batch.table) if n == name], dtype=np.int64)
        op = batch.op[mine]
        for i in mine[op == "t"]:
            out.truncated[oid] = (int(i), int(batch.commit[i]))
        moved = self._moved(batch, mine, op)
        shapes = con.execute(
            "SELECT seq, json_keys(v, CASE e[1] WHEN 'd' THEN '/before' ELSE '/after' END) AS k FROM event "
            "WHERE e[2] = ? AND e[3] = ? AND e[1] IN ('c', 'u', 'd') ORDER BY seq",
            list(name),
        ).fetchall()
        by_shape = {seq: tuple(k) for seq, k in shapes}
        for columns in dict.fromkeys(by_shape.values()):
            here = np.array([s for s, k in by_shape.items() if k == columns], dtype=np.int64)
            relation = _relation(oid, t, columns)
            self.relations[oid] = relation
            self._changes(con, out, batch, here, relation, t, moved)

    @staticmethod
    def _moved(batch: _Batch, mine: I64, op: npt.NDArray[np.object_]) -> set[int]:
        """An UPDATE of a key is a delete and, in the same place of the log, an insert: the inserts of such pairs."""
        after = np.flatnonzero((op[:-1] == "d") & (op[1:] == "c")) + 1
        return {
            int(mine[i]) for i in after if mine[i] == mine[i - 1] + 1 and batch.lsn[mine[i]] == batch.lsn[mine[i - 1]]
        }

    def _changes(
        self,
        con: duckdb.DuckDBPyConnection,
        out: Decoded,
        batch: _Batch,
        here: I64,
        r: RelationMessage,
        t: Table,
        moved: set[int],
    ) -> None:
        whole = has_old_images(t)
        old_at = {m - 1: m for m in moved}
        groups: dict[tuple[str, bool], list[int]] = {}
        for i in map(int, here):
            if i in old_at:
                continue
            has_old = i in moved or batch.op[i] == "d" or (batch.op[i] == "u" and whole)
            groups.setdefault(("u" if i in moved else batch.op[i], has_old), []).append(i)
        for (op, has_old), places in groups.items():
            seq = np.array(places, dtype=np.int64)
            old_seq = np.array([i - 1 if i in moved else i for i in places], dtype=np.int64)
            new = None if OPS[op] is Op.DELETE else self._tuples(con, seq, "after", r, t)
            old = self._tuples(con, old_seq, "before", r, t) if has_old else None
            out.rows += len(seq)
            out.changes.setdefault(r.oid, []).append(
                Changes(OPS[op], batch.commit[seq], seq, new, old, has_old and not whole, r)
            )

    def _tuples(self, con: duckdb.DuckDBPyConnection, seq: I64, side: str, r: RelationMessage, t: Table) -> Tuples:
        """One side of the events at places `seq`, as columns of text."""
        con.register("wanted", pa.table({"place": pa.array(np.arange(len(seq))), "seq": pa.array(seq)}))
        paths = ", ".join(_quoted(f"/{side}/{n.replace('~', '~0').replace('/', '~1')}") for n in r.columns)
        items = []
        for i, n in enumerate(r.columns, 1):
            column = t.column(n)
            left = f"r[{i}] = {_quoted(self.unchanged)}"
            text = f"CASE WHEN NOT {left} THEN {text_of(f'r[{i}]', column.type)} END" if column else f"r[{i}]"
            items.append(f"{text} AS c{i}, coalesce({left}, false) AS u{i}")
        rows = con.execute(
            f"SELECT {', '.join(items)} FROM (SELECT place, json_extract_string(v, [{paths}]) AS r "
            "FROM wanted JOIN event USING (seq)) ORDER BY place"
        ).to_arrow_table()
        con.unregister("wanted")
        flags = [
            rows[f"u{i}"].combine_chunks().to_numpy(zero_copy_only=False).astype(bool)
            for i in range(1, len(r.columns) + 1)
        ]
        texts = [
            rows[f"c{i}"].cast(pa.large_string()).combine_chunks().cast(pa.string_view())
            for i in range(1, len(r.columns) + 1)
        ]
        return Tuples(texts, [u if u.any() else None for u in flags])


def has_old_images(t: Table) -> bool:
    """Whether old images are used whole: only where no key tells rows apart. They are read with the columns of
    today."""
    return t.identity == "full" and (not t.key or t.deferrable)


def _relation(oid: int, t: Table, columns: tuple[str, ...]) -> RelationMessage:
    identity = "f" if t.identity == "full" else "d"
    return RelationMessage(oid, t.schema, t.name, identity, columns, tuple(n in t.identity_key for n in columns))


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
