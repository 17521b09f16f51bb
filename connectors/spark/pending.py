"""`pending/<lsn>`: a batch between its two phases. Its folder with the file DONE is the decision that it happens."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from connectors.failpoints import reach
from connectors.postgres.origin import LastCommit
from connectors.spark import durable


@dataclass(frozen=True)
class Manifest:
    """What phase two is to do: rows to append by table, and a MERGE by state."""

    lsn: int
    start: int | None = None  # the frontier before it; None in one that an older program wrote
    tables: dict[str, str] = field(default_factory=dict)  # source table → the folder with its rows
    merges: list[dict[str, str]] = field(default_factory=list)  # state, sql
    last: LastCommit | None = None  # the last transaction of the batch


class Pending:
    """The folders, by LSN."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def begin(self, lsn: int) -> Path:
        """An empty folder for a batch."""
        folder = self.root / str(lsn)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        return folder

    def decide(self, folder: Path, manifest: Manifest) -> None:
        """To the disk: what was computed, then the manifest, then DONE; none is there without those before it."""
        durable.sync_tree(folder)
        durable.write(folder / "manifest.json", asdict(manifest))
        durable.sync(self.root)
        durable.sync(self.root.parent)
        reach("spark.manifest")
        done = folder / "DONE"
        done.touch()
        durable.sync(done)
        durable.sync(folder)
        reach("spark.done")

    def decided(self, frontier: int) -> Iterator[tuple[Path, Manifest]]:
        """Batches to finish, in order; what was not decided, or lies below the frontier, is removed."""
        for folder in self._folders():
            if int(folder.name) <= frontier or not (folder / "DONE").exists():
                shutil.rmtree(folder)
            else:
                yield folder, self.manifest(folder)

    def manifest(self, folder: Path) -> Manifest:
        path = folder / "manifest.json"
        manifest = durable.read(path, Manifest, Manifest(0))
        if manifest.lsn != int(folder.name):
            raise durable.unreadable(path, f"it is not the manifest of {folder.name}")
        return manifest

    def forget(self, states: set[str]) -> None:
        """Leave states out of what is to be done."""
        for folder in self._folders():
            if (folder / "DONE").exists():
                manifest = self.manifest(folder)
                kept = [m for m in manifest.merges if m["state"] not in states]
                durable.write(folder / "manifest.json", asdict(replace(manifest, merges=kept)))

    def _folders(self) -> list[Path]:
        folders = self.root.iterdir() if self.root.is_dir() else []
        return sorted((f for f in folders if f.name.isdecimal()), key=lambda f: int(f.name))
