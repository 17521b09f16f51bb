"""The other way to maintain states: fill them anew, where a batch is so large that it is less work."""

from __future__ import annotations

from compiler.ir.relation import Scan, State, walk
from compiler.maintain.kept import Kept, Lagging, Log
from compiler.maintain.plan import ViewPlan, states_of


def touched(plans: list[ViewPlan], changed: frozenset[str]) -> tuple[Kept, ...]:
    """The states that a batch over the tables `changed` may change, with their tails, those that others read first.
    None where some wait for it: what the batch leaves for them is not made anew."""
    if any(w.source in changed for s in states_of(plans) if not isinstance(s, Log) for w in s.waits):
        return ()
    names: set[str] = set()
    out: list[Kept] = []
    for s in states_of(plans):
        if any(
            isinstance(n, Scan) and n.table in changed or isinstance(n, State) and n.name in names
            for n in walk(s.definition)
        ):
            names.add(s.name)
            out += [s, s.tail] if isinstance(s, Lagging) and s.tail is not None else [s]
    return tuple(out)
