"""WITH RECURSIVE over a state F that holds its rows: semi-naive while nothing leaves, otherwise that part alone again.

    ΔF = fix(x. ΔB + ΔS(F⁻) + S⁺(x))        where no input row leaves (for UNION: less the rows already in F⁻)
    ΔF = fix(x. B⁺ + S⁺(x)) − F⁻             otherwise

Which of the two a batch needs is decided in its own SQL: a condition empties the base of the other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from compiler.delta.keyed import negative
from compiler.delta.times import after
from compiler.ir.relation import (
    Agg,
    Aggregate,
    Filter,
    Fixpoint,
    Join,
    Net,
    Project,
    Recur,
    Relation,
    Scan,
    Semi,
    State,
    Union,
    Unnest,
    Values,
    is_empty,
    transform,
    walk,
)
from compiler.ir.scalar import TRUE, Col, Lit, conj, is_null, negate, same
from compiler.ir.types import INT4
from compiler.simplify.prune import prune
from compiler.simplify.sink import sunk

MONOTONE = (Scan, State, Values, Recur, Project, Filter, Join, Union, Unnest, Fixpoint)
ONE = Lit(1, INT4)


def grows(n: Relation) -> bool:
    """Whether an operator gives more rows, and none less, for more input rows."""
    return isinstance(n, MONOTONE) or (isinstance(n, Semi) and not n.anti)


def monotone(q: Fixpoint) -> bool:
    """Whether more input rows can only give more rows, and each round is linear in the round before."""
    once = sum(isinstance(n, Recur) for n in _occurrences(q.step)) == 1
    return once and all(map(grows, walk(q))) and not any(isinstance(n, Fixpoint) and n is not q for n in walk(q))


def apart(q: Fixpoint, keep: Callable[[Relation], Relation]) -> Fixpoint:
    """The recursion with what does not take part in it, and would keep it from growing, replaced by rows that are
    kept."""

    def cut(n: Relation) -> Relation:
        if not grows(n) and not any(isinstance(x, Recur) for x in walk(n)):
            return keep(n)
        return n.rebuild(tuple(map(cut, n.inputs))) if n.inputs else n

    return q if monotone(q) else replace(q, base=cut(q.base), step=cut(sunk(q.step)))


def _occurrences(r: Relation) -> list[Relation]:
    return [r, *(n for i in r.inputs for n in _occurrences(i))]


def fixpoint(q: Fixpoint, rows: State, delta: Callable[[Relation], Relation]) -> Relation:
    """ΔF, where `rows` is F before the batch and `delta` gives Δ of a relation."""
    name = f"{q.name}_new"
    gone = _gone(q, delta)
    extended = transform(q.step, lambda n: _as(rows, n) if isinstance(n, Recur) else n)
    start = [d for d in (delta(q.base), _named(delta(extended), q.base)) if not is_empty(d)]
    step = transform(after(q.step), lambda n: Recur(name, n.cols) if isinstance(n, Recur) else n)
    if not start:
        return Values(q.schema, ())
    first: Relation = Semi(start[0] if len(start) == 1 else Union(tuple(start)), gone, TRUE, anti=True)
    if q.distinct:
        first, step = _unknown(first, rows), _unknown(step, rows)
    grown = Fixpoint(name, first, step, q.distinct, q.ends)
    whole = Fixpoint(q.name, Semi(after(q.base), gone, TRUE), after(q.step), q.distinct, q.ends)
    return Union((grown, whole, negative(Semi(rows, gone, TRUE))))


def _as(rows: State, n: Recur) -> Relation:
    return Project(rows, tuple((a.name, b) for a, b in zip(n.schema, rows.schema, strict=True)))


def _named(r: Relation, like: Relation) -> Relation:
    return r if is_empty(r) else Project(r, tuple((a.name, b) for a, b in zip(like.schema, r.schema, strict=True)))


def _unknown(r: Relation, rows: State) -> Relation:
    """Rows that F does not hold yet."""
    reached = Project(rows, tuple((f"known_{i}", c) for i, c in enumerate(rows.schema)))
    return Semi(r, reached, conj([same(a, b) for a, b in zip(r.schema, reached.schema, strict=True)]), anti=True)


def _gone(q: Fixpoint, delta: Callable[[Relation], Relation]) -> Relation:
    """A row where any input of the recursion loses a row, in the columns that it reads."""
    parts: list[Relation] = []
    for n in walk(prune(q)):
        for leaf in n.inputs:
            if not isinstance(leaf, Scan | State) or is_empty(d := delta(leaf)):
                continue
            read = n.exprs if isinstance(n, Project) else tuple((c.name, c) for c in leaf.schema)
            cols = Project(d, tuple((f"c{i}", e) for i, (_, e) in enumerate(read)))
            lost = Aggregate(Net(cols), (), (("gone", Agg("min_out", (ONE,), INT4)),))
            part = Filter(lost, negate(is_null(Col("gone", INT4))))
            if part not in parts:
                parts.append(part)
    return parts[0] if len(parts) == 1 else Union(tuple(parts))
