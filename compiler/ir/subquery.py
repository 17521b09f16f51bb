"""A subquery within an expression: what scalars and relations have in common before subqueries are unnested."""

from __future__ import annotations

from dataclasses import dataclass, replace

from compiler.ir.relation import Relation
from compiler.ir.scalar import Scalar
from compiler.ir.types import Type


@dataclass(frozen=True, slots=True)
class Sub(Scalar):
    """A subquery in an expression; none is left after normalization.

    `kind` is scalar, exists or any; for `any`, `args` are the left operands and `op` compares them with the
    subquery's columns (`x = ANY (q)` is IN). `query` may hold `Outer` columns.
    """

    kind: str
    query: Relation
    args: tuple[Scalar, ...]
    op: str
    type: Type

    @property
    def children(self) -> tuple[Scalar, ...]:
        return self.args

    def rebuild(self, children: tuple[Scalar, ...]) -> Scalar:
        return replace(self, args=children)
