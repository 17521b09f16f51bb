"""What a state is: a relation kept between batches, by how its rows are told apart and what they hold.

- `Accumulated`: the groups of an aggregate, as accumulators that a batch's are added to (counts, sums), or combined
  with (extrema).
- `Recomputed`: the groups of an aggregate, as computed; a group that changes is computed again.
- `Bag`: rows, each as often as its weight says.
- `Log`: what a state has not taken yet, appended: accumulators or rows of batches (the tail of a state that lags), or
  what changed in one of its inputs (`Waiting`).

Groups and bags that are `held` keep the rows of some keys alone.

Every place that handles one of them handles all: a `match` over `Kept` ends in `assert_never`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Self, assert_never

from compiler.functions.aggregates import EXTREMA
from compiler.ir.relation import Agg, Aggregate, Filter, Net, Relation, Scan, State, Temp, Union, Values, transform
from compiler.ir.scalar import Call, Col, Lit, Scalar
from compiler.ir.types import BOOL, INT8
from compiler.maintain.asked import Asked

COUNT = "_count"
WEIGHT = "_weight"


@dataclass(frozen=True)
class Local:
    """A state that is kept, and maintained, where the driver is."""


@dataclass(frozen=True)
class Dist:
    """A state that is kept by the executors, its rows spread by `key`."""

    key: tuple[str, ...]


Place = Local | Dist


@dataclass(frozen=True)
class Held:
    """Which rows a state keeps that is partial: those of the keys that were asked for. `pairs` are expressions over the
    state's columns, and columns of `asked.read()`; `whole` is the definition for every key."""

    asked: Asked
    pairs: tuple[tuple[Scalar, Col], ...]
    whole: Relation


@dataclass(frozen=True)
class Log:
    """What a state has not taken yet: rows of its keys and accumulators, any number for a group, or rows with the
    weights by which theirs change (`weighted`). It begins empty."""

    name: str
    schema: tuple[Col, ...]
    weighted: bool = False
    place: Place = Local()

    @property
    def columns(self) -> tuple[Col, ...]:
        return (*self.schema, Col(WEIGHT, INT8)) if self.weighted else self.schema

    @property
    def definition(self) -> Values:
        return Values(self.columns, ())

    def read(self, at: str = "before") -> State:
        return State(self.name, self.schema, (), at, weighted=self.weighted)

    def mapped(self, f: Callable[[Relation], Relation]) -> Self:
        return self


@dataclass(frozen=True)
class Waiting:
    """What a state has not taken yet of one of its inputs, `source`: the name of a state, or of a table, as `scan`
    reads it."""

    source: str
    log: Log
    scan: Scan | None


@dataclass(frozen=True)
class Groups:
    """The groups of `definition`, whose first accumulator is `_count`, the number of rows in the group."""

    name: str
    definition: Aggregate
    place: Place = Local()
    held: Held | None = field(default=None, repr=False, kw_only=True)
    waits: tuple[Waiting, ...] = field(default=(), repr=False, kw_only=True)

    @property
    def key(self) -> tuple[str, ...]:
        """The columns that tell its rows apart, null-safe; () where there is one row."""
        return tuple(k for k, _ in self.definition.keys)

    @property
    def columns(self) -> tuple[Col, ...]:
        return self.definition.schema

    def read(self, at: str = "after") -> State:
        """The state's rows before or after a batch, or what it changes."""
        return State(self.name, self.definition.schema, self.key, at)

    def mapped(self, f: Callable[[Relation], Relation]) -> Self:
        """The state with what it is made of mapped, its aggregate left as it is."""
        return replace(self, definition=self.over(f(self.definition.input)))

    def over(self, source: Relation) -> Aggregate:
        """The aggregate of its definition over other rows."""
        return replace(self.definition, input=source)


@dataclass(frozen=True)
class Term:
    """A summand of a state's change: `query` gives keys and accumulators, `changed` in it being read as what a batch
    changes in it, the rest at the times that it says."""

    changed: Relation
    query: Relation

    def over(self, change: Relation) -> Relation:
        """The summand, where `change` is Δ of `changed`."""
        hole = self.hole(self.changed)
        return transform(self.query, lambda n: change if n == hole else n)

    @staticmethod
    def hole(changed: Relation) -> Temp:
        """What stands in a query for Δ of a relation."""
        return Temp("changed", changed.schema, True)


@dataclass(frozen=True)
class Accumulated(Groups):
    """Groups whose accumulators take those of a batch: γ of Δ of their rows, or where a strategy has `terms`, the sum
    of those. One with a `tail` takes them from there, when that is folded."""

    terms: tuple[Term, ...] = field(default=(), repr=False)
    tail: Log | None = field(default=None, repr=False)

    def present(self) -> Relation:
        """The groups with what the tail has of them."""
        if self.tail is None:
            return self.read()
        both = self.adding_up(Union((self.read(), self.tail.read("after"))))
        return Filter(both, Call(">", (Col(COUNT, INT8), Lit(0, INT8)), BOOL)) if self.key else both

    def adding_up(self, terms: Relation) -> Aggregate:
        """The accumulators that rows of keys and accumulators add up to."""
        keys = tuple((k, Col(k, e.type)) for k, e in self.definition.keys)
        return Aggregate(
            terms, keys, tuple((n, Agg("sum0", (Col(n, a.type),), a.type)) for n, a in self.definition.aggs)
        )

    def with_tail(self, name: str) -> Accumulated:
        """The state under a name of its own, as one that lags."""
        return replace(self, name=name, tail=Log(f"{name}_tail", self.columns))

    @property
    def has_extrema(self) -> bool:
        return any(a.fn in EXTREMA for _, a in self.definition.aggs)


@dataclass(frozen=True)
class Recomputed(Groups):
    """Groups that are computed again when they change."""


@dataclass(frozen=True)
class Bag:
    """The rows of `definition`, equal ones once, with their number in the column `_weight`; `again` where they are
    evaluated anew at each batch that touches them. One with a `tail` takes what batches change from there, when that
    is folded."""

    name: str
    definition: Relation
    place: Place = Local()
    again: bool = False
    tail: Log | None = field(default=None, repr=False)
    held: Held | None = field(default=None, repr=False)
    waits: tuple[Waiting, ...] = field(default=(), repr=False)

    @property
    def columns(self) -> tuple[Col, ...]:
        return (*self.definition.schema, Col(WEIGHT, INT8))

    def read(self, at: str = "after") -> State:
        """The state's rows before or after a batch, or what it changes."""
        return State(self.name, self.definition.schema, (), at, weighted=True)

    def mapped(self, f: Callable[[Relation], Relation]) -> Self:
        """The state with what it is made of mapped."""
        return replace(self, definition=f(self.definition))

    def present(self) -> Relation:
        """The rows with what the tail says of them."""
        return self.read() if self.tail is None else Net(Union((self.read(), self.tail.read("after"))))

    def with_tail(self, name: str) -> Bag:
        """The state under a name of its own, as one that lags."""
        return replace(self, name=name, tail=Log(f"{name}_tail", self.definition.schema, True))


Kept = Accumulated | Recomputed | Bag | Log
Own = Accumulated | Recomputed | Bag  # has a definition over tables, and readers
Lagging = Accumulated | Bag  # may have a tail


def own(states: Iterable[Kept]) -> list[Own]:
    """Those that are more than what waits for others."""
    out: list[Own] = []
    for s in states:
        match s:
            case Accumulated() | Recomputed() | Bag():
                out.append(s)
            case Log():
                pass
            case _:
                assert_never(s)
    return out


def lagging(states: Iterable[Kept]) -> list[Lagging]:
    """The states that have a tail."""
    return [s for s in states if isinstance(s, Lagging) and s.tail is not None]


def key_of(s: Kept) -> tuple[str, ...]:
    """The columns that tell a state's rows apart; of a bag, all but the weight; of a log, none."""
    match s:
        case Accumulated() | Recomputed():
            return s.key
        case Bag():
            return s.definition.names
        case Log():
            return ()
    assert_never(s)


def weighted(s: Kept) -> bool:
    """Whether its rows have weights, in a column of their own."""
    match s:
        case Accumulated() | Recomputed():
            return False
        case Bag():
            return True
        case Log():
            return s.weighted
    assert_never(s)


def seen(s: Own) -> Relation | None:
    """A state with what waits in its tail; None where nothing can."""
    match s:
        case Accumulated() | Bag():
            return s.present() if s.tail is not None else None
        case Recomputed():
            return None
    assert_never(s)


def word(s: Kept) -> str:
    """A state in one word, for people."""
    match s:
        case Accumulated():
            return "groups"
        case Recomputed():
            return "keyed"
        case Bag():
            return "bag"
        case Log():
            return "tail"
    assert_never(s)


def key_shown(s: Kept) -> tuple[str, ...]:
    """The columns of its key, for people: of a bag, which has all of them in it, none."""
    match s:
        case Accumulated() | Recomputed():
            return s.key
        case Bag() | Log():
            return ()
    assert_never(s)


def describe(s: Kept) -> str:
    """A state in a few words, for people."""
    key = key_shown(s)
    return f"{word(s)} by ({', '.join(key)})" if key else word(s)
