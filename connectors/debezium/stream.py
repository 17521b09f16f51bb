"""Changes as Debezium tells them, where `postgres.stream` reads them from the server: whole transactions,
acknowledged when told to."""

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
from connectors.postgres.transactions import Admit, Limits, Received, Transaction

HELD_BYTES = 256 << 20  # of transactions that wait to be received
IDLE = 10.0  # seconds after which an idle stream asks how far the source is
MARK = 5.0  # seconds between markers that only tell how fresh the views are
FAR = 1 << 20  # bytes of WAL, of other tables, that are worth a marker


class DebeziumStream:
    """Debezium's engine on a slot. Where the stream is, between transactions, is found by a message sent through it."""

    def __init__(self, dsn: str, slot: str, publication: str, tables: list[Table], start: int = 0) -> None:
        if error := next(filter(None, map(inexact, tables)), None):
            raise error
        self.tables = tables
        self.unchanged = f"__tidemark_{secrets.token_hex(12)}"
        self.server_end = self.asked = start
        self.backend = 0
        self.urged = False
        self.wanted = 0  # an LSN that the server is known to have reached
        self.held: deque[Transaction] = deque()  # received, and not admitted
        self.changed = threading.Condition()
        self.woken = False
        self.again: Received | None = None  # received, and not given: a table was altered
        self.decoders: list[EventDecoder] = []
        self.open: list[bytes] = []  # events of the transaction being received
        self.ready: deque[Transaction] = deque()
        self.size = 0  # bytes of those
        self.closed = False
        self.looked = self.marked = time.monotonic()
        self.source = Source(dsn, slot)
        try:
            self.source.check()
            names = [
                re.escape(f"{t.schema}.{t.name}").replace(",", "\\,").replace("\\ ", "[ ]") for t in tables
            ]  # the list is trimmed
            self.engine = Embedded(properties(self.source.conn, slot, publication, names, self.unchanged), self._take)
        except BaseException:
            self.source.close()
            raise

    def decoder(self) -> EventDecoder:
        self.decoders.append(EventDecoder(self.tables, self.unchanged))
        return self.decoders[-1]

    def follow(self, tables: list[Table]) -> None:
        """From now on these are kept, with these columns; events of others are none of ours."""
        self.tables = tables
        for d in self.decoders:
            d.follow(tables)

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
            self.changed.wait_for(lambda: self.size < HELD_BYTES or self.closed)
            xid = int(ended[1].decode().partition(":")[0])
            self.ready.append(Transaction(frames if len(frames) > 1 else [], end - 1, end, xid, 0))
            self.size += sum(map(len, frames))
            self.changed.notify_all()

    def receive(self, limits: Limits, wait: float, until: int | None = None, admit: Admit | None = None) -> Received:
        """As `postgres.stream.Stream.receive`; raises TableChanged where a table is no longer what its events are
        read as: what was received comes once more, when it is known by `follow`."""
        out, self.again = self.again or self._receive(limits, wait, until, admit), None
        if out.frames:
            try:
                self.source.check_unaltered(self.tables)
            except BaseException:
                self.again = out
                raise
        return out

    @property
    def complete(self) -> int:
        return min(self.server_end, self.held[0].lsn) if self.held else self.server_end

    def _receive(self, limits: Limits, wait: float, until: int | None, admit: Admit | None) -> Received:
        out = Received()
        size, first, deadline = 0, 0.0, time.monotonic() + wait
        self._mark(until)
        while True:
            while self.held and (admit is None or admit(self.held[0])):
                t = self.held.popleft()
                self._add(out, t)
                size += sum(map(len, t.frames))
                if out.frames and (out.changes >= limits.rows or size >= limits.bytes):
                    return out
                first = first or (time.monotonic() if out.frames else 0.0)
            if out.frames and self.held:
                return out
            now = time.monotonic()
            if until is not None and self.server_end >= until:
                return out
            got = self._next(max(0.0, (first + limits.span if first else deadline) - now))
            if got is not None:
                self.server_end = max(self.server_end, got.end)
                if got.frames or not self.held:
                    self.held.append(got)
            elif out.frames or now >= deadline or self.woken:
                self.woken = False
                return out

    def wake(self) -> None:
        with self.changed:
            self.woken = True
            self.changed.notify_all()

    def _next(self, wait: float) -> Transaction | None:
        with self.changed:
            self.changed.wait_for(lambda: self.ready or self.woken or self.engine.stopped.is_set(), wait)
            if not self.ready:
                if self.engine.stopped.is_set() and not self.closed:
                    raise SourceUnreachable(
                        "Debezium stopped",
                        code="source_unreachable",
                        detail=self.engine.error or "It gives no reason.",
                        hint="Run tidemark again; nothing is lost.",
                    )
                return None
            t = self.ready.popleft()
            self.size -= sum(map(len, t.frames))
            self.changed.notify_all()
            return t

    @staticmethod
    def _add(out: Received, t: Transaction) -> None:
        out.frames += t.frames
        out.changes += max(len(t.frames) - 1, 0)
        out.end = max(out.end, t.end)
        out.xids.append(t.xid)

    def _mark(self, until: int | None) -> None:
        """Send a message through the stream when the caller, or WAL of other tables, needs to know how far it is."""
        now = time.monotonic()
        if until is None and now - self.looked > IDLE:
            self.looked = now
            lsn = self.source.position()
            until = lsn if lsn > max(self.server_end, self.asked) + FAR else None
        elif until is None and self.wanted > max(self.server_end, self.asked) and now - self.marked > MARK:
            until = self.wanted
        if until is not None and until > max(self.server_end, self.asked):
            self.source.send_marker()
            self.marked = now
            self.asked = until
