"""How many rows a change of an input makes on its way into a state, and how many rows are handled for it.

Inserted, updated and deleted rows are told apart: an update that reaches a filter may come out as an insert, and one
that reaches a group is one whatever it was ("Thrifty Query Execution via Incrementability", section 3.1).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import reduce
from operator import add

from compiler.delta.restrict import equalities
from compiler.ir.relation import (
    Aggregate,
    Filter,
    Fixpoint,
    Join,
    LeftJoin,
    Net,
    Project,
    Relation,
    Scan,
    Semi,
    State,
    TopK,
    Union,
    Unnest,
    Values,
    Weigh,
    Window,
)
from compiler.ir.scalar import Call, Col, Scalar, columns, conjuncts

EQUAL, OTHER = 0.1, 0.33  # share of rows for which a condition on one value, or another condition, is true
ITEMS = 3.0  # rows that an Unnest makes of one
UNKNOWN = 0.75  # distinct values of a column of n rows: n to this power


@dataclass(frozen=True)
class Amounts:
    """Rows of a change."""

    inserts: float = 0.0
    updates: float = 0.0
    deletes: float = 0.0

    def __add__(self, other: Amounts) -> Amounts:
        return Amounts(self.inserts + other.inserts, self.updates + other.updates, self.deletes + other.deletes)

    def __mul__(self, by: float) -> Amounts:
        return Amounts(self.inserts * by, self.updates * by, self.deletes * by)

    @property
    def rows(self) -> float:
        """With signed weights: an update is two."""
        return self.inserts + 2 * self.updates + self.deletes

    @property
    def changed(self) -> float:
        return self.inserts + self.updates + self.deletes


NONE = Amounts()


@dataclass(frozen=True)
class Flow:
    """What leaves an operator, and the rows that were handled up to there."""

    out: Amounts
    work: float


@dataclass
class Sizes:
    """Rows of tables (schema-qualified) and states."""

    rows: Mapping[str, float]
    memo: dict[Relation, float] = field(default_factory=dict)

    def estimate(self, r: Relation) -> float:
        """Rows of a relation, as estimated."""
        if r not in self.memo:
            self.memo[r] = max(self._estimate(r), 1.0)
        return self.memo[r]

    def _estimate(self, r: Relation) -> float:
        match r:
            case Scan():
                return self.rows.get(r.table, 1_000.0)
            case State():
                return self.rows.get(r.name, 1_000.0)
            case Values():
                return float(len(r.rows))
            case Filter():
                return self.estimate(r.input) * self.share(r.input, r.predicate)
            case Join():
                return self.estimate(r.left) * self.partners(r.left, r.right, r.on)
            case LeftJoin():
                return self.estimate(r.left) * max(self.partners(r.left, r.right, r.on), 1.0)
            case Semi():
                met = min(self.partners(r.left, r.right, r.on), 1.0) * 0.9
                return self.estimate(r.left) * (1 - met if r.anti else met)
            case Union():
                return sum(map(self.estimate, r.parts))
            case Aggregate():
                return self.groups(r.input, [e for _, e in r.keys])
            case TopK():
                return min(self.estimate(r.input), float(r.limit or 0) * self.groups(r.input, list(r.partition)))
            case Unnest():
                return self.estimate(r.input) * ITEMS
            case Fixpoint():
                return self.estimate(r.base) * ITEMS
        return self.estimate(r.inputs[0]) if r.inputs else 1_000.0

    def values(self, r: Relation, e: Scalar) -> float:
        """Distinct values of an expression over a relation."""
        if not isinstance(e, Col):
            return self.groups(r, [Col(c, e.type) for c in sorted(columns(e))]) if columns(e) else 1.0
        n = self.estimate(r)
        below = self._below(r, e)
        if below is not None:
            return min(self.values(*below), n)
        alone = isinstance(r, Scan | State) and r.key == (e.name,)
        return n if alone else float(n**UNKNOWN)

    def _below(self, r: Relation, e: Col) -> tuple[Relation, Scalar] | None:
        """The input, and the expression over it, that a column is."""
        if isinstance(r, Project | Aggregate):
            computed = dict(r.exprs if isinstance(r, Project) else r.keys)
            return (r.input, computed[e.name]) if e.name in computed else None
        return next(((i, e) for i in r.inputs if e.name in i.names), None)

    def groups(self, r: Relation, keys: list[Scalar]) -> float:
        n = self.estimate(r)
        return min(reduce(lambda a, b: a * b, (self.values(r, e) for e in keys), 1.0), n)

    def share(self, r: Relation, predicate: Scalar) -> float:
        """Of rows, those for which a condition is true."""
        out = 1.0
        for c in conjuncts(predicate):
            out *= EQUAL if isinstance(c, Call) and c.fn in ("=", "same") else OTHER
        return out

    def partners(self, left: Relation, right: Relation, on: Scalar) -> float:
        """Rows of the right side that a row of the left meets."""
        equal = equalities(on, left, right)
        found = self.estimate(right)
        for a, b in equal:
            found /= max(self.values(left, a), self.values(right, b), 1.0)
        others = len(list(conjuncts(on))) - len(equal)
        return found * OTHER ** max(others, 0)


class Estimator:
    """Flows of changes of one input through relations."""

    def __init__(self, sizes: Sizes, source: str) -> None:
        self.sizes, self.source = sizes, source

    def flow(self, r: Relation, n: Amounts) -> Flow:
        """What becomes of `n` changed rows of the source."""
        match r:
            case Scan():
                return Flow(n, n.rows) if r.table == self.source else Flow(NONE, 0.0)
            case State():
                return Flow(n, n.rows) if r.name == self.source else Flow(NONE, 0.0)
            case Filter():
                return self._filter(r, self.flow(r.input, n))
            case Join():
                return self._join(r, n)
            case LeftJoin() | Semi():
                return self._outer(r, n)
            case Union():
                flows = [self.flow(p, n) for p in r.parts]
                return Flow(reduce(add, (f.out for f in flows), NONE), sum(f.work for f in flows))
            case Unnest():
                f = self.flow(r.input, n)
                return Flow(f.out * ITEMS, f.work + f.out.rows * ITEMS)
            case Aggregate():
                return self._again(r.input, [e for _, e in r.keys], self.flow(r.input, n), 1.0)
            case Window() | TopK():
                f = self.flow(r.input, n)
                size = self.sizes.estimate(r.input) / max(self.sizes.groups(r.input, list(r.partition)), 1.0)
                return self._again(
                    r.input, list(r.partition), f, min(size, r.limit or size) if isinstance(r, TopK) else size
                )
            case Fixpoint():
                f = self.flow(r.base, n)
                met = f.out + self.flow(r.step, n).out
                return Flow(met * ITEMS, f.work + self.sizes.estimate(r)) if met.changed else Flow(NONE, 0.0)
            case Project() | Weigh() | Net():
                return self.flow(r.inputs[0], n)
        return Flow(NONE, 0.0)

    def _filter(self, r: Filter, f: Flow) -> Flow:
        s = self.sizes.share(r.input, r.predicate)
        crossing = f.out.updates * s * (1 - s)
        out = Amounts(f.out.inserts * s + crossing, f.out.updates * s * s, f.out.deletes * s + crossing)
        return Flow(out, f.work + f.out.rows)

    def _join(self, r: Join, n: Amounts) -> Flow:
        out, work = NONE, 0.0
        for side, other in ((r.left, r.right), (r.right, r.left)):
            f = self.flow(side, n)
            joined = f.out * self.sizes.partners(side, other, r.on)
            out, work = out + joined, work + f.work + f.out.rows + joined.rows
        return Flow(out, work)

    def _outer(self, r: LeftJoin | Semi, n: Amounts) -> Flow:
        """A changed row of the right side makes the left rows anew that it meets."""
        left, right = self.flow(r.left, n), self.flow(r.right, n)
        met = self.sizes.partners(r.left, r.right, r.on)
        kept = max(met, 1.0) if isinstance(r, LeftJoin) else min(met, 1.0)
        pairs = left.out * kept
        anew = right.out.changed * self.sizes.partners(r.right, r.left, r.on)
        moved = anew if isinstance(r, LeftJoin) else anew * min(1.0 / max(met, 1.0), 1.0)
        out = pairs + Amounts(updates=moved) if isinstance(r, LeftJoin) else pairs + Amounts(moved / 2, 0.0, moved / 2)
        return Flow(out, left.work + right.work + left.out.rows + pairs.rows + 2 * anew * (1 + met))

    def _again(self, r: Relation, keys: list[Scalar], f: Flow, rows: float) -> Flow:
        """Groups that change are computed again from their rows, and `rows` of each are others after it."""
        if not f.out.changed:
            return f
        groups = self.sizes.groups(r, keys)
        hit = touched(f.out.changed, groups)
        size = self.sizes.estimate(r) / groups
        return Flow(Amounts(updates=hit * rows), f.work + f.out.rows + 2 * hit * size)


def touched(n: float, groups: float) -> float:
    """Of so many groups, those that meet at least one of n rows."""
    if groups <= 1.0:
        return min(n, 1.0)
    return float(groups * (1.0 - (1.0 - 1.0 / groups) ** n))
