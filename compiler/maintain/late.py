"""Which states lag: those whose change is cheap to append, dear to merge, and read by nobody but readers of a view."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from compiler.ir.relation import Relation, State, transform, walk
from compiler.maintain.kept import Accumulated, Kept, Log
from compiler.maintain.naming import digest
from compiler.maintain.plan import ViewPlan


def late(s: Accumulated) -> tuple[Accumulated, Log]:
    """The state as one that lags, and its tail. Its name is its own: the eager state of the same definition holds other
    rows."""
    tag = digest(s.definition)
    made = s.with_tail(f"{s.name.removesuffix('_' + tag)}_late_{tag}")
    assert made.tail is not None
    return made, made.tail


def lag(plan: ViewPlan) -> ViewPlan:
    """The plan, with the states lagging that can."""
    states, top = lagged(plan.states, plan.top)
    return replace(plan, states=states, top=top)


def lagged(states: Iterable[Kept], top: Relation) -> tuple[list[Kept], Relation]:
    """A view's states and its top, with the accumulators that no other state reads lagging. Extrema do not: whether a
    group loses its extremum is seen only in the group."""
    states = list(states)
    read = {n.name for s in states for n in _reads(s) if isinstance(n, State)}
    out: list[Kept] = []
    made: dict[str, Accumulated] = {}
    for s in states:
        if isinstance(s, Accumulated) and not s.has_extrema and s.name not in read and s.tail is None:
            made[s.name], tail = late(s)
            out += [tail, made[s.name]]
        else:
            out.append(s)

    def present(n: Relation) -> Relation:
        return made[n.name].present() if isinstance(n, State) and n.name in made else n

    return out, transform(top, present)


def _reads(s: Kept) -> Iterable[Relation]:
    yield from walk(s.definition)
    for t in s.terms if isinstance(s, Accumulated) else ():
        yield from walk(t.query)
