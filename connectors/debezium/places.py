"""Where to read a log of events on from: of each of its parts, the place before which everything is durable."""

from __future__ import annotations

import json
import time
from collections import deque
from contextlib import suppress
from pathlib import Path

from connectors.debezium.assembling import Open

FILE = "events.json"
SAVED = 5.0  # seconds between writes of it


class Places:
    """What is kept is no more than a start: what lies before a frontier is passed over wherever reading begins, so that
    one that is lost, or older, takes time alone. One that is ahead of the frontier is not used."""

    def __init__(self, folder: Path, prefix: str) -> None:
        self.path, self.prefix = folder / FILE, prefix
        self.begun = False  # whether any event has told of one before it
        self.durable: dict[str, int] = {}
        self.waiting: dict[str, deque[tuple[int, Open]]] = {}
        self.saved = time.monotonic()

    def load(self, frontier: int) -> None:
        """Where a former reader was, if it was not ahead."""
        with suppress(OSError, ValueError, KeyError, TypeError):
            kept = json.loads(self.path.read_text())
            self.begun = kept["connector"] == self.prefix and bool(kept["begun"])
            if kept["connector"] == self.prefix and kept["lsn"] <= frontier:
                self.durable = {str(k): int(v) for k, v in kept["places"].items()}

    def passed(self, part: str, place: int, of: Open | None) -> None:
        """All before `place` was read; what was read last is of that transaction, if of one that is still to be
        durable."""
        waiting = self.waiting.setdefault(part, deque())
        if of is None and not waiting:
            self.durable[part] = place
        elif waiting and (of is None or waiting[-1][1] is of):
            waiting[-1] = place, waiting[-1][1]
        elif of is not None:
            waiting.append((place, of))

    def forward(self, lsn: int) -> None:
        """Everything that commits up to `lsn` is durable."""
        for part, waiting in self.waiting.items():
            while waiting and 0 < waiting[0][1].end <= lsn:
                self.durable[part] = waiting.popleft()[0]

    def save(self, lsn: int, now: bool = False) -> None:
        """For the next reader, once in a while."""
        if not now and time.monotonic() - self.saved < SAVED:
            return
        self.saved = time.monotonic()
        self.forward(lsn)
        new = self.path.with_suffix(".new")
        told = {"connector": self.prefix, "lsn": lsn, "begun": self.begun, "places": self.durable}
        new.write_text(json.dumps(told))
        new.replace(self.path)
