"""What every relation is: columns, inputs, equality by structure."""

from __future__ import annotations

from dataclasses import fields
from functools import cached_property
from typing import ClassVar

from compiler.errors import CompilerBug
from compiler.ir.scalar import Col, Scalar

Named = tuple[str, Scalar]


class Relation:
    """A Z-set over named, typed columns. `SCALARS` names the fields that hold its scalar expressions, also within
    tuples and calls."""

    SCALARS: ClassVar[tuple[str, ...]] = ()

    @cached_property
    def _hash(self) -> int:
        return hash((type(self).__name__, *(getattr(self, f.name) for f in fields(self))))  # type: ignore[arg-type]

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if type(self) is not type(other) or hash(self) != hash(other):
            return False
        return all(getattr(self, f.name) == getattr(other, f.name) for f in fields(self))  # type: ignore[arg-type]

    @property
    def schema(self) -> tuple[Col, ...]:
        raise NotImplementedError

    @property
    def inputs(self) -> tuple[Relation, ...]:
        return ()

    def rebuild(self, inputs: tuple[Relation, ...]) -> Relation:
        assert not inputs
        return self

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(c.name for c in self.schema)

    def col(self, name: str) -> Col:
        for c in self.schema:
            if c.name == name:
                return c
        raise CompilerBug(f"no column {name!r} among {list(self.names)}")


def require(what: str, used: set[str], *inputs: Relation) -> None:
    have = {n for i in inputs for n in i.names}
    if missing := used - have:
        raise CompilerBug(f"{what} reads {sorted(missing)}, but its input has {sorted(have)}")


def require_unique(what: str, names: tuple[str, ...]) -> None:
    if len(set(names)) != len(names):
        raise CompilerBug(f"{what} repeats a column: {list(names)}")
