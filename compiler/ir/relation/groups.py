"""γ, windows and limits."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from compiler.ir.relation.base import Named, Relation, require, require_unique
from compiler.ir.scalar import Col, Scalar, columns
from compiler.ir.types import Type


@dataclass(frozen=True, slots=True)
class Order:
    expr: Scalar
    desc: bool = False
    nulls_first: bool = False


@dataclass(frozen=True, slots=True)
class Agg:
    """An aggregate call. `filter` keeps rows for which it is true; `order` and `distinct` as in SQL."""

    fn: str
    args: tuple[Scalar, ...]
    type: Type
    filter: Scalar | None = None
    distinct: bool = False
    order: tuple[Order, ...] = ()

    @property
    def scalars(self) -> tuple[Scalar, ...]:
        return (*self.args, *([self.filter] if self.filter else []), *(o.expr for o in self.order))


@dataclass(frozen=True, eq=False)
class Aggregate(Relation):
    """γ: one row a group, NULL keys being equal; without keys, one row always."""

    SCALARS = ("keys", "aggs")

    input: Relation
    keys: tuple[Named, ...]
    aggs: tuple[tuple[str, Agg], ...]

    def __post_init__(self) -> None:
        used = columns(*(e for _, e in self.keys), *(s for _, a in self.aggs for s in a.scalars))
        require("aggregate", used, self.input)
        require_unique("aggregate", self.names)

    @cached_property
    def schema(self) -> tuple[Col, ...]:
        return tuple(Col(n, e.type) for n, e in self.keys) + tuple(Col(n, a.type) for n, a in self.aggs)

    @property
    def inputs(self) -> tuple[Relation, ...]:
        return (self.input,)

    def rebuild(self, inputs: tuple[Relation, ...]) -> Relation:
        return replace(self, input=inputs[0])


Frame = tuple[str, tuple[str, Scalar | None], tuple[str, Scalar | None], str] | None


@dataclass(frozen=True, slots=True)
class WindowCall:
    """A window function; `frame` is (unit, start, end, exclude) with bounds as ("preceding", scalar) etc., or None."""

    fn: str
    args: tuple[Scalar, ...]
    type: Type
    order: tuple[Order, ...] = ()
    frame: Frame = None
    filter: Scalar | None = None

    @property
    def scalars(self) -> tuple[Scalar, ...]:
        bounds = [by for _, by in self.frame[1:3] if by is not None] if self.frame else []
        return (*self.args, *([self.filter] if self.filter else []), *(o.expr for o in self.order), *bounds)


@dataclass(frozen=True, eq=False)
class Window(Relation):
    """Input columns and window functions over one PARTITION BY."""

    SCALARS = ("partition", "calls")

    input: Relation
    partition: tuple[Scalar, ...]
    calls: tuple[tuple[str, WindowCall], ...]

    def __post_init__(self) -> None:
        require("window", columns(*self.partition, *(s for _, c in self.calls for s in c.scalars)), self.input)
        require_unique("window", self.names)

    @cached_property
    def schema(self) -> tuple[Col, ...]:
        return self.input.schema + tuple(Col(n, c.type) for n, c in self.calls)

    @property
    def inputs(self) -> tuple[Relation, ...]:
        return (self.input,)

    def rebuild(self, inputs: tuple[Relation, ...]) -> Relation:
        return replace(self, input=inputs[0])


@dataclass(frozen=True, eq=False)
class TopK(Relation):
    """Per partition, rows `skip` to `skip + limit` of an order; limit None is no limit. Ties go by all columns."""

    SCALARS = ("partition", "order")

    input: Relation
    partition: tuple[Scalar, ...]
    order: tuple[Order, ...]
    limit: int | None
    skip: int = 0
    with_ties: bool = False

    @property
    def schema(self) -> tuple[Col, ...]:
        return self.input.schema

    @property
    def inputs(self) -> tuple[Relation, ...]:
        return (self.input,)

    def rebuild(self, inputs: tuple[Relation, ...]) -> Relation:
        return replace(self, input=inputs[0])
