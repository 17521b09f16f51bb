"""Events of transactions while they are received, and until they are applied: in memory, and in files where they are
many; what `postgres.spool` is for its messages."""

from __future__ import annotations

import json
import os
import re
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import numpy as np

from compiler.catalog import Table
from connectors.postgres.spool import BUFFER, nameless

MEMORY = 64 << 20
LEAST = 1 << 20  # bytes that are worth a file
HEAD = struct.Struct("<QI")  # of an event in the file: its place, and its length
SOURCE = b'"source":{'  # behind the row's values, in which quotes are escaped
TEXT = rb'"((?:[^"\\]|\\.)*)"'
TABLE = re.compile(rb'"schema":' + TEXT + rb'.*?"table":' + TEXT)


class Room:
    """Of all events that have come of open transactions about `memory` bytes are kept there; those of the largest go to
    a file in `folder`. Small ones stay: files are few."""

    def __init__(self, folder: Path | None = None, memory: int = MEMORY) -> None:
        self.folder, self.memory, self.held = folder, memory, 0
        self.least = min(LEAST, memory)
        self.large: set[EventSpool] = set()  # those in memory that are worth a file

    def new(self) -> EventSpool:
        return EventSpool(self)

    def added(self, spool: EventSpool, size: int) -> None:
        self.held += size
        if spool.held >= self.least:
            self.large.add(spool)
        while self.held > self.memory and self.large:
            max(self.large, key=lambda s: s.held).spill()

    def left(self, spool: EventSpool) -> None:
        self.large.discard(spool)
        self.held -= spool.held


class EventSpool:
    """Of one transaction, each event once, in the order of their places in it. A file has no name."""

    def __init__(self, room: Room) -> None:
        self.room, self.held = room, 0
        self.events: dict[int, bytes] = {}  # those in memory
        self.file: IO[bytes] | None = None
        self.size = self.written = self.last = 0  # bytes of those in the file, how many, and the last one's place
        self.there = bytearray()  # by place, whether the file has it
        self.in_order = True
        self.forms: list[bytes] = []  # events do not tell what tables are
        self.named: set[tuple[bytes, bytes]] = set()  # tables of the events in the file, as these have them
        self.tables: set[tuple[str, str]] = set()

    def __len__(self) -> int:
        return len(self.events) + self.written

    @property
    def count(self) -> int:
        return len(self)

    @property
    def large(self) -> bool:
        """Whether it is in a file."""
        return self.file is not None

    def changes(self, t: Table) -> bool:
        """Whether what is in the file changes rows of a table."""
        return (t.schema, t.name) in self.tables

    def truncates(self, t: Table) -> bool:
        return self.changes(t)

    def add(self, place: int, event: bytes) -> None:
        if self.file is not None:
            self._write(self.file, place, event)
            return
        grown = len(event) - len(self.events.get(place, b""))
        self.events[place] = event
        self.held += grown
        self.room.added(self, grown)

    def spill(self) -> None:
        """Put what is in memory into the file."""
        self.room.left(self)
        self.file = self.file or nameless(self.room.folder)
        for place, event in sorted(self.events.items()):
            self._write(self.file, place, event)
        self.events, self.held = {}, 0

    def _write(self, file: IO[bytes], place: int, event: bytes) -> None:
        if place >= len(self.there):
            self.there.extend(bytes(max(place + 1 - len(self.there), len(self.there), 1024)))
        if self.there[place]:
            return
        self.there[place] = 1
        self.in_order = self.in_order and (not self.written or place > self.last)
        self.last = place
        self.written += 1
        self.size += len(event)
        found = TABLE.search(event, max(event.rfind(SOURCE), 0))
        if found is not None and (named := (found[1], found[2])) not in self.named:
            self.named.add(named)
            schema, table = (str(json.loads(b'"' + x + b'"')) for x in named)
            self.tables.add((schema, table))
        file.write(HEAD.pack(place, len(event)))
        file.write(event)

    def __iter__(self) -> Iterator[bytes]:
        if self.file is None:
            yield from (self.events[place] for place in sorted(self.events))
            return
        self.file.flush()
        with os.fdopen(os.dup(self.file.fileno()), "rb", buffering=BUFFER) as f:
            f.seek(0)
            yield from self._in_turn(f) if self.in_order else self._sorted(f)
        self.file.seek(0, os.SEEK_END)

    @staticmethod
    def _in_turn(f: IO[bytes]) -> Iterator[bytes]:
        while head := f.read(HEAD.size):
            yield f.read(HEAD.unpack(head)[1])

    def _sorted(self, f: IO[bytes]) -> Iterator[bytes]:
        places, starts = (np.empty(self.written, dtype=np.int64) for _ in range(2))
        at = 0
        for i in range(self.written):
            f.seek(at)
            places[i], n = HEAD.unpack(f.read(HEAD.size))
            starts[i] = at
            at += HEAD.size + n
        for i in np.argsort(places):
            f.seek(int(starts[i]))
            yield f.read(HEAD.unpack(f.read(HEAD.size))[1])

    def pieces(self, rows: int, size: int) -> Iterator[list[bytes]]:
        """The events in lists of about so many, or so many bytes. A changed key is two events, which stay together."""
        out, n = list[bytes](), 0
        for event in self:
            if (len(out) >= rows or n >= size) and not _one_change(out[-1], event):
                yield out
                out, n = [], 0
            out.append(event)
            n += len(event)
        if out:
            yield out

    def close(self) -> None:
        self.room.left(self)
        if self.file is not None:
            self.file.close()
        self.events, self.held = {}, 0


def _one_change(before: bytes, after: bytes) -> bool:
    """Whether two events may be one change of a key: a delete, and an insert at its place of the log."""
    a, b = json.loads(before), json.loads(after)
    return (a["op"], b["op"]) == ("d", "c") and a["source"]["lsn"] == b["source"]["lsn"]
