"""Columns of enclosing queries within a relation: finding them, mapping every scalar of a tree."""

from __future__ import annotations

from dataclasses import replace

from compiler.ir.parts import MapScalar, scalars, with_scalars
from compiler.ir.relation import Apply, Relation, transform
from compiler.ir.scalar import Outer, Scalar
from compiler.ir.scalar import transform as transform_scalar
from compiler.ir.scalar import walk as walk_scalar
from compiler.ir.subquery import Sub


def map_scalars(r: Relation, f: MapScalar) -> Relation:
    """Every scalar of a tree mapped, those within subqueries too."""

    def deep(s: Scalar) -> Scalar:
        def sub(n: Scalar) -> Scalar | None:
            if isinstance(n, Sub):
                return replace(n, query=map_scalars(n.query, f)).rebuild(tuple(deep(a) for a in n.children))
            return None

        return f(transform_scalar(s, sub))

    return transform(r, lambda n: with_scalars(n, deep))


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
