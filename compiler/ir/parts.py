"""The scalars of one relation, found and mapped: by the fields that its class names in `SCALARS`, so that both see
the same ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from typing import Any

from compiler.ir.relation import Agg, Fixpoint, Order, Recur, Relation, WindowCall, walk
from compiler.ir.scalar import Scalar

MapScalar = Callable[[Scalar], Scalar]
HOLDERS = (Agg, Order, WindowCall)  # what holds scalars besides relations and scalars


def scalars(n: Relation) -> list[Scalar]:
    """The scalar expressions of one node."""
    return [e for name in n.SCALARS for e in _found(getattr(n, name))]


def with_scalars(n: Relation, f: MapScalar) -> Relation:
    """One node with its scalar expressions mapped."""
    return replace(n, **{name: _mapped(getattr(n, name), f) for name in n.SCALARS}) if n.SCALARS else n  # type: ignore[type-var]


def _found(x: Any) -> Iterator[Scalar]:
    if isinstance(x, Scalar):
        yield x
    elif isinstance(x, tuple):
        for part in x:
            yield from _found(part)
    elif isinstance(x, HOLDERS):
        for field in fields(x):
            yield from _found(getattr(x, field.name))


def _mapped(x: Any, f: MapScalar) -> Any:
    if isinstance(x, Scalar):
        return f(x)
    if isinstance(x, tuple):
        return tuple(_mapped(part, f) for part in x)
    if isinstance(x, HOLDERS):
        return replace(x, **{field.name: _mapped(getattr(x, field.name), f) for field in fields(x)})
    return x


def of_a_round(r: Relation) -> bool:
    """Whether the rows are those of one round of a recursion around it."""
    nodes = list(walk(r))
    return bool({n.name for n in nodes if isinstance(n, Recur)} - {n.name for n in nodes if isinstance(n, Fixpoint)})
