"""A subquery within an expression: what scalars and relations have in common before subqueries are unnested."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from compiler.ir.relation import Relation
from compiler.ir.scalar import Scalar
from compiler.ir.types import BOOL, Type


@dataclass(frozen=True, slots=True)
class Sub(Scalar):
    """A subquery in an expression; none is left after normalization. `query` may hold `Outer` columns."""

    query: Relation
    type: Type


@dataclass(frozen=True, slots=True)
class ScalarSub(Sub):
    """The value of the one column of the one row; NULL without a row."""


@dataclass(frozen=True, slots=True)
class ExistsSub(Sub):
    """Whether there is a row."""

    type: Type = field(default=BOOL, init=False)


@dataclass(frozen=True, slots=True)
class AnySub(Sub):
    """Whether `op` holds between the operands and the columns of some row (`x = ANY (q)` is IN)."""

    type: Type = field(default=BOOL, init=False)
    args: tuple[Scalar, ...]
    op: str

    @property
    def children(self) -> tuple[Scalar, ...]:
        return self.args

    def rebuild(self, children: tuple[Scalar, ...]) -> Scalar:
        return replace(self, args=children)
