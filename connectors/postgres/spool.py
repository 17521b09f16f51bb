"""The changes of one transaction while it is received, and until it is applied: in memory, and in a file where they are
many."""

from __future__ import annotations

import os
import struct
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from compiler.catalog import Table

HEAD = struct.Struct("<II")  # of a frame in the file: its length, and the subtransaction it is of
KIND = 25  # where a frame has its message's type: behind the header of XLogData
FORM = 0x52  # R: what a table's columns are
TRUNCATE, ROWS = 0x54, b"IUD"
BUFFER = 1 << 20


class Spool:
    """Frames in the order in which they came. Those of a subtransaction can be dropped.

    The file has no name: nothing is left of it should the process die.
    """

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self.frames: list[bytes] = []  # those in memory
        self.xids: list[int] = []  # the subtransaction of each of them, where any is known
        self.size = self.written = 0  # of those in the file
        self.forms: list[bytes] = []  # the frames that tell of tables' columns, in order
        self.changing: set[bytes] = set()  # oids of the tables of which these change rows, as they are sent
        self.truncated: set[bytes] = set()  # those that these truncate
        self.dropped: set[int] = set()
        self.file: IO[bytes] | None = None

    @property
    def large(self) -> bool:
        """Whether it is in a file."""
        return self.file is not None

    @property
    def count(self) -> int:
        """Of those in the file."""
        return self.written

    @property
    def held(self) -> int:
        """Bytes of the frames in memory."""
        return sum(map(len, self.frames))

    def changes(self, t: Table) -> bool:
        """Whether what is in the file changes rows of a table, as far as its oid is known."""
        oid = t.oid.to_bytes(4, "big")
        return not t.oid or oid in self.changing or oid in self.truncated

    def truncates(self, t: Table) -> bool:
        """Whether what is in the file truncates a table."""
        return t.oid.to_bytes(4, "big") in self.truncated

    def add(self, frame: bytes, xid: int = 0) -> None:
        if self.file is not None:
            self._write(self.file, frame, xid)
            return
        if xid or self.xids:
            self.xids.append(xid)
        self.frames.append(frame)

    def first(self, frame: bytes) -> None:
        """A frame in front of those in memory."""
        self.frames.insert(0, frame)
        if self.xids:
            self.xids.insert(0, 0)

    def drop(self, xid: int) -> None:
        """A subtransaction is undone. What it told of tables' columns stays: the server may not tell it again."""
        self.dropped.add(xid)

    def spill(self) -> int:
        """Put what is in memory into the file; gives the bytes that were."""
        if self.file is None:
            self.file = nameless(self.folder)
        freed = self.held
        for frame, of in self._in_memory():
            self._write(self.file, frame, of)
        self.frames, self.xids = [], []
        return freed

    def _write(self, file: IO[bytes], frame: bytes, xid: int) -> None:
        self.written += 1
        self.size += len(frame)
        kind, oid = frame[KIND], frame[KIND + 1 : KIND + 5]
        if kind == FORM:
            self.forms.append(frame)
        elif kind == TRUNCATE:  # of so many tables, with options of a byte
            n = int.from_bytes(oid, "big")
            self.truncated |= {frame[KIND + 6 + 4 * i : KIND + 10 + 4 * i] for i in range(n)}
        elif kind in ROWS:
            self.changing.add(oid)
        file.write(HEAD.pack(len(frame), xid))
        file.write(frame)

    def _in_memory(self) -> Iterator[tuple[bytes, int]]:
        return zip(self.frames, self.xids or (0 for _ in self.frames), strict=True)

    def _all(self) -> Iterator[tuple[bytes, int]]:
        if self.file is None:
            yield from self._in_memory()
            return
        self.file.flush()
        with os.fdopen(os.dup(self.file.fileno()), "rb", buffering=BUFFER) as f:
            f.seek(0)
            while head := f.read(HEAD.size):
                n, xid = HEAD.unpack(head)
                yield f.read(n), xid
        self.file.seek(0, os.SEEK_END)

    def __iter__(self) -> Iterator[bytes]:
        """The frames that count."""
        if not self.dropped:
            yield from (frame for frame, _ in self._all())
        else:
            yield from (frame for frame, of in self._all() if of not in self.dropped or frame[KIND] == FORM)

    def pieces(self, rows: int, size: int) -> Iterator[list[bytes]]:
        """The frames in lists of about so many, or so many bytes."""
        out, n = list[bytes](), 0
        for frame in self:
            out.append(frame)
            n += len(frame)
            if len(out) >= rows or n >= size:
                yield out
                out, n = [], 0
        if out:
            yield out

    def close(self) -> None:
        if self.file is not None:
            self.file.close()
        self.frames, self.xids = [], []


def nameless(folder: Path | None) -> IO[bytes]:
    """A file that goes with the process."""
    return tempfile.TemporaryFile(buffering=BUFFER, dir=folder)
