"""The replication stream: I/O only. COPY BOTH over libpq, keepalives answered, positions acknowledged when told to."""

from __future__ import annotations

import select
import struct
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field

from psycopg import OperationalError, pq

from compiler.errors import TidemarkError
from connectors.changed import AGAIN
from connectors.postgres.connection import SourceUnreachable, describe, format_lsn, replication_dsn

BUSY = 2000  # changes after which a batch waits for more, instead of leaving at once
RELEASE = 10.0  # seconds in which a busy server lets go of the slot of a reader that has just gone
IN_USE = b"55006"
HEARTBEAT = 5.0  # seconds between status updates while a batch is applied: the server gives up after wal_sender_timeout
EPOCH = 946684800  # 2000-01-01, where Postgres' clock starts


class SlotUnavailable(TidemarkError):
    pass


@dataclass
class Limits:
    """When a batch closes, always between transactions: rows, bytes, or seconds since its first one.

    `collect`: seconds that it is worth waiting for more, where applying a batch takes far longer than that.
    """

    rows: int = 200_000
    bytes: int = 128 << 20
    seconds: float = 0.02
    collect: float = 0.0

    @property
    def span(self) -> float:
        return max(self.seconds, self.collect)


@dataclass
class Received:
    """Frames of whole transactions; `end` is the end LSN of the last commit (or what an idle server has sent)."""

    frames: list[bytes] = field(default_factory=list)
    commit_lsn: int = 0
    end: int = 0
    changes: int = 0


class Stream:
    """A running START_REPLICATION."""

    def __init__(self, dsn: str, slot: str, publication: str, start: int = 0) -> None:
        self.lock, self.closed = threading.RLock(), threading.Event()
        self.conn = pq.PGconn.connect(replication_dsn(dsn))
        if self.conn.status != pq.ConnStatus.OK:
            message = self.conn.get_error_message()
            raise SourceUnreachable(f"cannot stream from the source {describe(dsn)}", detail=message,
                                    code="source_unreachable", hint="The user needs the REPLICATION attribute.")
        options = f"proto_version '1', publication_names '{_quote(publication)}'"
        command = f'START_REPLICATION SLOT "{slot}" LOGICAL {format_lsn(start)} ({options})'
        result = self.conn.exec_(command.encode())
        deadline = time.monotonic() + RELEASE
        while result.error_field(pq.DiagnosticField.SQLSTATE) == IN_USE and time.monotonic() < deadline:
            time.sleep(0.1)
            result = self.conn.exec_(command.encode())
        if result.status != pq.ExecStatus.COPY_BOTH:
            detail = result.get_error_message()
            self.close()
            hint = "Another tidemark run holds it; stop that one first." if "is active" in detail else (
                AGAIN if "does not exist" in detail else "")
            raise SlotUnavailable(f'replication slot "{slot}" cannot be read', detail=detail, hint=hint,
                                  code="slot_unavailable")
        self.received = start
        self.acknowledged = start
        self.server_end = start
        self.open: list[bytes] = []  # frames of the transaction being received
        self.last_feedback = time.monotonic()
        self.carry: tuple[list[bytes], int, int] | None = None
        threading.Thread(target=self._beat, daemon=True).start()

    def close(self) -> None:
        self.closed.set()
        with self.lock:
            self.conn.finish()

    def _beat(self) -> None:
        """Tell the server that we live, also while nobody receives."""
        while not self.closed.wait(HEARTBEAT):
            if self.lock.acquire(blocking=False):
                try:
                    if not self.closed.is_set():
                        self.feedback()
                finally:
                    self.lock.release()

    def fileno(self) -> int:
        return self.conn.socket

    def acknowledge(self, lsn: int) -> None:
        """Tell the server that everything up to `lsn` is durable here."""
        self.acknowledged = max(self.acknowledged, lsn)
        self.feedback()

    def feedback(self) -> None:
        """A status update; who receives next finds out about a connection that is broken."""
        now = int((time.time() - EPOCH) * 1_000_000)
        with self.lock, suppress(OperationalError):
            self.conn.put_copy_data(struct.pack("!cQQQQB", b"r", max(self.received, self.acknowledged), self.acknowledged,
                                                self.acknowledged, now, 0))
            self.conn.flush()
        self.last_feedback = time.monotonic()

    def receive(self, limits: Limits, wait: float, until: int | None = None, before: int | None = None) -> Received:
        """Whole transactions, at least one unless `wait` seconds pass or the server has nothing up to `until`.

        With `before`, transactions that commit at or after that LSN are kept for the next call.
        """
        try:
            with self.lock:
                return self._receive(limits, wait, until, before)
        except OperationalError as e:
            raise self._broken(str(e)) from e

    def _broken(self, detail: str) -> SourceUnreachable:
        return SourceUnreachable("the source closed the replication stream", code="source_unreachable", detail=detail.strip(),
                                 hint="Run tidemark again; nothing is lost.")

    def _receive(self, limits: Limits, wait: float, until: int | None, before: int | None) -> Received:
        out = Received()
        size, first, deadline = 0, 0.0, time.monotonic() + wait
        patience = limits.span if until is not None or limits.collect > limits.seconds else 0.0  # while nothing arrives
        if self.carry is not None:
            frames, lsn, end = self.carry
            if before is not None and lsn >= before:
                return Received(end=before)
            self.carry = None
            self._take(out, frames, lsn, end)
            first = time.monotonic()
        while True:
            now = time.monotonic()
            if now - self.last_feedback > 5:
                self.feedback()
            n, data = self.conn.get_copy_data(1)
            if n > 0:
                kind = data[0]
                if kind == 0x77:  # w: XLogData
                    frame = bytes(data)
                    self.open.append(frame)
                    size += n
                    if frame[25] == 0x43:  # C: commit
                        lsn = int.from_bytes(frame[27:35], "big")
                        end = int.from_bytes(frame[35:43], "big")
                        self.received = max(self.received, end)
                        self.server_end = max(self.server_end, end)
                        frames, self.open = self.open, []
                        if before is not None and lsn >= before:
                            self.carry = (frames, lsn, end)
                            out.end = max(out.end, before)
                            return out
                        self._take(out, frames, lsn, end)
                        first = first or time.monotonic()
                        if out.changes >= limits.rows or size >= limits.bytes:
                            return out
                        if time.monotonic() - first >= limits.span:
                            return out
                elif kind == 0x6B:  # k: keepalive
                    end = int.from_bytes(data[1:9], "big")
                    self.server_end = max(self.server_end, end)
                    if not self.open:
                        self.received = max(self.received, end)
                        out.end = max(out.end, end)
                    if data[17]:
                        self.feedback()
                    if until is not None and end >= until and not self.open:
                        return out
                continue
            if n == -1 or n == -2:
                result = self.conn.get_result()
                raise self._broken(result.get_error_message() if result is not None else self.conn.get_error_message())
            busy = out.changes > BUSY and now - first < limits.seconds * 10
            if out.frames and not self.open and not busy and now - first >= patience:
                return out
            if until is not None and self.server_end >= until and not self.open:
                return out
            left = deadline - now
            if left <= 0 and not self.open and not out.frames:
                return out
            pause = max(0.001, limits.seconds if out.frames else min(left, 1.0))
            ready, _, _ = select.select([self.conn.socket], [], [], pause)
            if ready:
                self.conn.consume_input()
            elif until is not None:
                self.feedback_request()

    def feedback_request(self) -> None:
        """A status update; the server answers with its own position."""
        self.feedback()

    def _take(self, out: Received, frames: list[bytes], lsn: int, end: int) -> None:
        out.frames += frames
        out.changes += len(frames) - 2
        out.commit_lsn = max(out.commit_lsn, lsn)
        out.end = max(out.end, end)


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
