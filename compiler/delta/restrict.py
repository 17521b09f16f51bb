"""restrict(q, K): the rows of q whose key is in K, with the restriction pushed to the scans it came from.

DBToaster calls this domain extraction (section 3.2.2), Noria key provenance. A restriction that cannot go deeper
stays where it is, as a semi join: the answer is the same, only the work differs.
"""

from __future__ import annotations

from compiler.ir.relation import (
    Aggregate,
    Filter,
    Join,
    Keys,
    LeftJoin,
    Project,
    Relation,
    Semi,
    TopK,
    Union,
    Unnest,
    Weigh,
    Window,
)
from compiler.ir.scalar import Call, Col, Scalar, columns, conj, conjuncts, same, substitute

Pairs = list[tuple[Scalar, Col]]  # expression over the relation, column of the keys


def restrict(r: Relation, keys: Relation, pairs: Pairs) -> Relation:
    """q ⋉ K on pairwise null-safe equality; with no pairs, q itself."""
    if not pairs:
        return r
    if isinstance(r, Project):
        exprs = dict(r.exprs)
        return Project(restrict(r.input, keys, [(substitute(e, exprs), k) for e, k in pairs]), r.exprs)
    if isinstance(r, Filter | Weigh):
        return r.rebuild((restrict(r.input, keys, pairs),))
    if isinstance(r, Join):
        return _join(r, keys, pairs)
    if isinstance(r, LeftJoin | Semi):
        return _left(r, keys, pairs)
    if isinstance(r, Union):
        return Union(
            tuple(
                restrict(
                    p,
                    keys,
                    [
                        (substitute(e, {a.name: b for a, b in zip(r.schema, p.schema, strict=True)}), k)
                        for e, k in pairs
                    ],
                )
                for p in r.parts
            )
        )
    if isinstance(r, Aggregate):
        return _through(r, keys, pairs, dict(r.keys))
    if isinstance(r, Window | TopK):
        return _through(r, keys, pairs, {p.name: p for p in r.partition if isinstance(p, Col)})
    if isinstance(r, Unnest):
        return _through(r, keys, pairs, {c.name: c for c in r.input.schema})
    return semi(r, keys, pairs)


def semi(r: Relation, keys: Relation, pairs: Pairs) -> Relation:
    return Semi(r, keys, conj([same(e, k) for e, k in pairs])) if pairs else r


def _through(r: Relation, keys: Relation, pairs: Pairs, passing: dict[str, Scalar]) -> Relation:
    """Pairs over passing columns go below the operator; the rest stays above it."""
    down = [(e, k) for e, k in pairs if columns(e) and columns(e) <= set(passing)]
    rest = [p for p in pairs if p not in down]
    (child,) = r.inputs
    new = r.rebuild((restrict(child, keys, [(substitute(e, passing), k) for e, k in down]),)) if down else r
    return semi(new, keys, rest)


def equalities(on: Scalar, left: Relation, right: Relation) -> list[tuple[Scalar, Scalar]]:
    """Pairs (expression of left, expression of right) that `on` requires to be equal."""
    out = []
    for c in conjuncts(on):
        if isinstance(c, Call) and c.fn in ("=", "same"):
            for a, b in (c.args, c.args[::-1]):
                if columns(a) and columns(b) and columns(a) <= set(left.names) and columns(b) <= set(right.names):
                    out.append((a, b))
                    break
    return out


def _join(r: Join, keys: Relation, pairs: Pairs) -> Relation:
    eq = equalities(r.on, r.left, r.right)
    to_right, to_left = {a: b for a, b in eq}, {b: a for a, b in eq}
    lnames, rnames = set(r.left.names), set(r.right.names)
    lp: Pairs = []
    rp: Pairs = []
    rest: Pairs = []
    for e, k in pairs:
        if columns(e) <= lnames:
            lp.append((e, k))
            if e in to_right:
                rp.append((to_right[e], k))
        elif columns(e) <= rnames:
            rp.append((e, k))
            if e in to_left:
                lp.append((to_left[e], k))
        else:
            rest.append((e, k))
    new: Relation = Join(restrict(r.left, keys, lp), restrict(r.right, keys, rp), r.on)
    whole = not rest and (len(lp) == len(pairs) or len(rp) == len(pairs))
    return new if whole else semi(new, keys, pairs)


def _left(r: LeftJoin | Semi, keys: Relation, pairs: Pairs) -> Relation:
    lnames = set(r.left.names)
    lp = [(e, k) for e, k in pairs if columns(e) <= lnames]
    eq = dict(equalities(r.on, r.left, r.right))
    rp = [(eq[e], k) for e, k in lp if e in eq]
    new = r.rebuild((restrict(r.left, keys, lp), restrict(r.right, keys, rp)))
    return new if len(lp) == len(pairs) else semi(new, keys, pairs)


def keys_of(r: Relation, exprs: list[Scalar]) -> tuple[Keys, list[Col]]:
    """K = δ(π_exprs |r|) and its columns."""
    named = tuple((f"_k{i}", e) for i, e in enumerate(exprs))
    return Keys(r, named), [Col(n, e.type) for n, e in named]
