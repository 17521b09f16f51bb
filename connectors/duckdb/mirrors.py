"""The mirrors of a warehouse's file: made, filled, and rewritten where deleted rows have become many."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import duckdb
import pyarrow as pa

from compiler.catalog import Table
from connectors.duckdb import checkpoints, landing, mirror
from connectors.duckdb.copied import forget
from connectors.duckdb.indexes import Astray
from connectors.duckdb.session import attached, beside
from connectors.duckdb.statements import Statements
from connectors.duckdb.tailed import FOLD_ROWS, FOLD_SHARE, Tailed
from connectors.duckdb.values import cast_errors
from connectors.failpoints import reach
from connectors.literal_rows import parsed
from connectors.staging import Staged

REWRITE_ROWS = 100_000
REWRITE_SHARE = 0.2


class Mirrors:
    """The tables of the schema `base`, and views of those that are elsewhere."""

    def __init__(self, statements: Statements) -> None:
        self.statements, self.elsewhere = statements, statements.elsewhere
        self.con, self.indexes = statements.con, statements.indexes
        self.held = statements.held
        self.tailed = Tailed(self.con, self.held)
        self.dead: dict[str, int] = {}  # mirror → deleted rows it still holds, where that is known
        self.estimates: dict[str, int] = {}  # mirror → about how many rows it has

    def estimate(self) -> None:
        """Find out about how many rows each has."""
        found = self.con.execute(
            "SELECT table_name, estimated_size FROM duckdb_tables() WHERE schema_name = 'base'"
        ).fetchall()
        sizes = dict(found)
        tailed = {m: sizes.get(self.tailed.name(m), 0) for m in self.tailed.mirrors}
        self.estimates = {**sizes, **tailed, **self.elsewhere.sizes()}

    def changed(self, name: str, new: int, old: int) -> None:
        """A batch brought so many new rows, and took old ones away."""
        self.estimates[name] = self.estimates.get(name, 0) + new - old

    def deleted(self, rows: dict[str, int]) -> None:
        """A batch that is committed deleted so many."""
        for name in (self.dead.keys() & rows.keys()) - self.tailed.mirrors:
            self.dead[name] += rows[name]

    def create(self, t: Table, some_keys: bool = False) -> None:
        self.indexes.drop(t.mirror)
        self.tailed.drop(t.mirror)
        forget(self.con, t.mirror)
        for s in mirror.drop(t.mirror) + mirror.create(t):
            self.con.execute(s)
        self.held.renew()

    def drop(self, name: str) -> None:
        self.indexes.forget(name)
        self.tailed.drop(name)
        for s in mirror.drop(name):
            self.con.execute(s)
        self.held.renew()

    def load(self, t: Table, batches: Iterable[pa.Table]) -> int:
        """Fill an empty mirror from text columns c0…; gives the number of rows."""
        self.indexes.drop(t.mirror)
        con = beside(self.con)
        n = self.insert(con, t, batches)
        if not t.key and n:
            name, cols = mirror.q(t.mirror), mirror.columns(t)
            con.execute(
                f"CREATE OR REPLACE TEMP TABLE folded AS SELECT {cols}, sum(_weight)::BIGINT AS _weight "
                f"FROM base.{name} GROUP BY {mirror.grouping(t)}"
            )
            con.execute(f"DELETE FROM base.{name}")
            con.execute(f"INSERT INTO base.{name} SELECT * FROM folded")
            con.execute("DROP TABLE folded")
        con.close()
        return n

    @staticmethod
    def insert(con: duckdb.DuckDBPyConnection, t: Table, batches: Iterable[pa.Table]) -> int:
        """Add rows, of text columns c0…, to a mirror, where no index knows it; gives their number."""
        n, weight = 0, "" if t.key else ", 1"
        for staged in batches:
            con.register("staged", parsed(staged, t))
            cast_errors(
                t,
                staged,
                lambda: con.execute(
                    f"INSERT INTO base.{mirror.q(t.mirror)} SELECT {landing.values(t)}{weight} FROM staged"
                ),
            )
            con.unregister("staged")
            n += staged.num_rows
        return n

    def adopt(self, t: Table, file: Path) -> None:
        """Fill an empty mirror from that of another file, which is closed and may have more columns."""
        self.indexes.drop(t.mirror)
        cols = mirror.columns(t) + ("" if t.key else ", _weight")
        con, name = beside(self.con), mirror.q(t.mirror)
        try:
            with attached(con, file) as other:
                con.execute(f"INSERT INTO base.{name} ({cols}) SELECT {cols} FROM {other}.base.{name}")
        finally:
            con.close()

    def give(self, t: Table, file: Path) -> None:
        """Write a mirror's rows into a file of DuckDB, as `adopt` reads them."""
        path, name, con = str(file).replace("'", "''"), mirror.q(t.mirror), beside(self.con)
        cols = mirror.columns(t) + ("" if t.key else ", _weight")
        try:
            con.execute(f"ATTACH '{path}' AS leaving")
            try:
                con.execute("CREATE SCHEMA leaving.base")
                con.execute(f"CREATE TABLE leaving.base.{name} AS SELECT {cols} FROM base.{name}")
            finally:
                con.execute("DETACH leaving")
        finally:
            con.close()

    def prepare(self, tables: Iterable[Table]) -> None:
        """Before a batch: those that an index finds rows of take their changes by an append."""
        for t in tables:
            if t.mirror in self.indexes.by_mirror and self.tailed.may(t) and t.mirror not in self.tailed.mirrors:
                with self.statements.transaction(f'a tail for the mirror of "{t.schema}.{t.name}"'):
                    self.tailed.begin(t)
                self.tailed.keys[t.mirror] = list(t.key)

    def land(self, s: Staged, columns: frozenset[str]) -> None:
        """The mirror and its index take the changes of a table. Rules read these of its columns."""
        if s.truncated:
            self.indexes.drop(s.table.mirror)
        following = self.indexes.following(s.table)
        if following is not None:
            columns |= following.columns
        with self.held.lent("staged", parsed(s.rows, s.table)) as source:
            work = self._work(s, source, columns, following)
            cast_errors(s.table, s.rows, lambda: self._each(work))
        if following is not None:
            following.follow()

    def _work(self, s: Staged, source: str, columns: frozenset[str], find: landing.Find | None) -> list[landing.Work]:
        if s.table.mirror in self.elsewhere.mirrors:
            return self.elsewhere.land(s, source, columns)
        if s.table.mirror in self.tailed.mirrors:
            return self.tailed.land(s, source, columns, find)
        how = landing.land(s, source, columns, find)
        return [*how.deltas, *how.taking]

    def _each(self, work: list[landing.Work]) -> None:
        for w in work:
            match w:
                case landing.Make():
                    self.held.make(w.name, w.query, w.reads)
                case landing.Run():
                    self.held.run(w.sql, w.reads)
                case landing.Insert():
                    self.held.insert(w.into, w.query, w.reads)
                case _:
                    w()

    def compact(self, tables: list[Table], force: bool = False) -> list[str]:
        """Fold tails that have become long, rewrite mirrors in which deleted rows have become many, and make a
        checkpoint where one is due; gives the tables that were rewritten."""
        done = []
        for t in (t for t in tables if t.mirror not in self.elsewhere.mirrors):
            rows = self.tailed.table(t.mirror)
            if t.mirror in self.tailed.mirrors:
                least = max(FOLD_ROWS, FOLD_SHARE * self.estimates.get(t.mirror, 0))
                if self.tailed.rows(t.mirror) >= (1 if force else least):
                    self._fold(t.mirror)
            if t.mirror not in self.dead:
                self.dead[t.mirror] = self._count(f"SELECT coalesce(max(rowid) + 1, 0) - count(*) FROM {rows}")
            dead = self.dead[t.mirror]
            if not dead or (not force and dead < REWRITE_ROWS):
                continue
            if force or dead > REWRITE_SHARE * self._count(f"SELECT count(*) FROM {rows}"):
                self._rewrite(t)
                done.append(t.mirror)
        checkpoints.make(self.con, self.statements.path)
        return done

    def bytes(self, name: str) -> int | None:
        """Of its blocks in the file, and of its tail's; None of one that is elsewhere."""
        if name in self.elsewhere.mirrors:
            return None
        con = beside(self.con)
        total = 0
        for table in self.tailed.tables(name):
            row = con.execute(
                "SELECT count(DISTINCT block_id) * 262144 FROM pragma_storage_info(?) WHERE persistent", [table]
            ).fetchone()
            total += int(row[0]) if row else 0
        con.close()
        return total

    def fold(self) -> None:
        """Fold all tails: what is read whole is then read as fast as without them."""
        for name in sorted(self.tailed.mirrors):
            if self.tailed.rows(name):
                self._fold(name)

    def _fold(self, name: str) -> None:
        """Raises Astray where the index has not as many rows as the mirror then has."""
        with self.statements.transaction(f'folding the tail of mirror "{name}"'):
            gone, rows = self.tailed.fold(name)
            index = self.indexes.by_mirror.get(name)
            if index is not None and index.rows != rows:
                self.indexes.drop(name)
                raise Astray(name, rows, index.rows)
            reach("duckdb.tail")
        reach("duckdb.tail_folded")
        if name in self.dead:
            self.dead[name] += gone

    def _count(self, query: str) -> int:
        row = self.con.execute(query).fetchone()
        return int(row[0]) if row else 0

    def _rewrite(self, t: Table) -> None:
        self.con.execute("SET preserve_insertion_order = true")  # rows that arrived together are found together
        try:
            with self.statements.transaction(f'rewriting the mirror of "{t.schema}.{t.name}"'):
                if t.mirror in self.tailed.mirrors:
                    self.tailed.end(t)
                else:
                    for s in mirror.rewrite(t):
                        self.con.execute(s)
                reach("duckdb.rewrite")
        finally:
            self.con.execute("SET preserve_insertion_order = false")
        reach("duckdb.rewritten")
        self.tailed.keys.pop(t.mirror, None)
        self.dead[t.mirror] = 0
