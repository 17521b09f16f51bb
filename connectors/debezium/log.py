"""Transactions out of a log of events that Debezium wrote elsewhere: read by a thread, which begins where it has to."""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import suppress

from compiler.errors import TidemarkError
from connectors.debezium.assembling import Assembler
from connectors.debezium.feed import Take
from connectors.debezium.places import Places

PATIENCE = 60.0  # seconds after which what is missing is told of, where the log has been read to its end since
BUSY = 10  # times as many where it has not


class Log(ABC):
    """A feed (`feed.Feed`). What is missing for so long stops it: it is opened again later."""

    def __init__(self, assembler: Assembler, places: Places, take: Take) -> None:
        self.assembler, self.places, self.take = assembler, places, take
        self.acknowledged = assembler.reached
        self.error: str | None = None
        self.refused: TidemarkError | None = None
        self.stopped = threading.Event()
        self.closing = threading.Event()
        self.came = self.since = time.monotonic()
        self.lacking, self.rested = "", False  # what the next transaction waits for, `since` when; all was read since
        self.thread = threading.Thread(target=self._run, daemon=True, name="events")

    def start(self) -> None:
        self.thread.start()

    @abstractmethod
    def read(self) -> Iterator[tuple[str, int, bytes]]:
        """What has come since: of which part, the place after it, the event. Waits a little where there is nothing."""

    def release(self) -> None:  # noqa: B027
        """What is held of the log, when its thread ends."""

    def _run(self) -> None:
        try:
            while not self.closing.is_set():
                self._step()
        except TidemarkError as e:
            self.refused = e
        except Exception as e:  # whatever a client raises: the stream tells, and is opened again
            self.error = f"{type(e).__name__}: {e}"
        finally:
            self.release()
            self.assembler.close()
            self.stopped.set()

    def _step(self) -> None:
        idle = True
        for part, place, value in self.read():
            idle, self.came = False, time.monotonic()
            self.places.passed(part, place, self.assembler.take(value))
            while (t := self.assembler.whole()) is not None:
                self.take(t)
        lsn, self.places.begun = self.acknowledged, self.assembler.begun
        self.places.forward(lsn)
        self.places.save(lsn)
        self._look_for_what_is_missing(idle)

    def _look_for_what_is_missing(self, idle: bool) -> None:
        lacking, now = self.assembler.lacks(), time.monotonic()
        if lacking != self.lacking:
            self.lacking, self.since, self.rested = lacking, now, False
        self.rested = self.rested or idle
        if lacking and now - self.since > PATIENCE * (1 if self.rested else BUSY):
            self.error = f"{lacking[0].upper()}{lacking[1:]}. Events that were removed before they were read are lost."
            self.closing.set()

    def close(self) -> None:
        self.closing.set()
        self.thread.join(10)
        with suppress(OSError):  # it is a start for the next reader, and no more
            self.places.save(self.acknowledged, now=True)
