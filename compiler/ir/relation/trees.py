"""Relations as trees: empty ones, walks and rewrites."""

from __future__ import annotations

from compiler.ir.relation.base import Relation
from compiler.ir.relation.sources import Values


def empty(like: Relation) -> Values:
    return Values(like.schema, ())


def is_empty(r: Relation) -> bool:
    return isinstance(r, Values) and not r.rows


def transform(r: Relation, f) -> Relation:  # type: ignore[no-untyped-def]
    """Rebuild bottom-up, each node passed through `f`; shared nodes are visited once."""
    memo: dict[int, Relation] = {}

    def go(n: Relation) -> Relation:
        if id(n) not in memo:
            kids = tuple(go(i) for i in n.inputs)
            same = all(a is b for a, b in zip(kids, n.inputs, strict=True))
            memo[id(n)] = f(n if same else n.rebuild(kids))
        return memo[id(n)]

    return go(r)


def walk(r: Relation):  # type: ignore[no-untyped-def]
    """Every node once, inputs first."""
    seen: set[int] = set()

    def go(n: Relation):  # type: ignore[no-untyped-def]
        if id(n) in seen:
            return
        seen.add(id(n))
        for i in n.inputs:
            yield from go(i)
        yield n

    yield from go(r)
