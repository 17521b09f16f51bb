"""Tables of states that are given up: gone from the disk once nobody reads them."""

from __future__ import annotations

import shutil
import uuid
from pathlib import Path

from connectors.spark.pins import Leases

MARK = ".dropped"  # in the folder of a state that is given up; Delta does not look at such names


class Dropped:
    """Folders under `root/state`. Whoever calls has withdrawn the state, so that nobody begins to read it."""

    def __init__(self, root: Path, leases: Leases) -> None:
        self.root, self.leases = root, leases

    def drop(self, state: str) -> None:
        if (self.root / "state" / state).is_dir():
            (self.root / "state" / state / MARK).touch()
            self.sweep()

    def sweep(self) -> None:
        """Remove what is given up and not read; what is read is for a later call."""
        for mark in (self.root / "state").glob(f"*/{MARK}"):
            if not self._read(mark.parent.name):
                self._remove(mark.parent)
        shutil.rmtree(self.root / "dropped", ignore_errors=True)

    def room(self, state: str) -> bool:
        """Make place for a state's table; False where one is still read: a later version has to replace it."""
        folder = self.root / "state" / state
        if not folder.is_dir():
            return True
        if self._read(state):
            (folder / MARK).unlink(missing_ok=True)
            return False
        self._remove(folder)
        return True

    def _read(self, state: str) -> bool:
        return any(pin.holds(f"state/{state}") for pin in self.leases.held())

    def _remove(self, folder: Path) -> None:
        """At once for all who look, so that half a table is never taken for one."""
        (self.root / "dropped").mkdir(exist_ok=True)
        shutil.rmtree(folder.rename(self.root / "dropped" / f"{folder.name}-{uuid.uuid4().hex}"), ignore_errors=True)
