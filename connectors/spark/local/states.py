"""States that are Dist: too large for the local file. Their rows are in Parquet files beside it, ordered by their key
(the base), and what changed since these were written is in the file (the tail); a key of the tail takes the place of
the base's.

A change brings the rows of its keys that are still in the base to the tail, and is merged there as it would be into
the whole state. A key that has no rows any more stays, not `_present`, until the base is written anew.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import duckdb

from compiler.ir.scalar import Col
from compiler.ir.types import Type, is_float
from compiler.maintain.change import Change, signed, stored
from compiler.maintain.kept import Kept, Log, Own, key_of
from compiler.maintain.program import Does, Statement
from compiler.spelling.duckdb import storage, type_name
from connectors.duckdb.elsewhere import Blaming
from connectors.duckdb.mirror import q
from connectors.duckdb.session import in_transaction
from connectors.engine import EngineFailure, Printer
from connectors.spark.local.bases import Bases
from connectors.spark.local.dist import Reader, Request
from connectors.spark.local.stored import from_delta, parquet, to_delta
from connectors.spark.mirror import encoded

log = logging.getLogger("tidemark")
SETUP = "CREATE SCHEMA IF NOT EXISTS state_tail"
AGAIN = 60.0  # seconds until what is optional is tried again, where it failed
TAIL_ROWS, TAIL_SHARE = 50_000, 0.3  # of the base's, past which it is written anew
WIDE = 32  # bytes that a value is taken for whose type says no size
SIZES = {"BOOLEAN": 1, "SMALLINT": 2, "INTEGER": 4, "FLOAT": 4, "DATE": 4, "INTERVAL": 16, "UUID": 16}
SEVERAL_FORMS = ("interval", "blanks")  # types of which equal values may differ: rows are not found by these


def may_leave(s: Kept) -> bool:
    """Whether a state's rows can be found by its key where they are: it has one, of values that have one form. What
    keeps asked keys alone is bounded, and what lags has measures that hang on the file."""
    if isinstance(s, Log) or s.held is not None or s.waits:
        return False
    types = {c.name: c.type for c in s.columns}
    return bool(key_of(s)) and not any(_several_forms(types[k]) for k in key_of(s))


def _several_forms(t: Type) -> bool:
    return (t.element or t).name in SEVERAL_FORMS


class DistStates:
    """Of one local file, whose connection has the caller's transactions. `limit`: bytes of states that the file may
    have; None: any number."""

    def __init__(
        self, con: duckdb.DuckDBPyConnection, root: Path, reader: Reader, printer: Printer, limit: int | None
    ) -> None:
        self.con, self.root, self.reader, self.printer, self.limit = con, root, reader, printer, limit
        con.execute(SETUP)
        self.bases = Bases(con, root)
        self.names = self.bases.states()
        self.known: dict[str, Own] = {}  # also such as were given up: a transaction may bring them back
        self.failed = -AGAIN
        for name in sorted(self.names):
            if self.bases.damaged(name):
                self._give_up(name)

    def know(self, states: Iterable[Kept]) -> None:
        """States of the deployment; the folder may have been moved since their views were made."""
        self.bases.settle()
        for s in states:
            if s.name in self.names and not isinstance(s, Log):
                self.known[s.name] = s
                self._view(s)

    # -- which are Dist

    def fill(self, s: Kept) -> bool:
        """Where none has room in the file, a state is filled where it stays. In the caller's transaction."""
        if self.limit != 0 or isinstance(s, Log) or not may_leave(s):
            return False
        self._tail(s)
        self._based(s, self._write(s, self.printer.contents(s)))
        return True

    def place(self, s: Kept) -> None:
        """A state of the file is filled; it leaves where there is no room. In the caller's transaction."""
        if self.limit is None or not may_leave(s) or isinstance(s, Log):
            return
        rows = self._rows(f"SELECT count(*) FROM state.{q(s.name)}")[0][0]
        if self._local_bytes(but=s.name) + rows * width(s.columns) > self.limit:
            self._leave(s)

    def keep_within(self, states: Iterable[Kept]) -> None:
        """The largest states of the file leave it, where they have outgrown it; each in a transaction."""
        if self.limit is None:
            return
        local = {s.name: s for s in states if may_leave(s) and s.name not in self.names and not isinstance(s, Log)}
        rows = self._local_rows()
        for s in sorted(local.values(), key=lambda s: rows.get(s.name, 0) * width(s.columns), reverse=True):
            if s.name not in rows or sum(rows[n] * width(local[n].columns) for n in local if n in rows) <= self.limit:
                return
            counted = int(self._rows(f"SELECT count(*) FROM state.{q(s.name)}")[0][0])
            if 2 * counted < rows[s.name]:  # what is estimated has rows that are deleted
                rows[s.name] = counted
                continue
            log.info("state %s leaves the driver's file", s.name)
            self._in_transaction(lambda s=s: self._leave(s))  # type: ignore[misc]
            del rows[s.name]

    def _local_rows(self) -> dict[str, int]:
        return dict(self._rows("SELECT table_name, estimated_size FROM duckdb_tables() WHERE schema_name = 'state'"))

    def _local_bytes(self, but: str) -> int:
        """About what the other states take that are in the file."""
        kinds: dict[str, int] = {}
        columns = "SELECT table_name, data_type FROM duckdb_columns() WHERE schema_name = 'state'"
        for name, kind in self._rows(columns):
            kinds[name] = kinds.get(name, 0) + _size(kind)
        return sum(n * kinds.get(name, 0) for name, n in self._local_rows().items() if name != but)

    def _leave(self, s: Own) -> None:
        """From a table of the file to a base with an empty tail."""
        file = self._write(s, f"SELECT * FROM state.{q(s.name)}")
        self.con.execute(f"DROP TABLE state.{q(s.name)}")
        self._tail(s)
        self._based(s, file)

    def _tail(self, s: Own) -> None:
        body = ", ".join(f"{q(c.name)} {type_name(c.type)}{storage(c.type)}" for c in s.columns)
        self.con.execute(f"CREATE OR REPLACE TABLE state_tail.{q(s.name)} ({body}, _present BOOLEAN DEFAULT true)")

    def _based(self, s: Own, file: Path) -> None:
        """The state is what this file has, and the tail nothing. In the caller's transaction."""
        self.bases.become(s.name, file)
        self.con.execute(f"DELETE FROM state_tail.{q(s.name)}")
        self.names.add(s.name)
        self.known[s.name] = s
        self._view(s)

    def _view(self, s: Own) -> None:
        tail, cols = f"state_tail.{q(s.name)}", ", ".join(q(c.name) for c in s.columns)
        base = f"SELECT {from_delta(s.columns)} FROM {parquet(self.bases.files(s.name))}"
        self.con.execute(
            f"CREATE OR REPLACE VIEW state.{q(s.name)} AS SELECT {cols} FROM ({base}) b ANTI JOIN {tail} n "
            f"ON {_same(key_of(s), 'b', 'n')} UNION ALL SELECT {cols} FROM {tail} WHERE _present"
        )

    def drop(self, name: str) -> None:
        """In the caller's transaction."""
        self.con.execute(f"DROP VIEW IF EXISTS state.{q(name)}")
        self.con.execute(f"DROP TABLE IF EXISTS state_tail.{q(name)}")
        self.bases.let_go(name)
        self.names.discard(name)

    def _give_up(self, name: str) -> None:
        """One that is damaged: whoever opens the warehouse sees that it lacks the state, and fills it again."""
        log.warning("files of the state %s are gone or damaged: it is filled again", name)

        def forget() -> None:
            self.drop(name)
            self.con.execute("DELETE FROM meta.states WHERE name = ?", [name])

        self._in_transaction(forget)

    # -- changes

    def take(self, changes: Sequence[Statement], blaming: Blaming) -> int:
        """In the caller's transaction: all that bases have of the changes' keys is read at once."""
        keys, sources, rows = dict[str, str](), dict[str, str](), 0
        for s in changes:
            state = self.known[s.target]
            with blaming(s):
                if s.does is Does.FILL:  # what emptied it before has nothing to do
                    self._based(state, self._write(state, s.query))
                elif s.change is not None and s.does is Does.MERGE:
                    sources[s.target] = self._source(s.change)
                    keys[s.target] = self._keys(state, sources[s.target])
        self._bring(keys)
        for s in changes:
            if s.change is not None and s.target in sources:
                with blaming(s):
                    rows += self._merge(self.known[s.target], s.change, sources[s.target])
        return rows

    def _source(self, c: Change) -> str:
        """The temp table that has what a change takes."""
        if (step := stored(c)) is not None:
            return step.name
        name = f"change_{c.state.name}"
        rows = self.printer.query(c.source, weight=signed(c))
        self.con.execute(f"CREATE OR REPLACE TEMP TABLE {q(name)} AS {rows}")
        return name

    def _keys(self, s: Own, source: str) -> str:
        """The temp table with the keys of a change, as the state has them."""
        name = f"keys_{s.name}"
        types = {c.name: c.type for c in s.columns}
        keys = ", ".join(f"CAST({q(k)} AS {type_name(types[k])}) AS {q(k)}" for k in key_of(s))
        self.con.execute(f"CREATE OR REPLACE TEMP TABLE {q(name)} AS SELECT DISTINCT {keys} FROM {q(source)}")
        return name

    def _bring(self, keys: dict[str, str]) -> None:
        """To the tails, what bases have of the keys that these do not know yet."""
        asked: dict[str, Request] = {}
        for name, table in keys.items():
            s = self.known[name]
            named = ", ".join(f"k.{q(k)} AS _k{i}" for i, k in enumerate(key_of(s)))
            new = f"{q(table)} k ANTI JOIN state_tail.{q(name)} n ON {_same(key_of(s), 'k', 'n')}"
            missing = self.con.execute(to_delta(self.con, f"SELECT {named} FROM {new}")).to_arrow_table()
            if missing.num_rows:
                by, columns = [encoded(k) for k in key_of(s)], [encoded(c.name) for c in s.columns]
                asked[name] = Request(self.bases.files(name), by, columns, missing)
        try:
            found = self.reader.rows(list(asked.values())) if asked else []
        except duckdb.Error as e:
            raise EngineFailure(
                "rows of states cannot be read from their files",
                detail=str(e).split("\n")[0],
                code="damaged_warehouse",
                hint="Start the pipeline again: states whose files are gone or damaged are filled again.",
            ) from e
        for name, rows in zip(asked, found, strict=True):
            s, cols = self.known[name], ", ".join(q(c.name) for c in self.known[name].columns)
            tail = f"state_tail.{q(name)}"
            self.con.register("fetched", rows)
            self.con.execute(
                f"INSERT INTO {tail} ({cols}) SELECT {cols} FROM (SELECT {from_delta(s.columns)} FROM fetched) b "
                f"SEMI JOIN {q(keys[name])} k ON {_same(key_of(s), 'b', 'k')} "
                f"ANTI JOIN {tail} n ON {_same(key_of(s), 'b', 'n')}"
            )
            self.con.unregister("fetched")

    def _merge(self, s: Own, c: Change, source: str) -> int:
        tail, keys = f"state_tail.{q(s.name)}", q(f"keys_{s.name}")
        named = ", ".join(q(k) for k in key_of(s))
        self.con.execute(
            f"DELETE FROM {tail} AS n USING {keys} AS k WHERE NOT n._present AND {_same(key_of(s), 'n', 'k')}"
        )
        counts = self.con.execute(self.printer.taken(c, source, ("state_tail", s.name))).fetchall()
        self.con.execute(
            f"INSERT INTO {tail} ({named}, _present) SELECT {named}, false FROM {keys} k ANTI JOIN {tail} n "
            f"ON {_same(key_of(s), 'k', 'n')}"
        )
        return int(counts[0][0]) if counts else 0

    # -- files

    def tend(self, states: Iterable[Kept]) -> None:
        """Between batches: what has outgrown the file leaves it, and long tails are folded. It can wait: where it
        fails, the log says so, and it is tried again later."""
        if time.monotonic() < self.failed + AGAIN:
            return
        try:
            self.keep_within(states)
            self.fold()
        except (duckdb.Error, OSError) as e:
            self.failed = time.monotonic()
            log.warning("states were not folded, nor moved to files of their own: %s", str(e).split("\n")[0])

    def fold(self) -> None:
        """Bases whose tails have become long are written anew, each in a transaction."""
        for name in sorted(self.names & self.known.keys()):
            tail = int(self._rows(f"SELECT count(*) FROM state_tail.{q(name)}")[0][0])
            if tail > TAIL_ROWS and tail > TAIL_SHARE * self.bases.rows(name):
                self._in_transaction(lambda s=self.known[name]: self._renew(s))  # type: ignore[misc]

    def _renew(self, s: Own) -> None:
        file = self._write(s, f"SELECT * FROM state.{q(s.name)}")
        self._based(s, file)

    def _write(self, s: Own, rows: str) -> Path:
        """A file with these rows, ordered by the key. It counts when the file that is written to has its name."""
        names = ", ".join(q(c.name) for c in s.columns)
        exact = [q(c.name) for c in s.columns if c.name in key_of(s) and not is_float(c.type.element or c.type)]
        order = f" ORDER BY {', '.join(exact)}" if exact else ""  # by a float, DuckDB 1.5.5 gives 0 for -0
        typed = ", ".join(f"CAST({q(c.name)} AS {type_name(c.type)}) AS {q(c.name)}" for c in s.columns)
        given = f"(SELECT {typed} FROM ({rows}) r({names}))"
        return self.bases.write(s.name, f"SELECT * FROM {given}{order}")

    def _in_transaction(self, what: Callable[[], None]) -> None:
        try:
            with in_transaction(self.con):
                what()
        except BaseException:
            self.undone()
            raise

    def undone(self) -> None:
        """A transaction was rolled back: what it did to states is as it was."""
        self.names = self.bases.states()
        self.bases.counted.clear()

    def _rows(self, query: str) -> list[tuple]:  # type: ignore[type-arg]
        return self.con.execute(query).fetchall()


def width(columns: Iterable[Col]) -> int:
    """About how many bytes a row takes."""
    return sum(_size(type_name(c.type)) for c in columns)


def _size(kind: str) -> int:
    if kind.startswith("DECIMAL("):
        return 16
    return SIZES.get(kind, WIDE if kind == "VARCHAR" or kind.endswith("[]") or kind == "BLOB" else 8)


def _same(names: Sequence[str], left: str, right: str) -> str:
    return " AND ".join(f"{left}.{q(k)} IS NOT DISTINCT FROM {right}.{q(k)}" for k in names)
