"""What a strategy is asked, and what it answers."""

from __future__ import annotations

from dataclasses import dataclass, field

from compiler.ir.relation import Relation
from compiler.ir.scalar import Col
from compiler.maintain.asked import Asked
from compiler.maintain.kept import Kept
from compiler.maintain.lag import Lag


@dataclass(frozen=True)
class Wanted:
    """A view that is to be kept: its normalized query, the columns of the query that its own are, by name and in their
    order, and what its options say: the columns of its `key`, how far it may `lag`, whether the rows of keys are read
    from `mirrors`."""

    view: str
    query: Relation
    outputs: tuple[tuple[str, Col], ...] = ()
    key: tuple[str, ...] = ()
    lag: Lag | None = None
    mirrors: bool = True


@dataclass
class Offer:
    """What a strategy would keep for a view, innermost first, the relation that reads it, and notes for its author.
    Of a partial one, the keys that it is `asked` for, and the tables of which only their rows are read: `by_key`, with
    the columns that are the key."""

    states: list[Kept]
    top: Relation
    notes: list[str] = field(default_factory=list)
    asked: Asked | None = None
    by_key: dict[str, tuple[str, ...]] = field(default_factory=dict)
