"""Columns of enclosing queries within a relation: finding them, mapping every scalar of a tree."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from compiler.ir.parts import scalars
from compiler.ir.relation import (
    Aggregate,
    Apply,
    Binary,
    Filter,
    Frame,
    Keys,
    Order,
    Project,
    Relation,
    TopK,
    Unnest,
    Values,
    Weigh,
    Window,
    transform,
)
from compiler.ir.scalar import Outer, Scalar, Sub
from compiler.ir.scalar import walk as walk_scalar

MapScalar = Callable[[Scalar], Scalar]


def map_node(n: Relation, f: MapScalar) -> Relation:
    """One node with its scalars mapped."""
    def order(os: tuple[Order, ...]) -> tuple[Order, ...]:
        return tuple(Order(f(o.expr), o.desc, o.nulls_first) for o in os)

    def frame(fr: Frame) -> Frame:
        if fr is None:
            return None
        unit, (start, first), (end, last), exclude = fr
        return unit, (start, f(first) if first is not None else None), (end, f(last) if last is not None else None), exclude

    if isinstance(n, Project | Keys):
        return replace(n, exprs=tuple((k, f(e)) for k, e in n.exprs))
    if isinstance(n, Filter):
        return replace(n, predicate=f(n.predicate))
    if isinstance(n, Binary):
        return replace(n, on=f(n.on))
    if isinstance(n, Weigh):
        return replace(n, by=f(n.by))
    if isinstance(n, Aggregate):
        aggs = tuple((k, replace(a, args=tuple(map(f, a.args)), filter=f(a.filter) if a.filter is not None else None,
                                 order=order(a.order))) for k, a in n.aggs)
        return replace(n, keys=tuple((k, f(e)) for k, e in n.keys), aggs=aggs)
    if isinstance(n, Window):
        calls = tuple((k, replace(c, args=tuple(map(f, c.args)), filter=f(c.filter) if c.filter is not None else None,
                                  order=order(c.order), frame=frame(c.frame))) for k, c in n.calls)
        return replace(n, partition=tuple(map(f, n.partition)), calls=calls)
    if isinstance(n, TopK):
        return replace(n, partition=tuple(map(f, n.partition)), order=order(n.order))
    if isinstance(n, Unnest):
        return replace(n, args=tuple(map(f, n.args)))
    if isinstance(n, Values):
        return replace(n, rows=tuple(tuple(map(f, r)) for r in n.rows))
    return n


def map_scalars(r: Relation, f: MapScalar) -> Relation:
    """Every scalar of a tree mapped, those within subqueries too."""
    from compiler.ir.scalar import transform as transform_scalar

    def deep(s: Scalar) -> Scalar:
        def sub(n: Scalar) -> Scalar | None:
            if isinstance(n, Sub):
                return Sub(n.kind, map_scalars(n.query, f), tuple(deep(a) for a in n.args), n.op, n.type)
            return None

        return f(transform_scalar(s, sub))

    return transform(r, lambda n: map_node(n, deep))


def free(r: Relation) -> list[Outer]:
    """Columns of enclosing queries that a relation reads, each once, in order."""
    memo: dict[int, dict[Outer, None]] = {}

    def go(n: Relation) -> dict[Outer, None]:
        if id(n) in memo:
            return memo[id(n)]
        found: dict[Outer, None] = {}
        for i, child in enumerate(n.inputs):
            inner = go(child)
            if isinstance(n, Apply) and i == 1:
                inner = {o: None for o in inner if o.name not in n.left.names}
            found |= inner
        here = {c for i in n.inputs for c in i.names}
        for s in scalars(n):
            for x in walk_scalar(s):
                if isinstance(x, Outer):
                    found[x] = None
                if isinstance(x, Sub):
                    found |= {o: None for o in go(x.query) if o.name not in here}
        memo[id(n)] = found
        return found

    return list(go(r))
