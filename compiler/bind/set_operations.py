"""UNION, INTERSECT and EXCEPT, with and without ALL."""

from __future__ import annotations

from sqlglot import exp

from compiler.bind.coerce import normal, unify
from compiler.bind.names import QueryBinder
from compiler.bind.scope import Bound
from compiler.errors import InvalidSql
from compiler.ir import types
from compiler.ir.relation import Agg, Aggregate, Filter, Project, Relation, Union, Weigh
from compiler.ir.scalar import Call, Col, Lit, Scalar, conj
from compiler.ir.types import BOOL, INT8


def set_operation(binder: QueryBinder, e: exp.SetOperation, left: Bound, right: Bound) -> Bound:
    """UNION, INTERSECT or EXCEPT of two bound queries."""
    if len(left.outputs) != len(right.outputs):
        raise InvalidSql(f"each {e.key.upper()} query must have the same number of columns", code="syntax_error")
    names, l_exprs, r_exprs = [], [], []
    for i, ((n, a), (_, b)) in enumerate(zip(left.outputs, right.outputs, strict=True)):
        got, t = unify([_untyped(e.left, i, a), _untyped(e.right, i, b)], e.key.upper())
        c = binder.fresh(n)
        names.append((n, Col(c, t)))
        l_exprs.append((c, got[0]))
        r_exprs.append((c, got[1]))
    l: Relation = Project(left.rel, tuple(l_exprs))
    r: Relation = Project(right.rel, tuple(r_exprs))
    distinct = bool(e.args.get("distinct"))
    if isinstance(e, exp.Union):
        rel: Relation = Union((l, r))
        if distinct:
            rel = Aggregate(rel, tuple((c.name, normal(c)) for c in rel.schema), ())
    else:
        rel = difference(binder, l, r, isinstance(e, exp.Intersect), distinct)
    return Bound(rel, names)


def difference(binder: QueryBinder, l: Relation, r: Relation, intersect: bool, distinct: bool) -> Relation:
    """INTERSECT and EXCEPT: count each row on both sides, then weigh or filter by the counts."""
    side = binder.fresh("side")
    one, two = Lit(1, types.INT4), Lit(2, types.INT4)
    both = Union(
        (
            Project(l, (*((c.name, c) for c in l.schema), (side, one))),
            Project(r, (*((c.name, c) for c in r.schema), (side, two))),
        )
    )
    s = Col(side, types.INT4)
    nl, nr = binder.fresh("in_left"), binder.fresh("in_right")
    counts = Aggregate(
        both,
        tuple((c.name, normal(c)) for c in l.schema),
        (
            (nl, Agg("count", (), INT8, filter=Call("=", (s, one), BOOL))),
            (nr, Agg("count", (), INT8, filter=Call("=", (s, two), BOOL))),
        ),
    )
    a, b, zero = Col(nl, INT8), Col(nr, INT8), Lit(0, INT8)
    if distinct:
        present = [Call(">", (a, zero), BOOL), Call(">" if intersect else "=", (b, zero), BOOL)]
        rel: Relation = Filter(counts, conj(present))
    elif intersect:
        rel = Weigh(counts, Call("least", (a, b), INT8))
    else:
        rel = Weigh(counts, Call("greatest", (Call("-", (a, b), INT8), zero), INT8))
    return Project(rel, tuple((c.name, c) for c in l.schema))


def _untyped(e: exp.Expr, i: int, c: Col) -> Scalar:
    """A branch's column, or the literal without a type that it is: the other branch gives it one."""
    while isinstance(e, exp.Subquery):
        e = e.this
    items = e.expressions if isinstance(e, exp.Select) else []
    if i >= len(items) or any(
        isinstance(x, exp.Star) or (isinstance(x, exp.Column) and isinstance(x.this, exp.Star)) for x in items
    ):
        return c
    x = items[i].unalias()
    if isinstance(x, exp.Null):
        return Lit(None, types.UNKNOWN)
    return Lit(x.this, types.UNKNOWN, x.meta.get("start")) if isinstance(x, exp.Literal) and x.is_string else c
