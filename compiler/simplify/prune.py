"""Columns nobody reads are not computed, grouped or carried. Names and answers never change."""

from __future__ import annotations

from dataclasses import replace

from compiler.ir.relation import (
    Aggregate,
    Filter,
    Join,
    Keys,
    LeftJoin,
    Net,
    Project,
    Relation,
    Scan,
    Semi,
    State,
    Temp,
    TopK,
    Union,
    Unnest,
    Weigh,
    Window,
)
from compiler.ir.scalar import columns


def prune(r: Relation) -> Relation:
    """The same relation, reading no more than it needs."""
    return _cut(r, set(r.names))


def _cut(r: Relation, need: set[str]) -> Relation:
    """r with at least the columns `need`, in their order."""
    if isinstance(r, Project):
        exprs = tuple((n, e) for n, e in r.exprs if n in need) or r.exprs[:1]
        return Project(_cut(r.input, columns(*(e for _, e in exprs))), exprs)
    if isinstance(r, Filter):
        return Filter(_cut(r.input, need | columns(r.predicate)), r.predicate)
    if isinstance(r, Weigh):
        return Weigh(_cut(r.input, need | columns(r.by)), r.by)
    if isinstance(r, Join | LeftJoin):
        want = need | columns(r.on)
        return r.rebuild((_cut(r.left, want & set(r.left.names)), _cut(r.right, want & set(r.right.names))))
    if isinstance(r, Semi):
        on = columns(r.on)
        return r.rebuild((_cut(r.left, (need | on) & set(r.left.names)), _cut(r.right, on & set(r.right.names))))
    if isinstance(r, Union):
        places = [i for i, n in enumerate(r.names) if n in need] or [0]
        return Union(tuple(_exactly(p, [p.names[i] for i in places]) for p in r.parts))
    if isinstance(r, Aggregate):
        aggs = tuple((n, a) for n, a in r.aggs if n in need) if r.keys or not r.aggs else r.aggs
        used = columns(*(e for _, e in r.keys), *(s for _, a in aggs for s in a.scalars))
        return replace(r, input=_cut(r.input, used), aggs=aggs)
    if isinstance(r, Keys):
        return r.rebuild((_cut(r.input, columns(*(e for _, e in r.exprs))),))
    if isinstance(r, Scan | State | Temp) and need < set(r.names):
        kept = tuple((c.name, c) for c in r.schema if c.name in need) or tuple((c.name, c) for c in r.schema[:1])
        return Project(r, kept)
    if isinstance(r, Window | TopK | Net | Unnest):
        return r.rebuild((_cut(r.inputs[0], set(r.inputs[0].names)),))
    return r


def _exactly(r: Relation, names: list[str]) -> Relation:
    got = _cut(r, set(names))
    return got if list(got.names) == names else Project(got, tuple((n, got.col(n)) for n in names))
