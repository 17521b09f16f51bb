"""What keeps Delta tables small: mirrors are rewritten when their log is in many files, files of earlier versions
deleted."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from compiler.catalog import Table
from connectors.failpoints import reach
from connectors.spark import mirror
from connectors.spark.failures import SparkFailure
from connectors.spark.pins import Pin
from connectors.spark.published import commit, latest
from connectors.spark.store import Store

log = logging.getLogger("tidemark")
COMPACT_FILES = 40  # of a log, in the table as it stands
OLD_FILES = 200  # in a table's folder, whether it still has them or not
KEPT = 3600  # seconds that a file stays after the table has let it go: what reads the table then may need it


class Upkeep:
    """Compaction and vacuum, after a batch."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.vacuumed: dict[Path, float] = {}  # table → when files of its earlier versions were last deleted

    def compact(self, tables: list[Table], force: bool = False) -> list[str]:
        """Rewrite mirrors whose log has grown into many files, one Delta commit each; gives their names.

        The batch before it is done; what fails here is for the next one to try again.
        """
        done: list[str] = []
        for t in tables:
            self._spared(f'the rewrite of "{t.mirror}"', partial(self._rewrite, t, force, done))
        self.store.dropped.sweep()
        for name in [*(f"mirror/{t.mirror}" for t in tables), *(f"state/{s}" for s in sorted(self.store.states()))]:
            self._spared(f'the vacuum of "{name}"', partial(self.vacuum, name))
        return done

    def _spared(self, what: str, work: Callable[[], None]) -> None:
        try:
            self.store.healing.run(what, work)
        except SparkFailure as e:
            log.warning("%s: %s (left for a later batch)", e.message, e.detail)

    def _rewrite(self, t: Table, force: bool, done: list[str]) -> None:
        """The mirror says the same before and after, at the same frontier."""
        path = self.store.mirror(t)
        if not force and self._log_files(path) < COMPACT_FILES:
            return
        session, lsn = self.store.paced(self.store.spark), self.store.published.pin().lsn
        frame = self.store.sql(mirror.compacted(t, path, lsn), session)
        frame.write.format("delta").mode("overwrite").partitionBy("_log").save(str(path))
        reach("spark.compact")
        self.store.published.publish([f"mirror/{t.mirror}"])
        done.append(t.mirror)

    def _log_files(self, path: Path) -> int:
        """Files of the log in the table's present version; those of earlier ones lie beside them until they are
        deleted."""
        if sum(1 for _ in (path / "_log=true").glob("*.parquet")) < COMPACT_FILES:
            return 0
        return sum("/_log=true/" in f for f in self.store.spark.read.format("delta").load(str(path)).inputFiles())

    def vacuum(self, name: str) -> None:
        """Delete what no version of the last hour needs, where there are many files; at most once an hour a table.

        A reader's version is the present one when it takes its pin, so that its files stay for an hour; where one has
        read for half of that at a version that is no longer the present one, nothing is deleted.
        """
        path = self.store.path / name
        if time.monotonic() < self.vacuumed.get(path, -KEPT) + KEPT:
            return
        if sum(1 for _ in path.rglob("*.parquet")) < OLD_FILES:
            return
        if any(self._needs(pin, name) for pin in self.store.leases.held()):
            return
        self.store.sql(f"VACUUM {mirror.path_name(path)} RETAIN {KEPT // 3600} HOURS")
        self.vacuumed[path] = time.monotonic()

    def _needs(self, pin: Pin, name: str) -> bool:
        """Whether what is read at the pin may be files that the table has let go of long ago."""
        if pin.versions is None:
            return True
        version = pin.versions.get(name)
        if version is None or version == latest(self.store.path / name):
            return False
        try:
            return commit(self.store.path / name, version + 1).stat().st_mtime < time.time() - KEPT / 2
        except FileNotFoundError:
            return True
