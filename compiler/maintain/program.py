"""What a batch runs: steps that compute new values from states not yet touched, then the changes that the states take.

Each state is read as it was before the batch, so that an engine whose tables commit one by one can repeat the second
part. What `meaning` says of a program is what any engine has to make of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

from compiler.errors import CompilerBug
from compiler.ir.relation import Project, Relation, Scan, Temp, walk
from compiler.ir.scalar import columns
from compiler.ir.verify import verify
from compiler.maintain.change import Change
from compiler.maintain.kept import Kept
from compiler.maintain.void import NEVER, Void


@dataclass(frozen=True)
class Fetch:
    """What a fetch asks for, in an engine's words: `columns` of a mirror where `by` are the rows of the query
    `keys`, which `reads` what is said as in a statement."""

    mirror: str
    by: tuple[str, ...]
    columns: tuple[str, ...]
    keys: str
    reads: tuple[str, ...] = ()


class Does(StrEnum):
    """What a statement does, in a word for people."""

    CREATE = "create"
    FILL = "fill"
    FETCH = "fetch"
    STEP = "step"
    MERGE = "merge"
    APPEND = "append"
    CLEAR = "clear"
    READ = "read"


STEPS = (Does.FETCH, Does.STEP)  # store rows for the rest of the batch, and change nothing that is kept


@dataclass(frozen=True)
class Statement:
    """SQL text and what it is about. A `fetch` may be answered by an index instead of its SQL. There is nothing to do
    where all that one of the sets of `void` names is empty. `change` is what a state takes by it, `query` what is
    filled in or stored."""

    does: Does
    target: str
    sql: str
    reads: tuple[str, ...]
    writes: str
    rule: str
    state: str = ""
    fetch: Fetch | None = None
    void: Void = NEVER
    change: Change | None = field(default=None, compare=False, repr=False)
    query: str = field(default="", compare=False, repr=False)


@dataclass(frozen=True)
class Lookup:
    """A read of a mirror by keys: the rows of `table` whose `columns` are, by position, a row of `keys`."""

    table: str
    columns: tuple[str, ...]
    keys: Relation


@dataclass(frozen=True)
class Step:
    """A result kept for the rest of the batch under `name`; `signed` ones have a weight column. A fetch has its
    `lookup`: rows beyond those of the relation do no harm."""

    name: str
    relation: Relation
    signed: bool
    rule: str
    state: str
    lookup: Lookup | None = None


@dataclass(frozen=True)
class Prepared:
    """A program in an engine's words: made once for the tables that a batch changes, and run for every batch that
    changes them.

    `statements`: the program as an engine with transactions over several tables runs it. `columns`: of each table,
    what is read of the rows that a batch takes away. `touched`: the states that it may change, with their tails,
    which could be filled anew instead; `beside` is what there is to do then beside that.
    """

    program: Program
    statements: tuple[Statement, ...]
    columns: Mapping[str, frozenset[str]]
    touched: tuple[Kept, ...] = ()
    beside: Prepared | None = None

    @cached_property
    def tables(self) -> frozenset[str]:
        """What is read to fill them anew."""
        return frozenset(n.table for s in self.touched for n in walk(s.definition) if isinstance(n, Scan))


@dataclass
class Program:
    """What to run for a batch: steps, then changes. `rules` names the kinds of rules each state uses.

    One that takes what waits for a state, the `taker`, runs when there is no batch: `waiting` has, by table, the rows
    that stand for a batch's, and `takes` the logs that are empty after it, by the names of what they are of.
    """

    steps: list[Step] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    rules: dict[str, set[str]] = field(default_factory=dict)
    waiting: dict[str, Project] = field(default_factory=dict)
    takes: tuple[str, ...] = ()
    taker: str = ""

    def columns(self, *times: str) -> dict[str, frozenset[str]]:
        """Of each table, the columns read at one of `times`: those of the projection right above its scan."""
        out: dict[str, frozenset[str]] = {}
        for r in (*(s.relation for s in self.steps), *(c.source for c in self.changes)):
            for n in (Project(r, tuple((c.name, c) for c in r.schema)), *walk(r)):
                for scan in n.inputs:
                    if isinstance(scan, Scan) and scan.at in times:
                        read = columns(*(e for _, e in n.exprs)) if isinstance(n, Project) else scan.names
                        out[scan.table] = out.get(scan.table, frozenset()) | set(read)
        return out


def verified(p: Program) -> Program:
    """The program itself; raises CompilerBug where a relation of it breaks an invariant (`ir/verify`), or reads of a
    step what is not there yet."""
    stored: dict[str, frozenset[str]] = {}
    for s in p.steps:
        _verified(s.relation, stored)
        stored[s.name] = frozenset(s.relation.names)
    for c in p.changes:
        _verified(c.source, stored)
    return p


def _verified(r: Relation, stored: Mapping[str, frozenset[str]]) -> None:
    for n in walk(verify(r)):
        if isinstance(n, Temp) and not stored.get(n.name, frozenset()) >= set(n.names):
            raise CompilerBug(f"{n.name} is read before it is stored, or without the columns {list(n.names)}")
