"""Indexes of bases, in files: for keys, the rows that have them, in the columns that were asked for.

The files of a base never change, so an index of them is made once, and is read by mapping it into memory. It gives
what a scan gives, or rows too many, because keys are told apart by a hash of 64 bits; who asked tells them apart. It is
a copy: its folder may be deleted at any time, and what it does not have is scanned.

A segment is some of a base's files, in one folder: their rows in the order of the hashes of some columns, those hashes,
and, written last, `of.json`, without which the folder is none. Its name has what its rows depend on.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import shutil
import socket
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from connectors.duckdb.index import distinct
from connectors.spark import durable
from connectors.spark.landing import quoted
from connectors.spark.local.dist import Request
from connectors.spark.local.stored import parquet

log = logging.getLogger("tidemark")
LAYOUT = 1  # another number for another layout of the files
SEGMENT = 2 << 20  # rows that are put in order in memory, at most, but where one file has more
MANY = 10_000  # files of which the rows are remembered
LEAST = 100_000  # rows: fewer are scanned in some milliseconds
SHARE = 0.25  # of the time that making an index takes, spent on scans in its place before it is made
ROW = 0.6e-6  # seconds that making one takes for each row, before any was made
DISK = 2.0  # times its size, that has to be free
UNFIT = ("FLOAT", "DOUBLE")  # types of which equal values may have two hashes
OF, ROWS, HASHES = "of.json", "rows.arrow", "hashes.bin"

By = tuple[str, ...]


@dataclass(frozen=True)
class Segment:
    """Rows in the order of their hashes, mapped into memory; `starts`: of each batch the number of its first row."""

    hashes: np.ndarray
    batches: list[pa.RecordBatch]
    starts: np.ndarray

    @property
    def columns(self) -> frozenset[str]:
        return frozenset(self.batches[0].schema.names)

    def find(self, hashes: np.ndarray, columns: Sequence[str]) -> list[pa.RecordBatch]:
        """The rows with one of these hashes, sorted and each once, in these columns; at least one batch, perhaps of no
        rows."""
        low = np.searchsorted(self.hashes, hashes, "left")
        counts = np.searchsorted(self.hashes, hashes, "right") - low
        ends = np.cumsum(counts)
        at = np.arange(ends[-1] if len(ends) else 0) + np.repeat(low - (ends - counts), counts)
        cuts = np.searchsorted(at, self.starts).tolist() + [len(at)]
        out: list[pa.RecordBatch] = []
        for i, batch in enumerate(self.batches):
            mine = at[cuts[i] : cuts[i + 1]]
            if len(mine) or (not out and i == len(self.batches) - 1):
                out.append(batch.select(list(columns)).take(pa.array(mine - self.starts[i])))
        return out


class IndexFiles:
    """Those of one warehouse, in `folder`; `root` is what the names of bases' files are told under. Where several
    processes have it, each that is asked of some of a base's files is one of them, and `shared`: another one, which is
    asked of all, deletes what is of no use."""

    def __init__(self, folder: Path, root: Path, con: duckdb.DuckDBPyConnection, shared: bool = False) -> None:
        self.folder, self.root, self.con, self.shared = folder, root, con, shared
        self.open: dict[tuple[tuple[Path, ...], By], Segment | None] = {}  # None where none is there
        self.spent: dict[tuple[tuple[Path, ...], By], float] = {}  # seconds of scans in the place of an index
        self.present: dict[tuple[Path, By], tuple[Path, ...]] = {}  # the files of bases, by their folders
        self.sizes: dict[Path, int] = {}  # rows of files
        self.types: dict[tuple[Path, By], list[str]] = {}  # of the columns that a base is asked by, by its first file
        self.failed: set[tuple[tuple[Path, ...], By]] = set()  # that could not be made, and are not tried again
        self.row = ROW
        self.said = False  # whether it was told that one could not be made

    def find(self, r: Request) -> tuple[list[pa.RecordBatch], list[Path]]:
        """What segments that are there have, and the files that they are not of."""
        found, rest, hashes = list[pa.RecordBatch](), list[Path](), None
        try:
            if not self._fits(r):
                return [], r.files
            self.let_go(r)
            for files in self.segments(r.files):
                segment = self._there(files, tuple(r.by), r.columns)
                if segment is None:
                    rest += files
                    continue
                if hashes is None:
                    hashes = self._hashes(r)
                found += segment.find(hashes, r.columns)
        except (OSError, pa.ArrowException):  # a file of the base is damaged or gone, which a scan tells
            return [], r.files
        return found, rest

    def scanned(self, r: Request, rest: Sequence[Path], seconds: float) -> bool:
        """Files were scanned in the place of segments: makes one of these, where that was done often enough. Whether
        one is yet to come of them, or has come now."""
        if not self._fits(r):
            return False
        by, left = tuple(r.by), set(rest)
        missing = [files for files in self.segments(r.files) if files[0] in left]
        awaited = False
        for files in missing:
            rows = sum(map(self._rows, files))
            spent = self.spent[files, by] = self.spent.get((files, by), 0.0) + seconds / len(missing)
            if rows < LEAST or (files, by) in self.failed:
                continue
            awaited = True
            if spent > SHARE * self.row * rows:
                self._make(files, by, r.columns)
                break
        return awaited

    def _fits(self, r: Request) -> bool:
        if len(self.sizes) > MANY:
            self.sizes.clear()
        if sum(map(self._rows, r.files)) < LEAST:
            return False
        return not any(u in kind for u in UNFIT for kind in self._types(r))

    def _types(self, r: Request) -> list[str]:
        """DuckDB's, of the columns that the base is asked by."""
        key = r.files[0], tuple(r.by)
        if key not in self.types:
            described = self.con.execute(f"DESCRIBE SELECT {_named(r.by)} FROM {parquet(r.files[:1])}").fetchall()
            self.types[key] = [kind for _, kind, *_ in described]
        return self.types[key]

    def _hashes(self, r: Request) -> np.ndarray:
        """Of the keys, as values of the columns that they are of."""
        casts = ", ".join(f"TRY_CAST(_k{i} AS {kind})" for i, kind in enumerate(self._types(r)))
        self.con.register("keys", r.keys)
        found = self.con.execute(f"SELECT hash({casts}) AS h FROM keys").fetchnumpy()["h"]
        self.con.unregister("keys")
        return distinct(np.asarray(found, dtype=np.uint64))

    def _rows(self, file: Path) -> int:
        if file not in self.sizes:
            self.sizes[file] = int(pq.read_metadata(file).num_rows)
        return self.sizes[file]

    def segments(self, files: Sequence[Path]) -> Iterator[tuple[Path, ...]]:
        """A base's files, as its segments have them. Raises OSError where one is gone."""
        some, rows = list[Path](), 0
        for f in files:
            if some and rows + self._rows(f) > SEGMENT:
                yield tuple(some)
                some, rows = [], 0
            some.append(f)
            rows += self._rows(f)
        if some:
            yield tuple(some)

    def let_go(self, r: Request) -> None:
        """Of a base that has other files by now, segments are of no use."""
        if self.shared:
            if len(self.open) > MANY:
                self.open.clear()
                self.spent.clear()
                self.failed.clear()
            return
        key, files = (r.files[0].parent, tuple(r.by)), tuple(r.files)
        if self.present.get(key) == files:
            return
        self.present[key] = files
        kept = set(files)
        gone = [k for k in {*self.open, *self.spent, *self.failed} if (k[0][0].parent, k[1]) == key]
        for old in (k for k in gone if not kept >= set(k[0])):
            self.open.pop(old, None)
            self.spent.pop(old, None)
            self.failed.discard(old)
        self.sizes = {f: n for f, n in self.sizes.items() if f.parent != key[0] or f in kept}
        self.types = {k: t for k, t in self.types.items() if k[0].parent != key[0] or k[0] in kept}
        self._sweep()

    def _sweep(self) -> None:
        """Delete what is of no base that is there, or of one as it was, and what a process that ended has begun."""
        for folder in self.folder.glob("*"):
            try:
                of = json.loads((folder / OF).read_text())
                place = self._place([self.root / f for f in of["files"]], tuple(of["by"]))
            except (OSError, ValueError, KeyError, TypeError):
                place = None
            if folder != place:
                shutil.rmtree(folder, ignore_errors=True)

    def _there(self, files: tuple[Path, ...], by: By, columns: Collection[str]) -> Segment | None:
        """The segment of these files, where one has the columns."""
        found = self.open.get((files, by))
        if (files, by) not in self.open or (self.shared and not _has(found, columns)):  # others make them, too
            found = self.open[files, by] = self._read(self._place(files, by))
        return found if _has(found, columns) else None

    def _place(self, files: Sequence[Path], by: By) -> Path:
        """Where the segment is; raises OSError where a file is gone."""
        stats = [(str(f.relative_to(self.root)), (s := f.stat()).st_size, s.st_mtime_ns) for f in files]
        told = json.dumps([LAYOUT, duckdb.__version__, stats, by])  # what hashes a value has depends on the version
        return self.folder / hashlib.sha256(told.encode()).hexdigest()[:40]

    def _read(self, place: Path) -> Segment | None:
        """None where it is not there, or not whole."""
        try:
            rows = json.loads((place / OF).read_text())["rows"]
            with pa.memory_map(str(place / ROWS)) as source, pa.ipc.open_file(source) as reader:
                batches = [reader.get_batch(i) for i in range(reader.num_record_batches)]
            hashes = np.asarray(np.memmap(place / HASHES, dtype=np.uint64, mode="r", shape=(rows,)))
        except (OSError, ValueError, KeyError, TypeError, pa.ArrowException):
            return None
        starts = np.cumsum([0, *(b.num_rows for b in batches)])
        if not batches or starts[-1] != rows or (place / HASHES).stat().st_size != hashes.nbytes:
            return None
        return Segment(hashes, batches, starts[:-1])

    def _make(self, files: tuple[Path, ...], by: By, columns: Collection[str]) -> None:
        """Make the segment, with these columns and those that it had."""
        begun, place = perf_counter(), self._place(files, by)
        old = self._read(place) if self.shared else self.open.get((files, by))
        wanted = sorted({*columns, *(old.columns if old is not None else ())})
        new = self.folder / f".{place.name}.{socket.gethostname()}.{os.getpid()}.new"
        try:
            rows = self.con.execute(
                f"SELECT {_named(wanted)}, hash({_named(by)}) AS _hash FROM {parquet(files)} ORDER BY _hash"
            ).to_arrow_table()
            if rows.num_rows and self._has_room(rows.nbytes):
                self._write(new, rows, files, by)
                self._put(new, place)
                self.row = (perf_counter() - begun) / rows.num_rows
        except (OSError, MemoryError, duckdb.Error, pa.ArrowException) as e:
            shutil.rmtree(new, ignore_errors=True)
            self._say(str(e).split("\n")[0])
        self.spent.pop((files, by), None)
        self.open[files, by] = self._read(place)
        if self.open[files, by] is None:
            self.failed.add((files, by))

    def _put(self, new: Path, place: Path) -> None:
        """Another process may have put the same there, just now."""
        shutil.rmtree(place, ignore_errors=True)
        try:
            new.rename(place)
        except OSError:
            if not place.exists():
                raise
            shutil.rmtree(new, ignore_errors=True)

    def _write(self, folder: Path, rows: pa.Table, files: Sequence[Path], by: By) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        data = rows.drop_columns(["_hash"]).combine_chunks()
        with pa.OSFile(str(folder / ROWS), "wb") as sink, pa.ipc.new_file(sink, data.schema) as writer:
            writer.write_table(data)
        np.asarray(rows["_hash"].to_numpy(), dtype=np.uint64).tofile(folder / HASHES)
        durable.sync(folder / ROWS)
        durable.sync(folder / HASHES)
        of = [str(f.relative_to(self.root)) for f in files]
        durable.write(folder / OF, {"files": of, "by": by, "rows": rows.num_rows})

    def _has_room(self, size: int) -> bool:
        self.folder.mkdir(parents=True, exist_ok=True)
        free = shutil.disk_usage(self.folder).free
        if free >= DISK * size:
            return True
        self._say(f"one takes {size >> 20} MB, and {free >> 20} MB are free")
        return False

    def _say(self, why: str) -> None:
        if not self.said:
            log.warning("large mirrors and states have no index, and are read by scans: %s", why)
        self.said = True


def _has(segment: Segment | None, columns: Collection[str]) -> bool:
    return segment is not None and segment.columns >= set(columns)


def _named(names: Sequence[str]) -> str:
    return ", ".join(map(quoted, names))
