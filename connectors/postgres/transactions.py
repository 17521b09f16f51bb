"""Whole transactions out of the messages of a stream, protocol versions 1 and 2.

With version 2 the server sends a large transaction before it commits, in parts between those of others, each message
with the id of its subtransaction; at the end it says whether it commits or is undone, as it does of subtransactions
before. Source: PostgreSQL documentation, "Logical Streaming Replication Protocol" and "Message Formats".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Protocol

from compiler.catalog import Table
from connectors.postgres.origin import LastCommit
from connectors.postgres.spool import ROWS, TRUNCATE, Spool

HEADER = 25  # 'w', three 8-byte fields: the XLogData frame before each message
BEGIN, COMMIT = ord("B"), ord("C")
ORIGIN = ord("O")
STREAM_START, STREAM_STOP, STREAM_COMMIT, STREAM_ABORT = ord("S"), ord("E"), ord("c"), ord("A")


@dataclass
class Limits:
    """When a batch closes, always between transactions: rows, bytes, or seconds since its first one. A transaction that
    is larger is applied in parts of that size.

    `collect`: seconds that it is worth waiting for more, where applying a batch takes far longer than that.
    """

    rows: int = 200_000
    bytes: int = 128 << 20
    seconds: float = 0.02
    collect: float = 0.0

    @property
    def span(self) -> float:
        return max(self.seconds, self.collect)


class Frames(Protocol):
    """What is too large for memory."""

    forms: list[bytes]  # the frames that tell the form of a table, in order
    size: int

    @property
    def count(self) -> int: ...

    def truncates(self, t: Table) -> bool:
        """Whether it is truncated, as far as is known without decoding."""
        ...

    def changes(self, t: Table) -> bool:
        """Whether rows of a table are changed, as far as is known without decoding."""
        ...

    def __iter__(self) -> Iterator[bytes]: ...

    def pieces(self, rows: int, size: int) -> Iterator[list[bytes]]:
        """All of them in lists of about so many, or so many bytes."""
        ...

    def close(self) -> None: ...


class Transaction(NamedTuple):
    """A transaction's frames; LSN of its commit record, and where that ends; its id; the server's clock in
    microseconds. A `large` one has its frames there."""

    frames: list[bytes]
    lsn: int
    end: int
    xid: int
    time: int
    large: Frames | None = None

    @property
    def commit(self) -> LastCommit:
        return LastCommit(self.lsn, self.xid, self.time)

    def close(self) -> None:
        if self.large is not None:
            self.large.close()

    @property
    def idle(self) -> bool:
        """Whether it changes nothing: whether the server sends such a one depends on what it has room for."""
        return self.large is None and not any(f[HEADER] in ROWS or f[HEADER] == TRUNCATE for f in self.frames)

    @property
    def size(self) -> int:
        return self.large.size if self.large is not None else sum(map(len, self.frames))


Admit = Callable[[Transaction], bool]


@dataclass
class Received:
    """Frames of whole transactions; `end` is the end LSN of the last commit (or what an idle server has sent). A
    `large` transaction is there by itself."""

    frames: list[bytes] = field(default_factory=list)
    end: int = 0
    changes: int = 0
    last: LastCommit | None = None
    xids: list[int] = field(default_factory=list)
    large: Transaction | None = None

    def take(self, t: Transaction) -> None:
        if t.large is not None:
            self.large, n = t, t.large.count
        else:
            self.frames += t.frames
            n = len(t.frames)
        self.xids.append(t.xid)
        self.changes += max(n - 2, 0)
        self.end = max(self.end, t.end)
        if not t.idle:
            self.last = t.commit

    @property
    def empty(self) -> bool:
        return not self.frames and self.large is None

    @property
    def size(self) -> int:
        return sum(map(len, self.frames)) + (self.large.size if self.large is not None else 0)


class Assembly:
    """What has come of transactions that have not ended. Of all of them no more than `memory` bytes are kept there;
    the largest go to files in `folder`."""

    def __init__(self, folder: Path | None, memory: int) -> None:
        self.folder, self.memory = folder, memory
        self.held = 0
        self.open: Spool | None = None  # between Begin and Commit
        self.streamed: dict[int, Spool] = {}  # by the ids of transactions that are sent before they commit
        self.part: int | None = None  # the one of which a part is being sent

    @property
    def midway(self) -> bool:
        """Whether the next message belongs to what came before."""
        return self.open is not None or self.part is not None

    def take(self, data: bytes) -> Transaction | None:
        """An XLogData frame; gives the transaction that it completes."""
        tag, spool = data[HEADER], self.open
        if spool is not None and tag != COMMIT:  # nearly all come this way
            if spool.file is None and self.held < self.memory:
                spool.frames.append(data)
                self.held += len(data)
            else:
                self._add(spool, data)
            return None
        if self.part is not None:
            self._part(data, tag)
            return None
        if tag == BEGIN:
            self.open = Spool(self.folder)
            self._add(self.open, data)
            return None
        if tag == STREAM_START:
            self.part = _int(data, 1, 4)
            self.streamed.setdefault(self.part, Spool(self.folder))
            return None
        if tag == STREAM_COMMIT:
            return self._committed(data)
        if tag == STREAM_ABORT:
            self._aborted(_int(data, 1, 4), _int(data, 5, 4))
            return None
        if spool is None:  # a message between transactions
            return None
        self._add(spool, data)
        self.open = None
        begin = next(iter(spool)) if spool.large else spool.frames[0]  # LSN of the commit, its time, the id
        return self._whole(spool, _int(data, 2, 8), _int(data, 10, 8), _int(begin, 17, 4), _int(begin, 9, 8))

    def close(self) -> None:
        """What has come of them is void."""
        for spool in (*self.streamed.values(), *([self.open] if self.open is not None else [])):
            spool.close()
        self.streamed, self.open, self.part, self.held = {}, None, None, 0

    def _part(self, data: bytes, tag: int) -> None:
        assert self.part is not None
        if tag == STREAM_STOP:
            self.part = None
            return
        if tag == ORIGIN:  # it alone has no subtransaction's id
            return
        self._add(self.streamed[self.part], data[: HEADER + 1] + data[HEADER + 5 :], _int(data, 1, 4))

    def _add(self, spool: Spool, frame: bytes, xid: int = 0) -> None:
        spool.add(frame, xid)
        if spool.file is None:
            self.held += len(frame)
        if self.held > self.memory:
            spools = [*self.streamed.values(), *([self.open] if self.open is not None else [])]
            self.held -= max(spools, key=lambda s: s.held).spill()

    def _committed(self, data: bytes) -> Transaction:
        xid, lsn, end, time = _int(data, 1, 4), _int(data, 6, 8), _int(data, 14, 8), _int(data, 22, 8)
        spool = self.streamed.pop(xid, None) or Spool(self.folder)
        begin = data[:HEADER] + b"B" + b"".join(n.to_bytes(w, "big") for n, w in ((lsn, 8), (time, 8), (xid, 4)))
        if not spool.large:
            spool.first(begin)
        return self._whole(spool, lsn, end, xid, time)

    def _aborted(self, xid: int, sub: int) -> None:
        spool = self.streamed.get(xid)
        if spool is None:
            return
        if xid != sub:
            spool.drop(sub)
            return
        del self.streamed[xid]
        self.held -= spool.held
        spool.close()

    def _whole(self, spool: Spool, lsn: int, end: int, xid: int, time: int) -> Transaction:
        self.held -= spool.held
        if spool.large:
            return Transaction([], lsn, end, xid, time, spool)
        return Transaction(list(spool) if spool.dropped else spool.frames, lsn, end, xid, time)


def _int(frame: bytes, at: int, width: int) -> int:
    """A number of a message, at a place in it."""
    return int.from_bytes(frame[HEADER + at : HEADER + at + width], "big")
