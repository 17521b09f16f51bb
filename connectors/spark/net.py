"""What a large transaction changes, put together part by part in a file of DuckDB: of each key what is so after it.

A batch that fits into memory is one set of events; here each part's replace those that earlier parts had for the same
keys, and a value that was not sent is the earlier part's where that has the row, else the mirror's.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import duckdb

from compiler.errors import TidemarkError
from connectors.duckdb.session import LARGE, bounded, connect
from connectors.duckdb.values import cast_errors
from connectors.engine import Again
from connectors.literal_rows import parsed
from connectors.spark.landing import events, quoted, written
from connectors.staging import Staged

THREADS, GROUP = 2, 8192  # of DuckDB, and rows that each of them holds before it writes them


@dataclass(frozen=True)
class Netted:
    """A table's changes: as they would be staged at once, but for their rows, of which there are `count` in `path`."""

    staged: Staged
    path: Path
    count: int


@dataclass
class _Table:
    """What the parts had so far; `rows` is where it is."""

    staged: Staged
    rows: str


@contextmanager
def net(folder: Path, staged: list[Staged], more: Iterable[list[Staged]]) -> Iterator[list[Netted]]:
    """Of all parts; the files are there until the end. Raises ValueOutOfRange for a value that no type can hold, and
    Again where a table's old rows come with some parts and not with others."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        yield _together(folder, staged, more)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _together(folder: Path, staged: list[Staged], more: Iterable[list[Staged]]) -> list[Netted]:
    """Puts the parts together in DuckDB, and writes what Spark reads."""
    try:
        with connect(folder / "net.duckdb", read_only=False) as con:
            con.execute(f"SET threads = {THREADS}")
            parts = _Net(con)
            with bounded(con, LARGE) as lift:
                parts.add(staged)
                for some in more:
                    parts.add(some)
                try:
                    return parts.written(folder)
                except duckdb.OutOfMemoryException:  # rows so wide that a few thousand of them are more
                    lift()
                    return parts.written(folder)
    except duckdb.Error as e:
        raise TidemarkError(
            "a large transaction cannot be put together",
            code="large_transaction",
            detail=str(e).split("\n")[0],
            hint="It waits in a file of the warehouse: is there room on the disk?",
        ) from e


class _Net:
    def __init__(self, con: duckdb.DuckDBPyConnection) -> None:
        self.con = con
        self.tables: dict[str, _Table] = {}

    def add(self, staged: list[Staged]) -> None:
        for s in staged:
            self._add(s)

    def _add(self, s: Staged) -> None:
        t, run = s.table, self.con.execute
        self.con.register("arrived", parsed(s.rows, t))
        run("CREATE OR REPLACE TEMP TABLE staged AS SELECT * FROM arrived")
        self.con.unregister("arrived")
        query = events(s, every=True)
        cast_errors(t, s.rows, partial(run, f"CREATE OR REPLACE TEMP TABLE part AS {query}"))
        known = self.tables.get(t.mirror)
        if known is None:
            known = self.tables[t.mirror] = _Table(_bare(s), quoted(f"net_{t.mirror}"))
            run(f"CREATE TABLE {known.rows} AS FROM part")
            return
        if known.staged.keyed != s.keyed and not s.truncated:
            raise Again(f'"{t.schema}.{t.name}" has old rows in some parts of a transaction alone', code="mixed_parts")
        if s.truncated:
            run(f"CREATE OR REPLACE TABLE {known.rows} AS FROM part")
            known.staged = _bare(s)
            return
        if s.keyed:
            self._over(known, s)
        run(f"INSERT INTO {known.rows} FROM part")
        was = known.staged
        known.staged = replace(
            was,
            inserts_only=was.inserts_only and s.inserts_only,
            unchanged=tuple(sorted({*was.unchanged, *s.unchanged})),
        )

    def _over(self, known: _Table, s: Staged) -> None:
        """The part takes what it does not say from what was so before, which then goes."""
        keys = range(len(s.table.identity_key))
        if s.unchanged:
            values = []
            for i in s.unchanged:
                c = quoted(s.table.columns[i].name)
                values.append(f"{c} = CASE WHEN part._u{i} THEN n.{c} ELSE part.{c} END")
                values.append(f"_u{i} = part._u{i} AND n._u{i}")
            values += [f"_from_{k} = n._from_{k}" for k in keys]
            some = " OR ".join(f"part._u{i}" for i in s.unchanged)
            same = " AND ".join(f"n._key_{k} = part._from_{k}" for k in keys)
            self.con.execute(
                f"UPDATE part SET {', '.join(values)} FROM {known.rows} n WHERE n._present AND ({some}) AND {same}"
            )
        if not (known.staged.inserts_only and s.inserts_only):
            same = " AND ".join(f"n._key_{k} = p._key_{k}" for k in keys)
            self.con.execute(f"DELETE FROM {known.rows} n USING part p WHERE {same}")

    def written(self, folder: Path) -> list[Netted]:
        return [self._write(t, folder) for t in self.tables.values()]

    def _write(self, known: _Table, folder: Path) -> Netted:
        s = known.staged
        hidden = [] if not s.keyed else [f"_u{i}" for i in range(len(s.table.columns)) if i not in s.unchanged]
        if s.keyed and not s.unchanged:
            hidden += [f"_from_{k}" for k in range(len(s.table.identity_key))]
        left = f" EXCLUDE ({', '.join(hidden)})" if hidden else ""
        path = folder / f"events_{s.table.mirror}.parquet"
        return Netted(s, path, written(self.con, f"SELECT *{left} FROM {known.rows}", path, GROUP))


def _bare(s: Staged) -> Staged:
    return replace(s, rows=s.rows.schema.empty_table())
