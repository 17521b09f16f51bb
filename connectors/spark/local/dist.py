"""Mirrors that are Dist, beside states that are Local: a base in Delta, and what changed since it was written, the
tail, in the local file. What a batch meets of a base is fetched by Spark, in one job for all that is known to be
met; the tail's rows take the place of those of the base that they have the key of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from compiler.catalog import Table
from compiler.maintain.program import Fetch, Statement
from compiler.spelling.duckdb import storage, type_name
from connectors.duckdb import landing
from connectors.duckdb.landing import AT, Make, Run, Work
from connectors.duckdb.mirror import batch, before, columns, on_key, q
from connectors.duckdb.session import attached, beside, in_transaction
from connectors.duckdb.text import from_text
from connectors.duckdb.values import cast_errors
from connectors.engine import EngineFailure
from connectors.literal_rows import parsed
from connectors.postgres.origin import RESYNC
from connectors.spark.landing import quoted
from connectors.spark.local.stored import copy, from_delta, kept_type, parquet, to_delta
from connectors.spark.mirror import encoded
from connectors.staging import Staged

SETUP = ("CREATE SCHEMA IF NOT EXISTS tail", "CREATE TABLE IF NOT EXISTS meta.base (mirror VARCHAR, file VARCHAR)")


class Request:
    """Rows of a base: `columns` of those that have, in the columns `by`, one of the `keys` (_k0, …)."""

    def __init__(self, files: list[Path], by: Sequence[str], columns: Sequence[str], keys: pa.Table) -> None:
        self.files, self.by, self.columns, self.keys = files, list(by), list(columns), keys


Rows = Any  # a table of Arrow, or a dataset of files where that would be too large


class Reader(Protocol):
    """What reads bases by keys: one job for all requests. A row may come that has none of the keys. What it gives is
    there until it is asked again."""

    def rows(self, requests: Sequence[Request]) -> list[Rows]: ...


class NoReader:
    """Where nothing is Dist."""

    def rows(self, requests: Sequence[Request]) -> list[Rows]:
        raise AssertionError("nothing is Dist")


BASE = "1::BIGINT AS _weight, 0::BIGINT AS _lsn, false AS _log"  # what rows of a base have besides
FILE_ROWS = 1 << 20


class Dist:
    """The mirrors of one local file that are Dist; all have a key."""

    def __init__(self, con: duckdb.DuckDBPyConnection, root: Path, reader: Reader) -> None:
        self.con, self.root, self.reader = con, root, reader
        self.tables: dict[str, Table] = {}
        self.images: dict[str, Rows] = {}  # of mirrors about to land, what was looked up
        for s in SETUP:
            con.execute(s)

    @property
    def mirrors(self) -> frozenset[str]:
        return frozenset(self.tables)

    def sizes(self) -> dict[str, int]:
        return {m: sum(_rows(f) for f in self.files(m)) for m in self.tables}

    def files(self, mirror: str) -> list[Path]:
        """Of the base as the file knows it."""
        found = self.con.execute("SELECT file FROM meta.base WHERE mirror = ? ORDER BY 1", [mirror]).fetchall()
        return [self.root / f[0] for f in found]

    def there(self) -> set[str]:
        """The mirrors that are, known or not."""
        query = "SELECT table_name FROM duckdb_tables() WHERE schema_name = 'tail'"
        return {r[0] for r in self.con.execute(query).fetchall()}

    def has(self, mirror: str) -> bool:
        return mirror in self.there()

    def tail_rows(self, mirror: str) -> int:
        row = self.con.execute(f"SELECT count(*) FROM tail.{q(mirror)}").fetchone()
        return int(row[0]) if row else 0

    def write(self, t: Table, batches: Iterable[pa.Table], file: Callable[[], Path]) -> tuple[int, list[Path]]:
        """Rows of text columns c0… as files of a base; their number, and the files. Raises ValueOutOfRange."""
        rows, files, con = 0, list[Path](), beside(self.con)
        con.execute("SET TimeZone = 'UTC'")
        for staged in batches:
            con.register("staged", parsed(staged, t))
            con.execute("CREATE OR REPLACE TEMP TABLE arrived AS SELECT * FROM staged")
            query = f"SELECT {landing.values(t)}, {BASE} FROM arrived"
            files.append(file())
            cast_errors(t, staged, partial(con.execute, copy(con, to_delta(con, query), files[-1])))
            con.unregister("staged")
            rows += staged.num_rows
        con.close()
        return rows, files

    def written(self, t: Table, other: Path, file: Callable[[], Path]) -> list[Path]:
        """The rows of the mirror in a file of DuckDB, which is closed, as files of a base."""
        files, con, name = list[Path](), beside(self.con), q(t.mirror)
        con.execute("SET TimeZone = 'UTC'")
        try:
            with attached(con, other) as there:
                (last,) = con.execute(f"SELECT max(rowid) FROM {there}.base.{name}").fetchall()[0]
                for first in range(0, -1 if last is None else last + 1, FILE_ROWS):
                    some = f"rowid >= {first} AND rowid < {first + FILE_ROWS}"
                    query = f"SELECT {columns(t)}, {BASE} FROM {there}.base.{name} WHERE {some}"
                    files.append(file())
                    con.execute(copy(con, to_delta(con, query), files[-1]))
        finally:
            con.close()
        return files

    def know(self, t: Table) -> None:
        """A mirror that is there; the folder may have been moved since its view was made."""
        self.tables[t.mirror] = t
        self._view(t)

    def create(self, t: Table) -> None:
        """An empty one."""
        body = ", ".join(f"{q(c.name)} {type_name(c.type)}{storage(c.type)}" for c in t.columns)
        name = q(t.mirror)
        self.con.execute(f"CREATE OR REPLACE TABLE tail.{name} ({body}, _present BOOLEAN DEFAULT true)")
        self.con.execute("DELETE FROM meta.base WHERE mirror = ?", [t.mirror])
        self.know(t)
        for statement in before(t):
            self.con.execute(statement)

    def drop(self, mirror: str) -> None:
        self.tables.pop(mirror, None)
        name = q(mirror)
        for s in ("before", "before_rows", "base"):
            self.con.execute(f"DROP VIEW IF EXISTS {s}.{name}")
        self.con.execute(f"DROP TABLE IF EXISTS tail.{name}")
        self.con.execute("DELETE FROM meta.base WHERE mirror = ?", [mirror])

    def rebase(self, mirror: str, files: Iterable[Path], clear: bool) -> None:
        """The base is in these files from now on; `clear`: with all that the tail had. In the caller's
        transaction."""
        self.con.execute("DELETE FROM meta.base WHERE mirror = ?", [mirror])
        for f in files:
            self.con.execute("INSERT INTO meta.base VALUES (?, ?)", [mirror, str(f.relative_to(self.root))])
        if clear:
            self.con.execute(f"DELETE FROM tail.{q(mirror)}")
        self._view(self.tables[mirror])

    def adopt(self, mirror: str, files: Iterable[Path]) -> None:
        """The same in a transaction of its own, the tail left as it is."""
        with in_transaction(self.con):
            self.rebase(mirror, files, clear=False)

    def _view(self, t: Table) -> None:
        name, cols = q(t.mirror), columns(t)
        tail = f"SELECT {cols} FROM tail.{name} WHERE _present"
        if files := self.files(t.mirror):
            base = f"SELECT {from_delta(t.columns)} FROM {parquet(files)}"
            old = f"SELECT {columns(t, 'b.')} FROM ({base}) b ANTI JOIN tail.{name} n ON {on_key(t.key, 'b', 'n')}"
            tail = f"{old} UNION ALL {tail}"
        try:
            self.con.execute(f"CREATE OR REPLACE VIEW base.{name} AS {tail}")
        except duckdb.Error as e:
            raise EngineFailure(
                f'the mirror of "{t.schema}.{t.name}" cannot be read in Delta',
                detail=str(e).split("\n")[0],
                code="damaged_warehouse",
                hint=RESYNC,
            ) from e

    # -- a batch

    def look_up(self, staged: Sequence[Staged], needed: Mapping[str, frozenset[str]]) -> None:
        asked = []
        for s in (s for s in staged if s.keyed and not s.inserts_only and not s.truncated):
            t, types = s.table, {c.name: c.type for c in s.table.columns}
            keys = ", ".join(f"{from_text(f'k{i}', types[k])} AS _k{i}" for i, k in enumerate(t.identity_key))
            statement = f"CREATE OR REPLACE TEMP TABLE {q(f'keys_{t.mirror}')} AS SELECT DISTINCT {keys} FROM arrived"
            self.con.register("arrived", parsed(s.rows, t))
            cast_errors(t, s.rows, partial(self.con.execute, statement))
            self.con.unregister("arrived")
            wanted = landing.wanted_of(s, needed.get(f"{t.schema}.{t.name}", frozenset()))
            columns = tuple(c.name for c in t.columns if c.name in wanted)
            asked.append(Fetch(t.mirror, t.identity_key, columns, f"SELECT * FROM {q(f'keys_{t.mirror}')}"))
        self.images = dict(zip((f.mirror for f in asked), self._fetched(asked), strict=True))

    def land(self, s: Staged, source: str, needed: frozenset[str]) -> list[Work]:
        """Statements and calls, in order, that land the staged rows of a Dist mirror in its tail."""
        t, name, key = s.table, q(s.table.mirror), ", ".join(map(q, s.table.key))
        how = landing.land(s, source, needed, _Images(self, t, landing.wanted_of(s, needed)))
        cols, rows = columns(t), batch(t)
        new = (
            f"{rows} WHERE _weight > 0"
            if s.unchanged or not s.keyed or s.truncated or s.inserts_only
            else ("latest WHERE _present")
        )
        gone = f"SELECT DISTINCT {key} FROM {rows} WHERE _weight < 0"
        taking = [
            f"DELETE FROM tail.{name} AS b USING {rows} AS n WHERE {on_key(t.key, 'b', 'n')}",
            f"INSERT INTO tail.{name} ({cols}) SELECT {cols} FROM {new}",
        ]
        if not s.truncated:
            taking.append(
                f"INSERT INTO tail.{name} ({key}, _present) SELECT {key}, false FROM ({gone}) n ANTI JOIN "
                f"tail.{name} b ON {on_key(t.key, 'b', 'n')}"
            )
        base = [partial(self.rebase, t.mirror, [], True)] if s.truncated else []
        return [*how.deltas, *base, *map(Run, taking)]

    def fetch(self, wanted: Sequence[Statement]) -> None:
        asked = [s.fetch for s in wanted if s.fetch is not None]
        for s, f, rows in zip(wanted, asked, self._fetched(asked), strict=True):
            self._store(s.target, f, rows)

    def _fetched(self, asked: Sequence[Fetch]) -> list[Rows]:
        """Of the bases, for each: those that read one by the same columns are one request. What has no base, or no
        keys, is not asked for."""
        groups: dict[tuple[str, tuple[str, ...]], list[Fetch]] = {}
        for f in asked:
            groups.setdefault((f.mirror, f.by), []).append(f)
        found, requests = {}, {}
        for (mirror, by), fs in groups.items():
            t, files = self.tables[mirror], self.files(mirror)
            names = self._with_key(t, {c for f in fs for c in f.columns})
            keys = self._keys(t, by, fs)
            if files and keys.num_rows:
                requests[mirror, by] = Request(files, [encoded(c) for c in by], [encoded(c) for c in names], keys)
            else:
                found[mirror, by] = self._none(t, names)
        if requests:
            found |= dict(zip(requests, self.reader.rows(list(requests.values())), strict=True))
        return [found[f.mirror, f.by] for f in asked]

    def _keys(self, t: Table, by: tuple[str, ...], asked: Sequence[Fetch]) -> pa.Table:
        """As they are stored, each once."""
        types = {c.name: type_name(c.type) for c in t.columns}
        casts = ", ".join(
            f"TRY_CAST(_k{i} AS {types[c]}) AS _k{i}" for i, c in enumerate(by)
        )  # what does not fit is none
        every = " UNION ".join(f"SELECT {casts} FROM ({f.keys})" for f in asked)
        return self.con.execute(f"SELECT DISTINCT * FROM ({to_delta(self.con, every)})").to_arrow_table()

    def _none(self, t: Table, names: list[str]) -> pa.Table:
        """No rows, with these columns as they are stored."""
        types = {c.name: kept_type(type_name(c.type)) for c in t.columns}
        items = ", ".join(f"NULL::{types[n]} AS {quoted(encoded(n))}" for n in names)
        return self.con.execute(f"SELECT {items} LIMIT 0").to_arrow_table()

    @staticmethod
    def _with_key(t: Table, names: Iterable[str]) -> list[str]:
        return [c.name for c in t.columns if c.name in {*names, *t.key}]

    def _store(self, target: str, f: Fetch, rows: Rows, at: bool = False) -> None:
        """The rows of the base that the tail has nothing of, and the tail's with the same keys."""
        t = self.tables[f.mirror]
        name, have = q(t.mirror), self._with_key(t, f.columns)
        narrow = [c for c in t.columns if c.name in have]
        self.con.register("fetched", rows)
        base = f"SELECT {from_delta(narrow)} FROM fetched"
        cols = ", ".join(map(q, f.columns))
        on = " AND ".join(f"b.{q(c)} IS NOT DISTINCT FROM k._k{i}" for i, c in enumerate(f.by))
        self.con.execute(
            f"CREATE OR REPLACE TEMP TABLE {q(target)} AS SELECT {cols}{f', NULL::BIGINT AS {AT}' if at else ''} FROM "
            f"(SELECT * FROM ({base}) b ANTI JOIN tail.{name} n ON {on_key(t.key, 'b', 'n')} UNION ALL BY NAME "
            f"SELECT {', '.join(map(q, have))} FROM tail.{name} b SEMI JOIN ({f.keys}) k ON {on} WHERE _present)"
        )
        self.con.unregister("fetched")


class _Images:
    """Looks up the old images of a table that lands."""

    def __init__(self, dist: Dist, t: Table, wanted: frozenset[str]) -> None:
        self.dist, self.table = dist, t
        self.columns = frozenset(c.name for c in t.columns)
        self.wanted = tuple(c.name for c in t.columns if c.name in wanted)

    def images(self, key: tuple[str, ...], make: Callable[[str], Make], gone: str) -> None:
        named = ", ".join(f"_key_{i} AS _k{i}" for i in range(len(key)))
        f = Fetch(self.table.mirror, key, self.wanted, f"SELECT {named} FROM latest")
        self.dist._store("found", f, self.dist.images.pop(self.table.mirror), at=True)
        self.dist.con.execute(make("found").sql)

    def nothing_left(self) -> None: ...

    def check(self, said: int | None) -> None: ...

    def delete(self, statement: str) -> None:
        raise AssertionError("rows leave by the tail")


def _rows(file: Path) -> int:
    return int(pq.read_metadata(file).num_rows)
