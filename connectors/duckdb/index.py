"""An index of mirrors in this process: for keys, the rows that have them, in the columns that rules read.

It answers fetches faster than a scan and changes no answer: what it gives may hold rows too many (keys are told apart
by a hash of 64 bits), and the statements that read it ask again. It is made from the mirror, goes with each batch, and
is taken back with it. A mirror that does not fit the memory it may use is read by SQL.

A part of an index is never changed: what a batch brings is a part of its own, what it takes away is marked. Parts that
have become many, or half empty, are made one.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from connectors.duckdb.held import Held, Reads
from connectors.duckdb.landing import AT, Make
from connectors.duckdb.mirror import q

Path = tuple[str, ...]  # the columns that rows are found by
PART = 1 << 32  # where a row is: part × PART + position
GROWTH = 4  # a part that is not this much larger than the one after it takes it in
TOLD_AGAIN = frozenset(["UUID"])  # types that come as others
PART_SMALL = 100_000  # rows: a part of fewer stays, also when it is half empty


@dataclass(frozen=True)
class Sorted:
    """Rows by their hashes: each hash once, in order; the rows' positions by their hashes; and where in these those of
    a hash begin, with the end, None where no two rows have one."""

    hashes: np.ndarray
    order: np.ndarray
    starts: np.ndarray | None

    @classmethod
    def of(cls, known: np.ndarray, order: np.ndarray) -> Sorted:
        """`known`: the hash of each row, in order."""
        first = np.ones(len(known), dtype=bool)
        np.not_equal(known[1:], known[:-1], out=first[1:])
        at = np.flatnonzero(first)
        order = order.astype(np.uint32, copy=False)
        if len(at) == len(known):
            return cls(known, order, None)
        return cls(known[at], order, np.append(at, len(known)).astype(np.uint32))

    @property
    def nbytes(self) -> int:
        return int(self.hashes.nbytes + self.order.nbytes + (self.starts.nbytes if self.starts is not None else 0))

    def of_each(self) -> np.ndarray:
        """The hash of each row, in order."""
        return self.hashes if self.starts is None else np.repeat(self.hashes, np.diff(self.starts))

    def find(self, hashes: np.ndarray) -> np.ndarray:
        """Positions of rows that have one of these hashes (sorted, each once)."""
        if not len(self.hashes):
            return self.order
        at = np.minimum(np.searchsorted(self.hashes, hashes), len(self.hashes) - 1)
        at = at[self.hashes[at] == hashes]
        if self.starts is not None:
            low = self.starts[at].astype(np.int64)
            counts = self.starts[at + 1] - low
            ends = np.cumsum(counts)
            at = np.arange(ends[-1] if len(ends) else 0) + np.repeat(low - (ends - counts), counts)
        positions: np.ndarray = self.order[at]
        return positions

    def alive(self, there: np.ndarray, first: int) -> tuple[np.ndarray, np.ndarray]:
        """Of the rows that are there the hashes, in order, and the positions that they have as the only ones, from
        `first` on."""
        some = there[self.order]
        return self.of_each()[some], (np.cumsum(there) + (first - 1))[self.order[some]]


def merged(a: tuple[np.ndarray, np.ndarray], b: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Hashes in order, each with a position: those of both."""
    places = np.searchsorted(a[0], b[0], "right") + np.arange(len(b[0]))
    of_a = np.ones(len(a[0]) + len(b[0]), dtype=bool)
    of_a[places] = False
    out = []
    for x, y in zip(a, b, strict=True):
        both = np.empty(len(of_a), dtype=x.dtype)
        both[places], both[of_a] = y, x
        out.append(both)
    return out[0], out[1]


def distinct(hashes: np.ndarray) -> np.ndarray:
    """Each once, in order."""
    hashes = np.sort(hashes)
    first = np.ones(len(hashes), dtype=bool)
    np.not_equal(hashes[1:], hashes[:-1], out=first[1:])
    return hashes[first]


@dataclass
class Part:
    """Rows, which of them are there, and for each path the rows by their hashes."""

    number: int
    rows: pa.Table
    alive: np.ndarray
    paths: dict[Path, Sorted]
    left: int  # of them that are there

    @property
    def nbytes(self) -> int:
        return int(self.rows.nbytes) + len(self.alive) + sum(p.nbytes for p in self.paths.values())

    def find(self, path: Path, hashes: np.ndarray) -> np.ndarray:
        """Positions of rows that are there and have one of these hashes (sorted, each once)."""
        positions = self.paths[path].find(hashes)
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
        return sum(p.left for p in self.parts)

    def select(self) -> str:
        """Select items: the columns, then a hash of each path."""
        hashes = (f"{hashed(p, self.types)} AS _h{i}" for i, p in enumerate(self.paths))
        return ", ".join([*map(q, self.types), *hashes])

    def add(self, rows: pa.Table, always: bool = False) -> None:
        """Rows with the hashes of their paths, as a part; none, if they make one `always`."""
        if not rows.num_rows and not always:
            return
        paths = {}
        for i, path in enumerate(self.paths):
            h = rows.column(f"_h{i}").to_numpy()
            order = np.argsort(h)
            paths[path] = Sorted.of(h[order], order)
        self.parts.append(self._part(rows.select(list(self.types)).combine_chunks(), paths))
        self.added += 1

    def _part(self, rows: pa.Table, paths: dict[Path, Sorted]) -> Part:
        self.next += 1
        return Part(self.next, rows, np.ones(rows.num_rows, dtype=bool), paths, rows.num_rows)

    def find(self, path: Path, hashes: np.ndarray, columns: Iterable[str], with_place: bool = False) -> pa.Table:
        """The rows with these hashes, in these columns, and where they are."""
        hashes = distinct(hashes)
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
            at = np.unique(places[places // PART == p.number] % PART)
            if len(at):
                p.alive[at] = False
                p.left -= len(at)
                self.died.append((p, at))

    def undo(self) -> None:
        for p, at in self.died:
            p.alive[at] = True
            p.left += len(at)
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
        if len(first.alive) > PART_SMALL and first.left * 2 < len(first.alive):
            self.parts[0] = self._merged([first])

    def _merged(self, parts: list[Part]) -> Part:
        rows = pa.concat_tables([p.rows.filter(pa.array(p.alive)) for p in parts]).combine_chunks()
        firsts = np.cumsum([0, *(p.left for p in parts)])
        paths = {}
        for path in self.paths:
            each = [p.paths[path].alive(p.alive, int(n)) for p, n in zip(parts, firsts, strict=False)]
            paths[path] = Sorted.of(*functools.reduce(merged, each))
        return self._part(rows, paths)


def hashed(path: Path, types: dict[str, str], named: Iterable[str] | None = None) -> str:
    """DuckDB's hash of a key, its values in the types that the mirror has."""
    names = [q(c) for c in path] if named is None else list(named)
    return f"hash({', '.join(f'TRY_CAST({n} AS {types[c]})' for n, c in zip(names, path, strict=True))})"


def put(held: Held, table: str, types: dict[str, str], columns: Iterable[str], rows: pa.Table) -> None:
    """Rows that were found as a temp table, columns in the mirror's types; with the place of each, if they have it."""
    if held.may(rows) and not any(types[c] in TOLD_AGAIN for c in columns):
        held.hold(q(table), rows)
        return
    with held.lent("found_rows", rows) as source:
        query = f"SELECT {_typed(types, columns, rows)} FROM {source}"
        held.make(q(table), query, Reads((source,), True))


def lent(held: Held, types: dict[str, str], rows: pa.Table, make: Callable[[str], Make]) -> None:
    """Make what `make` gives for a query of rows that were found, as `put` has them."""
    with held.lent("found_rows", rows) as source:
        made = make(f"(SELECT {_typed(types, types, rows)} FROM {source})")
        held.make(made.name, made.query, Reads((source, "latest"), True))


def _typed(types: dict[str, str], columns: Iterable[str], rows: pa.Table) -> str:
    items = [f"CAST({q(c)} AS {types[c]}) AS {q(c)}" for c in columns]
    return ", ".join([*items, AT] if AT in rows.column_names else items)
