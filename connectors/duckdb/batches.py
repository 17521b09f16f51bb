"""A batch: landing, maintenance and the frontier in one transaction."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import duckdb

from compiler.catalog import Table, mirror_name
from compiler.maintain.program import STEPS, Prepared, Program, Statement
from connectors.duckdb import checkpoints, frontier, mirror
from connectors.duckdb.elsewhere import rounds
from connectors.duckdb.filling import Filling
from connectors.duckdb.indexes import Astray
from connectors.duckdb.mirrors import Mirrors
from connectors.duckdb.needed import Needed
from connectors.duckdb.session import LARGE, bounded
from connectors.duckdb.statements import Statements
from connectors.duckdb.unchanged import Unchanged
from connectors.duckdb.ways import Kind, Way, Ways, open_ways
from connectors.engine import Again, EngineFailure, FrontierMoved, Printer, Programs
from connectors.failpoints import reach
from connectors.postgres.origin import LastCommit
from connectors.staging import Staged

NOTHING = Prepared(Program(), (), {})
LOOK_AGAIN = 64  # batches, until mirrors' sizes are looked at again


@dataclass
class Landed:
    """What a batch landed: rows, the tables that they are of, and of mirrors the rows that were taken away."""

    rows: int = 0
    tables: frozenset[str] = frozenset()
    deleted: Counter[str] = field(default_factory=Counter)

    def count(self, changed: frozenset[str], counted: Iterable[tuple[Table, int, int]]) -> None:
        self.tables |= changed
        for t, new, old in counted:
            self.rows += new
            self.deleted[t.mirror] += old


def _to_run(prepared: Prepared, way: Way) -> Prepared:
    """What of a program is run, done in this way."""
    if way is not Way.ANEW or not prepared.touched:  # of it nothing is filled anew: all of it is run
        return prepared
    return prepared.beside or NOTHING


def _names(staged: Iterable[Staged]) -> frozenset[str]:
    return frozenset(f"{s.table.schema}.{s.table.name}" for s in staged)


class Batches:
    """Applies batches, and folds tails between them.

    `landed` is called in a batch's transaction for each table, once its mirror has the changes. `engine` is the name
    that failures give. Mirrors of `index_rows` rows are large.
    """

    def __init__(
        self,
        engine: str,
        statements: Statements,
        mirrors: Mirrors,
        filling: Filling,
        printer: Printer,
        index_rows: int,
        landed: Callable[[Staged], None] | None,
    ) -> None:
        self.engine, self.statements, self.mirrors, self.printer = engine, statements, mirrors, printer
        self.filling, self.index_rows, self.landed = filling, index_rows, landed
        self.holds = landed is None  # others read temp tables
        self.con, self.indexes, self.elsewhere = statements.con, statements.indexes, mirrors.elsewhere
        self.held = statements.held
        self.batches, self.larger = 0, frozenset[str]()
        self.ways, self.fetching, self.unchanged = Ways[Way](), True, Unchanged(self.held)
        self.bound: int | None = LARGE  # of memory, for large transactions
        self.timings: dict[str, float] = {}  # state → seconds its statements took in the last batch that touched it
        self.spent: dict[str, float] = {}  # of the last batch, what touched it

    def large(self) -> frozenset[str]:
        """The mirrors that the batch at hand reads by keys where rules have some: reading others whole costs less than
        a statement, and where that was faster for batches like this, it has none."""
        return self.larger if self.fetching else self.elsewhere.mirrors

    def read_by_keys(self) -> frozenset[str]:
        """The mirrors that what runs between batches reads by keys where rules have some."""
        if not self.batches:
            self._look()
        return self.larger

    def apply(
        self,
        staged: list[Staged],
        end: int,
        programs: Programs,
        *,
        start: int | None = None,
        last: LastCommit | None = None,
        more: Iterable[list[Staged]] = (),
        rows: int = 0,
    ) -> int:
        """Land the changes, maintain every state, move the frontier to `end`: all of it, or nothing. Gives rows landed.

        Of a large transaction `more` comes part by part: each is landed and maintained like a batch, in the same
        transaction. Raises FrontierMoved where the frontier is not `start`.
        """
        self._look()
        self.spent = {}
        changed = _names(staged)
        kind: Kind | None = None
        if rows:
            prepared, way = self._way_of_parts(changed, rows, programs)
        else:
            kind, prepared, way = self._way(changed, staged, programs)
        self._prepare_indexes(() if way is Way.ANEW else prepared.statements, prepared, staged)
        self.mirrors.prepare(s.table for s in staged)
        if way is Way.ANEW:
            self.mirrors.fold()
        else:
            self.statements.summed.prepare(prepared.statements, self.statements.transaction)
        landed = Landed()
        begun = time.perf_counter()
        try:
            with (
                bounded(self.con, self.bound if rows else None) as lift,
                self.held.batch(sum(s.rows.num_rows for s in staged), self.holds and not rows),
                self.statements.transaction("a batch"),
            ):
                if start is not None and (found := frontier.lsn(self.con)) != start:
                    raise FrontierMoved(self.engine, start, found)
                reach("duckdb.begun")
                self._part(staged, programs, way, landed)
                for part in more:
                    reach("duckdb.part")
                    self._part(part, programs, way, landed)
                lift()
                if landed.rows and way is Way.ANEW:
                    self.maintain(self.printer.refill(programs(landed.tables).touched), set())
                reach("duckdb.maintained")
                frontier.move(self.con, end, last)
                reach("duckdb.frontier")
        except Astray as e:
            self.indexes.drop(e.mirror)
            raise
        except EngineFailure as e:
            if rows and self.bound is not None and isinstance(e.__cause__, duckdb.OutOfMemoryException):
                self.bound = None
                raise Again("there was too little memory for a large transaction", detail=e.detail) from e
            raise
        except BaseException as e:
            if not isinstance(e, Exception):  # interrupted, perhaps after the commit
                self.indexes.clear()
            raise
        self.indexes.settle()
        if kind is not None and not self.indexes.awaited:
            self.ways.took(kind, way, time.perf_counter() - begun)
        reach("duckdb.committed")
        self.mirrors.deleted(landed.deleted)
        return landed.rows

    def _part(self, staged: list[Staged], programs: Programs, way: Way, landed: Landed) -> None:
        """Land changes; and maintain the states, but those that are filled anew at the end."""
        if not staged:
            return
        changed = _names(staged)
        prepared = _to_run(programs(changed), way)
        counted = self._land(staged, prepared)
        reach("duckdb.landed")
        landed.count(changed, counted)
        if not prepared.statements or not any(n for _, n, _ in counted):
            return
        statements = prepared.statements
        if same := self.unchanged.columns(counted, prepared.columns):
            less = _to_run(programs(changed, same), way)
            if all(c <= prepared.columns.get(t, frozenset()) for t, c in less.columns.items()):  # it has landed
                statements = less.statements
        self.maintain(statements, {f"delta.{t.mirror}" for t, n, _ in counted if not n})

    def ready(self, programs: Sequence[Prepared]) -> None:
        """Before a transaction in which programs run that have no batch. Somebody may wait for it: the indexes that it
        lacks are made before the next batch."""
        self._look()
        self._want([s for p in programs for s in p.statements])

    def fold(self, prepared: Prepared) -> None:
        """Let states take what waits in their tails, in a transaction of its own."""
        with self.statements.transaction("folding"):
            for statement in prepared.statements:
                self.statements.run(statement)
                reach("duckdb.folding")
        reach("duckdb.folded")

    def _look(self) -> None:
        """Before a batch: how large mirrors are, by what it was before and what came since."""
        if self.batches % LOOK_AGAIN == 0:
            checkpoints.pace(self.con, self.statements.path)
            self.mirrors.estimate()
        sizes = self.mirrors.estimates.items()
        self.larger = frozenset(name for name, rows in sizes if rows >= self.index_rows) | self.elsewhere.mirrors
        self.batches += 1

    def _way(self, changed: frozenset[str], staged: list[Staged], programs: Programs) -> tuple[Kind, Prepared, Way]:
        """What kind of batch it is, how it is done, and its program."""
        self.fetching = True
        prepared = programs(changed)
        rows = sum(s.rows.num_rows for s in staged)
        kind = (changed.union(c.state.name for c in prepared.program.changes), len(str(rows)))
        whole = sum(self.mirrors.estimates.get(mirror_name(t), 0) for t in prepared.tables)
        way = self.ways.choose(kind, open_ways(rows if prepared.touched else 0, whole, bool(self.larger)))
        if way is Way.READ and self.larger:
            self.fetching = False
            prepared = programs(changed)
        return kind, prepared, way

    def _way_of_parts(self, changed: frozenset[str], rows: int, programs: Programs) -> tuple[Prepared, Way]:
        """How a transaction of so many rows is done, whose first part changes these tables."""
        self.fetching = True
        prepared = programs(changed)
        whole = sum(self.mirrors.estimates.get(mirror_name(t), 0) for t in prepared.tables)
        return prepared, open_ways(rows if prepared.touched else 0, whole, bool(self.larger))[0]

    def _prepare_indexes(self, statements: Iterable[Statement], prepared: Prepared, staged: list[Staged]) -> None:
        """What the batch looks up is known to the indexes, and those that were missed long enough are made."""
        self.indexes.awaited = False
        self._want(statements)
        for s in staged:
            if s.table.key and s.table.mirror in self.larger - self.elsewhere.mirrors and not s.truncated:
                self.indexes.landing(s.table, prepared.columns.get(f"{s.table.schema}.{s.table.name}", frozenset()))
        self.indexes.make(self.mirrors.estimates)

    def _want(self, statements: Iterable[Statement]) -> None:
        away = self.elsewhere.mirrors
        for f in (s.fetch for s in statements if s.fetch is not None and s.fetch.mirror not in away):
            self.indexes.want(f.mirror, f.columns, f.by)

    def _land(self, staged: list[Staged], prepared: Prepared) -> list[tuple[Table, int, int]]:
        """Of each table how many rows landed, and how many of them are old ones."""
        counted = []
        self.elsewhere.look_up([s for s in staged if s.table.mirror in self.elsewhere.mirrors], prepared.columns)
        for s in staged:
            columns = prepared.columns.get(f"{s.table.schema}.{s.table.name}", frozenset())
            self.mirrors.land(s, columns | self.filling.columns(s.table))
            self.filling.note(s.table)
            if self.landed is not None:
                self.landed(s)
            rows, old = self.held.counts(mirror.batch(s.table))
            counted.append((s.table, rows, old))
            self.mirrors.changed(s.table.mirror, rows - old, old)
        return counted

    def maintain(self, statements: Sequence[Statement], nothing: set[str]) -> None:
        """Run a program; of the batch, `nothing` is empty."""
        spent: dict[str, float] = {}
        needed = Needed(self.statements.run, nothing)
        for some in rounds(statements, self.elsewhere.mirrors, self.elsewhere.states):
            since = time.perf_counter()
            if some[0].fetch is not None and some[0].fetch.mirror in self.elsewhere.mirrors:
                self._fetch([s for s in some if needed.has_work(s)], needed)
            elif some[0].target in self.elsewhere.states and some[0].does not in STEPS:
                changes = [s for s in some if needed.has_work(s)]
                for s in changes:
                    needed.ready(s)
                if changes:
                    self.statements.take(changes)
            else:
                needed.run(some[0])
            for statement in some:
                share = (time.perf_counter() - since) / len(some)
                spent[statement.state] = spent.get(statement.state, 0.0) + share
        self.timings.update(spent)
        for state, seconds in spent.items():
            self.spent[state] = self.spent.get(state, 0.0) + seconds

    def _fetch(self, some: Sequence[Statement], needed: Needed) -> None:
        """What is elsewhere, of all at once."""
        for s in some:
            needed.ready(s)
        if some:
            self.elsewhere.fetch(some)
        for s in some:
            row = self.con.execute(f"SELECT count(*) FROM {mirror.q(s.target)}").fetchone()
            needed.count(s, row[0] if row else 0)
