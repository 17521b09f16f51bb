"""Where Debezium's transactions come from: an engine in this process, a Kafka, or files."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Protocol

from compiler.errors import TidemarkError
from connectors.debezium.spool import EventSpool
from connectors.postgres.transactions import Transaction

Take = Callable[[Transaction], None]  # called on the feed's thread; may block


class Feed(Protocol):
    """Gives whole transactions in commit order, on a thread of its own. `stopped` once there will be no more: because
    of `error`, after which it may be opened again, or `refused`. `acknowledged`: the LSN up to which all is durable
    here, set from outside. `came`: when the last event did, of time.monotonic()."""

    came: float
    acknowledged: int
    error: str | None
    refused: TidemarkError | None
    stopped: threading.Event

    def close(self) -> None: ...


def transaction(events: EventSpool, ended: bytes, identifier: str) -> Transaction:
    """Of its events, and the event that ends it; a large one keeps the file."""
    xid, _, end = identifier.partition(":")
    if events.large:
        return Transaction([], int(end) - 1, int(end), int(xid), 0, events)
    frames = [*events, ended] if len(events) else []
    events.close()
    return Transaction(frames, int(end) - 1, int(end), int(xid), 0)
