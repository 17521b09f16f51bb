"""Joins: Δ(R ⋈ S) = ΔR ⋈ S⁺ + R⁻ ⋈ ΔS, so n tables give n terms."""

from __future__ import annotations

from compiler.delta.linear import plus
from compiler.delta.restrict import equalities, keys_of, restrict
from compiler.delta.times import after, before
from compiler.ir.relation import (
    Filter,
    Join,
    Project,
    Relation,
    Scan,
    State,
    Temp,
    Union,
    Values,
    is_empty,
    walk,
)
from compiler.ir.scalar import Call
from compiler.ir.scalar import walk as walk_scalar

SIMPLE = (Scan, State, Temp, Values, Project, Filter, Join, Union)


def join(q: Join, dl: Relation, dr: Relation) -> Relation:
    """Δ(R ⋈ S) = ΔR ⋈ S⁺ + R⁻ ⋈ ΔS."""
    terms: list[Relation] = []
    if not is_empty(dl):
        terms.append(
            Join(dl, only_keys(after(q.right), dl, [(b, a) for a, b in equalities(q.on, q.left, q.right)]), q.on)
        )
    if not is_empty(dr):
        terms.append(Join(only_keys(before(q.left), dr, equalities(q.on, q.left, q.right)), dr, q.on))
    return plus(q, terms)


def only_keys(whole: Relation, delta: Relation, pairs: list) -> Relation:  # type: ignore[type-arg]
    """The side that did not change, cut down to the delta's keys where an engine would not do that by itself."""
    if not pairs or all(isinstance(n, SIMPLE) and not _computes(n) for n in walk(whole)):
        return whole
    keys, cols = keys_of(delta, [d for _, d in pairs])
    return restrict(whole, keys, [(w, k) for (w, _), k in zip(pairs, cols, strict=True)])


def _computes(n: Relation) -> bool:
    """Whether a projection does work that only the delta's keys need."""
    return isinstance(n, Project) and any(
        isinstance(x, Call) and x.fn in ("case", "/") for _, e in n.exprs for x in walk_scalar(e)
    )
