"""A Delta table that one process writes: what it keeps for those that read it, and for a crash."""

from __future__ import annotations

import os
import time
from pathlib import Path

import duckdb
import pytest
from deltalake import DeltaTable

from connectors.spark.local import delta
from connectors.spark.local.delta import CHECKPOINT, DeltaFolder
from connectors.spark.local.stored import copy


def written(folder: DeltaFolder, n: int) -> Path:
    file = folder.new_file()
    duckdb.execute(copy(duckdb.default_connection(), f"SELECT {n} AS n", file))
    return file


def rows(path: Path, version: int) -> list[int]:
    files = DeltaTable(str(path), version=version).file_uris()
    return [r[0] for r in duckdb.execute("SELECT n FROM read_parquet(?)", [files]).fetchall()]


def aged(path: Path) -> None:
    """An hour later."""
    old = time.time() - 3600
    for f in (path / "_delta_log").iterdir():
        os.utime(f, (old, old))


def test_old_commits_go_when_the_last_version_is_named_and_not_before(tmp_path: Path) -> None:
    """Else a crash between a commit and `frontier.json` leaves a version named that nobody can read."""
    path = tmp_path / "t"
    folder = DeltaFolder(path)
    folder.replace([written(folder, 0)], 1)
    named = folder.version
    assert named is not None
    for n in range(1, CHECKPOINT + 3):
        aged(path)
        folder.replace([written(folder, n)], n)
    assert rows(path, named) == [0]
    aged(path)
    folder.sweep()
    left = sorted(f.name for f in (path / "_delta_log").glob("*.json"))
    assert len(left) < CHECKPOINT and rows(path, folder.version or 0) == [CHECKPOINT + 2]
    assert rows(path, DeltaFolder(path).version or 0) == [CHECKPOINT + 2]


def test_a_checkpoint_is_on_the_disk_before_it_is_relied_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[str] = []
    monkeypatch.setattr(delta.durable, "sync", lambda path: synced.append(path.name))
    folder = DeltaFolder(tmp_path / "t")
    for n in range(CHECKPOINT + 1):
        folder.replace([written(folder, n)], n)
    made = {f.name for f in (tmp_path / "t" / "_delta_log").glob("*.checkpoint*")} | {"_last_checkpoint"}
    assert len(made) == 2 and made <= set(synced)


def test_what_was_let_go_stays_for_a_while(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t"
    folder = DeltaFolder(path)
    for n in range(3):
        folder.replace([written(folder, n)], n)
    folder.sweep()
    assert len(list(path.glob("*.parquet"))) == 3
    monkeypatch.setattr("connectors.spark.local.delta.GRACE", -1.0)
    folder.sweep()
    assert len(list(path.glob("*.parquet"))) == 1 and rows(path, folder.version or 0) == [2]
