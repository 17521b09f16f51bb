"""Small files that are there as a whole or not at all, also after a power cut, and what is told of the others."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from compiler.errors import TidemarkError

T = TypeVar("T")


def unreadable(path: Path, why: str) -> TidemarkError:
    return TidemarkError(
        f"{path.name} cannot be read, so it is not known where the warehouse stands",
        detail=f"{path}: {why}",
        code="damaged_warehouse",
        hint="Restore the warehouse from a copy, or make it anew: tidemark teardown --yes, then tidemark deploy.",
    )


ADAPTERS: dict[object, TypeAdapter[Any]] = {}  # by shape: made once, as it takes longer than reading with it


def _adapter(shape: Any) -> TypeAdapter[Any]:
    if shape not in ADAPTERS:
        ADAPTERS[shape] = TypeAdapter(shape)
    return ADAPTERS[shape]


def read(path: Path, shape: type[T], default: T) -> T:
    """The file's value, checked against its shape; `default` where there is none, an error where half of it."""
    try:
        value: T = _adapter(shape).validate_json(path.read_bytes())
        return value
    except FileNotFoundError:
        return default
    except OSError as e:
        raise unreadable(path, e.strerror or type(e).__name__) from e
    except ValidationError as e:
        raise unreadable(path, e.errors()[0]["msg"]) from e


def write(path: Path, value: Any) -> None:
    """Replace the file; the new one is on the disk on return."""
    temp = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}.new")
    with temp.open("w") as f:
        json.dump(value, f)
        f.flush()
        os.fsync(f.fileno())
    temp.replace(path)
    sync(path.parent)


def sync(path: Path) -> None:
    """What a file holds, or which files a folder has, to the disk."""
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def sync_tree(folder: Path) -> None:
    """A folder with all that is in it, to the disk."""
    for root, _, files in os.walk(folder, topdown=False):
        for name in files:
            sync(Path(root) / name)
        sync(Path(root))
