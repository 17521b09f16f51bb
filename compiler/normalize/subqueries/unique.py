"""Whether a relation has at most one row for each value of some columns, as far as keys, groups and limits tell."""

from __future__ import annotations

from compiler.ir import types
from compiler.ir.relation import Aggregate, Filter, Join, LeftJoin, Project, Relation, Scan, Semi, TopK, Values, Window
from compiler.ir.scalar import Call, Col, Lit, Scalar, conjuncts


def unique(r: Relation, cols: set[str]) -> bool:
    """At most one row for each value of the columns `cols` (none: at most one row); False where that is not known."""
    if isinstance(r, Scan):
        return bool(r.key) and set(r.key) <= cols
    if isinstance(r, Project):
        return unique(r.input, {c.name for n, e in r.exprs if n in cols and (c := _column(e)) is not None})
    if isinstance(r, Filter):
        return unique(r.input, _closure(cols, r.predicate))
    if isinstance(r, Aggregate):
        return {n for n, _ in r.keys} <= cols
    if (
        isinstance(r, TopK)
        and r.limit == 1
        and not r.with_ties
        and all(isinstance(p, Col) and p.name in cols for p in r.partition)
    ):
        return True
    if isinstance(r, Window | TopK):
        return unique(r.input, cols)
    if isinstance(r, Semi):
        return unique(r.left, cols)
    if isinstance(r, Join):
        return _side_by_side(r, r.left, r.right, cols) or _side_by_side(r, r.right, r.left, cols)
    if isinstance(r, LeftJoin):
        return _side_by_side(r, r.left, r.right, cols & set(r.left.names))
    return isinstance(r, Values) and len(r.rows) <= 1


def _side_by_side(r: Join | LeftJoin, first: Relation, second: Relation, cols: set[str]) -> bool:
    """One row of the first side, and with it one of the second."""
    determined = _closure(cols, r.on) if isinstance(r, Join) else cols
    return unique(first, determined) and unique(second, _closure(determined | set(first.names), r.on))


def _closure(cols: set[str], condition: Scalar) -> set[str]:
    """The columns that a condition determines, given `cols`."""
    pairs = [c.args for c in conjuncts(condition) if isinstance(c, Call) and c.fn in ("=", "same")]
    determined = set(cols)
    for _ in pairs:
        for a, b in (*pairs, *(p[::-1] for p in pairs)):
            x, y = _column(a), _column(b)
            if x is not None and (isinstance(b, Lit) or y is not None and y.name in determined):
                determined.add(x.name)
    return determined


def _column(e: Scalar) -> Col | None:
    """The column whose value an expression determines: the column itself, or a wider integer of it."""
    while isinstance(e, Call) and e.fn == "cast" and types.is_integer(e.type) and types.is_integer(e.args[0].type):
        e = e.args[0]
    return e if isinstance(e, Col) else None
