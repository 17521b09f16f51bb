"""What a state is: a relation kept between batches, by how its rows are told apart and what they hold.

- `Accumulated`: the groups of an aggregate, as accumulators that a batch's are added to (counts, sums), or combined
  with (extrema).
- `Recomputed`: the groups of an aggregate, as computed; a group that changes is computed again.
- `Bag`: rows, each as often as its weight says.

Every place that handles one of them handles all: a `match` over `Kept` ends in `assert_never`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Self

from compiler.ir.relation import Aggregate, Relation, State
from compiler.ir.scalar import Col
from compiler.ir.types import INT8

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
class Groups:
    """The groups of `definition`, whose first accumulator is `_count`, the number of rows in the group."""

    name: str
    definition: Aggregate
    place: Place = Local()

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
class Accumulated(Groups):
    """Groups whose accumulators take those of a batch."""

    @property
    def has_extrema(self) -> bool:
        return any(a.fn in ("min", "max") for _, a in self.definition.aggs)


@dataclass(frozen=True)
class Recomputed(Groups):
    """Groups that are computed again when they change."""


@dataclass(frozen=True)
class Bag:
    """The rows of `definition`, equal ones once, with their number in the column `_weight`; `again` where they are
    evaluated anew at each batch that touches them."""

    name: str
    definition: Relation
    place: Place = Local()
    again: bool = False

    @property
    def columns(self) -> tuple[Col, ...]:
        return (*self.definition.schema, Col(WEIGHT, INT8))

    def read(self, at: str = "after") -> State:
        """The state's rows before or after a batch, or what it changes."""
        return State(self.name, self.definition.schema, (), at, weighted=True)

    def mapped(self, f: Callable[[Relation], Relation]) -> Self:
        """The state with what it is made of mapped."""
        return replace(self, definition=f(self.definition))


Kept = Accumulated | Recomputed | Bag


def key_of(s: Kept) -> tuple[str, ...]:
    """The columns that tell a state's rows apart; of a bag, all but the weight."""
    return s.definition.names if isinstance(s, Bag) else s.key


def word(s: Kept) -> str:
    """A state in one word, for people."""
    match s:
        case Accumulated():
            return "groups"
        case Recomputed():
            return "keyed"
        case Bag():
            return "bag"


def describe(s: Kept) -> str:
    """A state in a few words, for people."""
    return word(s) if isinstance(s, Bag) or not s.key else f"{word(s)} by ({', '.join(s.key)})"
