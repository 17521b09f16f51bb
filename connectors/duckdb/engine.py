"""DuckDB as an engine: one file, one writer; landing, maintenance and frontier in one transaction."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any

import duckdb
import pyarrow as pa

from compiler.catalog import Table, mirror_name
from compiler.maintain.asked import Asked
from compiler.maintain.kept import Kept, Log
from compiler.maintain.plan import ViewPlan
from compiler.maintain.program import Prepared, Statement
from compiler.spelling import ident
from connectors.duckdb import definition, export, frontier, keys, landing, mirror
from connectors.duckdb.elsewhere import Elsewhere, Nowhere, rounds
from connectors.duckdb.indexes import Astray, Indexes
from connectors.duckdb.session import connect, memory, pace_checkpoints
from connectors.duckdb.unchanged import Unchanged
from connectors.duckdb.values import cast_errors
from connectors.duckdb.ways import Kind, Way, Ways, open_ways
from connectors.engine import EngineFailure, FrontierMoved, Pin, Printer, Programs
from connectors.failpoints import reach
from connectors.postgres.origin import LastCommit
from connectors.staging import Staged
from connectors.typed import typed

REWRITE_ROWS = 100_000
REWRITE_SHARE = 0.2
LOOK_AGAIN = 64  # batches, until mirrors' sizes are looked at again
OF_A_STATE = (duckdb.DataError, duckdb.ProgrammingError)  # what a state's data or text can cause; not a full disk


@dataclass(frozen=True)
class DuckDBPin:
    """A connection in a transaction that only reads, and the frontier that it sees."""

    con: duckdb.DuckDBPyConnection
    lsn: int


class DuckDBEngine:
    """The warehouse's DuckDB file."""

    name = "duckdb"
    threads = 1
    folds = True
    first_batch = 0.0

    def __init__(
        self,
        path: Path,
        printer: Printer,
        read_only: bool = False,
        index_memory: int | None = None,
        index_rows: int = 500_000,
        landed: Callable[[Staged], None] = lambda s: None,
    ) -> None:
        """`landed` is called in a batch's transaction for each table, once its mirror has the changes."""
        self.elsewhere: Elsewhere = Nowhere()
        self.path, self.printer, self.index_rows, self.landed = path, printer, index_rows, landed
        new = not path.exists()
        self.con = connect(path, read_only)
        self.standing, self.lock = self.con.cursor(), Lock()  # to tell the frontier on any thread
        self.indexes = Indexes(self.con, index_memory if index_memory is not None else memory(self.con))
        self.dead: dict[str, int] = {}  # mirror → deleted rows it still holds
        self.batches, self.larger, self.sizes = 0, frozenset[str](), dict[str, int]()
        self.ways, self.fetching, self.unchanged = Ways(), True, Unchanged(self.con)
        self.timings: dict[str, float] = {}  # state → seconds its statements took in the last batch that touched it
        if new:
            self._initialize()
            return
        frontier.check_format(self.con, path)
        if not read_only:
            frontier.upgrade(self.con)
            for m in self.printer.setup():
                self.con.execute(m)

    def _initialize(self) -> None:
        for s in mirror.SCHEMAS:
            self.con.execute(f'CREATE SCHEMA "{s}"')
        for m in self.printer.setup():
            self.con.execute(m)
        frontier.create(self.con)
        self.con.execute("CREATE TABLE meta.states (name VARCHAR)")

    def close(self) -> None:
        self.con.close()

    def frontier(self) -> int:
        """As it was committed last. A connection is one thread's at a time, so that this has its own."""
        with self.lock:
            return frontier.lsn(self.standing)

    def kept(self) -> int:
        return self.frontier()

    def settle(self, force: bool = False) -> None:
        return None

    def moved(self) -> float:
        return frontier.moved(self.con)

    def last_commit(self) -> LastCommit | None:
        return frontier.last_commit(self.con)

    def forget_commit(self) -> None:
        frontier.forget_commit(self.con)

    def set_frontier(self, lsn: int) -> None:
        frontier.move(self.con, lsn)

    def deployment(self) -> str:
        return frontier.deployment(self.con)

    def belong(self, mark: str) -> None:
        frontier.belong(self.con, mark)

    # -- mirrors

    def create_mirror(self, t: Table) -> None:
        self.indexes.drop(t.mirror)
        for s in mirror.drop(t.mirror) + mirror.create(t):
            self.con.execute(s)

    def drop_mirror(self, name: str) -> None:
        self.indexes.forget(name)
        for s in mirror.drop(name):
            self.con.execute(s)

    def load(self, t: Table, batches: Iterable[pa.Table]) -> int:
        """Fill a base table from text columns c0…; gives the number of rows."""
        n = 0
        self.indexes.drop(t.mirror)
        con = self.con.cursor()
        weight = "" if t.key else ", 1"
        for staged in batches:
            con.register("staged", typed(staged, t))
            cast_errors(
                t,
                staged,
                lambda: con.execute(
                    f"INSERT INTO base.{mirror.q(t.mirror)} SELECT {landing.values(t)}{weight} FROM staged"
                ),
            )
            con.unregister("staged")
            n += staged.num_rows
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

    def large(self) -> frozenset[str]:
        """The mirrors that the batch at hand reads by keys where rules have some: reading others whole costs less than
        a statement, and where that was faster for batches like this, it has none."""
        return self.larger if self.fetching else self.elsewhere.mirrors

    def _look(self) -> None:
        """Before a batch: how large mirrors are, now and then."""
        if self.batches % LOOK_AGAIN == 0:
            pace_checkpoints(self.con, self.path)
            sizes = self.con.execute(
                "SELECT table_name, estimated_size FROM duckdb_tables() WHERE schema_name = 'base'"
            ).fetchall()
            self.sizes = {**dict(sizes), **self.elsewhere.sizes()}
            self.larger = frozenset(name for name, rows in sizes if rows >= self.index_rows) | self.elsewhere.mirrors
        self.batches += 1

    # -- states and views

    def states(self) -> set[str]:
        return {r[0] for r in self.con.execute("SELECT name FROM meta.states").fetchall()}

    def create_state(self, s: Kept) -> None:
        self.con.execute("BEGIN")
        try:
            self.con.execute(f"DROP TABLE IF EXISTS state.{ident(s.name).sql('duckdb')}")
            if not isinstance(s, Log) and s.held is not None:
                keys.create(self.con, s.held.asked)
            self.con.execute(self.printer.create_state(s))
            self._run(self.printer.fill_state(s))
            self.con.execute("INSERT INTO meta.states VALUES (?)", [s.name])
            self.con.execute("COMMIT")
        except duckdb.Error as e:
            self._undo()
            raise self._failed(f'filling "{s.name}"', e) from e
        except BaseException:
            self._undo()
            raise

    def drop_state(self, name: str) -> None:
        self.con.execute(f"DROP TABLE IF EXISTS state.{ident(name).sql('duckdb')}")
        self.con.execute("DELETE FROM meta.states WHERE name = ?", [name])

    def size(self, state: str) -> tuple[int, int]:
        con, name = self.con.cursor(), f"state.{ident(state).sql('duckdb')}"
        rows = con.execute(f"SELECT count(*) FROM {name}").fetchone()
        blocks = con.execute(
            "SELECT count(DISTINCT block_id) * 262144 FROM pragma_storage_info(?) WHERE persistent", [name]
        ).fetchone()
        return (int(rows[0]) if rows else 0), (int(blocks[0]) if blocks else 0)

    def rows(self, state: str) -> int | None:
        row = self.con.cursor().execute(f"SELECT count(*) FROM state.{ident(state).sql('duckdb')}").fetchone()
        return int(row[0]) if row else None

    def keys(self) -> set[str]:
        return keys.tables(self.con)

    def look_up(self, asked: Asked, wanted: pa.Table, at: Pin | None = None) -> pa.Table:
        return keys.looked_up(at.con if isinstance(at, DuckDBPin) else self.con.cursor(), asked, wanted)

    def asked_for(self, asked: Asked, at: Pin | None = None) -> pa.Table:
        return keys.held(at.con if isinstance(at, DuckDBPin) else self.con.cursor(), asked)

    def weight(self, plan: ViewPlan) -> tuple[int, int]:
        return keys.weight(self.con.cursor(), plan)

    def weights(self, plan: ViewPlan) -> pa.Table:
        return keys.weights(self.con.cursor(), self.printer, plan)

    def whole(self, plan: ViewPlan) -> str:
        assert plan.whole is not None
        return self.printer.view(replace(plan, states=[], top=plan.whole))

    def set_aside(self, states: set[str]) -> None:
        """Give up states that can no longer be maintained."""
        for name in states:
            self.drop_state(name)

    def create_view(self, plan: ViewPlan) -> None:
        sql = self.printer.view(plan)
        self.con.execute(f"CREATE OR REPLACE VIEW main.{ident(plan.view).sql('duckdb')} AS\n{sql}")

    def drop_view(self, name: str) -> None:
        self.con.execute(f"DROP VIEW IF EXISTS main.{ident(name).sql('duckdb')}")

    def _run_all(self, some: list[Statement]) -> None:
        """One statement, or fetches of mirrors that are elsewhere."""
        if some[0].fetch is not None and some[0].fetch.mirror in self.elsewhere.mirrors:
            self.elsewhere.fetch(some)
        else:
            self._run(some[0])

    def _run(self, s: Statement) -> None:
        try:
            if s.fetch is None or not self.indexes.fetch(s.target, s.fetch):
                self.con.execute(s.sql)
        except duckdb.Error as e:
            blamed = s.state if isinstance(e, OF_A_STATE) else ""
            raise EngineFailure(
                f'{s.kind} of "{s.target}" failed',
                detail=str(e).split("\n")[0],
                code="engine",
                hint="tidemark explain shows the statement; scripts/inspect prints all of them.",
                state=blamed,
            ) from e

    # -- batches

    def apply(
        self,
        staged: list[Staged],
        end: int,
        programs: Programs,
        *,
        start: int | None = None,
        last: LastCommit | None = None,
    ) -> int:
        """Land the changes, maintain every state, move the frontier to `end`: all of it, or nothing. Gives rows landed.

        Raises FrontierMoved where the frontier is not `start`.
        """
        con, rows, taken = self.con, 0, dict.fromkeys(self.dead, 0)
        counted: list[tuple[Table, int, int]] = []
        self._look()
        changed = frozenset(f"{s.table.schema}.{s.table.name}" for s in staged)
        kind = (changed, len(str(sum(s.rows.num_rows for s in staged))))
        prepared, way = self._way(kind, staged, programs)
        statements = self.printer.refill(prepared.touched) if way is Way.ANEW else prepared.statements
        self._prepare_indexes(statements, prepared, staged)
        begun = time.perf_counter()
        con.execute("BEGIN")
        try:
            if start is not None and (found := frontier.lsn(con)) != start:
                raise FrontierMoved(self.name, start, found)
            reach("duckdb.begun")
            for s in staged:
                columns = prepared.columns.get(f"{s.table.schema}.{s.table.name}", frozenset())
                self._land(s, columns if way is not Way.ANEW else frozenset())
                landed = con.execute(
                    f"SELECT count(*), count(*) FILTER (WHERE _weight < 0) FROM {mirror.batch(s.table)}"
                ).fetchone()
                if landed:
                    rows += landed[0]
                    counted.append((s.table, *landed))
                    if s.table.mirror in taken:
                        taken[s.table.mirror] += landed[1]
                    self.sizes[s.table.mirror] = self.sizes.get(s.table.mirror, 0) + landed[0] - 2 * landed[1]
            reach("duckdb.landed")
            if rows and way is not Way.ANEW and (same := self.unchanged.of(counted, prepared.columns)):
                less = programs(changed, same)
                if all(c <= prepared.columns.get(t, frozenset()) for t, c in less.columns.items()):  # it has landed
                    statements = less.statements
            if rows:
                spent: dict[str, float] = {}
                for some in rounds(statements, self.elsewhere.mirrors):
                    since = time.perf_counter()
                    self._run_all(some)
                    for statement in some:
                        share = (time.perf_counter() - since) / len(some)
                        spent[statement.state] = spent.get(statement.state, 0.0) + share
                self.timings.update(spent)
            reach("duckdb.maintained")
            frontier.move(con, end, last)
            reach("duckdb.frontier")
            con.execute("COMMIT")
        except duckdb.Error as e:
            self._undo()
            raise self._failed("a batch", e) from e
        except BaseException as e:
            self._undo()
            if isinstance(e, Astray):
                self.indexes.drop(e.mirror)
            elif not isinstance(e, Exception):  # interrupted, perhaps after the commit
                self.indexes.clear()
            raise
        self.indexes.settle()
        if not self.indexes.awaited:
            self.ways.took(kind, way, time.perf_counter() - begun)
        reach("duckdb.committed")
        for name, n in taken.items():
            self.dead[name] += n
        return rows

    def _way(self, kind: Kind, staged: list[Staged], programs: Programs) -> tuple[Prepared, Way]:
        """How the batch is done, and its program."""
        self.fetching = True
        prepared = programs(kind[0])
        rows = sum(s.rows.num_rows for s in staged)
        whole = sum(self.sizes.get(mirror_name(t), 0) for t in prepared.tables)
        way = self.ways.choose(kind, open_ways(rows if prepared.touched else 0, whole, bool(self.larger)))
        if way is Way.READ and self.larger:
            self.fetching = False
            prepared = programs(kind[0])
        return prepared, way

    def _prepare_indexes(self, statements: Iterable[Statement], prepared: Prepared, staged: list[Staged]) -> None:
        """What the batch looks up is known to the indexes, and those that were missed long enough are made."""
        self.indexes.awaited = False
        away = self.elsewhere.mirrors
        for f in (s.fetch for s in statements if s.fetch is not None and s.fetch.mirror not in away):
            self.indexes.want(f.mirror, f.columns, f.by)
        for s in staged:
            if s.table.key and s.table.mirror in self.larger - away and not s.truncated:
                self.indexes.landing(s.table, prepared.columns.get(f"{s.table.schema}.{s.table.name}", frozenset()))
        self.indexes.make()

    def _land(self, s: Staged, columns: frozenset[str]) -> None:
        """The mirror and its index take the changes of a table."""
        if s.truncated:
            self.indexes.drop(s.table.mirror)
        following = self.indexes.following(s.table)
        if following is not None:
            columns |= following.columns
        self.con.register("staged", typed(s.rows, s.table))
        if s.table.mirror in self.elsewhere.mirrors:
            work = self.elsewhere.land(s, "staged", columns)
        else:
            how = landing.land(s, "staged", columns, following)
            work = [*how.deltas, *how.taking]
        cast_errors(s.table, s.rows, partial(_each, self.con, work))
        self.con.unregister("staged")
        if following is not None:
            following.follow()
        self.landed(s)

    def _undo(self) -> None:
        """Roll back, where there still is a transaction: a commit that failed has ended it."""
        self.indexes.undo()
        with suppress(duckdb.Error):
            self.con.execute("ROLLBACK")

    def _failed(self, what: str, e: duckdb.Error) -> EngineFailure:
        return EngineFailure(
            f"{what} failed in {self.path.name}",
            detail=str(e).split("\n")[0],
            code="engine",
            hint="Nothing of it was stored; what was captured is read again. Is the disk full?",
        )

    def fold(self, prepared: Prepared) -> None:
        """Let states take what waits in their tails, in a transaction of its own."""
        self.con.execute("BEGIN")
        try:
            for statement in prepared.statements:
                self._run(statement)
                reach("duckdb.folding")
            self.con.execute("COMMIT")
        except duckdb.Error as e:
            self._undo()
            raise self._failed("folding", e) from e
        except BaseException:
            self._undo()
            raise
        reach("duckdb.folded")

    def compact(self, tables: list[Table], force: bool = False) -> list[str]:
        """Rewrite mirrors in which deleted rows have become many; gives the tables that were."""
        done = []
        for t in (t for t in tables if t.mirror not in self.elsewhere.mirrors):
            if t.mirror not in self.dead:
                self.dead[t.mirror] = self._count(
                    f"SELECT coalesce(max(rowid) + 1, 0) - count(*) FROM base.{mirror.q(t.mirror)}"
                )
            dead = self.dead[t.mirror]
            if not dead or (not force and dead < REWRITE_ROWS):
                continue
            if force or dead > REWRITE_SHARE * self._count(f"SELECT count(*) FROM base.{mirror.q(t.mirror)}"):
                self._rewrite(t)
                done.append(t.mirror)
        return done

    def _count(self, query: str) -> int:
        row = self.con.execute(query).fetchone()
        return int(row[0]) if row else 0

    def _rewrite(self, t: Table) -> None:
        self.con.execute("SET preserve_insertion_order = true")  # rows that arrived together are found together
        self.con.execute("BEGIN")
        try:
            for s in mirror.rewrite(t):
                self.con.execute(s)
            reach("duckdb.rewrite")
            self.con.execute("COMMIT")
        except duckdb.Error as e:
            self._undo()
            raise self._failed(f'rewriting the mirror of "{t.schema}.{t.name}"', e) from e
        except BaseException:
            self._undo()
            raise
        finally:
            self.con.execute("SET preserve_insertion_order = false")
        reach("duckdb.rewritten")
        self.dead[t.mirror] = 0

    # -- reading

    @contextmanager
    def pinned(self) -> Iterator[DuckDBPin]:
        con = self.con.cursor()
        con.execute("SET TimeZone = 'UTC'")
        con.execute("BEGIN TRANSACTION READ ONLY")
        try:
            yield DuckDBPin(con, frontier.lsn(con))
        finally:
            with suppress(duckdb.Error):
                con.execute("ROLLBACK")
            con.close()

    def counted(self, plan: ViewPlan, at: Any) -> bool | None:
        return definition.counted(at.con, self.printer, plan)

    def as_defined(self, plan: ViewPlan, at: Any) -> bool | None:
        return definition.as_defined(at.con, self.printer, plan)

    def read_mirror(self, t: Table, at: Pin | None = None) -> pa.Table:
        con = at.con if isinstance(at, DuckDBPin) else self.con.cursor()
        cols, name = mirror.columns(t), mirror.q(t.mirror)
        times = "" if t.key else ", unnest(range(_weight))"
        try:
            return con.execute(f"SELECT {cols} FROM (SELECT {cols}{times} FROM base.{name})").to_arrow_table()
        except duckdb.Error as e:
            raise EngineFailure(
                f'reading the mirror of "{t.schema}.{t.name}" failed', detail=str(e).split("\n")[0]
            ) from e

    def _reading(
        self, view: str, query: str, now: str | None = None, at: Pin | None = None
    ) -> duckdb.DuckDBPyConnection:
        con = at.con if isinstance(at, DuckDBPin) else self.con.cursor()
        con.execute("SET TimeZone = 'UTC'")
        if now is not None:
            con.execute("SET VARIABLE tidemark_now = ?::TIMESTAMPTZ", [now])
        try:
            return con.execute(query)
        except duckdb.Error as e:
            raise EngineFailure(f'reading view "{view}" failed', detail=str(e).split("\n")[0]) from e

    def read(self, plan: ViewPlan, now: str | None = None, at: Pin | None = None) -> pa.Table:
        return self._reading(
            plan.view, f"SELECT * FROM main.{ident(plan.view).sql('duckdb')}", now, at
        ).to_arrow_table()

    def read_whole(self, plan: ViewPlan, at: Pin | None = None) -> pa.Table:
        return self._reading(plan.view, self.whole(plan), None, at).to_arrow_table()

    def count(self, view: str) -> int:
        row = self._reading(view, f"SELECT count(*) FROM main.{ident(view).sql('duckdb')}").fetchone()
        return int(row[0]) if row else 0

    def export(self, plan: ViewPlan, path: Path, fmt: str) -> None:
        every = self.whole(plan) if plan.asked is not None else ""
        export.write(lambda query: self._reading(plan.view, query), plan, path, fmt, every)


def _each(con: duckdb.DuckDBPyConnection, work: list[landing.Work]) -> None:
    for w in work:
        if isinstance(w, str):
            con.execute(w)
        else:
            w()
