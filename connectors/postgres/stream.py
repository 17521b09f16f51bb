"""The replication stream: I/O only. COPY BOTH over libpq, keepalives answered, positions acknowledged when told to."""

from __future__ import annotations

import select
import struct
import threading
import time
from collections import deque
from contextlib import suppress
from pathlib import Path

from psycopg import OperationalError, pq

from compiler.catalog import Table
from compiler.errors import TidemarkError
from connectors.alarm import Alarm
from connectors.postgres.connection import SourceUnreachable
from connectors.postgres.origin import RESYNC, Continuity
from connectors.postgres.replication import command, open_replication
from connectors.postgres.transactions import Admit, Assembly, Limits, Received, Transaction

BUSY = 2000  # changes after which a batch waits for more, instead of leaving at once
RELEASE = 10.0  # seconds in which a busy server lets go of the slot of a reader that has just gone
IN_USE = b"55006"
HEARTBEAT = 5.0  # seconds between status updates while a batch is applied: the server gives up after wal_sender_timeout
ASK = 0.05  # seconds between questions for the server's position
SILENCE = 30.0  # seconds without a word, though asked for one, after which the stream is given up
PART = 1.0  # seconds for which frames of a transaction are taken before others have their turn
LONG = 1.0  # seconds for which whole transactions wait for one that is still arriving
EPOCH = 946684800  # 2000-01-01, where Postgres' clock starts
STREAMING = 140000  # the version from which on servers send large transactions before they commit
MEMORY = 64 << 20  # bytes of transactions that are being received


class SlotUnavailable(TidemarkError):
    """The slot cannot be read, and will not be."""


class SlotInUse(SlotUnavailable):
    """Another reader has the slot: perhaps one of ours whose connection broke, which the server has not noticed yet."""


HEALS = (SourceUnreachable, SlotInUse)  # what a later attempt may find mended


class Stream:
    """A running START_REPLICATION. It sends from where the slot stands: `resume` says from where on that is new.

    `held`: whole transactions that were received and not given out, as whoever receives did not admit the first of
    them. Transactions that have not ended take no more than `memory` bytes; larger ones wait in files in `folder`.
    """

    def __init__(
        self,
        dsn: str,
        slot: str,
        publication: str,
        silence: float = SILENCE,
        folder: Path | None = None,
        memory: int = MEMORY,
    ) -> None:
        self.silence = silence
        self.lock, self.closed = threading.RLock(), threading.Event()
        self.conn, self.alarm = open_replication(dsn), Alarm()
        self.backend = self.conn.backend_pid
        self.received = self.acknowledged = self.server_end = 0
        self.continuity: Continuity | None = None
        self.assembly = Assembly(folder, memory)
        self.held: deque[Transaction] = deque()
        self.last_feedback = self.heard = self.asked = time.monotonic()
        self.wanted = 0  # an LSN that the server is known to have reached: it is asked for its word until it says so
        self.urged = False  # the server asks how far we are: when it stops, it waits until we are where it is
        self.unanswered: float | None = None  # since when the server owes us a word
        try:
            self._start(slot, publication)
        except BaseException:
            self.close()
            raise
        threading.Thread(target=self._beat, daemon=True).start()

    def _start(self, slot: str, publication: str) -> None:
        version = "'2', streaming 'on'" if self.conn.server_version >= STREAMING else "'1'"
        text = (
            f'START_REPLICATION SLOT "{slot}" LOGICAL 0/0 (proto_version {version}, publication_names '
            f"'{_quote(publication)}')"
        )
        result = command(self.conn, text, self.silence)
        deadline = time.monotonic() + RELEASE
        while result.error_field(pq.DiagnosticField.SQLSTATE) == IN_USE and time.monotonic() < deadline:
            time.sleep(0.1)
            result = command(self.conn, text, self.silence)
        if result.status != pq.ExecStatus.COPY_BOTH:
            detail = result.get_error_message()
            hint = (
                "Another tidemark run holds it; stop that one first."
                if "is active" in detail
                else (RESYNC if "does not exist" in detail or "can no longer" in detail else "")
            )
            kind = SlotInUse if "is active" in detail else SlotUnavailable
            raise kind(f'replication slot "{slot}" cannot be read', detail=detail, hint=hint, code="slot_unavailable")

    def resume(self, continuity: Continuity) -> None:
        """What lies below the frontier is durable here: nothing is acknowledged before the server is known to go on
        from there."""
        self.continuity = continuity
        self.received = self.server_end = continuity.confirmed
        self.acknowledged = continuity.durable

    def wake(self) -> None:
        """Let `receive` return, where it waits for a first transaction."""
        self.alarm.ring()

    def follow(self, tables: list[Table]) -> None:
        """Which tables are kept is for the decoder to know: bytes are given as they come."""

    def close(self) -> None:
        self.closed.set()
        with self.lock:
            self.conn.finish()
            self.alarm.close()
            self.assembly.close()
            for t in self.held:
                t.close()

    def _beat(self) -> None:
        """Tell the server that we live, also while nobody receives."""
        while not self.closed.wait(HEARTBEAT):
            if self.lock.acquire(blocking=False):
                try:
                    if not self.closed.is_set():
                        self.feedback()
                finally:
                    self.lock.release()

    def acknowledge(self, lsn: int) -> None:
        """Tell the server that everything up to `lsn` is durable here."""
        self.acknowledged = max(self.acknowledged, lsn)
        self.feedback()

    def feedback(self, ask: bool = False) -> None:
        """A status update; `ask` for the server's position. Who receives next finds out about a connection that is
        broken."""
        now = int((time.time() - EPOCH) * 1_000_000)
        durable = self.acknowledged if self.continuity is None or self.continuity.proven else 0
        with self.lock, suppress(OperationalError):
            self.conn.put_copy_data(
                struct.pack("!cQQQQB", b"r", max(self.received, durable), durable, durable, now, ask)
            )
            self.conn.flush()
        self.last_feedback = time.monotonic()
        if ask:
            self.asked = self.last_feedback
            self.unanswered = self.unanswered or self.asked

    def receive(self, limits: Limits, wait: float, until: int | None = None, admit: Admit | None = None) -> Received:
        """Whole transactions, at least one unless `wait` seconds pass or the server has nothing up to `until`.

        From the first transaction on that `admit` does not take, all are kept for later calls. Raises
        SourceUnreachable where the connection broke, or the server was silent for `silence` seconds.
        """
        try:
            with self.lock:
                return self._receive(limits, wait, until, admit)
        except OperationalError as e:
            raise self._broken(str(e)) from e

    def _broken(self, detail: str) -> SourceUnreachable:
        return SourceUnreachable(
            "the source closed the replication stream",
            code="source_unreachable",
            detail=detail.strip(),
            hint="Run tidemark again; nothing is lost.",
        )

    def _receive(self, limits: Limits, wait: float, until: int | None, admit: Admit | None) -> Received:
        out = Received()
        size, first, begun = 0, 0.0, time.monotonic()
        patience = limits.span if until is not None or limits.collect > limits.seconds else 0.0  # while nothing arrives
        barred = False
        while True:
            while self.held and not barred:
                if admit is not None and not admit(self.held[0]):
                    barred = True
                    break
                if self.held[0].large is not None and out.frames:
                    return out
                t = self.held.popleft()
                out.take(t)
                if t.large is not None:
                    return out
                size += t.size
                first = first or time.monotonic()
                if out.changes >= limits.rows or size >= limits.bytes or time.monotonic() - first >= limits.span:
                    return out
            now = time.monotonic()
            if now - self.last_feedback > HEARTBEAT:
                self.feedback()
            n, data = self.conn.get_copy_data(1)
            if n > 0:
                self.heard, self.unanswered = now, None
                self._take(bytes(data), out)
                if until is not None and self.server_end >= until and not self.assembly.midway and not self.held:
                    return out
                if out.empty and not self.held and now - begun > max(wait, PART):  # of a transaction that is long
                    return out
                continue
            if n == -1 or n == -2:
                result = self.conn.get_result()
                raise self._broken(result.get_error_message() if result is not None else self.conn.get_error_message())
            busy = out.changes > BUSY and now - first < limits.seconds * 10
            if out.frames and (barred or not self.assembly.midway and not busy and now - first >= patience):
                return out
            if out.frames and now - first > limits.span + LONG:
                return out
            if until is not None and self.server_end >= until and not self.assembly.midway:
                return out
            left = begun + wait - now
            if not out.frames and (left <= 0 or self.alarm.rang()):
                return out
            self._wait(max(0.001, limits.seconds if out.frames else min(left, 1.0)), until is not None)

    def _wait(self, pause: float, ask: bool) -> None:
        ready, _, _ = select.select([self.conn.socket, self.alarm.fileno()], [], [], pause)
        now = time.monotonic()
        if self.conn.socket in ready:
            self.conn.consume_input()
            return
        if self.unanswered is not None and now - self.unanswered > self.silence:
            raise SourceUnreachable(
                "the source is silent",
                code="source_unreachable",
                detail=f"Nothing came on the replication stream for {now - self.heard:.0f} s.",
                hint="Run tidemark again; nothing is lost.",
            )
        if (
            (ask or self.server_end < self.wanted)
            and now - self.asked > ASK
            or now - max(self.heard, self.asked) > HEARTBEAT
        ):
            self.feedback(ask=True)

    def _take(self, data: bytes, out: Received) -> None:
        """One message of the protocol: WAL data, or a keepalive."""
        if data[0] == 0x77:  # w: XLogData
            t = self.assembly.take(data)
            if t is None:
                return
            self.received, self.server_end = max(self.received, t.end), max(self.server_end, t.end)
            if self.continuity is not None:
                self.continuity.saw(t.lsn, t.xid, t.time, t.idle)
            self.held.append(t)
        elif data[0] == 0x6B:  # k: keepalive
            end = int.from_bytes(data[1:9], "big")
            self.server_end = max(self.server_end, end)
            if not self.assembly.midway:
                self.received = max(self.received, end)
                if self.continuity is not None:
                    self.continuity.reached(end)
                if not self.held:
                    out.end = max(out.end, end)
            if data[17]:
                self.urged = True
                self.feedback()

    @property
    def complete(self) -> int:
        """Up to here everything that the server has was given out: it said so."""
        return min(self.received, self.held[0].lsn) if self.held else self.received


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
