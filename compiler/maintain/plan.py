"""What a view is made into: the states that are kept for it, and the relation that reads it from them."""

from __future__ import annotations

from dataclasses import dataclass, field

from compiler.ir.relation import Relation, State, walk
from compiler.ir.scalar import Col
from compiler.maintain.asked import Asked
from compiler.maintain.kept import Kept
from compiler.maintain.lag import Lag


@dataclass
class ViewPlan:
    """States of a view, innermost first, and the relation that reads it, over states at their present time."""

    view: str
    states: list[Kept]
    top: Relation
    outputs: list[tuple[str, Col]]
    tables: frozenset[str] = frozenset()
    notes: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)  # where it may differ from Postgres
    hangs_on_ties: bool = (
        False  # whether rows that its orders find equal could be taken in another order and give another answer
    )
    strategy: str = "first_order"
    asked: Asked | None = None  # of a partial view, the keys that it is kept for
    by_key: dict[str, tuple[str, ...]] = field(
        default_factory=dict
    )  # where it is to have no mirrors: tables that it reads for its keys alone → the columns that are the key
    whole: Relation | None = None  # of a partial view, its query over the tables
    lag: Lag | None = None  # of a paced view, how far it may lag

    @property
    def shown(self) -> frozenset[str]:
        """The states that readers of the view read, by name."""
        return frozenset(n.name for n in walk(self.top) if isinstance(n, State))


def states_of(plans: list[ViewPlan]) -> list[Kept]:
    """All states, each once, those that others read first."""
    out: dict[str, Kept] = {}
    for p in plans:
        for s in p.states:
            out.setdefault(s.name, s)
    return list(out.values())
