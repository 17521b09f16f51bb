"""Conditions and operators of a subquery that can stand outside it."""

from __future__ import annotations

from dataclasses import dataclass, field

from compiler.ir.outers import free
from compiler.ir.parts import scalars
from compiler.ir.relation import (
    Aggregate,
    Filter,
    Project,
    Relation,
)
from compiler.ir.scalar import (
    Call,
    Col,
    Outer,
    Scalar,
    columns,
    conj,
    conjuncts,
    equal,
    same,
    walk,
)
from compiler.ir.scalar import transform as map_scalar
from compiler.ir.types import FLOATS, INTEGERS, Type
from compiler.normalize.subqueries.forms import form, value


@dataclass
class Provided:
    """Columns that carry the outer columns' values, or their forms, in a pushed relation; `strict` ones are never
    NULL."""

    cols: dict[str, Col] = field(default_factory=dict)
    strict: set[str] = field(default_factory=set)

    def bind(self, e: Scalar) -> Scalar:
        return map_scalar(
            e, lambda n: value(self.cols[n.name]) if isinstance(n, Outer) and n.name in self.cols else None
        )

    def on(self) -> list[Scalar]:
        return [(equal if f in self.strict else same)(form(Col(f, value(c).type)), c) for f, c in self.cols.items()]


def lift(q: Relation, rel: Relation) -> tuple[Relation, list[Scalar]] | None:
    """A subquery without its correlated conditions, and these as a join condition with `rel`; its own columns come
    first.

    None where columns of `rel` are used in any other way.
    """
    if isinstance(q, Project):
        got = lift(q.input, rel) if not any(isinstance(x, Outer) for _, e in q.exprs for x in walk(e)) else None
        if got is None:
            return None
        inner, on = got
        kept = [inner.col(c) for c in inner.names if c in columns(*on)]
        if {c.name for c in kept} & set(q.names):
            return None
        return Project(inner, (*q.exprs, *((c.name, c) for c in kept))), on
    if isinstance(q, Filter):
        bound = {c: Col(c, rel.col(c).type) for c in rel.names}
        parts = conjuncts(q.predicate)
        tied = [p for p in parts if any(isinstance(x, Outer) for x in walk(p))]
        if (
            free(q.input)
            or any(o.name not in bound for p in tied for o in walk(p) if isinstance(o, Outer))
            or set(q.names) & set(bound)
        ):
            return None
        rest = [p for p in parts if p not in tied]
        return (
            Filter(q.input, conj(rest)) if rest else q.input,
            [map_scalar(p, lambda x: bound[x.name] if isinstance(x, Outer) else None) for p in tied],
        )
    return None if free(q) or set(q.names) & set(rel.names) else (q, [])


ALIKE = (set(INTEGERS), {"text", "varchar"})


def tie(c: Scalar, names: tuple[str, ...]) -> tuple[Outer, Scalar] | None:
    """`outer = expression` of the inner query, either way round, where the expression's value may stand for the
    outer column's: equal numerics of two scales are not alike as text, nor are 1 day and 24 hours, 0 and -0."""
    if isinstance(c, Call) and c.fn == "=":
        for a, b in (c.args, c.args[::-1]):
            if (
                isinstance(a, Outer)
                and a.name in names
                and (_of_one_form(a.type) and a.type == b.type or any({a.type.name, b.type.name} <= k for k in ALIKE))
            ):
                return a, b
    return None


def _of_one_form(t: Type) -> bool:
    """Equal values of the type are the same value."""
    if t.element is not None:
        return t.name == "array" and _of_one_form(t.element)
    return t.name not in ("interval", "blanks", "json", "jsonb", "citext", *FLOATS)


def peel(q: Relation) -> tuple[list[Relation], Aggregate] | None:
    """(projections and filters from the top, aggregate without keys) where that is the query's form."""
    ops: list[Relation] = []
    while isinstance(q, Project | Filter):
        ops.append(q)
        q = q.input
    if isinstance(q, Aggregate) and not q.keys and q.aggs:
        return ops, q
    return None


def free_above(peeled: tuple[list[Relation], Aggregate], rel: Relation) -> bool:
    """Whether the peeled operators read columns of queries other than `rel`."""
    ops, _ = peeled
    return any(isinstance(x, Outer) and x.name not in rel.names for op in ops for s in scalars(op) for x in walk(s))


def pick_like(r: Relation, like: Relation) -> Relation:
    if r.names == like.names:
        return r
    return Project(r, tuple((c.name, c) for c in like.schema))
