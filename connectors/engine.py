"""What an engine promises. `apply` is the contract: data and frontier move together, and repeating it is harmless."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa

from compiler.catalog import Table
from compiler.errors import TidemarkError
from compiler.ir.relation import Relation
from compiler.maintain.asked import Asked
from compiler.maintain.change import Add, Change
from compiler.maintain.differentiate import Same
from compiler.maintain.kept import Kept
from compiler.maintain.plan import ViewPlan
from compiler.maintain.program import Prepared, Program, Statement
from connectors.key_rows import KeyRows
from connectors.paced_states import PacedStates
from connectors.postgres.connection import format_lsn
from connectors.postgres.origin import LastCommit
from connectors.postgres.ranges import Range
from connectors.staging import Staged


class Programs(Protocol):
    """The programs of a batch, by the tables that it changes, and what it leaves as it was of them (`program`)."""

    def __call__(self, changed: frozenset[str], same: Same = frozenset()) -> Prepared: ...


VALUE = "value"  # the code of failures that a value is the cause of


class EngineFailure(TidemarkError):
    """A statement failed in the engine and the batch did not happen. `state` is the one it was about, '' when it was
    about none."""

    def __init__(
        self, message: str, *, detail: str = "", hint: str = "", code: str = "engine", state: str = ""
    ) -> None:
        super().__init__(message, detail=detail, hint=hint, code=code)
        self.state = state


class Again(TidemarkError):
    """Nothing of the batch was stored, and the engine would have it once more: it will do it in another way."""


class FrontierMoved(TidemarkError):
    """A batch begins where the engine does not stand: something else has moved it, or a batch was left out."""

    def __init__(self, engine: str, expected: int, found: int) -> None:
        super().__init__(
            f"{engine} does not stand where the batch begins",
            code="frontier_moved",
            detail=f"The batch begins at {format_lsn(expected)}, {engine} stands at {format_lsn(found)}. "
            "Nothing was applied.",
            hint="Start the pipeline again: it reads on from where the engines stand.",
        )


class Printer(Protocol):
    """What prints the algebra as an engine's SQL; engines are given theirs."""

    def setup(self) -> Sequence[str]:
        """Statements that prepare a new warehouse, and one that an older version made."""
        ...

    def create_state(self, s: Kept) -> str: ...

    def fill_state(self, s: Kept) -> Statement: ...

    def contents(self, s: Kept) -> str:
        """The query that fills a state, from the mirrors as they are."""
        ...

    def prepare(self, p: Program, touched: tuple[Kept, ...] = (), beside: Program | None = None) -> Prepared:
        """A program in the engine's words, and the states that it touches."""
        ...

    def refill(self, states: Iterable[Kept]) -> list[Statement]:
        """States emptied, and filled from the mirrors as they are."""
        ...

    def taken(self, c: Change, source: str, into: tuple[str, str]) -> str:
        """The statement of a change that is stored in the temp table `source`, on a table that has the state's rows:
        its schema and name."""
        ...

    def added(self, c: Add) -> str:
        """The query of what is added to a state, its columns in the order of the state's."""
        ...

    def query(self, r: Relation, weight: bool, small: bool = False) -> str:
        """A step's query; `small` says that the batch is, and what is made of it."""
        ...

    def view(self, plan: ViewPlan, now: str | None = None) -> str:
        """The query that reads a view, as of `now` where it reads the time."""
        ...


class Ranges(Protocol):
    """Mirrors that are filled range by range, of which it is kept which are there: each arrives whole, once."""

    def done(self, t: Table) -> set[int]:
        """The numbers of the ranges that are there."""
        ...

    def load(self, t: Table, number: int, batches: Iterable[pa.Table]) -> int:
        """Add a range, of text columns c0…; gives the number of rows. Durable on return, nothing on failure."""
        ...

    def forget(self) -> None:
        """All mirrors are whole: nothing is kept of ranges any more."""
        ...


@dataclass(frozen=True)
class RangedRead:
    """How a table is read by several at once: where, in which exported snapshot, without which columns (they are NULL),
    and in which ranges."""

    dsn: str
    snapshot: str
    unread: frozenset[str]
    ranges: tuple[Range, ...]


class Wide(Protocol):
    """Mirrors that are filled by executors, each of which reads ranges of the source."""

    def takes(self, t: Table) -> bool:
        """Whether the mirror is theirs."""
        ...

    def why_not(self, dsn: str) -> str:
        """Why they cannot, '' where they can."""
        ...

    def load(self, t: Table, reading: RangedRead, told: Callable[[int, int], None]) -> int:
        """Fill an empty mirror; gives the number of rows, and tells rows and bytes. Raises ValueOutOfRange."""
        ...


class Begun(Protocol):
    """States that are about to be filled, by any thread."""

    def run(self) -> None:
        """All of them, or none, and an error."""
        ...

    def stop(self) -> None:
        """What runs of it ends with an error."""
        ...


class Filling(Protocol):
    """States that are filled from the mirrors as they were at one moment, while batches go on."""

    able: bool  # whether any can be begun

    @property
    def since(self) -> Mapping[str, frozenset[str]]:
        """The mirrors of which changes are kept for them, and the columns that are."""
        ...

    def begin(self, states: Sequence[Kept], read: Iterable[tuple[Table, frozenset[str]]]) -> Begun:
        """Between batches: what they change of these tables, in these columns, is kept from then on."""
        ...

    def names(self) -> set[str]:
        """Of the states that are filled, and not taken."""
        ...

    def take(self, states: Sequence[Kept], tables: Iterable[Table], programs: Programs) -> None:
        """Between batches: bring states that are filled to the frontier; from then on they are like all others. The
        programs are those of the views that have them."""
        ...

    def clear(self) -> None:
        """Leave nothing of those that were not taken."""
        ...


class Pin(Protocol):
    """One frontier to read at."""

    @property
    def lsn(self) -> int: ...


class Engine(Protocol):
    """An engine that keeps mirrors, states and views."""

    name: str
    threads: int  # how many calls that only read, or that fill different states, it takes at once
    folds: bool  # whether states can take what waits in their tails, or in logs, between batches
    lags: bool  # whether its batches take so long that other engines do not wait for them
    first_batch: float  # seconds that the first batch of a process takes at least

    @property
    def paced(self) -> PacedStates: ...

    @property
    def give(self) -> Callable[[Table, Path], None] | None:
        """Writes a mirror's rows, in the columns of the table, into a file of DuckDB, from which another engine adopts
        them; None of executors."""
        ...

    @property
    def ranges(self) -> Ranges | None:
        """None where a copy that is cut short begins anew."""
        ...

    @property
    def wide(self) -> Wide | None:
        """None where all rows come through this process."""
        ...

    @property
    def filling(self) -> Filling | None:
        """None of executors: their batches wait while states are filled."""
        ...

    @property
    def key_rows(self) -> KeyRows | None:
        """For mirrors that have the rows of some keys alone; None where the engine has no such."""
        ...

    @property
    def parts(self) -> bool:
        """Whether it takes a large transaction part by part."""
        ...

    def close(self) -> None: ...

    def frontier(self) -> int:
        """The LSN below which every commit is in every table and view."""
        ...

    def set_frontier(self, lsn: int) -> None: ...

    def kept(self) -> int:
        """The LSN below which the source may forget every change, also should what is only a cache be lost. At most
        the frontier."""
        ...

    def settle(self, force: bool = False) -> None:
        """Let `kept` come up to the frontier where that is due, or with `force` in any case. Nothing else is at
        work."""
        ...

    def last_commit(self) -> LastCommit | None:
        """The last transaction that was applied; None where that is not known."""
        ...

    def forget_commit(self) -> None:
        """The last transaction before the frontier is not known: it was moved there by a copy."""
        ...

    def deployment(self) -> str:
        """The mark of the deployment that the data belongs to, '' where it is not known."""
        ...

    def belong(self, mark: str) -> None: ...

    def moved(self) -> float:
        """When the frontier last moved, in seconds since the epoch."""
        ...

    def large(self) -> frozenset[str]:
        """Mirrors of which a batch's rules read no more than the rows that it meets, in steps of their own."""
        ...

    def create_mirror(self, t: Table, some_keys: bool = False) -> None:
        """Empty; `some_keys`: it is to have the rows of some keys alone, and is no copy for others to read."""
        ...

    def drop_mirror(self, name: str) -> None: ...

    def load(self, t: Table, batches: Iterable[pa.Table]) -> int:
        """Fill an empty mirror from text columns c0…; gives the number of rows."""
        ...

    def adopt(self, t: Table, file: Path) -> None:
        """Fill an empty mirror from the mirror of the same table in a file of DuckDB that is closed, which may have
        more columns."""
        ...

    def states(self) -> set[str]: ...

    def create_state(self, s: Kept) -> None:
        """Create a state and fill it from the mirrors as they are; durable on return."""
        ...

    def drop_state(self, name: str) -> None: ...

    def size(self, state: str) -> tuple[int, int]:
        """A state's rows, and the bytes of its blocks or files."""
        ...

    def place(self, state: str) -> str:
        """Local or Dist, where an engine has both; else ''."""
        ...

    def mirror_bytes(self, name: str) -> int | None:
        """The bytes of a mirror's blocks in the file; None where it is not in one."""
        ...

    def rows(self, state: str) -> int | None:
        """A state's rows, where that is known without reading them."""
        ...

    def keys(self) -> set[str]:
        """The tables of keys that were asked for, of all partial views."""
        ...

    def look_up(self, asked: Asked, wanted: pa.Table, at: Any = None) -> pa.Table:
        """Keys, in the columns c0…: each once, none that is NULL in a part, as text, with `absent`, whether nothing is
        kept of it yet, and `lsn`, from where on its rows agree with those of others, NULL where they always do."""
        ...

    def asked_for(self, asked: Asked, at: Any = None) -> pa.Table:
        """The keys that are kept, in the columns of the view."""
        ...

    def weight(self, plan: ViewPlan) -> tuple[int, int]:
        """How many keys a partial view has, and about how many bytes their rows have."""
        ...

    def weights(self, plan: ViewPlan) -> pa.Table:
        """The keys of a partial view, as text in c0…, and `bytes`, about what the rows have that are kept for each."""
        ...

    def whole(self, plan: ViewPlan) -> str:
        """The query that gives a partial view for every key, from the mirrors."""
        ...

    def read_whole(self, plan: ViewPlan, at: Any = None) -> pa.Table:
        """The rows of that query."""
        ...

    def set_aside(self, states: set[str]) -> None:
        """Give up states that can no longer be maintained, and what a batch at hand would have done to them."""
        ...

    def create_view(self, plan: ViewPlan) -> None: ...

    def drop_view(self, name: str) -> None: ...

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
        """Land changes, maintain states, move the frontier from `start` to `end`; durable on return, nothing on
        failure.

        `last` is the last transaction among the changes. Of a large one `staged` are the first changes, and `more` the
        others, in their order, of about `rows` rows together. Raises FrontierMoved where the frontier is elsewhere.
        Gives rows landed.
        """
        ...

    def fold(self, prepared: Prepared) -> None:
        """Run a program that only folds tails; durable on return, nothing on failure. No answer changes."""
        ...

    def compact(self, tables: list[Table], force: bool = False) -> list[str]: ...

    def pinned(self) -> AbstractContextManager[Pin]:
        """What reads with it sees the engine as it is now, at one frontier, whatever is applied meanwhile."""
        ...

    def read(self, plan: ViewPlan, now: str | None = None, at: Any = None) -> pa.Table:
        """A view's rows, as of the time `now` where it reads the time (by default the present)."""
        ...

    def counted(self, plan: ViewPlan, at: Any) -> bool | None:
        """Whether the states of a view have as many rows as their definitions, also those that no reader sees; None
        if not found out."""
        ...

    def as_defined(self, plan: ViewPlan, at: Any) -> bool | None:
        """Whether the states of a view hold what their definitions give, at a pin; None where that is not found out."""
        ...

    def read_mirror(self, t: Table, at: Any = None) -> pa.Table:
        """A mirror's rows in the table's columns, as often as they are there."""
        ...

    def count(self, view: str) -> int: ...

    def export(self, plan: ViewPlan, path: Path, fmt: str) -> None:
        """A view's rows to files; of a partial one those of every key."""
        ...
