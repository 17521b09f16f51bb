"""What keeps Delta tables small: mirrors are rewritten when their log is in many files, files of earlier versions deleted."""

from __future__ import annotations

import time
from pathlib import Path

from compiler.catalog import Table
from connectors.failpoints import reach
from connectors.spark import mirror
from connectors.spark.batches import Batches

COMPACT_FILES = 40  # of a log, in the table as it stands
OLD_FILES = 200  # in a table's folder, whether it still has them or not
KEPT = 3600  # seconds that a file stays after the table has let it go: what reads the table then may need it


class Upkeep(Batches):
    """Compaction and vacuum, after a batch."""

    def compact(self, tables: list[Table], force: bool = False) -> list[str]:
        """Rewrite mirrors whose log has grown into many files, one Delta commit each; gives their names."""
        done = []
        for t in tables:
            path = self._mirror(t)
            if not force and self._log_files(path) < COMPACT_FILES:
                continue
            lsn = int(self._file("frontier.json", {"lsn": 0})["lsn"])
            frame = self.sql(mirror.compacted(t, path, lsn), self.paced(self.spark))
            frame.write.format("delta").mode("overwrite").partitionBy("_log").save(str(path))
            reach("spark.compact")
            done.append(t.mirror)
        for folder in [*map(self._mirror, tables), *(self.path / "state" / s for s in sorted(self.states()))]:
            self._vacuum(folder)
        return done

    def _log_files(self, path: Path) -> int:
        """Files of the log in the table's present version; those of earlier ones lie beside them until they are deleted."""
        if sum(1 for _ in (path / "_log=true").glob("*.parquet")) < COMPACT_FILES:
            return 0
        return sum("/_log=true/" in f for f in self.spark.read.format("delta").load(str(path)).inputFiles())

    def _vacuum(self, path: Path) -> None:
        """Delete what no version of the last hour needs, where there are many files; at most once an hour a table."""
        if time.monotonic() < self.vacuumed.get(path, -KEPT) + KEPT or sum(1 for _ in path.rglob("*.parquet")) < OLD_FILES:
            return
        self.vacuumed[path] = time.monotonic()
        self.sql(f"VACUUM {mirror.path_name(path)} RETAIN {KEPT // 3600} HOURS")
