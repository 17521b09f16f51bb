"""Work for the loop's own thread, asked for by others: what has to see the engines at rest."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")


class _Job:
    def __init__(self, run: Callable[[], Any]) -> None:
        self.run, self.done = run, threading.Event()
        self.result: Any = None
        self.error: BaseException | None = None

    def fail(self, error: BaseException) -> None:
        self.error = error
        self.done.set()


class Jobs:
    """A queue that the loop empties between batches."""

    def __init__(self) -> None:
        self.waiting: queue.SimpleQueue[_Job] = queue.SimpleQueue()
        self.over: BaseException | None = None

    def ask(self, run: Callable[[], T]) -> T:
        """Run on the loop's thread; raises what it raised."""
        job = _Job(run)
        self.waiting.put(job)
        if self.over is not None:
            self.refuse(self.over)
        job.done.wait()
        if job.error is not None:
            raise job.error
        return job.result  # type: ignore[no-any-return]

    def run(self) -> None:
        """What is asked for now. Who asked is told of an error; one that ends the process is raised here too.

        A batch that failed meanwhile is still at hand: the loop applies it again, or ends with its error.
        """
        while (job := self._next()) is not None:
            try:
                job.result = job.run()
            except Exception as e:
                job.fail(e)
            except BaseException as e:
                job.fail(e)
                raise
            job.done.set()

    def refuse(self, error: BaseException, ever: bool = False) -> None:
        """Tell whoever waits that it cannot be done now; with `ever`, those that ask later too."""
        if ever:
            self.over = error
        while (job := self._next()) is not None:
            job.fail(error)

    def _next(self) -> _Job | None:
        try:
            return self.waiting.get_nowait()
        except queue.Empty:
            return None
