"""⋈ and its kin."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from compiler.ir.relation.base import Relation, require, require_unique
from compiler.ir.scalar import Col, Scalar, columns


@dataclass(frozen=True, eq=False)
class Binary(Relation):
    SCALARS = ("on",)

    left: Relation
    right: Relation
    on: Scalar

    def __post_init__(self) -> None:
        require_unique(type(self).__name__.lower(), self.left.names + self.right.names)
        require(type(self).__name__.lower(), columns(self.on), self.left, self.right)

    @cached_property
    def schema(self) -> tuple[Col, ...]:
        return self.left.schema + self.right.schema

    @property
    def inputs(self) -> tuple[Relation, ...]:
        return (self.left, self.right)

    def rebuild(self, inputs: tuple[Relation, ...]) -> Relation:
        return replace(self, left=inputs[0], right=inputs[1])


@dataclass(frozen=True, eq=False)
class Join(Binary):
    """⋈: pairs for which `on` is true; weights multiply."""


@dataclass(frozen=True, eq=False)
class LeftJoin(Binary):
    """⟕: pairs, and every left row without a partner padded with NULLs. Linear in the left side."""


@dataclass(frozen=True, eq=False)
class Semi(Binary):
    """⋉ (or ▷ when `anti`): left rows that have (have no) partner on the right. Linear in the left side."""

    anti: bool = False

    @property
    def schema(self) -> tuple[Col, ...]:
        return self.left.schema


@dataclass(frozen=True, eq=False)
class Apply(Binary):
    """LATERAL: for each left row, the right side with its `Outer` columns bound to it; none after normalization.
    `outer`: a left row without any is padded with NULLs."""

    outer: bool = False
