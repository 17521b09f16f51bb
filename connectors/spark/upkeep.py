"""What keeps Delta tables small: mirrors are rewritten when their log is in many files, files of earlier versions deleted."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path

from compiler.catalog import Table
from connectors.failpoints import reach
from connectors.spark import mirror
from connectors.spark.batches import Batches
from connectors.spark.pins import Pin
from connectors.spark.published import commit, latest

COMPACT_FILES = 40  # of a log, in the table as it stands
OLD_FILES = 200  # in a table's folder, whether it still has them or not
KEPT = 3600  # seconds that a file stays after the table has let it go: what reads the table then may need it


class Upkeep(Batches):
    """Compaction and vacuum, after a batch."""

    def compact(self, tables: list[Table], force: bool = False) -> list[str]:
        """Rewrite mirrors whose log has grown into many files, one Delta commit each; gives their names."""
        done = []
        for t in tables:
            if not force and self._log_files(self._mirror(t)) < COMPACT_FILES:
                continue
            self.healing.run("a rewrite", partial(self._rewrite, t))
            done.append(t.mirror)
        self.dropped.sweep()
        for name in [*(f"mirror/{t.mirror}" for t in tables), *(f"state/{s}" for s in sorted(self.states()))]:
            self._vacuum(name)
        return done

    def _rewrite(self, t: Table) -> None:
        """The mirror says the same before and after, at the same frontier."""
        path = self._mirror(t)
        frame = self.sql(mirror.compacted(t, path, self.published.pin().lsn), self.paced(self.spark))
        frame.write.format("delta").mode("overwrite").partitionBy("_log").save(str(path))
        reach("spark.compact")
        self.published.publish([f"mirror/{t.mirror}"])

    def _log_files(self, path: Path) -> int:
        """Files of the log in the table's present version; those of earlier ones lie beside them until they are deleted."""
        if sum(1 for _ in (path / "_log=true").glob("*.parquet")) < COMPACT_FILES:
            return 0
        return sum("/_log=true/" in f for f in self.spark.read.format("delta").load(str(path)).inputFiles())

    def _vacuum(self, name: str) -> None:
        """Delete what no version of the last hour needs, where there are many files; at most once an hour a table.

        A reader's version is the present one when it takes its pin, so that its files stay for an hour; where one has
        read for half of that at a version that is no longer the present one, nothing is deleted.
        """
        path = self.path / name
        if time.monotonic() < self.vacuumed.get(path, -KEPT) + KEPT or sum(1 for _ in path.rglob("*.parquet")) < OLD_FILES:
            return
        if any(self._needs(pin, name) for pin in self.leases.held()):
            return
        self.vacuumed[path] = time.monotonic()
        self.sql(f"VACUUM {mirror.path_name(path)} RETAIN {KEPT // 3600} HOURS")

    def _needs(self, pin: Pin, name: str) -> bool:
        """Whether what is read at the pin may be files that the table has let go of long ago."""
        if pin.versions is None:
            return True
        version = pin.versions.get(name)
        if version is None or version == latest(self.path / name):
            return False
        try:
            return commit(self.path / name, version + 1).stat().st_mtime < time.time() - KEPT / 2
        except FileNotFoundError:
            return True
