"""An engine that takes batches at its own pace, beside a faster one: what waited is applied as one batch."""

from __future__ import annotations

import threading
from collections.abc import Callable

QUEUE_BYTES = 512 << 20


class Worker:
    """A thread that calls `apply(frames, end)` with whole transactions, in order, joined with whatever else waited."""

    def __init__(self, apply: Callable[[list[bytes], int], None]) -> None:
        self.apply = apply
        self.changed = threading.Condition()
        self.frames: list[bytes] = []
        self.size = 0
        self.end = 0
        self.busy = False
        self.stopping = False
        self.error: BaseException | None = None
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def put(self, frames: list[bytes], end: int) -> None:
        """Hand over transactions; waits while too much is queued. Raises what an earlier batch failed with."""
        with self.changed:
            self.changed.wait_for(lambda: self.size < QUEUE_BYTES or self.error is not None)
            self._raise()
            self.frames += frames
            self.size += sum(map(len, frames))
            self.end = max(self.end, end)
            self.changed.notify_all()

    def drain(self) -> None:
        """Wait until everything handed over is applied."""
        with self.changed:
            self.changed.wait_for(lambda: (not self.frames and not self.busy) or self.error is not None)
            self._raise()

    @property
    def idle(self) -> bool:
        with self.changed:
            self._raise()
            return not self.frames and not self.busy

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
                frames, end, self.frames, self.size, self.busy = self.frames, self.end, [], 0, True
                self.changed.notify_all()
            try:
                self.apply(frames, end)
            except BaseException as e:
                with self.changed:
                    self.error = e
                    self.busy = False
                    self.changed.notify_all()
                return
            with self.changed:
                self.busy = False
                self.changed.notify_all()
