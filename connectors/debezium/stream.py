"""Changes as Debezium tells them, where `postgres.stream` reads them from the server: whole transactions, acknowledged when told to."""

from __future__ import annotations

import re
import secrets
import threading
import time
from collections import deque
from typing import Any

from compiler.catalog import Table
from connectors.debezium.embedded import NAME, Embedded, properties
from connectors.debezium.events import EventDecoder, end_of
from connectors.debezium.source import Source
from connectors.debezium.values import inexact
from connectors.postgres.connection import SourceUnreachable
from connectors.postgres.stream import Limits, Received

HELD_BYTES = 256 << 20  # of transactions that wait to be received
IDLE = 10.0  # seconds after which an idle stream asks how far the source is
FAR = 1 << 20  # bytes of WAL, of other tables, that are worth a marker


class DebeziumStream:
    """Debezium's engine on a slot. Where the stream is, between transactions, is found by a message sent through it."""

    def __init__(self, dsn: str, slot: str, publication: str, tables: list[Table], start: int = 0) -> None:
        if error := next(filter(None, map(inexact, tables)), None):
            raise error
        self.tables = tables
        self.unchanged = f"__tidemark_{secrets.token_hex(12)}"
        self.server_end = self.asked = start
        self.carry: tuple[list[bytes], int, int] | None = None
        self.changed = threading.Condition()
        self.open: list[bytes] = []  # events of the transaction being received
        self.ready: deque[tuple[list[bytes], int]] = deque()
        self.held = 0
        self.closed = False
        self.looked = time.monotonic()
        self.source = Source(dsn, slot)
        try:
            self.source.check()
            names = [re.escape(f"{t.schema}.{t.name}").replace(",", "\\,").replace("\\ ", "[ ]") for t in tables]  # the list is trimmed
            self.engine = Embedded(properties(self.source.conn, slot, publication, names, self.unchanged), self._take)
        except BaseException:
            self.source.close()
            raise

    def decoder(self) -> EventDecoder:
        return EventDecoder(self.tables, self.unchanged)

    def close(self) -> None:
        with self.changed:
            self.closed = True
            self.changed.notify_all()
        self.engine.close()
        self.source.move_slot(self.engine.acknowledged)
        self.source.close()

    def acknowledge(self, lsn: int) -> None:
        """Everything up to `lsn` is durable here: the slot may move there."""
        self.engine.acknowledged = max(self.engine.acknowledged, lsn)

    def _take(self, topic: str, value: bytes, record: Any) -> None:
        """An event, on the engine's thread."""
        if topic == f"{NAME}.message" or topic.startswith("__debezium-heartbeat"):
            return
        if topic != f"{NAME}.transaction":
            self.open.append(value)
            return
        ended = re.search(rb'"status":"END","id":"([^"]*)"', value)
        if ended is None:
            self.open = []
            return
        end = end_of(ended[1].decode())
        self.engine.sent.append((end, record))
        frames, self.open = [*self.open, value], []
        with self.changed:
            self.changed.wait_for(lambda: self.held < HELD_BYTES or self.closed)
            self.ready.append((frames if len(frames) > 1 else [], end))
            self.held += sum(map(len, frames))
            self.changed.notify_all()

    def receive(self, limits: Limits, wait: float, until: int | None = None, before: int | None = None) -> Received:
        """As `postgres.stream.Stream.receive`; raises TableChanged where a table is no longer what its events are read as."""
        out = self._receive(limits, wait, until, before)
        if out.frames:
            self.source.check_unaltered(self.tables)
        return out

    def _receive(self, limits: Limits, wait: float, until: int | None, before: int | None) -> Received:
        out = Received()
        size, first, deadline = 0, 0.0, time.monotonic() + wait
        self._mark(until)
        if self.carry is not None:
            if before is not None and self.carry[1] >= before:
                return Received(end=before)
            frames, _, end = self.carry
            self.carry = None
            self._add(out, frames, end)
            first = time.monotonic()
        while True:
            now = time.monotonic()
            got = self._next(max(0.0, (first + limits.span if first else deadline) - now))
            if got is None:
                if out.frames or now >= deadline or (until is not None and self.server_end >= until):
                    return out
                continue
            frames, end = got
            self.server_end = max(self.server_end, end)
            if before is not None and end > before and frames:
                self.carry = (frames, end - 1, end)
                out.end = max(out.end, before)
                return out
            self._add(out, frames, end)
            size += sum(map(len, frames))
            if out.frames and (out.changes >= limits.rows or size >= limits.bytes):
                return out
            if out.frames and not first:
                first = now
            if until is not None and self.server_end >= until:
                return out

    def _next(self, wait: float) -> tuple[list[bytes], int] | None:
        with self.changed:
            self.changed.wait_for(lambda: self.ready or self.engine.stopped.is_set(), wait)
            if not self.ready:
                if self.engine.stopped.is_set() and not self.closed:
                    raise SourceUnreachable("Debezium stopped", code="source_unreachable", detail=self.engine.error or "It gives no reason.",
                                            hint="Run tidemark again; nothing is lost.")
                return None
            frames, end = self.ready.popleft()
            self.held -= sum(map(len, frames))
            self.changed.notify_all()
            return frames, end

    @staticmethod
    def _add(out: Received, frames: list[bytes], end: int) -> None:
        out.frames += frames
        out.changes += max(len(frames) - 1, 0)
        out.commit_lsn = max(out.commit_lsn, end - 1)
        out.end = max(out.end, end)

    def _mark(self, until: int | None) -> None:
        """Send a message through the stream when the caller, or WAL of other tables, needs to know how far it is."""
        now = time.monotonic()
        if until is None and now - self.looked > IDLE:
            self.looked = now
            lsn = self.source.position()
            until = lsn if lsn > max(self.server_end, self.asked) + FAR else None
        if until is not None and until > max(self.server_end, self.asked):
            self.source.send_marker()
            self.asked = until
