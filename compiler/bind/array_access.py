"""Arrays: written, made of a subquery, subscripted, searched."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlglot import exp

from compiler.bind import json_access, json_edit, ranges
from compiler.bind.clause import Binding, Clause
from compiler.bind.coerce import coerce, unify, without_blanks
from compiler.bind.functions.arrays import slice_of
from compiler.bind.operators import compare, in_values, meet
from compiler.errors import UnsupportedSql
from compiler.ir import types
from compiler.ir.relation import Agg, Aggregate, Order, Project, Relation, TopK
from compiler.ir.scalar import Call, Col, Lit, Scalar, case, cast, conj, negate, substitute
from compiler.ir.subquery import ScalarSub
from compiler.ir.types import BOOL, INT4, JSONB, TEXT, Type

EVERY = 2**31 - 1  # rows


def array(x: Binding, e: Any, c: Clause) -> Scalar:
    if len(e.expressions) == 1 and isinstance(e.expressions[0].unnest(), exp.Query):
        return of_subquery(x, e.expressions[0].unnest(), c)
    bound = [x.bind(i, c) for i in e.expressions]
    if any(b.type.name == "array" for b in bound):
        raise UnsupportedSql("an array of more than one dimension is not supported", code="unsupported_syntax")
    items, t = unify(bound, "ARRAY") if bound else ([], TEXT)
    return Call("array", tuple(items), types.array(t))


def of_subquery(x: Binding, e: exp.Expr, c: Clause) -> Scalar:
    """ARRAY(SELECT …), in the query's order."""
    if e.args.get("limit") is None:
        e = e.copy()
        e.set("limit", exp.Limit(expression=exp.Literal.number(EVERY)))  # so that its order is told
    query = x.subquery(e, c.around)
    order: tuple[Order, ...] = ()
    inner: Relation = query
    value: Scalar = query.schema[0]
    while isinstance(inner, Project):
        value = substitute(value, dict(inner.exprs))
        inner = inner.input
    if isinstance(inner, TopK):
        order = inner.order
        inner = inner.input if inner.limit == EVERY and not inner.skip else inner
    else:
        inner, value = query, query.schema[0]
    t = types.array(value.type)
    agg = Aggregate(inner, (), ((x.binder.fresh("array"), Agg("array_agg", (value,), t, order=order)),))
    return Call("coalesce", (ScalarSub(agg, t), Call("array", (), t)), t)


def bracket(x: Binding, e: Any, c: Clause) -> Scalar:
    """Positions count from 1; there is nothing at 0 and below, nor beyond the end."""
    v = x.bind(e.this, c)
    if v.type.name == "jsonb" and len(e.expressions) == 1:
        key = json_access.key(x, e.expressions[0], c)
        got = Call("json_get", (v, key), JSONB)
        if not types.is_integer(key.type):
            return got
        return case(
            [(json_edit.is_kind(v, "array"), got)], Lit(None, JSONB), JSONB
        )  # a scalar has elements for -> alone
    if v.type.name != "array" or len(e.expressions) != 1:
        raise UnsupportedSql("subscripts are supported on one-dimensional arrays", code="unsupported_syntax")
    if isinstance(e.expressions[0], exp.Slice):
        low, high = (
            x.bind(p, c) if isinstance(p, exp.Expr) else None
            for p in (e.expressions[0].this, e.expressions[0].expression)
        )
        return slice_of(v, low, high)
    i = coerce(x.bind(e.expressions[0], c), INT4)
    got = Call("array_get", (v, i), v.type.element or TEXT)
    if isinstance(i, Lit) and i.value is None:
        return Lit(None, got.type)
    if isinstance(i, Lit) and int(str(i.value)) > 0:
        return got
    return case([(Call(">", (i, Lit(0, INT4)), BOOL), got)], Lit(None, got.type), got.type)


def contains(x: Binding, e: Any, c: Clause) -> Scalar:
    """@> and <@, of arrays, of jsonb and of ranges."""
    a, b = x.bind(e.this, c), x.bind(e.expression, c)
    if ranges.spans(a.type) or ranges.spans(b.type):
        return ranges.operator("<@" if isinstance(e, exp.ArrayContainedBy) else "@>", a, b)
    if isinstance(e, exp.ArrayContainedBy):
        a, b = b, a
    a, b = meet(a, b)
    if a.type.name == "jsonb":
        return json_edit.contains(a, b, x.binder.fresh)
    return Call("array_contains_all", (without_blanks(a), without_blanks(b)), BOOL)


def overlaps(x: Binding, e: Any, c: Clause) -> Scalar:
    a, b = x.bind(e.this, c), x.bind(e.expression, c)
    if ranges.spans(a.type) or ranges.spans(b.type):
        return ranges.operator("&&", a, b)
    a, b = meet(a, b)
    return Call("array_overlap", (without_blanks(a), without_blanks(b)), BOOL)


def compared(x: Binding, op: str, every: bool, left: Scalar, arr: Scalar) -> Scalar:
    """left op ANY (arr), or ALL of it."""
    left = without_blanks(left)
    if not (isinstance(arr, Call) and arr.fn == "array"):
        arr = without_blanks(arr)
    if arr.type.name == "unknown":
        arr = cast(arr, types.array(types.unlimited(left.type)))
    if isinstance(arr, Call) and arr.fn == "array" and op == "=" and not every:
        return in_values(left, list(arr.args))
    if isinstance(arr, Call) and arr.fn == "array":
        parts = tuple(compare(op, left, a) for a in arr.args)
        if not parts:
            return Lit(every, BOOL)
        return conj(parts) if every else Call("or", parts, BOOL) if len(parts) > 1 else parts[0]
    element = arr.type.element or TEXT
    left = coerce(left, types.unlimited(element))
    if {left.type.name, element.name} == {"bpchar", "varchar"}:  # blanks at the end count on neither side
        left, arr = cast(left, Type("bpchar")), cast(arr, types.array(Type("bpchar")))
        element = Type("bpchar")
    if op == "=" and not every:
        return Call("array_has", (arr, left), BOOL)
    if op == "<>" and every:
        return negate(Call("array_has", (arr, left), BOOL))
    compare(op, left, Col("v", element))  # raises where there is no such operator
    if left.type.name != element.name and not (types.is_number(left.type) and types.is_number(element)):
        raise UnsupportedSql(
            f"{op} {'ALL' if every else 'ANY'} over {arr.type} is not supported", code="unsupported_syntax"
        )
    return Call("array_all" if every else "array_any", (arr, left, Lit(op, TEXT)), BOOL)


METHODS: dict[type, Callable[..., Scalar]] = {
    exp.Array: array,
    exp.Bracket: bracket,
    exp.ArrayContainsAll: contains,
    exp.ArrayContainedBy: contains,
    exp.ArrayOverlaps: overlaps,
}
