"""The other way to maintain states: fill them anew, where a batch is so large that it is less work."""

from __future__ import annotations

from compiler.ir.relation import Scan, State, walk
from compiler.maintain.differentiate import Same, program
from compiler.maintain.kept import Kept, Lagging, own
from compiler.maintain.plan import ViewPlan, states_of
from compiler.maintain.program import Program


def touched(plans: list[ViewPlan], changed: frozenset[str]) -> tuple[Kept, ...]:
    """The states that a batch over the tables `changed` may change, with their tails, those that others read first;
    without those for which the batch only waits (`beside`)."""
    names: set[str] = set()
    out: list[Kept] = []
    for s in own(states_of(plans)):
        if not s.waits and any(
            isinstance(n, Scan) and n.table in changed or isinstance(n, State) and n.name in names
            for n in walk(s.definition)
        ):
            names.add(s.name)
            out += [s, s.tail] if isinstance(s, Lagging) and s.tail is not None else [s]
    return tuple(out)


def beside(plans: list[ViewPlan], changed: frozenset[str], same: Same = frozenset()) -> Program | None:
    """What there is to do beside filling anew: the batch is put behind what waits for states that take it later."""
    late = [p for p in plans if any(w.source in changed for s in own(p.states) for w in s.waits)]
    return program(late, changed, same=same) if late else None
