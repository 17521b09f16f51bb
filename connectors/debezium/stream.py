"""Changes as Debezium tells them, where `postgres.stream` reads them from the server: whole transactions,
acknowledged when told to."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable

from compiler.catalog import Table
from connectors.debezium.events import EventDecoder
from connectors.debezium.feed import Feed, Take
from connectors.debezium.source import Source
from connectors.debezium.values import inexact
from connectors.postgres.connection import SourceUnreachable
from connectors.postgres.transactions import Admit, Limits, Received, Transaction

HELD_BYTES = 256 << 20  # of transactions that wait to be received
HELD_LARGE = 2  # of those that are in files
IDLE = 10.0  # seconds after which an idle stream asks how far the source is
UNREAD = 3.0  # seconds without anything, after which it is asked whether a connector reads the slot
MARK = 5.0  # seconds between markers that only tell how fresh the views are
FAR = 1 << 20  # bytes of WAL, of other tables, that are worth a marker


class DebeziumStream:
    """Transactions of a feed, for as long as `source` says that their tables are what they were. Where the stream is,
    between transactions, is found by a message sent through it.

    `unchanged`: what events have for a value that was not sent. `elsewhere`: the feed's connector is not in this
    process.
    """

    def __init__(
        self,
        source: Source,
        tables: list[Table],
        start: int,
        unchanged: str,
        opened: Callable[[Take], Feed],
        elsewhere: bool = False,
    ) -> None:
        if error := next(filter(None, map(inexact, tables)), None):
            raise error
        self.source, self.tables, self.unchanged, self.elsewhere = source, tables, unchanged, elsewhere
        self.server_end = self.asked = start
        self.backend = 0
        self.urged = False
        self.wanted = 0  # an LSN that the server is known to have reached
        self.held: deque[Transaction] = deque()  # received, and not admitted
        self.changed = threading.Condition()
        self.woken = False
        self.again: Received | None = None  # received, and not given: a table was altered
        self.decoders: list[EventDecoder] = []
        self.ready: deque[Transaction] = deque()
        self.size = self.large = 0  # bytes of those in memory, and how many are not there
        self.closed = False
        self.looked = self.marked = time.monotonic()
        self.feed = opened(self._take)

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
        self.feed.close()
        if not self.elsewhere:
            self.source.move_slot(self.feed.acknowledged)
        self.source.close()
        again = [self.again.large] if self.again is not None and self.again.large is not None else []
        for t in (*self.held, *self.ready, *again):
            t.close()

    def acknowledge(self, lsn: int) -> None:
        """Everything up to `lsn` is durable here: the slot, or who reads the log next, may begin there."""
        self.feed.acknowledged = max(self.feed.acknowledged, lsn)

    def _take(self, t: Transaction) -> None:
        """On the feed's thread; waits while much is held."""
        with self.changed:
            self.changed.wait_for(lambda: self.size < HELD_BYTES and self.large < HELD_LARGE or self.closed)
            self.ready.append(t)
            self.size += sum(map(len, t.frames))
            self.large += t.large is not None
            self.changed.notify_all()

    def receive(self, limits: Limits, wait: float, until: int | None = None, admit: Admit | None = None) -> Received:
        """As `postgres.stream.Stream.receive`; raises TableChanged where a table is no longer what its events are
        read as: what was received comes once more, when it is known by `follow`."""
        out, self.again = self.again or self._receive(limits, wait, until, admit), None
        if not out.empty:
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
                if self.held[0].large is not None and out.frames:
                    return out
                t = self.held.popleft()
                self._add(out, t)
                size += t.size
                if t.large is not None:
                    return out
                if out.frames and (out.changes >= limits.rows or size >= limits.bytes):
                    return out
                first = first or (time.monotonic() if out.frames else 0.0)
            if out.frames and self.held:
                return out
            now = time.monotonic()
            if until is not None and self.server_end >= until:
                return out
            if until is not None and self.elsewhere and now - max(self.marked, self.feed.came) > UNREAD:
                self.source.check_read(now - max(self.marked, self.feed.came))
            got = self._next(max(0.0, (first + limits.span if first else deadline) - now))
            if got is not None:
                self.server_end = max(self.server_end, got.end)
                if got.frames or got.large is not None or not self.held:
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
            self.changed.wait_for(lambda: self.ready or self.woken or self.feed.stopped.is_set(), wait)
            if not self.ready:
                if self.feed.stopped.is_set() and not self.closed:
                    raise self.feed.refused or SourceUnreachable(
                        "Debezium's events cannot be read on" if self.elsewhere else "Debezium stopped",
                        code="source_unreachable",
                        detail=self.feed.error or "It gives no reason.",
                        hint="Look at its connector." if self.elsewhere else "Run tidemark again; nothing is lost.",
                    )
                return None
            t = self.ready.popleft()
            self.size -= sum(map(len, t.frames))
            self.large -= t.large is not None
            self.changed.notify_all()
            return t

    @staticmethod
    def _add(out: Received, t: Transaction) -> None:
        out.frames += t.frames
        out.large = t if t.large is not None else None
        out.changes += t.large.count if t.large is not None else max(len(t.frames) - 1, 0)
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
