"""An engine that takes batches at its own pace, beside a faster one: what waited is applied as one batch."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

from connectors.postgres.origin import LastCommit
from connectors.postgres.pgoutput import RelationMessage

QUEUE_BYTES = 512 << 20


@dataclass
class Work:
    """Frames of whole transactions, where the last one ends, and which that is; and the tables' form before the first
    of them."""

    frames: list[bytes]
    end: int
    last: LastCommit | None
    relations: dict[int, RelationMessage]


class Worker:
    """A thread that calls `apply(work)` with whole transactions, in order, joined with whatever else waited."""

    def __init__(self, apply: Callable[[Work], None]) -> None:
        self.apply = apply
        self.changed = threading.Condition()
        self.frames: list[bytes] = []
        self.size = 0
        self.end = 0
        self.last: LastCommit | None = None
        self.relations: dict[int, RelationMessage] = {}
        self.busy = False
        self.stopping = False
        self.error: BaseException | None = None
        self._start()

    def _start(self) -> None:
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def put(self, work: Work) -> None:
        """Hand over transactions; waits while too much is queued. Raises what an earlier batch failed with."""
        with self.changed:
            self.changed.wait_for(lambda: self.size < QUEUE_BYTES or self.error is not None)
            self._raise()
            if not self.frames:
                self.relations = work.relations
            self.frames += work.frames
            self.size += sum(map(len, work.frames))
            self.end, self.last = max(self.end, work.end), work.last or self.last
            self.changed.notify_all()

    def drain(self) -> None:
        """Wait until everything handed over is applied."""
        with self.changed:
            self.changed.wait_for(lambda: (not self.frames and not self.busy) or self.error is not None)
            self._raise()

    def forget(self, heals: tuple[type[BaseException], ...] = ()) -> None:
        """Finish the batch at hand; what still waits is handed over again. Raises what an earlier batch failed with,
        but for what `heals`: it is tried once more."""
        with self.changed:
            self.frames, self.size, self.end, self.last = [], 0, 0, None
            self.changed.wait_for(lambda: not self.busy or self.error is not None)
            if isinstance(self.error, heals):
                self.error = None
                self._start()
            self._raise()

    def check(self) -> None:
        """Raises what a batch failed with."""
        with self.changed:
            self._raise()

    def stop(self) -> None:
        """Finish the batch at hand; what still waits is read again from the slot by the next run."""
        with self.changed:
            self.stopping = True
            self.changed.notify_all()
        self.thread.join()

    def _raise(self) -> None:
        if self.error is not None:
            raise self.error

    def _run(self) -> None:
        while True:
            with self.changed:
                self.changed.wait_for(lambda: self.frames or self.stopping)
                if self.stopping:
                    return
                work = Work(self.frames, self.end, self.last, self.relations)
                self.frames, self.size, self.busy = [], 0, True
                self.changed.notify_all()
            try:
                self.apply(work)
            except BaseException as e:
                with self.changed:
                    self.error = e
                    self.busy = False
                    self.changed.notify_all()
                return
            with self.changed:
                self.busy = False
                self.changed.notify_all()
