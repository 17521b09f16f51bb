"""The indexes of a warehouse's mirrors: made when they have been missed long enough, and taken along by each batch."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from functools import reduce

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from compiler.catalog import Table
from compiler.maintain.program import Fetch
from connectors.duckdb.held import Held, Reads, reads_of
from connectors.duckdb.index import Indexed, Path, hashed, lent, put
from connectors.duckdb.landing import AT, Make
from connectors.duckdb.mirror import batch, on_key, q
from connectors.engine import EngineFailure

log = logging.getLogger("tidemark")
PATIENCE = 32  # fetches by SQL before an index is made: about what making it costs
AT_ONCE = 100_000  # rows of a mirror whose index is made after FEW fetches
FEW = 2
ROW_OVERHEAD = 13  # bytes of a row for each path (hash, position), and its mark
KEPT = frozenset(
    ["BOOLEAN", "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "FLOAT", "DOUBLE", "DATE", "TIMESTAMP", "VARCHAR", "UUID"]
    + ["TIMESTAMP WITH TIME ZONE"]
)  # types whose values come back from Arrow as they went; and DECIMAL
SIGNED_ZERO = frozenset(("FLOAT", "DOUBLE"))  # 0 and -0 are equal and have two hashes


class Following:
    """A mirror's index while its table lands: it looks up old images, and then goes with what the batch did."""

    def __init__(self, held: Held, t: Table, index: Indexed) -> None:
        self.held, self.table, self.index = held, t, index
        self.columns = frozenset(index.types)
        self.found: np.ndarray | None = None  # the places of old images, where these were looked up here
        self.landed: pa.Table | None = None  # the batch's rows, where they were read for that

    def images(self, key: tuple[str, ...], make: Callable[[str], Make], gone: str) -> None:
        """Make what `make` gives for a query of the rows with the keys of the temp table `latest`."""
        rows = self._found(key, "latest", "latest", [f"_key_{i}" for i in range(len(key))], self.index.types)
        lent(self.held, self.index.types, rows, make)
        every = gone == batch(self.table)
        items = f"{self.index.select()}, _weight" if every else "_weight"
        got = self.held.read(f"SELECT {items}, _row FROM {gone}", Reads((gone,), True)).to_arrow_table()
        self.landed = got if every else None
        self.found = got.filter(pc.less(got["_weight"], 0))["_row"].to_numpy()

    def nothing_left(self) -> None:
        self.found = np.empty(0, dtype=np.int64)

    def check(self, said: int | None) -> None:
        """Compare with what the source says of each key, and with the mirror where that is not so; raises Astray."""
        assert self.found is not None
        found = len(self.found)
        if said is None:
            said = self.held.run("SELECT count(*) FROM latest WHERE _key_was", Reads(("latest",), True))
        if said == found:
            return
        on = " AND ".join(f"m.{q(k)} = l._key_{i}" for i, k in enumerate(self.table.identity_key))
        name = self.table.mirror
        there = self.held.run(f"SELECT count(*) FROM base.{q(name)} m SEMI JOIN latest l ON {on}", Reads(("latest",)))
        if there != found:
            raise Astray(name, there, found)
        log.warning('mirror "%s" has %s of %s rows that the source has changed: run tidemark verify', name, found, said)

    def delete(self, statement: str) -> None:
        """Delete old rows from the mirror; raises Astray where there are others than those that were found."""
        left = self.held.run(statement)
        assert self.found is not None
        if left != len(self.found):
            raise Astray(self.table.mirror, left, len(self.found))

    def _found(self, path: Path, rows: str, table: str, named: list[str], columns: Iterable[str]) -> pa.Table:
        """The rows with the keys of a query of the temp table `table`."""
        query = f"SELECT {hashed(path, self.index.types, named=named)} AS h FROM {rows}"
        hashes = self.held.read(query, Reads((table,), True)).fetchnumpy()["h"]
        return self.index.find(path, np.asarray(hashes, dtype=np.uint64), columns, with_place=True)

    def follow(self) -> None:
        """Take what the batch did; raises Astray where the index does not have what left."""
        rows = batch(self.table)
        self.index.bury(self._places(rows) if self.found is None else self.found)
        if self.landed is not None:
            new = self.landed.filter(pc.greater(self.landed["_weight"], 0))
        else:
            query = f"SELECT {self.index.select()} FROM {rows} WHERE _weight > 0"
            new = self.held.read(query, Reads((rows,), True)).to_arrow_table()
        self.index.add(new)

    def _places(self, rows: str) -> np.ndarray:
        """Where the rows are that the batch takes away."""
        key, reads = self.table.key, Reads((rows,), True)
        found = self._found(key, f"(SELECT * FROM {rows} WHERE _weight < 0)", rows, [q(k) for k in key], key)
        put(self.held, "found", self.index.types, key, found)
        query = f"SELECT f.{AT} AS a FROM found f JOIN {rows} n ON {on_key(key, 'f', 'n')} WHERE n._weight < 0"
        places = self.held.read(query, Reads(("found", rows), True)).fetchnumpy()["a"]
        left = self.held.run(f"SELECT count(*) FROM {rows} WHERE _weight < 0", reads)
        if len(places) != left:
            raise Astray(self.table.mirror, left, len(places))
        return np.asarray(places, dtype=np.int64)


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

    def __init__(self, con: duckdb.DuckDBPyConnection, memory: int, held: Held) -> None:
        self.con, self.memory, self.held = con, memory, held
        self.by_mirror: dict[str, Indexed] = {}
        self.asked: dict[str, int] = {}  # fetches that SQL answered, since an index would have done
        self.columns: dict[str, set[str]] = {}
        self.paths: dict[str, set[Path]] = {}
        self.refused: dict[str, str] = {}  # mirror → why it has none
        self.awaited = False  # whether the batch at hand missed one that will be made

    def want(self, mirror: str, columns: Iterable[str], path: Path) -> None:
        """What rules read of a mirror; an index that lacks it is dropped, to be made with it."""
        have, paths = self.columns.setdefault(mirror, set()), self.paths.setdefault(mirror, set())
        new = {*columns, *path} - have
        if new or path not in paths:
            have |= new
            paths.add(path)
            self.by_mirror.pop(mirror, None)
            self.refused.pop(mirror, None)

    def drop(self, mirror: str) -> None:
        """The mirror was changed by something else than a batch: its index is made again."""
        self.by_mirror.pop(mirror, None)

    def clear(self) -> None:
        """What became of the batch is not known: all are made again."""
        self.by_mirror.clear()

    def forget(self, mirror: str) -> None:
        """The mirror is gone."""
        for held in (self.by_mirror, self.asked, self.columns, self.paths, self.refused):
            held.pop(mirror, None)

    def make(self, sizes: Mapping[str, int] | None = None) -> None:
        """Make the indexes that have been missed long enough; between batches. `sizes`: about how many rows mirrors
        have, where that is known."""
        for mirror, n in self.asked.items():
            if mirror in self.by_mirror or mirror in self.refused or n <= FEW:
                continue
            known = (sizes or {}).get(mirror)
            if n > PATIENCE or (known if known is not None else self._rows(mirror)) < AT_ONCE:
                try:
                    self._make(mirror)
                except (duckdb.Error, pa.ArrowException, MemoryError) as e:
                    self._refuse(mirror, f"it could not be made: {e}")

    def _refuse(self, mirror: str, why: str) -> None:
        self.refused[mirror] = why
        log.warning('mirror "%s" has no index and is read by scans: %s', mirror, why)

    def _make(self, mirror: str) -> None:
        described = self.con.execute(f"DESCRIBE SELECT * FROM base.{q(mirror)}").fetchall()
        types = {name: kind for name, kind, *_ in described}
        columns = sorted(self.columns[mirror] & set(types))
        if other := [c for c in columns if types[c] not in KEPT and not types[c].startswith("DECIMAL")]:
            self._refuse(mirror, f"column {other[0]} is of a type that it does not hold")
            return
        paths = tuple(sorted(self.paths[mirror]))
        if other := [c for p in paths for c in p if types.get(c) in SIGNED_ZERO]:
            self._refuse(mirror, f"column {other[0]} is of a type whose equal values may differ")
            return
        if (need := self._rows(mirror) * (8 * len(columns) + ROW_OVERHEAD * len(paths))) > (
            room := self.memory - self.nbytes
        ):
            self._refuse(mirror, f"it needs some {need >> 20} MB, and {max(room, 0) >> 20} MB are left")
            return
        new = Indexed({c: types[c] for c in columns}, paths)
        new.add(self.con.execute(f"SELECT {new.select()} FROM base.{q(mirror)}").to_arrow_table(), always=True)
        if new.nbytes > self.memory - self.nbytes:
            self._refuse(mirror, f"it takes {new.nbytes >> 20} MB, more than are left")
            return
        new.settle()
        self.by_mirror[mirror] = new

    def _rows(self, mirror: str) -> int:
        return int(self.con.execute(f"SELECT count(*) FROM base.{q(mirror)}").fetchall()[0][0])

    @property
    def nbytes(self) -> int:
        return reduce(lambda n, i: n + i.nbytes, self.by_mirror.values(), 0)

    def fetch(self, target: str, f: Fetch) -> int | None:
        """Fill the temp table `target` with what is fetched, and give how many rows those are; None where there is no
        index for it, or it lacks what a program that was chosen late asks for."""
        found = self.by_mirror.get(f.mirror)
        if found is None:
            if f.mirror in self.columns:  # one that is elsewhere has none
                self._missed(f.mirror)
            return None
        if f.by not in found.paths or not set(f.columns) <= set(found.types):
            return None
        names = [f"_k{i}" for i in range(len(f.by))]
        query = f"SELECT {hashed(f.by, found.types, named=names)} AS h FROM ({f.keys})"
        keys = self.held.read(query, reads_of(f.reads)).fetchnumpy()
        rows = found.find(f.by, np.asarray(keys["h"], dtype=np.uint64), f.columns)
        put(self.held, target, found.types, f.columns, rows)
        return int(rows.num_rows)

    def following(self, t: Table) -> Following | None:
        """The index of a table that is about to land, if it has one; one that lacks its key is made again."""
        index = self.by_mirror.get(t.mirror)
        if index is None:
            return None
        if {t.key, t.identity_key} - set(index.paths):
            self.drop(t.mirror)
            return None
        return Following(self.held, t, index)

    def landing(self, t: Table, columns: Iterable[str]) -> None:
        """A table is about to land: its old images are looked up by its key."""
        for path in {t.key, t.identity_key}:
            self.want(t.mirror, columns, path)
        if t.mirror not in self.by_mirror:
            self._missed(t.mirror)

    def _missed(self, mirror: str) -> None:
        self.asked[mirror] = self.asked.get(mirror, 0) + 1
        self.awaited |= mirror not in self.refused

    def undo(self) -> None:
        """The batch did not happen."""
        for i in self.by_mirror.values():
            i.undo()

    def settle(self) -> None:
        """The batch is committed."""
        for i in self.by_mirror.values():
            if i.died or i.added:
                i.settle()
        while self.nbytes > self.memory:
            mirror = max(self.by_mirror, key=lambda m: self.by_mirror[m].nbytes)
            self._refuse(
                mirror, f"it has grown to {self.by_mirror.pop(mirror).nbytes >> 20} MB, more than there is for indexes"
            )
