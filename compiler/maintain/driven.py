"""Joins of a program begin with what the batch bounds: (F ⋈ M) ⋈ Δ is (F ⋈ Δ) ⋈ M where the conditions say how."""

from __future__ import annotations

from collections.abc import Callable

from compiler.delta.restrict import equalities
from compiler.ir.relation import Join, Keys, Project, Relation, Semi, State, Union, transform, walk
from compiler.ir.scalar import Scalar, columns, conj, conjuncts, substitute
from compiler.maintain.little import driving

Reads = Callable[[Relation], bool]


def little_first(r: Relation, large: Reads) -> Relation:
    """The same relation. What is `large` is met last, by the few rows that the others leave; what a projection of Δ
    computes is computed for these alone."""

    def one(n: Relation) -> Relation:
        if not isinstance(n, Join) or not driving(n.right) or not isinstance(n.left, Join) or driving(n.left):
            return n
        for f, m in ((n.left.left, n.left.right), (n.left.right, n.left.left)):
            if large(m) and not large(f) and equalities(n.on, f, n.right):
                return _begun(n, f, m, conjuncts(n.left.on))
        return n

    return transform(r, one)


def _begun(n: Join, f: Relation, m: Relation, meets: list[Scalar]) -> Relation:
    """n, a join of f ⋈ m and Δ, as one of f ⋈ Δ and m, which is joined by the conditions `meets`."""
    here = {*f.names, *n.right.names}
    first = [c for c in conjuncts(n.on) if columns(c) <= here]
    rest = [c for c in conjuncts(n.on) if c not in first]
    delta = n.right
    if isinstance(delta, Project) and not {*delta.input.names} & {*f.names}:
        computed = dict(delta.exprs)
        few: Relation = Join(f, delta.input, conj([substitute(c, computed) for c in first]))
        few = Project(few, (*((c.name, c) for c in f.schema), *delta.exprs))
    else:
        few = Join(f, delta, conj(first))
    return Project(Join(few, m, conj([*meets, *rest])), tuple((c.name, c) for c in n.schema))


def keys_first(r: Relation) -> Relation:
    """The same relation. A state as it is after the batch is put together of the groups that are read."""

    def one(n: Relation) -> Relation:
        if not isinstance(n, Semi) or n.anti or not isinstance(n.right, Keys):
            return n
        inner = n.left
        while isinstance(inner, Project):
            inner = inner.input
        if not isinstance(inner, Union) or not any(isinstance(x, State) for x in walk(inner)):
            return n
        return _cut(n.left, n, {c.name: c for c in n.left.schema})

    return transform(r, one)


def _cut(r: Relation, by: Semi, names: dict[str, Scalar]) -> Relation:
    """r's rows that the semi join keeps, whose columns are `names` there: cut below what puts r together."""
    if isinstance(r, Project):
        exprs = dict(r.exprs)
        return r.rebuild((_cut(r.input, by, {n: substitute(e, exprs) for n, e in names.items()}),))
    if isinstance(r, Union):
        columns_of: list[dict[str, Scalar]] = [
            {a.name: b for a, b in zip(r.schema, p.schema, strict=True)} for p in r.parts
        ]
        parts = zip(r.parts, columns_of, strict=True)
        return Union(tuple(_cut(p, by, {n: substitute(e, of) for n, e in names.items()}) for p, of in parts))
    if isinstance(r, Semi):
        return r.rebuild((_cut(r.left, by, names), r.right))
    return Semi(r, by.right, substitute(by.on, names))
