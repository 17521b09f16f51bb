"""AVG, VARIANCE, CORR, BOOL_AND … as expressions over counts and exact sums.

After this step an aggregate either holds only accumulators (`functions.aggregates.ACCUMULATORS`), or it holds something
that must be computed again a group at a time (ordered aggregates, sums of floating point, whose addition cannot be
undone).
"""

from __future__ import annotations

from compiler.functions.aggregates import ACCUMULATORS, Algebra
from compiler.ir.relation import Agg, Aggregate, Project, Relation, transform
from compiler.ir.scalar import Col
from compiler.maintain.facts import Facts
from compiler.maintain.strategy.accumulators import Accumulators, final


def additive_aggregates(r: Relation) -> Relation:
    return transform(r, lambda n: _node(n) if isinstance(n, Aggregate) and n.aggs else n)


def _node(n: Aggregate) -> Relation:
    if Facts(n).algebra is Algebra.HOLISTIC or all(_kept_as_it_is(a) for _, a in n.aggs):
        return n
    core = Accumulators({k for k, _ in n.keys})
    values = [(name, final(name, a, core)) for name, a in n.aggs]
    inner = Aggregate(n.input, n.keys, tuple((name, a) for a, name in core.aggs.items()))
    return Project(inner, (*((k, Col(k, e.type)) for k, e in n.keys), *values))


def _kept_as_it_is(a: Agg) -> bool:
    return a.fn in ACCUMULATORS and not (a.fn == "count" and a.args)
