"""Which states can lag: those that only readers of a view read, and whose change can be told without them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from compiler.ir.relation import Fixpoint, Relation, State, transform, walk
from compiler.maintain.kept import Accumulated, Bag, Kept, Lagging, Log
from compiler.maintain.naming import digest


def late(s: Lagging) -> tuple[Lagging, Log]:
    """The state as one that lags, and its tail. Its name is its own: the eager state of the same definition holds other
    rows."""
    tag = digest(s.definition)
    later = s.with_tail(f"{s.name.removesuffix('_' + tag)}_late_{tag}")
    assert later.tail is not None
    return later, later.tail


def lagged(states: Iterable[Kept], top: Relation) -> tuple[list[Kept], Relation]:
    """A view's states and its top, with the accumulators and rows that no other state reads lagging.

    Extrema do not: whether a group loses its extremum is seen only in the group. Nor do recursions, whose rows the next
    batch meets.
    """
    states = list(states)
    read = {n.name for s in states for n in _reads(s) if isinstance(n, State)}
    out: list[Kept] = []
    lagging: dict[str, Lagging] = {}
    for s in states:
        if isinstance(s, Lagging) and s.name not in read and s.tail is None and _can(s):
            lagging[s.name], tail = late(s)
            out += [tail, lagging[s.name]]
        else:
            out.append(s)

    def present(n: Relation) -> Relation:
        return lagging[n.name].present() if isinstance(n, State) and n.name in lagging else n

    return out, transform(top, present)


def _can(s: Lagging) -> bool:
    match s:
        case Bag():
            return not s.again and not isinstance(s.definition, Fixpoint)
        case Accumulated():
            return not s.has_extrema
    assert_never(s)


def _reads(s: Kept) -> Iterable[Relation]:
    yield from walk(s.definition)
    for t in s.terms if isinstance(s, Accumulated) else ():
        yield from walk(t.query)
