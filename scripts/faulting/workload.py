"""Transactions on the source, drawn from a seed: they go on through restarts, and every commit is known."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg

from faulting.changes import Changes


class Workload:
    """Writes from a thread. Transaction n sets the row of `mark` to n; `commits` tells when n was known to be there."""

    def __init__(self, dsn: str, seed: int, pause: float = 0.01) -> None:
        self.dsn, self.pause, self.random = dsn, pause, random.Random(seed)
        self.changes = Changes(self.random)
        self.transactions = self.rows = self.number = 0
        self.commits: list[tuple[int, float]] = []
        self.stop, self.go, self.idle = threading.Event(), threading.Event(), threading.Event()
        self.error: BaseException | None = None
        self.thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Workload:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop.set()
        self.thread.join(60)

    @contextmanager
    def working(self, renaming: bool = False) -> Iterator[None]:
        """Writes within the block alone; afterwards every transaction is committed or not, and known to be. With
        `renaming`, tables and columns that views read get other names, and have their own again in the end."""
        self.changes.renaming = renaming
        self.go.set()
        try:
            yield
        finally:
            self.go.clear()
            self.idle.clear()
            deadline = time.monotonic() + 120
            while not self.idle.wait(0.5) and self.error is None and time.monotonic() < deadline:
                pass
            if not self.idle.is_set():
                raise RuntimeError(f"the workload does not come to rest: {self.error!r}")

    def write(self, seconds: float) -> None:
        with self.working():
            time.sleep(seconds)

    def missing(self, number: int, before: float) -> float | None:
        """Since when a commit is known that is later than `number`, if one is from before that time."""
        return next((at for n, at in self.commits if n > number and at < before), None)

    def _run(self) -> None:
        while not self.stop.is_set():
            try:
                with psycopg.connect(self.dsn, autocommit=True, connect_timeout=10) as c:
                    self._resume(c)
                    self._write(c)
            except psycopg.OperationalError:
                time.sleep(0.1)
            except BaseException as e:  # the thread's owner raises it
                self.error = e
                return

    def _resume(self, c: psycopg.Connection) -> None:
        """After a lost connection: whether the last transaction was committed; numbers are never used again."""
        row = c.execute("SELECT n FROM mark WHERE id = 1").fetchone()
        last = int(row[0]) if row else 0
        if last == self.number and (not self.commits or self.commits[-1][0] < last):
            self._committed()
        self.changes.look(c)
        self.commits = [x for x in self.commits if x[0] <= last]  # a server that was restored has lost the others

    def _committed(self) -> None:
        self.transactions += 1
        self.rows += self.changes.rows
        if self.number:
            self.commits.append((self.number, time.time()))
            del self.commits[:-20_000]

    def _write(self, c: psycopg.Connection) -> None:
        while not self.stop.is_set():
            if not self.go.wait(0.05):
                self.changes.names_back(c)
                self.idle.set()
                continue
            self.number += 1
            self.changes.rows = 0
            if self.random.random() < 0.07:
                names = dict(self.changes.names)
                with c.transaction(force_rollback=True):
                    self.changes.transaction(c, self.number)
                self.changes.names = names
            else:
                with c.transaction():
                    self.changes.transaction(c, self.number)
                self._committed()
            self.stop.wait(self.pause)
