"""π, σ, sums of relations, weights, set-returning functions and key sets."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from compiler.errors import CompilerBug
from compiler.ir.relation.base import Named, Relation, require, require_unique
from compiler.ir.scalar import Col, Scalar, columns


@dataclass(frozen=True, eq=False)
class Project(Relation):
    """π: compute columns; equal rows keep their weights apart."""

    SCALARS = ("exprs",)

    input: Relation
    exprs: tuple[Named, ...]

    def __post_init__(self) -> None:
        require("project", columns(*(e for _, e in self.exprs)), self.input)
        require_unique("project", tuple(n for n, _ in self.exprs))

    @cached_property
    def schema(self) -> tuple[Col, ...]:
        return tuple(Col(n, e.type) for n, e in self.exprs)

    @property
    def inputs(self) -> tuple[Relation, ...]:
        return (self.input,)

    def rebuild(self, inputs: tuple[Relation, ...]) -> Relation:
        return replace(self, input=inputs[0])


@dataclass(frozen=True, eq=False)
class Filter(Relation):
    """σ: keep rows for which `predicate` is true, neither false nor unknown."""

    SCALARS = ("predicate",)

    input: Relation
    predicate: Scalar

    def __post_init__(self) -> None:
        require("filter", columns(self.predicate), self.input)

    @property
    def schema(self) -> tuple[Col, ...]:
        return self.input.schema

    @property
    def inputs(self) -> tuple[Relation, ...]:
        return (self.input,)

    def rebuild(self, inputs: tuple[Relation, ...]) -> Relation:
        return replace(self, input=inputs[0])


@dataclass(frozen=True, eq=False)
class Union(Relation):
    """+: adds weights. Columns go by position; names and types are the first input's."""

    parts: tuple[Relation, ...]

    def __post_init__(self) -> None:
        if len({len(p.names) for p in self.parts}) != 1:
            raise CompilerBug("union of relations of different width")

    @property
    def schema(self) -> tuple[Col, ...]:
        return self.parts[0].schema

    @property
    def inputs(self) -> tuple[Relation, ...]:
        return self.parts

    def rebuild(self, inputs: tuple[Relation, ...]) -> Relation:
        return replace(self, parts=inputs)


@dataclass(frozen=True, eq=False)
class Weigh(Relation):
    """Multiply each weight by an integer computed from the row; −1 negates."""

    SCALARS = ("by",)

    input: Relation
    by: Scalar

    @property
    def schema(self) -> tuple[Col, ...]:
        return self.input.schema

    @property
    def inputs(self) -> tuple[Relation, ...]:
        return (self.input,)

    def rebuild(self, inputs: tuple[Relation, ...]) -> Relation:
        return replace(self, input=inputs[0])


@dataclass(frozen=True, eq=False)
class Unnest(Relation):
    """Input columns and those of a set-returning function of them; linear. `outer` keeps rows it gives none for."""

    SCALARS = ("args",)

    input: Relation
    fn: str
    args: tuple[Scalar, ...]
    out: tuple[Col, ...]
    ordinality: str | None = None
    outer: bool = False

    @cached_property
    def schema(self) -> tuple[Col, ...]:
        from compiler.ir.types import INT8

        return self.input.schema + self.out + ((Col(self.ordinality, INT8),) if self.ordinality else ())

    @property
    def inputs(self) -> tuple[Relation, ...]:
        return (self.input,)

    def rebuild(self, inputs: tuple[Relation, ...]) -> Relation:
        return replace(self, input=inputs[0])


@dataclass(frozen=True, eq=False)
class Keys(Relation):
    """δ(π |R|): the distinct values of expressions over all rows of any non-zero weight, each with weight 1."""

    SCALARS = ("exprs",)

    input: Relation
    exprs: tuple[Named, ...]

    @cached_property
    def schema(self) -> tuple[Col, ...]:
        return tuple(Col(n, e.type) for n, e in self.exprs)

    @property
    def inputs(self) -> tuple[Relation, ...]:
        return (self.input,)

    def rebuild(self, inputs: tuple[Relation, ...]) -> Relation:
        return replace(self, input=inputs[0])


@dataclass(frozen=True, eq=False)
class Net(Relation):
    """Equal rows added up and those of weight 0 dropped; the same Z-set, in its shortest form.

    All columns are read, as a row that comes and one that goes may be equal in some of them. `within`: rows that are
    equal in these columns have no negative weight when they are added up, or nobody reads them; then other columns
    that nobody reads may be left out.
    """

    input: Relation
    within: tuple[str, ...] | None = None

    @property
    def schema(self) -> tuple[Col, ...]:
        return self.input.schema

    @property
    def inputs(self) -> tuple[Relation, ...]:
        return (self.input,)

    def rebuild(self, inputs: tuple[Relation, ...]) -> Relation:
        return replace(self, input=inputs[0])
