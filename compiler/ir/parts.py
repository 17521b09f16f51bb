"""What one relation is made with, and what it is part of."""

from __future__ import annotations

from compiler.ir.relation import (
    Aggregate,
    Binary,
    Filter,
    Fixpoint,
    Keys,
    Project,
    Recur,
    Relation,
    TopK,
    Unnest,
    Values,
    Weigh,
    Window,
    walk,
)
from compiler.ir.scalar import Scalar


def scalars(n: Relation) -> list[Scalar]:
    """The scalar expressions of one node."""
    if isinstance(n, Project | Keys):
        return [e for _, e in n.exprs]
    if isinstance(n, Filter):
        return [n.predicate]
    if isinstance(n, Binary):
        return [n.on]
    if isinstance(n, Weigh):
        return [n.by]
    if isinstance(n, Aggregate):
        return [e for _, e in n.keys] + [s for _, a in n.aggs for s in a.scalars]
    if isinstance(n, Window):
        bounds = [b[1] for _, c in n.calls if c.frame for b in (c.frame[1], c.frame[2]) if b[1] is not None]
        return [*n.partition, *(s for _, c in n.calls for s in c.scalars), *bounds]
    if isinstance(n, TopK):
        return [*n.partition, *(o.expr for o in n.order)]
    if isinstance(n, Unnest):
        return list(n.args)
    if isinstance(n, Values):
        return [x for row in n.rows for x in row]
    return []


def of_a_round(r: Relation) -> bool:
    """Whether the rows are those of one round of a recursion around it."""
    nodes = list(walk(r))
    return bool({n.name for n in nodes if isinstance(n, Recur)} - {n.name for n in nodes if isinstance(n, Fixpoint)})
