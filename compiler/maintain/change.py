"""How a state takes its change: what `source` holds, and what is done with it.

- `Add`: accumulators of the batch, added to those of their groups.
- `Replace`: groups as they are after the batch; one of `_count` 0 is gone.
- `AddRows`: rows with signed weights, added to those that are there.
- `Append`: accumulators or rows of the batch, put behind those that wait in a tail; or those of keys that a state
  had nothing of.
- `Clear`: nothing; what waited in a tail has been taken.

Every place that handles one of them handles all: a `match` over `Change` ends in `assert_never`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import assert_never

from compiler.ir.relation import Project, Relation, Temp
from compiler.ir.scalar import Col
from compiler.maintain.kept import Accumulated, Bag, Log, Recomputed, weighted


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


@dataclass(frozen=True)
class Append:
    state: Log | Accumulated | Recomputed | Bag
    source: Relation
    rule: str


@dataclass(frozen=True)
class Clear:
    state: Log
    rule: str

    @property
    def source(self) -> Relation:
        """No rows."""
        return self.state.definition


Change = Add | Replace | AddRows | Append | Clear


def signed(c: Change) -> bool:
    """Whether what it takes has weights, in a column of their own."""
    match c:
        case Append():
            return weighted(c.state)
        case AddRows():
            return True
        case Add() | Replace() | Clear():
            return False
    assert_never(c)


def mapped(c: Change, f: Callable[[Relation], Relation]) -> Change:
    """The change with what it takes mapped."""
    match c:
        case Clear():
            return c
        case Add() | Replace() | AddRows() | Append():
            return replace(c, source=f(c.source))
    assert_never(c)


def stored(c: Change) -> Temp | None:
    """The step that has what a change takes, perhaps beside other columns; None where it is computed."""
    source = c.source
    while isinstance(source, Project) and all(isinstance(e, Col) and e.name == n for n, e in source.exprs):
        source = source.input
    if not isinstance(source, Temp):
        return None
    return source if source is c.source or source.signed == signed(c) else None


def phrase(c: Change) -> str:
    """What a change does, in a word or two, for people."""
    match c:
        case Add():
            return "merge add"
        case Replace():
            return "merge replace"
        case AddRows():
            return "merge bag"
        case Append():
            return "append"
        case Clear():
            return "clear"
    assert_never(c)
