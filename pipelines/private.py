"""What Tidemark keeps is for its owner alone; what it is asked to write for others is as readable as any file of the
user's."""

from __future__ import annotations

import os
from pathlib import Path

PRIVATE = 0o077
_before: list[int] = []  # the umask that the process began with


def keep_private() -> None:
    """From here on, files are made for their owner alone."""
    before = os.umask(PRIVATE)
    if not _before:
        _before.append(before)


def published(path: Path) -> None:
    """Give a file, or a folder and what is in it, the rights it would have had."""
    if not _before:
        return
    for p in (path, *path.rglob("*")) if path.is_dir() else (path,):
        p.chmod((0o777 if p.is_dir() else 0o666) & ~_before[0])


def private_folder(path: Path) -> None:
    """A folder that only its owner can enter."""
    path.mkdir(parents=True, exist_ok=True)
    if path.stat().st_uid == os.geteuid():
        path.chmod(0o700)
