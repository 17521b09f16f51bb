"""γ: accumulators over weights, and aggregates of each row as often as it is there."""

from __future__ import annotations

from sqlglot import exp

from compiler.functions.aggregates import ADDED, EXTREMA, SIGNED, TOTAL
from compiler.ir.relation import (
    Agg,
    Aggregate,
    Order,
)
from dialects.dialect import ident
from dialects.lower.frames import Frame, Lowering, Weights
from dialects.lower.relations import key_value, sort_keys
from dialects.lower.signs import changes
from dialects.lower.trees import all_of, label_of, ordinal_safe, paren

ONCE = SIGNED | EXTREMA | {"bool_and", "bool_or", "any_value"}  # of rows that are there once for all their weight


def lower_aggregate(lowering: Lowering, r: Aggregate, positive: bool) -> Frame:
    """A SELECT with GROUP BY; weights of the input go into the aggregates, and no weight comes out."""
    fns = {a.fn for _, a in r.aggs}
    distinct = any(a.distinct for _, a in r.aggs)
    safe = fns <= SIGNED and not distinct
    f = lowering.frame(r.input, not safe or not r.aggs)
    if not fns <= ONCE or distinct:
        f = lowering.expanded(f, r.input)
    keys = sort_keys(lowering, tuple(e for _, e in r.keys), f.cols)
    items = [lowering.item(key_value(lowering, e, f.cols), n) for n, e in r.keys]
    items += [exp.alias_(aggregated(lowering, a, f), ident(n)) for n, a in r.aggs]
    s = lowering.attach(exp.Select(expressions=items), f)
    if r.keys:
        s.set("group", exp.Group(expressions=[ordinal_safe(k.copy(), i) for i, k in enumerate(keys)]))
    if r.keys and r.aggs and f.weights and fns <= ADDED and not changes(r.input):
        s.set("having", exp.Having(this=has_rows(lowering, r, f)))
    return lowering.step(label_of(r), s, r.names, Weights.NONE)


def has_rows(lowering: Lowering, r: Aggregate, f: Frame) -> exp.Expr:
    """Whether a group has rows, where some of those that are read cancel."""
    some: list[exp.Expr] = [exp.Sum(this=lowering.weight(f)), *(aggregated(lowering, a, f) for _, a in r.aggs)]
    return exp.or_(*(exp.NEQ(this=x, expression=exp.Literal.number(0)) for x in some))


def aggregated(lowering: Lowering, a: Agg, f: Frame) -> exp.Expr:
    """The call of an aggregate over a frame, with its weights, filter and order."""
    keep = lowering.scalars.predicate(a.filter, f.cols) if a.filter is not None else None
    args = [lowering.scalars.emit(x, f.cols) for x in a.args]
    if a.fn in ADDED:
        out = accumulator(lowering, a, args, keep, f)
    elif a.fn in SIGNED:
        kind, way = a.fn.split("_")
        side = (exp.GT if way == "in" else exp.LT)(this=paren(lowering.weight(f)), expression=exp.Literal.number(0))
        fn = lowering.scalars.aggregate(Agg(kind, a.args, a.type), args, [])
        out = exp.Filter(this=fn, expression=exp.Where(this=all_of([side, *([keep] if keep is not None else [])])))
    else:
        out = lowering.scalars.aggregate(a, args, ordered_by(lowering, a.order, f.cols))
        if keep is not None:
            out = lowering.scalars.filtered(out, keep)
    return out


def accumulator(lowering: Lowering, a: Agg, args: list[exp.Expr], keep: exp.Expr | None, f: Frame) -> exp.Expr:
    """COUNT or SUM over a frame: each row counts as often as its weight says."""
    w = lowering.weight(f)
    if a.fn == "count" and not args and not f.weights:
        out: exp.Expr = exp.Count(this=exp.Distinct(expressions=args) if a.distinct else exp.Star())
    elif a.fn == "count" and not f.weights:
        out = exp.Count(this=exp.Distinct(expressions=args) if a.distinct else args[0])
    elif a.fn == "count":
        one = (
            w
            if not args
            else exp.Case(ifs=[exp.If(this=exp.not_(exp.Is(this=paren(args[0]), expression=exp.Null())), true=w)])
        )
        out = exp.Sum(this=one)
    else:
        x = args[0]
        if f.weights and a.args[0].type.name == "int8":  # a value times its weight may be beyond 64 bits
            x = lowering.dialect.cast(x, a.type)
        if f.once and a.args[0].type.name == "numeric":
            w = lowering.dialect.one(paren(w))
        each = x if not f.weights else exp.Mul(this=paren(x), expression=paren(w))
        out = lowering.dialect.total(each, a.args[0].type)
    if keep is not None:
        out = lowering.scalars.filtered(out, keep)
    if a.fn == TOTAL or f.weights:
        out = exp.Coalesce(this=out, expressions=[exp.Literal.number(0)])
    if a.fn == TOTAL or f.weights:
        out = lowering.dialect.cast(out, a.type)
    return out


def ordered_by(lowering: Lowering, orders: tuple[Order, ...], cols: dict[str, exp.Expr]) -> list[exp.Expr]:
    keys = sort_keys(lowering, tuple(o.expr for o in orders), cols)
    return [
        exp.Ordered(this=k, desc=o.desc or None, nulls_first=o.nulls_first) for k, o in zip(keys, orders, strict=True)
    ]
