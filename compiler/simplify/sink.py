"""Outer and anti joins below an inner one, over the side whose columns they read.

    (A ⋈ B) ⟕ C = (A ⟕ C) ⋈ B        where the condition with C reads A alone; ▷ the same

A recursion's own rows so meet inner joins alone, and what is over other tables can be kept apart.
"""

from __future__ import annotations

from dataclasses import replace

from compiler.ir.relation import Filter, Join, LeftJoin, Project, Recur, Relation, Semi, transform, walk
from compiler.ir.scalar import Col, Scalar, columns
from compiler.ir.scalar import transform as map_scalar


def sunk(step: Relation) -> Relation:
    """A recursion's step with what can be moved off its own rows."""
    return transform(step, lambda n: _below(n) or n if isinstance(n, LeftJoin | Semi) else n)


def _own(r: Relation) -> bool:
    return any(isinstance(n, Recur) for n in walk(r))


def _below(n: LeftJoin | Semi) -> Relation | None:
    """The join over inputs that hold no row of the recursion, with the columns of `n`; None where its condition
    reads one."""
    if _own(n.right):
        return None
    if not _own(n.left):
        return n
    added = () if isinstance(n, Semi) else n.right.schema
    if isinstance(n.left, Filter):
        inner = _below(replace(n, left=n.left.input))
        return None if inner is None else Filter(inner, n.left.predicate)
    if isinstance(n.left, Project):
        if set(n.left.input.names) & set(n.right.names):
            return None
        computed = dict(n.left.exprs)

        def put(e: Scalar) -> Scalar | None:
            return computed.get(e.name) if isinstance(e, Col) else None

        inner = _below(replace(n, left=n.left.input, on=map_scalar(n.on, put)))
        return None if inner is None else Project(inner, (*n.left.exprs, *((c.name, c) for c in added)))
    if isinstance(n.left, Join):
        return _beside(n, n.left)
    return None


def _beside(n: LeftJoin | Semi, pairs: Join) -> Relation | None:
    reads = columns(n.on) & set(pairs.names)
    for side, other in ((pairs.left, pairs.right), (pairs.right, pairs.left)):
        if not reads <= set(side.names):
            continue
        inner = _below(replace(n, left=side))
        if inner is not None:
            joined = Join(inner, other, pairs.on)
            return Project(joined, tuple((c.name, c) for c in n.schema))
    return None
