"""Δ: what a batch adds to and takes from a relation, rule by rule.

A rule is a function of an operator and the Δ of each of its inputs. It satisfies evaluate(Δq) = evaluate(q⁺) −
evaluate(q⁻): tests/compiler/delta checks it on random queries. Linear rules are in `linear`, the bilinear one in
`bilinear`, and those that recompute affected keys in `keyed`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from compiler.delta import bilinear, keyed, linear
from compiler.ir.relation import (
    Aggregate,
    Filter,
    Fixpoint,
    Join,
    LeftJoin,
    Net,
    Project,
    Recur,
    Relation,
    Scan,
    Semi,
    State,
    Temp,
    TopK,
    Union,
    Unnest,
    Values,
    Weigh,
    Window,
    empty,
)


@dataclass
class Deltas:
    """Δ for a batch that changes `changed` (names of tables and states)."""

    changed: frozenset[str]
    used: set[str] = field(default_factory=set)  # rules applied: linear, bilinear, keyed, whole
    memo: dict[Relation, Relation] = field(default_factory=dict)

    def delta(self, r: Relation) -> Relation:
        """Δr, the empty relation where nothing it reads has changed."""
        if r not in self.memo:
            self.memo[r] = self._of(r) if self.moves(r) else empty(r)
        return self.memo[r]

    def moves(self, r: Relation) -> bool:
        if isinstance(r, Scan):
            return r.table in self.changed
        if isinstance(r, State):
            return r.name in self.changed
        return any(self.moves(i) for i in r.inputs)

    def _of(self, r: Relation) -> Relation:
        self.used |= {kind} if (kind := kind_of(r)) else set()
        match r:
            case Scan() | State():
                return replace(r, at="delta")
            case Project() | Filter() | Weigh() | Unnest() | Net():
                return linear.unary(r, self.delta(r.input))
            case Union():
                return linear.union(r, *map(self.delta, r.parts))
            case Join():
                return bilinear.join(r, self.delta(r.left), self.delta(r.right))
            case LeftJoin() | Semi():
                return keyed.outer(r, self.delta(r.left), self.delta(r.right))
            case Aggregate():
                return keyed.aggregate(r, self.delta(r.input))
            case Window() | TopK():
                return keyed.partitioned(r, self.delta(r.input))
            case Fixpoint():
                return keyed.whole(r)
            case Values() | Recur() | Temp():
                return empty(r)
        raise TypeError(f"no delta rule for {type(r).__name__}")


def kind_of(r: Relation) -> str:
    """How Δ of an operator is made: linear, bilinear, keyed (its keys are computed again) or whole; '' of what only
    is read."""
    match r:
        case Project() | Filter() | Weigh() | Unnest() | Net() | Union():
            return "linear"
        case Join():
            return "bilinear"
        case LeftJoin() | Semi():
            return "keyed"
        case Aggregate() | Window() | TopK():
            return "keyed" if keyed.has_key(r) else "whole"
        case Fixpoint():
            return "whole"
    return ""
