"""Where rows come from: tables at a time, states, earlier steps, constants, recursion."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from compiler.ir.relation.base import Relation
from compiler.ir.scalar import Col, Scalar


@dataclass(frozen=True, eq=False)
class Scan(Relation):
    """A mirrored table at a time: before, after or delta. `key` is its primary key, () when it has none."""

    table: str
    cols: tuple[Col, ...]
    key: tuple[str, ...] = ()
    at: str = "after"

    @property
    def schema(self) -> tuple[Col, ...]:
        return self.cols


@dataclass(frozen=True, eq=False)
class State(Relation):
    """A kept relation at a time: before, after, delta; or now, as it is stored. `key` identifies its rows (null-safe),
    whose weights are 1, unless it is `weighted`."""

    name: str
    cols: tuple[Col, ...]
    key: tuple[str, ...]
    at: str = "after"
    weighted: bool = field(
        default=False, repr=False
    )  # told by its name, and no part of the names of states that read it

    @property
    def schema(self) -> tuple[Col, ...]:
        return self.cols


@dataclass(frozen=True, eq=False)
class Temp(Relation):
    """The stored result of an earlier statement of the same batch; `signed` when it has a weight column."""

    name: str
    cols: tuple[Col, ...]
    signed: bool

    @property
    def schema(self) -> tuple[Col, ...]:
        return self.cols


@dataclass(frozen=True, eq=False)
class Values(Relation):
    """Constant rows of weight 1; without rows it is the empty relation."""

    SCALARS = ("rows",)

    cols: tuple[Col, ...]
    rows: tuple[tuple[Scalar, ...], ...]

    @property
    def schema(self) -> tuple[Col, ...]:
        return self.cols


@dataclass(frozen=True, eq=False)
class Fixpoint(Relation):
    """WITH RECURSIVE: `base`, then `step` over the rows last found, read as `Recur`, until it finds none, which a
    LIMIT above may make sure of (`ends`)."""

    name: str
    base: Relation
    step: Relation
    distinct: bool
    ends: bool = field(default=False, repr=False)  # told by the step, and no part of a state's name

    @property
    def schema(self) -> tuple[Col, ...]:
        return self.base.schema

    @property
    def inputs(self) -> tuple[Relation, ...]:
        return (self.base, self.step)

    def rebuild(self, inputs: tuple[Relation, ...]) -> Relation:
        return replace(self, base=inputs[0], step=inputs[1])


@dataclass(frozen=True, eq=False)
class Recur(Relation):
    """Inside a `Fixpoint`'s step: the rows found by the round before."""

    name: str
    cols: tuple[Col, ...]

    @property
    def schema(self) -> tuple[Col, ...]:
        return self.cols
