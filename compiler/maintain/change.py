"""How a state takes its change: what `source` holds, and what is done with it.

- `Add`: accumulators of the batch, added to those of their groups.
- `Replace`: groups as they are after the batch; one of `_count` 0 is gone.
- `AddRows`: rows with signed weights, added to those that are there.

Every place that handles one of them handles all: a `match` over `Change` ends in `assert_never`.
"""

from __future__ import annotations

from dataclasses import dataclass

from compiler.ir.relation import Relation
from compiler.maintain.kept import Accumulated, Bag, Recomputed


@dataclass(frozen=True)
class Add:
    state: Accumulated
    source: Relation
    rule: str


@dataclass(frozen=True)
class Replace:
    state: Accumulated | Recomputed
    source: Relation
    rule: str


@dataclass(frozen=True)
class AddRows:
    state: Bag
    source: Relation
    rule: str


Change = Add | Replace | AddRows


def word(c: Change) -> str:
    """A change in one word, for people."""
    match c:
        case Add():
            return "add"
        case Replace():
            return "replace"
        case AddRows():
            return "bag"
