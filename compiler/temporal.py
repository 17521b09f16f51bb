"""Views that read the time: rows enter and leave them as it passes, also when nothing is written.

What does not depend on the time is kept in states and maintained by deltas; from the first operator that reads the time
upwards, the view is finished when it is read. The answer is right at every instant, and no clock has to tick.
"""

from __future__ import annotations

from compiler.ir.parts import scalars
from compiler.ir.relation import Filter, Relation, walk
from compiler.ir.scalar import Call, Scalar, conj, conjuncts
from compiler.ir.scalar import walk as walk_scalar


def reads_time(e: Scalar) -> bool:
    return any(isinstance(x, Call) and x.fn == "now" for x in walk_scalar(e))


def timed(r: Relation) -> set[Relation]:
    """The operators whose result depends on the time."""
    out: set[Relation] = set()
    done: set[Relation] = set()

    def go(n: Relation) -> None:
        if n in done:
            return
        done.add(n)
        for i in n.inputs:
            go(i)
        if any(i in out for i in n.inputs) or any(reads_time(e) for e in scalars(n)):
            out.add(n)

    go(r)
    return out


def split_filters(r: Relation, within: set[Relation]) -> Relation:
    """Conditions that do not read the time below those that do."""
    if r not in within:
        return r
    r = r.rebuild(tuple(split_filters(i, within) for i in r.inputs)) if r.inputs else r
    if isinstance(r, Filter):
        parts = conjuncts(r.predicate)
        still = [p for p in parts if not reads_time(p)]
        if still and len(still) < len(parts):
            return Filter(Filter(r.input, conj(still)), conj([p for p in parts if reads_time(p)]))
    return r


def any_timed(r: Relation) -> bool:
    return any(reads_time(e) for n in walk(r) for e in scalars(n))
