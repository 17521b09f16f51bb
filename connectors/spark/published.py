"""`frontier.json`: up to which LSN the warehouse is complete, and the version of each Delta table that says so.

Delta tables commit one by one. What a batch did becomes visible when this one file is replaced, to readers that take
it once a statement and read each table at the version that it names.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from threading import Lock
from urllib.parse import unquote

from compiler.errors import TidemarkError
from connectors.postgres.origin import RESYNC, LastCommit
from connectors.spark import durable
from connectors.spark.pins import Pin

LOG = re.compile(r"(\d{20})\.(json|checkpoint\b.*)")
NONE: list[str] = []
NOWHERE = Pin(last=LastCommit(0, 0, 0))  # where a new warehouse stands


def commit(table: Path, version: int) -> Path:
    """The file of the log that made a version."""
    return table / "_delta_log" / f"{version:020}.json"


def latest(table: Path) -> int | None:
    """The last version of a Delta table, None where there is no table; found in its folder, without Spark."""
    try:
        found = [LOG.fullmatch(f) for f in os.listdir(table / "_delta_log")]
    except FileNotFoundError:
        return None
    return max((int(m[1]) for m in found if m), default=None)


def emptied(table: Path, version: int) -> str:
    """The name of a commit up to that version that has lost all it did, '' where there is none.

    Who reads a Delta table takes a file without lines for a commit that did nothing, and Hadoop's checksums are of what
    is there. Later commits may be so after a power cut, and are made again.
    """
    last = commit(table, version).name
    with suppress(FileNotFoundError), os.scandir(table / "_delta_log") as found:
        names = [f.name for f in found if f.name.endswith(".json") and f.name <= last and not f.stat().st_size]
        return min(names, default="")
    return ""


def flush(table: Path, after: int, version: int) -> None:
    """What the commits after `after` added, and they themselves, to the disk: Spark does not see to that."""
    files, folders = set(), {table / "_delta_log"}
    for v in range(after + 1, version + 1):
        if not (log := commit(table, v)).exists():
            continue
        files |= {log, log.with_name(f".{log.name}.crc")}
        for line in log.read_text().splitlines():
            if added := json.loads(line).get("add"):
                file = table / unquote(added["path"])
                files |= {file, file.with_name(f".{file.name}.crc")}
                folders |= {file.parent, table}
    for f in files:
        if f.exists():
            durable.sync(f)
    for f in folders:
        durable.sync(f)


class Published:
    """The file, and the tables under the same folder. One process writes it, any number read."""

    def __init__(self, root: Path) -> None:
        self.root, self.file, self.lock = root, root / "frontier.json", Lock()

    def pin(self) -> Pin:
        pin = durable.read(self.file, Pin, NOWHERE)
        if pin is NOWHERE and durable.read(self.root / "states.json", list[str], NONE):
            raise durable.unreadable(self.file, "there is no such file, but there are states")
        return pin

    def check(self, pin: Pin) -> Pin:
        """Raises TidemarkError where a table has lost what a commit did."""
        for name, version in (pin.versions or {}).items():
            if found := emptied(self.root / name, version):
                raise TidemarkError(
                    f"the Delta table {name} is damaged",
                    detail=f"Its commit {found} is empty.",
                    code="damaged_warehouse",
                    hint=RESYNC,
                )
        return pin

    def publish(self, tables: Iterable[str], lsn: int | None = None, last: LastCommit | None = None) -> None:
        """Let readers see the named tables as they are now, and with `lsn` that all stands there; durable on return.

        The other tables stay at the versions they have; where none had one, all stand at the frontier and get theirs.
        """
        with self.lock:
            now, tables = self.pin(), set(tables)
            versions = dict(now.versions or {})
            for name in tables | (self._all() if now.versions is None else set()):
                version = latest(self.root / name)
                if version is not None:
                    if name in tables:
                        flush(self.root / name, versions.get(name, -1), version)
                    versions[name] = version
            new = replace(now, versions=versions, last=last or now.last)
            self._put(new if lsn is None else replace(new, lsn=lsn, moved=time.time()))

    def withdraw(self, tables: Iterable[str]) -> None:
        """Let nobody begin to read the named tables."""
        with self.lock:
            now, gone = self.pin(), set(tables)
            if now.versions is not None and gone & now.versions.keys():
                self._put(replace(now, versions={k: v for k, v in now.versions.items() if k not in gone}))

    def forget_commit(self) -> None:
        """The last transaction before the frontier is not known."""
        with self.lock:
            self._put(replace(self.pin(), last=None))

    def settle(self) -> None:
        """Publish mirrors that were rewritten before a crash: they say the same. No batch is at hand then."""
        versions = self.pin().versions or {}
        mirrors = {name: v for name, v in versions.items() if name.startswith("mirror/")}
        if behind := [name for name, v in mirrors.items() if latest(self.root / name) != v]:
            self.publish(behind)

    def _all(self) -> set[str]:
        states = {f"state/{s}" for s in durable.read(self.root / "states.json", list[str], NONE)}
        return states | {f"mirror/{f.name}" for f in (self.root / "mirror").glob("*")}

    def _put(self, pin: Pin) -> None:
        durable.write(self.file, asdict(pin))
