"""An index of mirrors in this process: for keys, the rows that have them, in the columns that rules read.

It answers fetches faster than a scan and changes no answer: what it gives may hold rows too many (keys are told apart
by a hash of 64 bits), and the statements that read it ask again. It is made from the mirror, goes with each batch, and
is taken back with it. A mirror that does not fit the memory it may use is read by SQL.

A part of an index is never changed: what a batch brings is a part of its own, what it takes away is marked. Parts that
have become many, or half empty, are made one.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import reduce

import duckdb
import numpy as np
import pyarrow as pa

from compiler.catalog import Table
from compiler.maintain.program import Fetch
from connectors.duckdb.landing import AT
from connectors.duckdb.mirror import batch, on_key, q
from connectors.engine import EngineFailure

log = logging.getLogger("tidemark")
Path = tuple[str, ...]  # the columns that rows are found by
PART = 1 << 32  # where a row is: part × PART + position
PATIENCE = 32  # fetches by SQL before an index is made: about what making it costs
AT_ONCE = 100_000  # rows of a mirror whose index is made after FEW fetches
FEW = 2
GROWTH = 4  # a part that is not this much larger than the one after it takes it in
ROW_OVERHEAD = 13  # bytes of a row for each path (hash, position), and its mark
PART_SMALL = 100_000  # rows: a part of fewer stays, also when it is half empty
KEPT = frozenset(
    ["BOOLEAN", "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "FLOAT", "DOUBLE", "DATE", "TIMESTAMP", "VARCHAR", "UUID"]
    + ["TIMESTAMP WITH TIME ZONE"]
)  # types whose values come back from Arrow as they went; and DECIMAL


@dataclass
class Part:
    """Rows, which of them are there, and for each path their hashes, sorted, with the rows' positions."""

    number: int
    rows: pa.Table
    alive: np.ndarray
    paths: dict[Path, tuple[np.ndarray, np.ndarray]]

    @property
    def nbytes(self) -> int:
        return int(self.rows.nbytes) + len(self.alive) * (1 + 12 * len(self.paths))

    def find(self, path: Path, hashes: np.ndarray) -> np.ndarray:
        """Positions of rows that are there and have one of these hashes (sorted, each once)."""
        known, order = self.paths[path]
        low = np.searchsorted(known, hashes, "left")
        counts = np.searchsorted(known, hashes, "right") - low
        some = counts > 0
        low, counts = low[some], counts[some]
        at = np.arange(counts.sum()) + np.repeat(low - (np.cumsum(counts) - counts), counts)
        positions: np.ndarray = order[at]
        there: np.ndarray = positions[self.alive[positions]]
        return there


@dataclass
class Indexed:
    """The index of one mirror. `died` and `added` are what the batch at hand did, until it is committed."""

    types: dict[str, str]
    paths: tuple[Path, ...]
    parts: list[Part] = field(default_factory=list)
    died: list[tuple[Part, np.ndarray]] = field(default_factory=list)
    added: int = 0
    next: int = 0

    @property
    def nbytes(self) -> int:
        return sum(p.nbytes for p in self.parts)

    @property
    def rows(self) -> int:
        return sum(int(p.alive.sum()) for p in self.parts)

    def select(self) -> str:
        """Select items: the columns, then a hash of each path."""
        hashes = (f"{hashed(p, self.types)} AS _h{i}" for i, p in enumerate(self.paths))
        return ", ".join([*map(q, self.types), *hashes])

    def add(self, rows: pa.Table, always: bool = False) -> None:
        """Rows with the hashes of their paths, as a part; none, if they make one `always`."""
        if not rows.num_rows and not always:
            return
        hashes = [rows.column(f"_h{i}").to_numpy() for i in range(len(self.paths))]
        self.parts.append(self._part(rows.select(list(self.types)).combine_chunks(), hashes))
        self.added += 1

    def _part(self, rows: pa.Table, hashes: list[np.ndarray]) -> Part:
        paths = {}
        for path, h in zip(self.paths, hashes, strict=True):
            order = np.argsort(h)
            paths[path] = h[order], order.astype(np.uint32)
        self.next += 1
        return Part(self.next, rows, np.ones(rows.num_rows, dtype=bool), paths)

    def find(self, path: Path, hashes: np.ndarray, columns: Iterable[str], with_place: bool = False) -> pa.Table:
        """The rows with these hashes, in these columns, and where they are."""
        hashes = np.unique(hashes)
        out: list[pa.Table] = []
        for p in self.parts:
            at = p.find(path, hashes)
            if not len(at) and (out or p is not self.parts[-1]):
                continue  # one part is taken from in any case: it tells the columns' types
            rows = p.rows.select(list(columns)).take(pa.array(at))
            out.append(rows.append_column(AT, pa.array(at.astype(np.int64) + p.number * PART)) if with_place else rows)
        return pa.concat_tables(out)  # there is a part always: the one that it was made with

    def bury(self, places: np.ndarray) -> None:
        """The rows at these places are gone."""
        for p in self.parts:
            at = places[places // PART == p.number] % PART
            if len(at):
                p.alive[at] = False
                self.died.append((p, at))

    def undo(self) -> None:
        for p, at in self.died:
            p.alive[at] = True
        if self.added:
            del self.parts[-self.added :]
        self.died, self.added = [], 0

    def settle(self) -> None:
        """What the batch did stays; small parts become one."""
        self.died, self.added = [], 0
        while len(self.parts) > 1 and len(self.parts[-1].alive) * GROWTH > len(self.parts[-2].alive):
            b, a = self.parts.pop(), self.parts.pop()
            self.parts.append(self._merged([a, b]))
        first = self.parts[0]
        if len(first.alive) > PART_SMALL and first.alive.sum() * 2 < len(first.alive):
            self.parts[0] = self._merged([first])

    def _merged(self, parts: list[Part]) -> Part:
        rows = pa.concat_tables([p.rows.filter(pa.array(p.alive)) for p in parts]).combine_chunks()
        hashes = []
        for path in self.paths:
            each = []
            for p in parts:
                known, order = p.paths[path]
                unsorted = np.empty_like(known)
                unsorted[order] = known
                each.append(unsorted[p.alive])
            hashes.append(np.concatenate(each))
        return self._part(rows, hashes)


def hashed(path: Path, types: dict[str, str], named: Iterable[str] | None = None) -> str:
    """DuckDB's hash of a key, its values in the types that the mirror has."""
    names = [q(c) for c in path] if named is None else list(named)
    return f"hash({', '.join(f'TRY_CAST({n} AS {types[c]})' for n, c in zip(names, path, strict=True))})"


class Following:
    """A mirror's index while its table lands: it looks up old images, and then goes with what the batch did."""

    def __init__(self, con: duckdb.DuckDBPyConnection, t: Table, index: Indexed) -> None:
        self.con, self.table, self.index = con, t, index
        self.columns = frozenset(index.types)
        self.known = False  # whether old images were looked up here, so that `old` tells their places

    def latest(self, key: tuple[str, ...]) -> None:
        """The rows with the keys of the temp table `latest`, as the temp table `found`."""
        self._find(key, "latest", [f"_key_{i}" for i in range(len(key))], self.index.types)
        self.known = True

    def _find(self, path: Path, table: str, named: list[str], columns: Iterable[str]) -> None:
        hashes = self.con.execute(
            f"SELECT {hashed(path, self.index.types, named=named)} AS h FROM {table}"
        ).fetchnumpy()["h"]
        rows = self.index.find(path, np.asarray(hashes, dtype=np.uint64), columns, with_place=True)
        self.con.register("fetched", rows)
        items = ", ".join(f"CAST({q(c)} AS {self.index.types[c]}) AS {q(c)}" for c in columns)
        self.con.execute(f"CREATE OR REPLACE TEMP TABLE found AS SELECT {items}, {AT} FROM fetched")
        self.con.unregister("fetched")

    def follow(self) -> None:
        """Take what the batch did; raises Astray where the index does not have what left."""
        rows = batch(self.table)
        places = np.asarray(self._places(rows), dtype=np.int64)
        self.index.bury(places)
        new = self.con.execute(f"SELECT {self.index.select()} FROM {rows} WHERE _weight > 0").to_arrow_table()
        self.index.add(new)

    def _places(self, rows: str) -> np.ndarray:
        """Where the rows are that the batch takes away."""
        con, key = self.con, self.table.key
        if self.known:
            return con.execute("SELECT _row FROM old").fetchnumpy()["_row"]
        self._find(key, f"(SELECT * FROM {rows} WHERE _weight < 0)", [q(k) for k in key], key)
        places = con.execute(
            f"SELECT f.{AT} AS a FROM found f JOIN {rows} n ON {on_key(key, 'f', 'n')} WHERE n._weight < 0"
        ).fetchnumpy()["a"]
        left = con.execute(f"SELECT count(*) FROM {rows} WHERE _weight < 0").fetchall()[0][0]
        if len(places) != left:
            raise Astray(self.table.mirror, left, len(places))
        return places


class Astray(EngineFailure):
    """An index does not agree with its mirror: the batch is not stored, and the index is made again."""

    def __init__(self, mirror: str, left: int, found: int) -> None:
        super().__init__(
            f'the index of mirror "{mirror}" does not agree with it',
            detail=f"{left} rows leave, of which it has {found}. Nothing of the batch was stored.",
            hint="The index is made again. Run: tidemark verify",
        )
        self.mirror = mirror


class Indexes:
    """The indexes of a warehouse's mirrors, made as they are asked for."""

    def __init__(self, con: duckdb.DuckDBPyConnection, memory: int) -> None:
        self.con, self.memory = con, memory
        self.of: dict[str, Indexed] = {}
        self.asked: dict[str, int] = {}  # fetches that SQL answered, since an index would have done
        self.columns: dict[str, set[str]] = {}
        self.paths: dict[str, set[Path]] = {}
        self.refused: dict[str, str] = {}  # mirror → why it has none

    def want(self, mirror: str, columns: Iterable[str], path: Path) -> None:
        """What rules read of a mirror; an index that lacks it is dropped, to be made with it."""
        have, paths = self.columns.setdefault(mirror, set()), self.paths.setdefault(mirror, set())
        new = {*columns, *path} - have
        if new or path not in paths:
            have |= new
            paths.add(path)
            self.of.pop(mirror, None)
            self.refused.pop(mirror, None)

    def drop(self, mirror: str) -> None:
        """The mirror was changed by something else than a batch: its index is made again."""
        self.of.pop(mirror, None)

    def forget(self, mirror: str) -> None:
        """The mirror is gone."""
        for known in (self.of, self.asked, self.columns, self.paths, self.refused):
            known.pop(mirror, None)

    def make(self) -> None:
        """Make the indexes that have been missed long enough; between batches."""
        for mirror, n in self.asked.items():
            if mirror in self.of or mirror in self.refused or n <= FEW:
                continue
            if n > PATIENCE or self._rows(mirror) < AT_ONCE:
                self._make(mirror)
                if mirror in self.refused:
                    log.warning('mirror "%s" has no index and is read by scans: %s', mirror, self.refused[mirror])

    def _make(self, mirror: str) -> None:
        described = self.con.execute(f"DESCRIBE SELECT * FROM base.{q(mirror)}").fetchall()
        types = {name: kind for name, kind, *_ in described}
        columns = sorted(self.columns[mirror] & set(types))
        if other := [c for c in columns if types[c] not in KEPT and not types[c].startswith("DECIMAL")]:
            self.refused[mirror] = f"column {other[0]} is of a type that it does not hold"
            return
        paths = tuple(sorted(self.paths[mirror]))
        if (need := self._rows(mirror) * (8 * len(columns) + ROW_OVERHEAD * len(paths))) > (
            room := self.memory - self.nbytes
        ):
            self.refused[mirror] = f"it needs some {need >> 20} MB, and {max(room, 0) >> 20} MB are left"
            return
        new = Indexed({c: types[c] for c in columns}, paths)
        new.add(self.con.execute(f"SELECT {new.select()} FROM base.{q(mirror)}").to_arrow_table(), always=True)
        if new.nbytes > self.memory - self.nbytes:
            self.refused[mirror] = f"it takes {new.nbytes >> 20} MB, more than are left"
            return
        new.settle()
        self.of[mirror] = new

    def _rows(self, mirror: str) -> int:
        return int(self.con.execute(f"SELECT count(*) FROM base.{q(mirror)}").fetchall()[0][0])

    @property
    def nbytes(self) -> int:
        return reduce(lambda n, i: n + i.nbytes, self.of.values(), 0)

    def fetch(self, target: str, f: Fetch) -> bool:
        """Fill the temp table `target` with what is fetched; False where there is no index for it."""
        found = self.of.get(f.mirror)
        if found is None:
            self.asked[f.mirror] = self.asked.get(f.mirror, 0) + 1
            return False
        names = [f"_k{i}" for i in range(len(f.by))]
        keys = self.con.execute(f"SELECT {hashed(f.by, found.types, named=names)} AS h FROM ({f.keys})").fetchnumpy()
        rows = found.find(f.by, np.asarray(keys["h"], dtype=np.uint64), f.columns)
        self.con.register("fetched", rows)
        items = ", ".join(f"CAST({q(c)} AS {found.types[c]}) AS {q(c)}" for c in f.columns)
        self.con.execute(f"CREATE OR REPLACE TEMP TABLE {q(target)} AS SELECT {items} FROM fetched")
        self.con.unregister("fetched")
        return True

    def following(self, t: Table) -> Following | None:
        """The index of a table that is about to land, if it has one; one that lacks its key is made again."""
        index = self.of.get(t.mirror)
        if index is None:
            return None
        if {t.key, t.identity_key} - set(index.paths):
            self.drop(t.mirror)
            return None
        return Following(self.con, t, index)

    def landing(self, t: Table, columns: Iterable[str]) -> None:
        """A table is about to land: its old images are looked up by its key."""
        for path in {t.key, t.identity_key}:
            self.want(t.mirror, columns, path)
        if t.mirror not in self.of:
            self.asked[t.mirror] = self.asked.get(t.mirror, 0) + 1

    def undo(self) -> None:
        """The batch did not happen."""
        for i in self.of.values():
            i.undo()

    def settle(self) -> None:
        """The batch is committed."""
        for i in self.of.values():
            if i.died or i.added:
                i.settle()
