"""What readers hold on to: a frontier with each table's version at it, and the sign that somebody reads there."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import uuid
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from compiler.errors import TidemarkError
from connectors.postgres.origin import LastCommit
from connectors.spark import durable


@dataclass(frozen=True)
class Pin:
    """One frontier, when it was reached, and each table's version at it (`state/…`, `mirror/…`).

    `versions` is None in a warehouse of a program that wrote none: its tables are read as they are.
    """

    lsn: int = 0
    moved: float = 0.0
    versions: dict[str, int] | None = None
    last: LastCommit | None = None  # the last transaction that was applied, None where that is not known

    def holds(self, table: str) -> bool:
        """Whether who reads at this pin may read the table."""
        return self.versions is None or table in self.versions

    def kind(self, kind: str) -> dict[str, int] | None:
        """The versions of the tables of one kind, by their own names."""
        if self.versions is None:
            return None
        return {k.removeprefix(f"{kind}/"): v for k, v in self.versions.items() if k.startswith(f"{kind}/")}


class Leases:
    """A locked file a reader, from before it takes its pin until it has read; the lock goes with its process."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @contextlib.contextmanager
    def take(self, load: Callable[[], Pin]) -> Iterator[Pin]:
        """The present pin, which `load` gives, held until the end of the block."""
        try:
            path, fd = self._lock()
        except OSError:  # a reader that cannot write there; what is let go of stays for an hour all the same
            yield load()
            return
        try:
            pin = load()
            with contextlib.suppress(OSError):  # while it says nothing, it holds everything
                os.write(fd, json.dumps(asdict(pin)).encode())
            yield pin
        finally:
            path.unlink(missing_ok=True)
            os.close(fd)

    def _lock(self) -> tuple[Path, int]:
        while True:
            self.folder.mkdir(parents=True, exist_ok=True)
            path = self.folder / f"{os.getpid()}-{uuid.uuid4().hex}"
            fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
            fcntl.flock(fd, fcntl.LOCK_EX)
            if path.exists():  # `held` has not taken it for one that was left behind
                return path, fd
            os.close(fd)

    def held(self) -> list[Pin]:
        """The pins that are held, by any process. One that is being taken counts as a pin of everything."""
        out = []
        for path in self.folder.glob("*"):
            try:
                fd = os.open(path, os.O_RDWR)
            except FileNotFoundError:
                continue
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                path.unlink(missing_ok=True)  # its reader is gone
            except BlockingIOError:
                out.append(_noted(path))
            finally:
                os.close(fd)
        return out


def _noted(path: Path) -> Pin:
    try:
        return durable.read(path, Pin, Pin())
    except TidemarkError:  # not yet written
        return Pin()
