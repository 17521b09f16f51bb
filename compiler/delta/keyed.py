"""Operators that can be recomputed one key at a time: Δq(R) = q(R⁺⋉K) − q(R⁻⋉K), K = δ(π_K |ΔR|).

The absolute value in K matters: an UPDATE that leaves the key alone cancels to weight 0 under π_K, and the group
would be missed.
"""

from __future__ import annotations

from dataclasses import replace

from compiler.delta.bilinear import only_keys
from compiler.delta.linear import plus
from compiler.delta.restrict import equalities, keys_of, restrict
from compiler.delta.times import after, before
from compiler.ir.relation import (
    Aggregate,
    Fixpoint,
    LeftJoin,
    Relation,
    Scan,
    Semi,
    TopK,
    Weigh,
    Window,
    is_empty,
    walk,
)
from compiler.ir.scalar import Col, Lit, Scalar, columns, substitute
from compiler.ir.types import INT4

MINUS_ONE = Lit(-1, INT4)


def negative(r: Relation) -> Relation:
    return Weigh(r, MINUS_ONE)


def aggregate(q: Aggregate, delta: Relation) -> Relation:
    """Δγ_k(R) = γ_k(R⁺⋉K) − γ_k(R⁻⋉K)."""
    return _difference(q, [e for _, e in q.keys], delta)


def partitioned(q: Window | TopK, delta: Relation) -> Relation:
    """The same with K the PARTITION BY; without one the whole is one key, computed from the rows kept for it."""
    return _difference(q, list(q.partition), delta)


def has_key(q: Aggregate | Window | TopK) -> bool:
    """Whether less than all of an operator is computed again: by its key, or, where it has none, over rows that are
    kept for it."""
    if isinstance(q, Aggregate):
        return bool(q.keys)
    return bool(q.partition) or not any(isinstance(n, Scan) for n in walk(q.input))


def _difference(q: Aggregate | Window | TopK, exprs: list[Scalar], d: Relation) -> Relation:
    if is_empty(d):
        return d
    keys, cols = keys_of(d, exprs)
    pairs = list(zip(exprs, cols, strict=True))

    def at(time_of) -> Relation:  # type: ignore[no-untyped-def]
        return q.rebuild((restrict(time_of(q.input), keys, pairs),))

    return plus(q, [at(after), negative(at(before))])


def outer(q: LeftJoin | Semi, dl: Relation, dr: Relation) -> Relation:
    """Δ(L ⟕ R) = ΔL ⟕ R⁺ + A ⟕ R⁺ − A ⟕ R⁻, where A is the part of L⁻ that meets a changed row of R."""
    pairs = equalities(q.on, q.left, q.right)
    terms: list[Relation] = []
    if not is_empty(dl):
        terms.append(replace(q, left=dl, right=only_keys(after(q.right), dl, [(b, a) for a, b in pairs])))
    if not is_empty(dr):
        touched = meeting(q, before(q.left), dr, pairs)
        right = {}
        for name, time in (("after", after), ("before", before)):
            right[name] = only_keys(time(q.right), dr, [(b, b) for _, b in pairs])
        terms.append(replace(q, left=touched, right=right["after"]))
        terms.append(negative(replace(q, left=touched, right=right["before"])))
    return plus(q, terms)


def meeting(q: LeftJoin | Semi, left: Relation, dr: Relation, pairs: list[tuple[Scalar, Scalar]]) -> Relation:
    """The left rows that join any changed right row."""
    if pairs:
        keys, cols = keys_of(dr, [b for _, b in pairs])
        return restrict(left, keys, [(a, k) for (a, _), k in zip(pairs, cols, strict=True)])
    used = [c for c in dr.schema if c.name in columns(q.on)]
    if not used:
        keys, _ = keys_of(dr, [Lit(1, INT4)])
        return Semi(left, keys, Lit(True, q.on.type))
    keys, cols = keys_of(dr, list(used))
    mapping: dict[str, Scalar] = {c.name: Col(k.name, k.type) for c, k in zip(used, cols, strict=True)}
    return Semi(left, keys, substitute(q.on, mapping))


def whole(q: Fixpoint) -> Relation:
    """A recursive query is computed again, before and after."""
    return plus(q, [after(q), negative(before(q))])
