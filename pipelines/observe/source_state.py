"""Whether the source is there, since when, and what it has told. Held by `RunState`, under its lock."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pipelines.observe.snapshot import SourceShot


@dataclass
class SourceState:
    """`lsn`: where its WAL is; `retained`: bytes of WAL that the slot keeps; `safe`: that may be written until
    it may be lost, None without a bound; all as told at `told_at`."""

    state: Literal["connected", "away"]
    since: float
    reason: str = ""
    attempts: int = 0
    retry_at: float | None = None
    reconnects: int = 0
    lsn: int | None = None
    retained: int | None = None
    safe: int | None = None
    told_at: float | None = None

    def away(self, now: float, reason: str, retry_in: float | None) -> int:
        """Attempts so far; the first one is the connection that broke."""
        if self.state == "connected":
            self.state, self.since, self.attempts = "away", now, 0
        self.reason, self.attempts = reason, self.attempts + 1
        self.retry_at = None if retry_in is None else now + retry_in
        return self.attempts

    def back(self, now: float) -> float:
        """Seconds that it was away."""
        if self.state == "connected":
            return 0.0
        away = max(now - self.since, 0.0)
        self.state, self.since, self.reason, self.attempts, self.retry_at = "connected", now, "", 0, None
        self.reconnects += 1
        return away

    def shot(self, now: float) -> SourceShot:
        """As it is at this moment."""
        retry_in = None if self.retry_at is None else max(self.retry_at - now, 0.0)
        return {
            "state": self.state,
            "since": self.since,
            "seconds": max(now - self.since, 0.0),
            "reason": self.reason,
            "attempts": self.attempts,
            "retry_in": retry_in,
            "reconnects": self.reconnects,
            "lsn": self.lsn,
            "retained_bytes": self.retained,
            "safe_bytes": self.safe,
            "told_at": self.told_at,
        }
