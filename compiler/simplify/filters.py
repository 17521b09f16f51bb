"""σ moves towards the scans: through π, ⋈, ⟕ (left), ⋉, +, γ and window keys. Answers never change.

A ⟕ whose unmatched rows a condition drops is a ⋈. What ⟕ and ⋉ ask of their right side alone is a σ of it.
"""

from __future__ import annotations

from dataclasses import replace

from compiler.ir.relation import (
    Aggregate,
    Filter,
    Join,
    LeftJoin,
    Project,
    Relation,
    Semi,
    Union,
    Window,
    transform,
)
from compiler.ir.scalar import TRUE, Call, Col, Scalar, columns, conj, conjuncts, substitute
from compiler.ir.scalar import walk as walk_scalar
from compiler.temporal import reads_time

COMPARISONS = ("=", "<>", "<", "<=", ">", ">=")
TEXTS = ("text", "varchar", "bpchar")
DIGITS = {"int2": 5, "int4": 10, "int8": 19}


def push_filters(r: Relation) -> Relation:
    return transform(r, lambda n: _place(n.input, conjuncts(n.predicate)) if isinstance(n, Filter) else _join(n))


def _join(n: Relation) -> Relation:
    if isinstance(n, Join | LeftJoin | Semi) and n.on != TRUE and not reads_time(n.on):
        return _into_join(n, []) if isinstance(n, Join) else _into_partners(n)
    return n


def _place(r: Relation, parts: list[Scalar]) -> Relation:
    """σ_parts(r) with every part as deep as it may go."""
    if not parts:
        return r
    moving = [p for p in parts if reads_time(p)]
    if moving:  # what does not read the time is maintained: keep what does as high as it is
        return _keep(_place(r, [p for p in parts if p not in moving]), moving)
    if isinstance(r, Filter):
        return _place(r.input, conjuncts(r.predicate) + parts)
    if isinstance(r, Project):
        exprs = dict(r.exprs)
        down = [p for p in parts if all(isinstance(exprs[c], Col) for c in columns(p))]
        inner = _place(r.input, [substitute(p, exprs) for p in down])
        return _keep(Project(inner, r.exprs) if down else r, [p for p in parts if p not in down])
    if isinstance(r, Join):
        return _into_join(r, parts)
    if isinstance(r, LeftJoin) and not reads_time(r.on) and any(_drops_nulls(p, set(r.right.names)) for p in parts):
        return _into_join(Join(r.left, r.right, r.on), parts)
    if isinstance(r, LeftJoin | Semi):
        down = [p for p in parts if columns(p) <= set(r.left.names)]
        rest = [p for p in parts if p not in down]
        return _keep(r.rebuild((_place(r.left, down), r.right)), rest)
    if isinstance(r, Union):
        out = []
        for q in r.parts:
            mapping: dict[str, Scalar] = {a.name: b for a, b in zip(r.schema, q.schema, strict=True)}
            out.append(_place(q, [substitute(p, mapping) for p in parts]))
        return Union(tuple(out))
    if isinstance(r, Aggregate) and r.keys:
        keys = dict(r.keys)
        down = [p for p in parts if columns(p) and columns(p) <= set(keys)]
        if down:
            inner = Aggregate(_place(r.input, [substitute(p, keys) for p in down]), r.keys, r.aggs)
            return _keep(inner, [p for p in parts if p not in down])
    if isinstance(r, Window):
        names = {p.name for p in r.partition if isinstance(p, Col)}
        down = [p for p in parts if columns(p) and columns(p) <= names]
        if down:
            return _keep(r.rebuild((_place(r.input, down),)), [p for p in parts if p not in down])
    return _keep(r, parts)


def _into_join(r: Join, parts: list[Scalar]) -> Relation:
    every = conjuncts(r.on) + parts
    left = [p for p in every if columns(p) and columns(p) <= set(r.left.names) and safe(p)]
    right = [p for p in every if columns(p) and columns(p) <= set(r.right.names) and safe(p)]
    rest = [p for p in every if p not in left and p not in right]
    return Join(_place(r.left, left), _place(r.right, right), conj(rest))


def _into_partners(r: LeftJoin | Semi) -> Relation:
    """Rows of the right side that can be nobody's partners are dropped before."""
    every = conjuncts(r.on)
    down = [p for p in every if columns(p) and columns(p) <= set(r.right.names) and safe(p)]
    if not down:
        return r
    return replace(r, right=_place(r.right, down), on=conj([p for p in every if p not in down]))


def _drops_nulls(p: Scalar, names: set[str]) -> bool:
    """Whether the condition cannot hold where these columns are NULL."""
    if not isinstance(p, Call):
        return False
    if p.fn == "not":
        inner = p.args[0]
        return isinstance(inner, Call) and inner.fn == "is_null" and _is_null_with(inner.args[0], names)
    return p.fn in COMPARISONS and any(_is_null_with(a, names) for a in p.args)


def _is_null_with(e: Scalar, names: set[str]) -> bool:
    """Whether the value is NULL where these columns are."""
    if isinstance(e, Col):
        return e.name in names
    return isinstance(e, Call) and e.fn in ("+", "-", "*", "cast") and any(_is_null_with(a, names) for a in e.args)


def safe(p: Scalar) -> bool:
    """Whether it cannot fail on rows the join would have removed."""
    return not any(isinstance(x, Call) and x.fn in ("/", "%", "cast") and not _widens(x) for x in walk_scalar(p))


def _widens(e: Call) -> bool:
    """Whether it is a cast to a type that has each of the values."""
    if e.fn != "cast":
        return False
    of, to = e.args[0].type, e.type
    if of.name in TEXTS:
        return to.name == "text"
    if of.name not in DIGITS:
        return False
    if to.name == "numeric":
        return to.precision is None or to.precision - (to.scale or 0) >= DIGITS[of.name]
    return DIGITS.get(to.name, 0) >= DIGITS[of.name] or to.name == "float8"


def _keep(r: Relation, parts: list[Scalar]) -> Relation:
    return Filter(r, conj(parts)) if parts else r
