"""Results of a small batch: held as Arrow instead of stored as temp tables, and read by statements prepared once.

One row through six views is parsing and planning. A prepared statement saves both, but DuckDB 1.5.5 freezes what it
knows of a table into its plan, and answers wrongly once the table has changed: `tests/dialects` has the cases. Of a
stream it knows the types alone. So only statements that read nothing but what is held are prepared.

A name is held or a temp table, never both with different rows: a temp table is dropped when its name is held, so that
nobody can read what an earlier batch left.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from connectors.duckdb.lending import Lending
from connectors.duckdb.mirror import batch_of, q
from connectors.duckdb.port import Port

SMALL = 10_000  # rows of a batch whose results are held
MOST = 5_000  # rows of a result that is: of more, DuckDB should know how many when it plans what reads them
PLANS = 2_000  # statements that are prepared; others are planned each time
ALIKE = frozenset(
    ["BOOLEAN", "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "FLOAT", "DOUBLE", "DATE", "TIMESTAMP", "VARCHAR"]
    + ["TIMESTAMP WITH TIME ZONE"]
)  # types that are the same once they have been Arrow; and DECIMAL
SEEN = 5_000  # statements that are remembered, to be prepared when they come again
What = tuple[str, tuple[tuple[str, ...], ...]]  # a statement, and the columns of each of what it reads
PREFIX = f"port_{secrets.token_hex(8)}_"


@dataclass(frozen=True)
class Reads:
    """The temp tables that a statement reads, by their names in SQL, and whether it reads nothing else."""

    names: tuple[str, ...] = ()
    alone: bool = False


def reads_of(words: Iterable[str]) -> Reads:
    """Of what a program's statement reads, in the words that it has for that."""
    names, alone = [], True
    for word in words:
        of, _, name = word.partition(".")
        if not name:
            names.append(q(word))
        elif of == "delta":
            names.append(batch_of(name))
        else:
            alone = False
    return Reads(tuple(names), alone)


@dataclass(frozen=True)
class _Plan:
    """A prepared statement, and what it reads."""

    name: str
    ports: tuple[Port, ...]

    def fits(self, tables: Sequence[pa.Table]) -> bool:
        """DuckDB does not look whether a stream still has the columns that it had."""
        return all(p.schema.equals(t.schema) for p, t in zip(self.ports, tables, strict=True))


class Held:
    """Of one connection."""

    def __init__(self, con: duckdb.DuckDBPyConnection, lending: Lending) -> None:
        self.con, self.lending = con, lending
        self.size = 0  # digits of the rows of the batch at hand, where it is small
        self.rows: dict[str, pa.Table] = {}
        self.absent: set[str] = set()  # names under which there is surely no temp table
        self.stored: set[tuple[str, int]] = set()  # queries of batches of such sizes, whose results are not held
        self.plans: dict[What, _Plan] = {}
        self.seen: set[What] = set()  # what was run, and may be prepared when it comes again
        self.made = 0
        self.outdated = False  # whether what is prepared is to be dropped

    @contextmanager
    def batch(self, rows: int, able: bool = True) -> Iterator[None]:
        """Results are held meanwhile, where the batch is small."""
        if self.outdated:
            self._renew()
        self.size = len(str(rows)) if able and rows <= SMALL else 0
        try:
            yield
        finally:
            self.size = 0
            self.rows.clear()

    @contextmanager
    def lent(self, name: str, rows: pa.Table) -> Iterator[str]:
        """Gives the name under which statements may read rows meanwhile: of a large batch each statement, once."""
        if not self.size:
            with self.lending.table(name, rows) as source:
                yield source
            return
        self.rows[name] = rows
        try:
            yield name
        finally:
            del self.rows[name]

    @contextmanager
    def number(self, name: str, value: int) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Gives SQL for a number, and the names that it reads: so that it is no part of the text of a statement that
        is prepared."""
        if not self.size:
            yield str(value), ()
            return
        with self.lent(name, pa.table({"value": pa.array([value], pa.int64())})) as source:
            yield f"(SELECT value FROM {source})", (source,)

    def make(self, name: str, query: str, reads: Reads | None = None) -> int:
        """Keep the rows of a query under a name for the rest of the batch; gives their number."""
        if self.size and (query, self.size) not in self.stored:
            rows = self._some(query, reads)
            if rows is not None:
                return self.hold(name, rows)
            self.stored.add((query, self.size))
        self.absent.discard(name)
        got = self._once(f"CREATE OR REPLACE TEMP TABLE {name} AS ", query, self._held(query, reads))
        self.rows.pop(name, None)
        return int(got.fetchall()[0][0])

    def may(self, rows: pa.Table) -> bool:
        return bool(self.size) and rows.num_rows <= MOST

    def hold(self, name: str, rows: pa.Table) -> int:
        """Keep rows under a name, which are as DuckDB gave them."""
        if name not in self.absent:
            self.con.execute(f"DROP TABLE IF EXISTS temp.{name}")
            self.absent.add(name)
        self.rows[name] = rows
        return int(rows.num_rows)

    def store(self, name: str) -> None:
        """What is held under a name is a temp table as well, for those who read it through a view."""
        if name in self.rows and name in self.absent:
            self._once(f"CREATE OR REPLACE TEMP TABLE {name} AS ", f"SELECT * FROM {name}", [name])
            self.absent.discard(name)

    def insert(self, into: str, query: str, reads: Reads | None = None) -> int:
        """Put the rows of a query into a table; gives their number.

        DuckDB plans a prepared INSERT anew each time. So the query is prepared, where it can be, and its rows inserted.
        """
        if self._prepared(query, reads) and (rows := self._some(query, reads)) is not None:
            with self.lending.table("inserted", rows) as source:
                got = self.lending.execute(f"INSERT INTO {into} SELECT * FROM {source}")
        else:
            got = self._once("", f"INSERT INTO {into} {query}", self._held(query, reads))
        return int(got.fetchall()[0][0])

    def run(self, statement: str, reads: Reads | None = None) -> int:
        """A statement that changes something; gives how many rows it changed."""
        got = self.read(statement, reads).fetchall()
        return int(got[0][0]) if got else 0

    def read(self, statement: str, reads: Reads | None = None) -> duckdb.DuckDBPyConnection:
        """A statement, run. What it reads is found in its text where nobody says it."""
        names = self._held(statement, reads)
        if not self._prepared(statement, reads):
            return self._once("", statement, names)
        what: What = (statement, tuple(tuple(self.rows[n].schema.names) for n in names))
        if what not in self.plans and (what not in self.seen or len(self.plans) >= PLANS):
            if len(self.seen) < SEEN:
                self.seen.add(what)
            return self._once("", statement, names)
        return self._planned(what, names)

    def counts(self, name: str) -> tuple[int, int]:
        """How many rows there are under the name of a batch's table, and how many of them leave."""
        if (rows := self.rows.get(name)) is not None:
            return int(rows.num_rows), int(pc.sum(pc.less(rows["_weight"], 0)).as_py() or 0)
        got = self.con.execute(f"SELECT count(*), count(*) FILTER (WHERE _weight < 0) FROM {name}").fetchall()
        return int(got[0][0]), int(got[0][1])

    def forget(self) -> None:
        """Others may have made temp tables, or taken some back."""
        self.absent.clear()

    def renew(self) -> None:
        """Mirrors or states have changed, and with them what is run: what is prepared is dropped before the next batch.
        On any thread: several tables are copied at once, and only the one that runs batches has what is prepared."""
        self.forget()
        self.outdated = True

    def _renew(self) -> None:
        self.outdated = False
        for what in list(self.plans):
            self._drop(what)
        self.seen.clear()
        self.stored.clear()

    def _prepared(self, statement: str, reads: Reads | None) -> bool:
        """Whether a statement reads what is held, and nothing else."""
        if not self.size or reads is None or not reads.alone:
            return False
        return len(self._held(statement, reads)) == len(set(reads.names)) > 0

    def _held(self, statement: str, reads: Reads | None) -> list[str]:
        """What is held of what a statement reads."""
        if reads is not None:
            return [n for n in dict.fromkeys(reads.names) if n in self.rows]
        return [n for n in self.rows if re.search(rf'(?<![\w"]){re.escape(n)}(?![\w"])', statement)]

    def _some(self, query: str, reads: Reads | None) -> pa.Table | None:
        """The rows of a query, where they are few, and of types that stay what they are. Of tables no more is read than
        may be held."""
        alone = self._prepared(query, reads)
        got = self.read(query if alone else f"SELECT * FROM ({query}) LIMIT {MOST + 1}", reads)
        types = [str(d[1]) for d in got.description or ()]
        if not all(t in ALIKE or t.startswith("DECIMAL") for t in types):
            return None
        rows = got.to_arrow_table()
        return rows if rows.num_rows <= MOST else None

    def _once(self, head: str, statement: str, names: Sequence[str]) -> duckdb.DuckDBPyConnection:
        lent = {f"{PREFIX}{i}": self.rows[n] for i, n in enumerate(names)}
        self.lending.rows |= lent
        try:
            return self.lending.execute(head + reading(statement, dict(zip(names, lent, strict=True))))
        finally:
            for at in lent:
                del self.lending.rows[at]

    def _planned(self, what: What, names: Sequence[str]) -> duckdb.DuckDBPyConnection:
        tables = [self.rows[n] for n in names]
        plan = self.plans.get(what)
        if plan is not None and not plan.fits(tables):
            self._drop(what)
            plan = None
        if plan is None:
            plan = self._prepare(what, names, tables)
        for port, rows in zip(plan.ports, tables, strict=True):
            port.fill(rows)
        return self.lending.run(f"EXECUTE {plan.name}")

    def _prepare(self, what: What, names: Sequence[str], tables: Sequence[pa.Table]) -> _Plan:
        self.made += 1
        plan = _Plan(f"{PREFIX}{self.made}", tuple(map(Port, tables)))
        for i, port in enumerate(plan.ports):
            self.lending.names[f"{plan.name}_{i}"] = port.capsule  # for as long as it may be planned once more
        text = reading(what[0], {n: f"{plan.name}_{i}" for i, n in enumerate(names)})
        self.lending.run(f"PREPARE {plan.name} AS {text}")
        self.plans[what] = plan
        return plan

    def _drop(self, what: What) -> None:
        plan = self.plans.pop(what)
        self.con.execute(f"DEALLOCATE {plan.name}")
        for i, port in enumerate(plan.ports):
            port.empty()
            del self.lending.names[f"{plan.name}_{i}"]


def reading(statement: str, sources: dict[str, str]) -> str:
    """A statement that reads these names from other sources, each of which is read once."""
    if not sources:
        return statement
    tables = ", ".join(f"{name} AS MATERIALIZED (SELECT * FROM {at})" for name, at in sources.items())
    for head in ("WITH RECURSIVE ", "WITH "):
        if statement.startswith(head):
            return f"{head}{tables}, {statement.removeprefix(head)}"
    return f"WITH {tables} {statement}"
