"""Changes as Debezium tells them, where `postgres.stream` reads them from the server: whole transactions, acknowledged when told to."""

from __future__ import annotations

import re
import secrets
import threading
import time
from collections import deque
from typing import Any

from psycopg import Error, errors

from compiler.catalog import Table
from compiler.errors import TidemarkError
from connectors.debezium.embedded import NAME, Embedded, properties
from connectors.debezium.events import EventDecoder, end_of
from connectors.debezium.values import inexact
from connectors.postgres.connection import SourceUnreachable, connect, format_lsn, parse_lsn
from connectors.postgres.stream import RELEASE, Limits, Received, SlotUnavailable

FIRST_VERSION = 140000  # messages are part of the stream from Postgres 14 on
HELD_BYTES = 256 << 20  # of transactions that wait to be received
IDLE = 10.0  # seconds after which an idle stream asks how far the source is
FAR = 1 << 20  # bytes of WAL, of other tables, that are worth a marker


class DebeziumStream:
    """Debezium's engine on a slot. Where the stream is, between transactions, is found by a message sent through it."""

    def __init__(self, dsn: str, slot: str, publication: str, tables: list[Table], start: int = 0) -> None:
        if error := next(filter(None, map(inexact, tables)), None):
            raise error
        self.source = connect(dsn)
        self.unchanged = f"__tidemark_{secrets.token_hex(12)}"
        self.tables, self.slot = tables, slot
        self.server_end = self.asked = start
        self.carry: tuple[list[bytes], int, int] | None = None
        self.changed = threading.Condition()
        self.open: list[bytes] = []  # events of the transaction being received
        self.ready: deque[tuple[list[bytes], int]] = deque()
        self.held = 0
        self.closed = False
        self.looked = time.monotonic()
        try:
            self._check_source()
        except BaseException:
            self.source.close()
            raise
        names = [re.escape(f"{t.schema}.{t.name}").replace(",", "\\,") for t in tables]
        self.engine = Embedded(properties(dsn, slot, publication, names, self.unchanged), self._take)

    def _check_source(self) -> None:
        """Debezium would make a slot that is missing, and go on without what was committed before."""
        if self.source.info.server_version < FIRST_VERSION:
            raise TidemarkError("the source is too old to be read through Debezium", code="unsupported_source",
                                detail=f"It is PostgreSQL {self.source.info.server_version // 10000}; 14 is the first.",
                                hint='Leave out capture = "debezium" in tidemark.toml.')
        deadline = time.monotonic() + RELEASE
        while (detail := self._unavailable()) and ("in use" in detail and time.monotonic() < deadline):
            time.sleep(0.1)
        if detail:
            hint = "Another tidemark run holds it; stop that one first." if "in use" in detail else "Run: tidemark deploy"
            raise SlotUnavailable(f'replication slot "{self.slot}" cannot be read', detail=detail, hint=hint, code="slot_unavailable")

    def _unavailable(self) -> str:
        """Why the slot cannot be read, if so."""
        row = self.source.execute("SELECT active, wal_status FROM pg_replication_slots WHERE slot_name = %s", [self.slot]).fetchone()
        if row is None:
            return f'replication slot "{self.slot}" does not exist'
        if row[1] == "lost":
            return f'replication slot "{self.slot}" has lost changes: the server removed WAL that it needed'
        return f'replication slot "{self.slot}" is in use' if row[0] else ""

    def decoder(self) -> EventDecoder:
        return EventDecoder(self.tables, self.unchanged)

    def close(self) -> None:
        with self.changed:
            self.closed = True
            self.changed.notify_all()
        self.engine.close()
        self._move_slot()
        self.source.close()

    def _move_slot(self) -> None:
        """The engine tells the server at its next turn, which may not come any more: the slot is moved without it."""
        deadline = time.monotonic() + RELEASE
        while time.monotonic() < deadline:
            try:
                self.source.execute("SELECT pg_replication_slot_advance(slot_name, least(%s::pg_lsn, pg_current_wal_flush_lsn())) "
                                    "FROM pg_replication_slots WHERE slot_name = %s AND confirmed_flush_lsn < %s::pg_lsn",
                                    [format_lsn(self.engine.acknowledged), self.slot, format_lsn(self.engine.acknowledged)])
                return
            except errors.ObjectInUse:
                time.sleep(0.1)
            except Error:
                return  # what it holds is read again, and is known

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
        """As `postgres.stream.Stream.receive`."""
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
            got = self._next(max(0.0, (first + limits.seconds if first else deadline) - now))
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
            row = self.source.execute("SELECT pg_current_wal_insert_lsn()").fetchone()
            lsn = parse_lsn(row[0]) if row else 0
            until = lsn if lsn > max(self.server_end, self.asked) + FAR else None
        if until is not None and until > max(self.server_end, self.asked):
            self.source.execute("SELECT pg_logical_emit_message(true, 'tidemark', '')")
            self.asked = until
