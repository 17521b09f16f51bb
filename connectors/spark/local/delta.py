"""A Delta table that this process alone writes, one file a commit, without Spark."""

from __future__ import annotations

import json
import shutil
import time
import uuid
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import CommitProperties, DeltaTable, PostCommitHookProperties, Schema
from deltalake.exceptions import DeltaError, TableNotFoundError
from deltalake.transaction import AddAction, RemoveAction

from connectors.engine import EngineFailure
from connectors.failpoints import reach
from connectors.postgres.connection import format_lsn
from connectors.spark import durable

CHECKPOINT = 20  # commits, after which the log is summed up
GRACE = 600.0  # seconds that a file stays after the table has let go of it: who reads the table then may need it
CONFIGURATION = {
    "delta.checkpointInterval": str(CHECKPOINT),
    "delta.logRetentionDuration": "interval 10 minutes",
    "delta.deletedFileRetentionDuration": "interval 10 minutes",
}
BASE, LOG = "base-", "log-"  # how names of files begin
MARK = "tidemark.lsn"  # in the commits' metadata: up to where the table is complete


def _size(file: Path) -> int | None:
    try:
        return file.stat().st_size
    except FileNotFoundError:
        return None


class DeltaFolder:
    """`path` is the table's folder; it is made by the first commit."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.let_go: deque[tuple[float, str]] = deque()  # (moment, file) of files that no version has any more
        self.summed = True  # whether a checkpoint was made since old commits were deleted
        self.table = self._found()
        if self.table is not None:
            files, now = set(self.files()), time.monotonic()
            self.let_go += ((now, f.name) for f in path.glob("*.parquet") if f.name not in files)

    def _found(self) -> DeltaTable | None:
        try:
            return DeltaTable(str(self.path))
        except TableNotFoundError:
            return None
        except (DeltaError, OSError) as e:
            raise self._failed("reading", e) from e

    @property
    def version(self) -> int | None:
        return self.table.version() if self.table is not None else None

    def files(self, version: int | None = None) -> list[str]:
        """Names of the files that make up a version, by default the last."""
        try:
            table = self.table if version is None else DeltaTable(str(self.path), version=version)
            return [unquote(Path(f).name) for f in table.file_uris()] if table is not None else []
        except (DeltaError, OSError) as e:
            raise self._failed("reading", e) from e

    def damaged(self) -> bool:
        """Whether a file of the last version is gone, or has another size than it was written with."""
        if self.table is None:
            return False
        try:
            files = pa.table(self.table.get_add_actions()).select(["path", "size_bytes"]).to_pylist()
        except (DeltaError, OSError) as e:
            raise self._failed("reading", e) from e
        return any(_size(self.path / unquote(f["path"])) != f["size_bytes"] for f in files)

    def new_file(self, kind: str = BASE) -> Path:
        """Where a file of the base or the log may be written that a commit then adds."""
        self.path.mkdir(parents=True, exist_ok=True)
        return self.path / f"{kind}{uuid.uuid4().hex}.parquet"

    def base(self, version: int | None = None) -> list[Path]:
        return [self.path / f for f in self.files(version) if not f.startswith(LOG)]

    def log(self, version: int | None = None) -> list[Path]:
        return [self.path / f for f in self.files(version) if f.startswith(LOG)]

    def remove(self) -> None:
        """The table with all its versions."""
        shutil.rmtree(self.path, ignore_errors=True)
        self.table = None
        self.let_go.clear()

    def append(self, file: Path, lsn: int) -> None:
        """The file's rows are added; one without rows is not. Not durable before it is flushed (`Published`)."""
        if not pq.read_metadata(file).num_rows:
            file.unlink()
            return
        self._commit([file], lsn, "append")

    def replace(self, files: list[Path], lsn: int) -> None:
        """The rows of these files are all there is from now on."""
        before = self.files()
        self._commit(files, lsn, "overwrite")
        self._leave(before)

    def renew_log(self, file: Path, lsn: int) -> None:
        """The file takes the place of all files of the log."""
        before = [f for f in self.files() if f.startswith(LOG)]
        self._commit([file], lsn, "append", before)
        self._leave(before)

    def _leave(self, files: list[str]) -> None:
        now = time.monotonic()
        self.let_go += ((now, f) for f in files)

    def fits(self, file: Path) -> bool:
        """Whether the file has the table's columns."""
        return self.table is None or self.table.schema() == Schema.from_arrow(pq.read_schema(file))

    def _commit(self, files: list[Path], lsn: int, mode: str, gone: Sequence[str] = ()) -> None:
        reach("local.written")
        schema, now = Schema.from_arrow(pq.read_schema(files[0])), int(time.time() * 1000)
        actions: list[AddAction | RemoveAction] = [RemoveAction(f, True, now, None, {}) for f in gone]
        for f in files:
            stats = json.dumps({"numRecords": pq.read_metadata(f).num_rows})
            actions.append(AddAction(f.name, f.stat().st_size, {}, now, True, stats))
        try:
            if self.table is None:
                self.table = DeltaTable.create(str(self.path), schema, configuration=CONFIGURATION)
            self.table.create_write_transaction(
                actions,
                mode,
                schema,
                commit_properties=CommitProperties(custom_metadata={MARK: format_lsn(lsn)}),
                post_commithook_properties=PostCommitHookProperties(create_checkpoint=True, cleanup_expired_logs=False),
            )
            self.table.update_incremental()
        except (DeltaError, OSError) as e:
            raise self._failed("a commit", e) from e
        self._sync_checkpoint(self.table.version())
        reach("local.committed")

    def _sync_checkpoint(self, version: int) -> None:
        """To the disk, where the commits that it sums up are soon deleted: if this one made a checkpoint."""
        folder = self.path / "_delta_log"
        checkpoint = folder / f"{version:020}.checkpoint.parquet"
        if checkpoint.exists():
            durable.sync(checkpoint)
            durable.sync(folder / "_last_checkpoint")
            durable.sync(folder)
            self.summed = True

    def sweep(self) -> None:
        """Delete what nobody needs, once `frontier.json` names the last version: files that the table let go of long
        enough ago, and as old commits that a checkpoint sums up."""
        if self.summed and self.table is not None:
            try:
                self.table.cleanup_metadata()
            except (DeltaError, OSError) as e:
                raise self._failed("deleting old commits", e) from e
            self.summed = False
        while self.let_go and self.let_go[0][0] < time.monotonic() - GRACE:
            (self.path / self.let_go.popleft()[1]).unlink(missing_ok=True)

    def _failed(self, what: str, e: Exception) -> EngineFailure:
        return EngineFailure(
            f"{what} failed in the Delta table {self.path.name}",
            detail=" ".join(str(e).split())[:400],  # its first line is a kind of error, the cause comes after it
            hint="Nothing is lost: the local file has it, and the source is not told yet. Is the disk full?",
        )
