"""Views in an object store: Delta tables of their own there, which follow those of the warehouse.

Each is replaced in one commit, once a round has brought the warehouse's own to an LSN; `frontier.json` then names the
versions that belong together. That is done beside the batches. A store that is away holds nobody up: what is there is
older then, and whoever stops the pipeline is told.
"""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import pyarrow.fs as fs
from deltalake import CommitProperties, DeltaTable, write_deltalake
from deltalake.exceptions import DeltaError

from connectors.failpoints import reach
from connectors.postgres.connection import format_lsn
from connectors.spark.local.delta import CONFIGURATION, MARK
from connectors.spark.published import Published

log = logging.getLogger("tidemark")
PAUSE = 10.0  # seconds after a failure
TRIES = 3  # where what is read is replaced meanwhile
PATIENCE = 60.0  # seconds that closing waits for
OFTEN = 20  # commits of a table, after which files are deleted that no version of the last hours has
HOURS = 1
FRONTIER = "frontier.json"
S3A = "spark.hadoop.fs.s3a."
FAILURES = (DeltaError, OSError)


@dataclass(frozen=True)
class Store:
    """Where: a URI of s3a, s3, or a folder, with the settings that Spark has for it; what they do not say is taken from
    the environment (AWS_…)."""

    uri: str
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def place(self) -> str:
        return self.uri.rstrip("/").replace("s3a://", "s3://", 1)

    def of(self, name: str) -> str:
        return f"{self.place}/{name}"

    @property
    def options(self) -> dict[str, str]:
        """As deltalake takes them."""
        if not self.place.startswith("s3://"):
            return {}
        named = {"endpoint": "endpoint_url", "access.key": "access_key_id", "secret.key": "secret_access_key"}
        named["endpoint.region"] = "region"
        out = {f"aws_{to}": self.settings[S3A + of] for of, to in named.items() if S3A + of in self.settings}
        if out.get("aws_endpoint_url", "").startswith("http:"):
            out["aws_allow_http"] = "true"
        return out

    def files(self) -> tuple[fs.FileSystem, str]:
        """The file system, and the folder in it."""
        if not self.place.startswith("s3://"):
            found, folder = fs.FileSystem.from_uri(self.place)
            return found, str(folder)
        o = self.options
        given: dict[str, str] = {}
        for key, name in (("access_key", "aws_access_key_id"), ("secret_key", "aws_secret_access_key")):
            if name in o:
                given[key] = o[name]
        if "aws_region" in o:
            given["region"] = o["aws_region"]
        if "aws_endpoint_url" in o:
            end = urlsplit(o["aws_endpoint_url"])
            given |= {"endpoint_override": end.netloc, "scheme": end.scheme}
        return fs.S3FileSystem(**given), self.place.removeprefix("s3://")


@dataclass(frozen=True)
class There:
    """A view's version in the store, and the table and version that it is of."""

    of: str
    version: int


class Copies:
    """Of the warehouse at `root`; one thread brings the store to where that is."""

    def __init__(self, root: Path, store: Store) -> None:
        self.root, self.store, self.published = root, store, Published(root)
        self.there: dict[str, There] | None = None  # by the views' folders
        self.last: tuple[int, dict[str, int]] | None = None  # LSN and versions here, of what is there
        self.wanted, self.ended = threading.Event(), threading.Event()
        self.thread: threading.Thread | None = None
        self.failure = ""

    def wake(self) -> None:
        """There may be something new."""
        self.wanted.set()
        if self.thread is None:
            self.thread = threading.Thread(target=self._work, name="copies", daemon=True)
            self.thread.start()

    def close(self) -> None:
        """Once the store has what there is, or cannot."""
        if self.thread is None:
            return
        self.ended.set()
        self.wanted.set()
        self.thread.join(PATIENCE)
        if self.thread.is_alive() or self.failure:
            why = self.failure or f"not done within {PATIENCE:.0f} s"
            log.warning("the views in %s are older than those of the warehouse: %s", self.store.uri, why)

    def _work(self) -> None:
        while True:
            self.wanted.wait()
            self.wanted.clear()
            last = self.ended.is_set()
            if not self._tried() and not last:
                self.ended.wait(PAUSE)
                self.wanted.set()
            if last:
                return

    def _tried(self) -> bool:
        """Whether the store has what there is by now."""
        for _ in range(TRIES):
            lsn = self.published.pin().lsn
            try:
                self.follow()
                self.failure = ""
                return True
            except FAILURES as e:
                self.there = self.last = None
                failure = " ".join(str(e).split())[:300]
            if self.published.pin().lsn == lsn:  # else what it read was replaced meanwhile
                break
        if failure != self.failure:
            log.warning("views are not copied to %s: %s (tried again)", self.store.uri, failure)
        self.failure = failure
        return False

    def follow(self) -> None:
        """Bring the store to where the warehouse is."""
        pin = self.published.pin()
        now = {n: v for n, v in (pin.versions or {}).items() if n.startswith("views/")}
        if self.last == (pin.lsn, now):
            return
        files, folder = self.store.files()
        if self.there is None:
            self.there = self._found(files, folder)
        there = dict(self.there)
        for name, version in now.items():
            source = DeltaTable(str(self.root / name), version=version)
            of = f"{source.metadata().id} {version}"
            if name not in there or there[name].of != of:
                there[name] = There(of, self._copied(name, source, pin.lsn))
                reach("copies.committed")
        gone = there.keys() - now.keys()
        for name in gone:
            there.pop(name)
        self._note(files, folder, pin.lsn, there)
        reach("copies.noted")
        for name in gone:
            with suppress(FileNotFoundError):
                files.delete_dir(f"{folder}/{name}")
        self.there, self.last = there, (pin.lsn, now)

    def _copied(self, name: str, source: DeltaTable, lsn: int) -> int:
        """Replace a view there; gives its version."""
        mark = str(source.history(1)[0].get(MARK) or format_lsn(lsn))
        uri, options = self.store.of(name), self.store.options
        write_deltalake(
            uri,
            source.to_pyarrow_dataset().scanner().to_reader(),
            mode="overwrite",
            schema_mode="overwrite",
            configuration=CONFIGURATION,
            storage_options=options or None,
            commit_properties=CommitProperties(custom_metadata={MARK: mark}),
        )
        target = DeltaTable(uri, storage_options=options or None)
        if target.version() % OFTEN == OFTEN - 1:
            target.vacuum(HOURS, dry_run=False, enforce_retention_duration=False)
        return target.version()

    def _found(self, files: fs.FileSystem, folder: str) -> dict[str, There]:
        """What is there by its own word."""
        try:
            with files.open_input_stream(f"{folder}/{FRONTIER}") as f:
                noted = json.loads(f.read())
        except FileNotFoundError:
            return {}
        return {name: There(noted["of"][name], version) for name, version in noted["versions"].items()}

    def _note(self, files: fs.FileSystem, folder: str, lsn: int, there: dict[str, There]) -> None:
        if isinstance(files, fs.LocalFileSystem):
            Path(folder).mkdir(parents=True, exist_ok=True)
        body = {
            "lsn": format_lsn(lsn),
            "versions": {name: t.version for name, t in sorted(there.items())},
            "of": {name: t.of for name, t in sorted(there.items())},
        }
        with files.open_output_stream(f"{folder}/{FRONTIER}") as f:
            f.write(json.dumps(body).encode())
