"""Which states lag: those whose change is cheap to append, dear to merge, and read by nobody but readers of a view."""

from __future__ import annotations

from dataclasses import replace

from compiler.ir.relation import Relation, State, transform, walk
from compiler.maintain.kept import Accumulated, Kept, Log
from compiler.maintain.naming import digest
from compiler.maintain.readable import Offer


def late(s: Accumulated) -> tuple[Accumulated, Log]:
    """The state as one that lags, and its tail. Its name is its own: the eager state of the same definition holds other
    rows."""
    tag = digest(s.definition)
    made = s.with_tail(f"{s.name.removesuffix('_' + tag)}_late_{tag}")
    assert made.tail is not None
    return made, made.tail


def lag(offer: Offer) -> Offer:
    """The offer, with the accumulators that no other state reads lagging. Extrema do not: whether a group loses its
    extremum is seen only in the group."""
    read = {n.name for s in offer.states for n in walk(s.definition) if isinstance(n, State)}
    states: list[Kept] = []
    made: dict[str, Accumulated] = {}
    for s in offer.states:
        if isinstance(s, Accumulated) and not s.has_extrema and s.name not in read and s.tail is None:
            made[s.name], tail = late(s)
            states += [tail, made[s.name]]
        else:
            states.append(s)

    def present(n: Relation) -> Relation:
        return made[n.name].present() if isinstance(n, State) and n.name in made else n

    return replace(offer, states=states, top=transform(offer.top, present))
