"""pgoutput, protocol versions 1 and 2: bytes to columns, without I/O.

Messages of a batch are laid end to end and read column by column: numpy finds where each value starts and how long it
is, Arrow string views point at the bytes where they are. No value becomes a Python object.
Source: PostgreSQL documentation, "Logical Replication Message Formats".
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import partial

import numpy as np
import numpy.typing as npt
import pyarrow as pa

I64 = npt.NDArray[np.int64]
HEADER = 25  # 'w', three 8-byte fields: the XLogData frame before each message
TEXT, UNCHANGED = ord("t"), ord("u")  # of a value in a tuple: as text, or a TOAST value that is not sent
REACH = 1 << 30  # bytes between the starts of the buffers that string views point into; no value of Postgres is longer


@dataclass(frozen=True)
class RelationMessage:
    """A relation message: what the columns of following tuples are. `keys` flags those of the replica identity."""

    oid: int
    schema: str
    name: str
    identity: str
    columns: tuple[str, ...]
    keys: tuple[bool, ...]
    types: tuple[tuple[int, int], ...] = ()  # oid and modifier


@dataclass
class Tuples:
    """Columns of n tuples as string views; `unchanged[i]` marks TOAST values that were not sent."""

    columns: Sequence[pa.Array]
    unchanged: list[npt.NDArray[np.bool_] | None]


class Sent(Sequence[pa.Array]):
    """The columns of tuples as they were sent, each made when it is first asked for: a mirror may have few of them."""

    def __init__(self) -> None:
        self.makers: list[Callable[[], pa.Array]] = []
        self.made: dict[int, pa.Array] = {}

    def __len__(self) -> int:
        return len(self.makers)

    def __getitem__(self, i: int) -> pa.Array:  # type: ignore[override]  # one at a time
        if i not in self.made:
            self.made[i] = self.makers[i]()
        return self.made[i]


class Op(Enum):
    """By the byte of its messages."""

    INSERT = "I"
    UPDATE = "U"
    DELETE = "D"


@dataclass
class Changes:
    """Changes of one relation by one operation, in order: positions, and new and old tuples where there are such."""

    op: Op
    lsn: I64
    seq: I64
    new: Tuples | None
    old: Tuples | None
    old_is_key: bool = False
    relation: RelationMessage | None = None  # as it was when the changes were made


@dataclass
class Decoded:
    """A batch: changes by relation oid, truncations as (seq, oids), and how many transactions and rows there were."""

    changes: dict[int, list[Changes]] = field(default_factory=dict)
    truncated: dict[int, tuple[int, int]] = field(default_factory=dict)  # oid → last (seq, commit LSN)
    transactions: int = 0
    rows: int = 0
    forms: list[RelationMessage] = field(
        default_factory=list
    )  # of tables, as they were told in order: they may be others
    xids: dict[int, int] = field(default_factory=dict)  # commit LSN of each transaction → its id, of 32 bits


def be(buf: npt.NDArray[np.uint8], at: I64, width: int) -> I64:
    """Big-endian unsigned integers of `width` bytes at positions `at`."""
    out = np.zeros(len(at), dtype=np.int64)
    for i in range(width):
        out = (out << 8) | buf[at + i]
    return out


def is_relation(frame: bytes) -> bool:
    """Whether it tells the form of a table."""
    return frame[HEADER : HEADER + 1] == b"R"


def parse_relation(m: bytes) -> RelationMessage:
    """An 'R' message (without the XLogData frame)."""
    oid = int.from_bytes(m[1:5], "big")
    schema, at = _string(m, 5)
    name, at = _string(m, at)
    identity = chr(m[at])
    n = int.from_bytes(m[at + 1 : at + 3], "big")
    at += 3
    columns, keys, types = [], [], []
    for _ in range(n):
        keys.append(bool(m[at] & 1))
        column, at = _string(m, at + 1)
        types.append(struct.unpack_from("!Ii", m, at))
        at += 8
        columns.append(column)
    return RelationMessage(oid, schema or "pg_catalog", name, identity, tuple(columns), tuple(keys), tuple(types))


def _string(m: bytes, at: int) -> tuple[str, int]:
    end = m.index(0, at)
    return m[at:end].decode(), end + 1


class Decoder:
    """Decodes batches of whole transactions; remembers relation messages between them."""

    def __init__(self) -> None:
        self.relations: dict[int, RelationMessage] = {}

    def decode(self, frames: list[bytes], lsn: int = 0) -> Decoded:
        """XLogData frames of whole transactions, in order, to columns; or of a part of one that commits at `lsn`."""
        out = Decoded()
        if not frames:
            return out
        data = b"".join(frames)
        buf = np.frombuffer(data, dtype=np.uint8)
        lengths = np.fromiter(map(len, frames), dtype=np.int64, count=len(frames))
        starts = np.concatenate(([0], np.cumsum(lengths)[:-1])) + HEADER
        tags = buf[starts]
        begins = np.flatnonzero(tags == ord("B"))
        out.transactions = len(begins)
        commit = be(buf, starts[begins] + 1, 8)
        out.xids = dict(zip(commit.tolist(), be(buf, starts[begins] + 17, 4).tolist(), strict=True))
        which = np.searchsorted(begins, np.arange(len(frames)), side="right") - 1
        lsns = commit[np.maximum(which, 0)] if len(begins) else np.full(len(frames), lsn, dtype=np.int64)
        cuts = [0]  # where a relation changes its columns: rows before and after are read differently
        relations: list[tuple[int, RelationMessage]] = []
        seen = dict(self.relations)
        for i in np.flatnonzero(tags == ord("R")):
            r = parse_relation(data[starts[i] : starts[i] + lengths[i] - HEADER])
            if seen.get(r.oid, r) != r:
                cuts.append(int(i))
            seen[r.oid] = r
            out.forms.append(r)
            relations.append((int(i), r))
        for i in np.flatnonzero(tags == ord("T")):
            s = int(starts[i])
            n = int.from_bytes(data[s + 1 : s + 5], "big")
            for k in range(n):
                out.truncated[int.from_bytes(data[s + 6 + 4 * k : s + 10 + 4 * k], "big")] = (int(i), int(lsns[i]))
        whole = pa.py_buffer(data)
        for low, high in zip(cuts, [*cuts[1:], len(frames)], strict=True):
            for place, r in relations:
                if low <= place < high:
                    self.relations[r.oid] = r
            self._segment(out, buf, whole, tags, starts, lsns, low, high)
        return out

    def _segment(
        self,
        out: Decoded,
        buf: npt.NDArray[np.uint8],
        whole: pa.Buffer,
        tags: npt.NDArray[np.uint8],
        starts: I64,
        lsns: I64,
        low: int,
        high: int,
    ) -> None:
        """Changes of the frames from `low` to `high`, between which no relation changes."""
        for op in Op:
            idx = np.flatnonzero(tags[low:high] == ord(op.value)) + low
            if not len(idx):
                continue
            out.rows += len(idx)
            oids = be(buf, starts[idx] + 1, 4)
            for oid in np.unique(oids):
                mine = idx[oids == oid]
                r = self.relations[int(oid)]
                decoded = self._changes(buf, whole, op, r, starts[mine], lsns[mine], mine)
                for c in decoded:
                    c.relation = r
                out.changes.setdefault(int(oid), []).extend(decoded)

    def _changes(
        self, buf: npt.NDArray[np.uint8], whole: pa.Buffer, op: Op, r: RelationMessage, at: I64, lsn: I64, seq: I64
    ) -> list[Changes]:
        n = len(r.columns)
        tag = buf[at + 5]
        if op is Op.INSERT:
            new, _ = read_tuples(buf, whole, at + 6, n)
            return [Changes(Op.INSERT, lsn, seq, new, None)]
        out = []
        for t in np.unique(tag):
            mask = tag == t
            a, ls, sq = at[mask], lsn[mask], seq[mask]
            if chr(t) == "N":
                new, _ = read_tuples(buf, whole, a + 6, n)
                out.append(Changes(Op.UPDATE, ls, sq, new, None))
                continue
            old, end = read_tuples(buf, whole, a + 6, n)
            is_key = chr(t) == "K"
            if op is Op.DELETE:
                out.append(Changes(Op.DELETE, ls, sq, None, old, is_key))
            else:
                new, _ = read_tuples(buf, whole, end + 1, n)
                out.append(Changes(Op.UPDATE, ls, sq, new, old, is_key))
        return out


def read_tuples(buf: npt.NDArray[np.uint8], whole: pa.Buffer, at: I64, columns: int) -> tuple[Tuples, I64]:
    """TupleData at positions `at` (each at its column count) to columns; gives the positions after them."""
    pos = at + 2
    sent = Sent()
    out = Tuples(sent, [])
    for _ in range(columns):
        tag = buf[pos]
        text = tag == TEXT
        length = np.where(text, be(buf, np.minimum(pos + 1, len(buf) - 4), 4), 0)
        sent.makers.append(partial(string_views, buf, whole, pos + 5, length, text))
        unchanged = tag == UNCHANGED
        out.unchanged.append(unchanged if unchanged.any() else None)
        pos = pos + 1 + np.where(text, 4 + length, 0)
    return out, pos


def string_views(
    buf: npt.NDArray[np.uint8], whole: pa.Buffer, at: I64, length: I64, valid: npt.NDArray[np.bool_]
) -> pa.Array:
    """An Arrow string_view array over `whole`: values of up to 12 bytes inline, longer ones by reference.

    An offset has 31 bits, so that references go into buffers that start every `REACH` bytes and overlap.
    """
    n = len(at)
    views = np.zeros((n, 16), dtype=np.uint8)
    views[:, 0:4] = length.astype("<i4").view(np.uint8).reshape(n, 4)
    short = length <= 12
    width = int(length[short].max()) if short.any() else 0
    for i in range(width):
        here = short & (length > i)
        views[here, 4 + i] = buf[at[here] + i]
    long = ~short
    if long.any():
        for i in range(4):
            views[long, 4 + i] = buf[at[long] + i]
        views[long, 8:12] = (at[long] // REACH).astype("<i4").view(np.uint8).reshape(-1, 4)
        views[long, 12:16] = (at[long] % REACH).astype("<i4").view(np.uint8).reshape(-1, 4)
    bitmap = None if valid.all() else pa.py_buffer(np.packbits(valid, bitorder="little").tobytes())
    pieces = [whole.slice(i, min(2 * REACH - 1, whole.size - i)) for i in range(0, max(whole.size, 1), REACH)]
    return pa.Array.from_buffers(pa.string_view(), n, [bitmap, pa.py_buffer(views.tobytes()), *pieces])
