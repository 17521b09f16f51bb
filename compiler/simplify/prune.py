"""Columns nobody reads are not computed, grouped or carried. Names and answers never change."""

from __future__ import annotations

from dataclasses import replace

from compiler.ir.relation import (
    Agg,
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
    Union,
    Weigh,
)
from compiler.ir.scalar import Scalar, columns


def prune(r: Relation) -> Relation:
    """The same relation, reading no more than it needs. What is used twice stays one: it keeps what either use
    reads."""
    order = _readers_first(r)
    need = _needed(r, order)
    done: dict[Relation, Relation] = {}
    for n in reversed(order):
        done[n] = _cut(n, need[n], tuple(done[i] for i in n.inputs))
    return done[r]


def columns_read(r: Relation) -> dict[str, set[str]]:
    """Of each table, the columns that the relation reads."""
    out: dict[str, set[str]] = {}
    for n, names in leaves_read(r).items():
        if isinstance(n, Scan):
            out.setdefault(n.table, set()).update(names)
    return out


def leaves_read(r: Relation) -> dict[Relation, set[str]]:
    """Of each relation that reads no other, the columns that are read."""
    order = _readers_first(r)
    need = _needed(r, order)
    return {n: need[n] for n in order if not n.inputs}


def _needed(r: Relation, order: list[Relation]) -> dict[Relation, set[str]]:
    """Of every relation below, the columns that some reader of it needs."""
    need: dict[Relation, set[str]] = {r: set(r.names)}
    for n in order:
        for i, names in zip(n.inputs, _wanted(n, need[n]), strict=True):
            need.setdefault(i, set()).update(names)
    return need


def _readers_first(r: Relation) -> list[Relation]:
    """Every relation once, after all that read it."""
    out: list[Relation] = []
    seen: set[Relation] = set()

    def go(n: Relation) -> None:
        if n not in seen:
            seen.add(n)
            for i in n.inputs:
                go(i)
            out.append(n)

    go(r)
    return out[::-1]


def _wanted(r: Relation, need: set[str]) -> list[set[str]]:
    """The columns that r reads of each input to give the columns `need`."""
    if isinstance(r, Project):
        return [columns(*(e for _, e in _kept(r, need)))]
    if isinstance(r, Filter):
        return [need | columns(r.predicate)]
    if isinstance(r, Weigh):
        return [need | columns(r.by)]
    if isinstance(r, Join | LeftJoin):
        want = need | columns(r.on)
        return [want & set(r.left.names), want & set(r.right.names)]
    if isinstance(r, Semi):
        on = columns(r.on)
        return [(need | on) & set(r.left.names), on & set(r.right.names)]
    if isinstance(r, Union):
        return [{p.names[i] for i in _places(r, need)} for p in r.parts]
    if isinstance(r, Aggregate):
        return [columns(*(e for _, e in r.keys), *(s for _, a in _aggs(r, need) for s in a.scalars))]
    if isinstance(r, Keys):
        return [columns(*(e for _, e in r.exprs))]
    if isinstance(r, Net) and r.within is not None:
        return [need | {*r.within}]
    return [set(i.names) for i in r.inputs]


def _kept(r: Project, need: set[str]) -> tuple[tuple[str, Scalar], ...]:
    return tuple((n, e) for n, e in r.exprs if n in need) or r.exprs[:1]


def _places(r: Union, need: set[str]) -> list[int]:
    return [i for i, n in enumerate(r.names) if n in need] or [0][: len(r.names)]


def _aggs(r: Aggregate, need: set[str]) -> tuple[tuple[str, Agg], ...]:
    return tuple((n, a) for n, a in r.aggs if n in need) if r.keys or not r.aggs else r.aggs


def _cut(r: Relation, need: set[str], inputs: tuple[Relation, ...]) -> Relation:
    """r over inputs that are cut already, with at least the columns `need`, in their order."""
    if isinstance(r, Project):
        return Project(inputs[0], _kept(r, need))
    if isinstance(r, Union):
        places = _places(r, need)
        return Union(tuple(_exactly(i, [p.names[x] for x in places]) for p, i in zip(r.parts, inputs, strict=True)))
    if isinstance(r, Aggregate):
        return replace(r, input=inputs[0], aggs=_aggs(r, need))
    if isinstance(r, Net) and r.within is not None:
        return r.rebuild((_exactly(inputs[0], [n for n in r.names if n in need or n in r.within]),))
    if isinstance(r, Scan | State | Temp) and need < set(r.names):
        return Project(
            r, tuple((c.name, c) for c in r.schema if c.name in need) or tuple((c.name, c) for c in r.schema[:1])
        )
    return r.rebuild(inputs) if inputs else r


def _exactly(r: Relation, names: list[str]) -> Relation:
    return r if list(r.names) == names else Project(r, tuple((n, r.col(n)) for n in names))
