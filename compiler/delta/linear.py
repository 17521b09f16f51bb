"""Linear operators: Δq = q∘Δ."""

from __future__ import annotations

from compiler.ir.relation import Filter, Net, Project, Relation, Union, Unnest, Weigh, empty, is_empty


def unary(q: Project | Filter | Weigh | Unnest | Net, delta: Relation) -> Relation:
    """Δσ(R) = σ(ΔR), Δπ(R) = π(ΔR), and the same for weights and unnesting."""
    return empty(q) if is_empty(delta) else q.rebuild((delta,))


def union(q: Union, *deltas: Relation) -> Relation:
    """Δ(R + S) = ΔR + ΔS."""
    return plus(q, list(deltas))


def plus(like: Relation, parts: list[Relation]) -> Relation:
    """The sum of the parts that are not empty, under the names of `like`."""
    some = [p for p in parts if not is_empty(p)]
    if not some:
        return empty(like)
    if some[0].names != like.names:
        some[0] = Project(some[0], tuple((c.name, o) for c, o in zip(like.schema, some[0].schema, strict=True)))
    return some[0] if len(some) == 1 else Union(tuple(some))
