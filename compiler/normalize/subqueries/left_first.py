"""Conditions on the rows that LATERAL goes over come before it: what it computes of the others could fail.

Postgres has them there, too: it pushes a condition on one side of a join down to that side.
"""

from __future__ import annotations

from compiler.ir.relation import Apply, Filter, Join, LeftJoin, Relation, transform, walk
from compiler.ir.scalar import Scalar, columns, conj, conjuncts
from compiler.ir.scalar import walk as walk_scalar
from compiler.ir.subquery import Sub
from compiler.simplify.filters import safe


def left_first(r: Relation) -> Relation:
    """The relation with conditions on the left side of each Apply below them."""
    if not any(isinstance(n, Apply) for n in walk(r)):
        return r
    return transform(r, lambda n: _placed(n.input, conjuncts(n.predicate)) if isinstance(n, Filter) else n)


def _placed(r: Relation, parts: list[Scalar]) -> Relation:
    """r filtered; what may stand before an Apply does."""
    if isinstance(r, Apply | LeftJoin | Join) and any(isinstance(n, Apply) for n in walk(r)):
        every_row = isinstance(r, LeftJoin) or (isinstance(r, Apply) and r.outer)  # each left row is seen in any case
        down = [p for p in parts if _over(p, r.left) and (every_row or safe(p))]
        if down:
            r = r.rebuild((_placed(r.left, down), r.right))
        parts = [p for p in parts if p not in down]
    return Filter(r, conj(parts)) if parts else r


def _over(p: Scalar, side: Relation) -> bool:
    """Whether it reads this side alone."""
    return bool(columns(p)) and columns(p) <= set(side.names) and not any(isinstance(n, Sub) for n in walk_scalar(p))
