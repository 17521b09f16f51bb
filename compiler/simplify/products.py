"""Inner joins in an order in which each relation meets those before it on a condition; products come last.

FROM a, b, c WHERE a.x = c.x AND c.y = b.y is a ⋈ c ⋈ b: as written it would begin with a × b, and a step that is
read twice would keep all of that.
"""

from __future__ import annotations

from collections.abc import Sequence

from compiler.ir.relation import Filter, Join, Project, Relation
from compiler.ir.scalar import Scalar, columns, conj, conjuncts


def connect_joins(r: Relation) -> Relation:
    """Trees of inner joins reordered where, as they are, one is a product that another order has not."""
    memo: dict[int, Relation] = {}

    def go(n: Relation) -> Relation:
        if id(n) not in memo:
            memo[id(n)] = _connected(n) if isinstance(n, Join) else _over(n)
        return memo[id(n)]

    def _over(n: Relation) -> Relation:
        kids = tuple(map(go, n.inputs))
        return n if all(a is b for a, b in zip(kids, n.inputs, strict=True)) else n.rebuild(kids)

    def _connected(n: Join) -> Relation:
        leaves, conditions = _flat(n)
        order = _order(leaves, conditions)
        if order == [list(range(len(leaves)))]:
            return _over(n)
        parts = [_tree([go(leaves[i]) for i in one], conditions) for one in order]
        whole = _tree(parts, conditions)
        return whole if whole.names == n.names else Project(whole, tuple((c.name, c) for c in n.schema))

    return go(r)


def connected(leaves: Sequence[Relation], conditions: Sequence[Scalar]) -> list[list[int]]:
    """Which of the relations conditions bring together, by their places: those of one group meet without a product."""
    return _order(list(leaves), list(conditions))


def joined(leaves: Sequence[Relation], conditions: Sequence[Scalar]) -> Relation:
    """The relations joined, from the first one on, each condition where its columns are first together."""
    if len(leaves) == 1:
        return Filter(leaves[0], conj(conditions)) if conditions else leaves[0]
    every = list(conditions)
    return _tree([_tree([leaves[i] for i in one], every) for one in connected(leaves, every)], every)


def _flat(r: Relation) -> tuple[list[Relation], list[Scalar]]:
    """The relations that a tree of inner joins meets, left to right, and all of its conditions."""
    if not isinstance(r, Join):
        return [r], []
    left, right = _flat(r.left), _flat(r.right)
    return [*left[0], *right[0]], [*left[1], *right[1], *conjuncts(r.on)]


def _order(leaves: list[Relation], conditions: list[Scalar]) -> list[list[int]]:
    """Groups of relations with no product within, in an order in which each meets the ones before it."""
    names = [set(r.names) for r in leaves]
    left, groups = list(range(len(leaves))), []
    while left:
        group = [left.pop(0)]
        seen = set(names[group[0]])
        while (
            found := next(
                (
                    i
                    for i in left
                    if any((c := columns(p)) & seen and c & names[i] and c <= seen | names[i] for p in conditions)
                ),
                None,
            )
        ) is not None:
            left.remove(found)
            group.append(found)
            seen |= names[found]
        groups.append(group)
    return groups


def _tree(parts: list[Relation], conditions: list[Scalar]) -> Relation:
    """Joined left to right, each condition where its columns are first together."""
    whole, done = parts[0], set(_within(parts[0]))
    for p in parts[1:]:
        done |= set(_within(p))
        both = {*whole.names, *p.names}
        here = [c for c in conditions if c not in done and columns(c) <= both]
        done |= set(here)
        whole = Join(whole, p, conj(here))
    return whole


def _within(r: Relation) -> list[Scalar]:
    return _flat(r)[1]
