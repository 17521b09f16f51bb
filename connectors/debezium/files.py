"""Debezium's events in files: lines of JSON, which grow at their ends; what Kafka Connect's file sink writes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from compiler.errors import TidemarkError
from connectors.debezium.assembling import Assembler
from connectors.debezium.feed import Take
from connectors.debezium.log import Log
from connectors.debezium.places import Places

WAIT = 0.05  # seconds for the next lines
AT_ONCE = 4 << 20  # bytes of a file that are read at once


class Files(Log):
    """All files of a folder. A line counts once it has its end. A file that is another one under its name, or shorter
    than what was read of it, was begun anew."""

    def __init__(self, folder: Path, assembler: Assembler, places: Places, take: Take) -> None:
        super().__init__(assembler, places, take)
        self.folder = folder
        self._files()
        self.at: dict[str, int] = dict(places.durable)
        self.start()

    def _files(self) -> list[Path]:
        try:
            found = [p for p in self.folder.iterdir() if p.is_file() and not p.name.startswith(".")]
            return sorted(found, key=lambda p: (p.stat().st_mtime_ns, p.name))  # as they were written
        except OSError as e:
            if self.folder.is_dir() and isinstance(e, FileNotFoundError):
                raise
            raise TidemarkError(
                f"the events in {self.folder} cannot be read",
                code="no_events",
                detail=e.strerror or str(e),
                hint="Look at events in tidemark.toml: a folder, as file:///var/lib/events.",
            ) from e

    def read(self) -> Iterator[tuple[str, int, bytes]]:
        found = False
        with suppress(FileNotFoundError):  # renamed meanwhile: it is found under its new name
            for path in self._files():
                for event in self._of(path):
                    found = True
                    yield event
        if not found:
            self.closing.wait(WAIT)

    def _of(self, path: Path) -> Iterator[tuple[str, int, bytes]]:
        there = path.stat()
        name = f"{path.name}:{there.st_ino}"
        at = self.at.get(name, 0)
        with path.open("rb") as f:
            f.seek(max(at - 1, 0))
            if there.st_size < at or (at and f.read(1) != b"\n"):  # it was begun anew
                at = 0
            f.seek(at)
            rest = b""
            while block := f.read(AT_ONCE):
                *lines, rest = (rest + block).split(b"\n")
                for line in lines:
                    at += len(line) + 1
                    self.at[name] = at
                    if line.strip():
                        yield name, at, line
                if self.closing.is_set():
                    return
