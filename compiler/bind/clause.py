"""Where an expression stands, and what every part of its binding asks of the whole."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from sqlglot import exp

from compiler.bind.names import QueryBinder
from compiler.bind.scope import Scope
from compiler.bind.sets import SetFunction
from compiler.errors import InvalidSql
from compiler.ir.relation import Agg, Relation, WindowCall
from compiler.ir.scalar import Col, Scalar, cast
from compiler.ir.types import BOOL


@dataclass
class Clause:
    """Where an expression stands: what it can name and collect. `aggs`/`windows` None: not allowed here."""

    scope: Scope
    name: str
    aggs: dict[Agg, Col] | None = None
    windows: dict[tuple[tuple[Scalar, ...], WindowCall], Col] | None = None
    named_windows: dict[str, exp.Window] = field(default_factory=dict)
    grouping: Callable[[list[Scalar]], Scalar] | None = None
    srfs: list[tuple[SetFunction, Col]] | None = None

    @property
    def around(self) -> Scope:
        """The scope as a subquery here sees it: its aggregates of this query's columns are collected here."""
        return replace(self.scope, aggs=self.aggs)


def begins(e: exp.Expr) -> int | None:
    """Where syntax begins in the view's text; None where it is not known."""
    return min((n.meta["start"] for n in e.walk() if "start" in n.meta), default=None)


class Binding:
    """Binds expressions within one query block."""

    def __init__(self, binder: QueryBinder, subquery: Callable[[exp.Expr, Scope], Relation]) -> None:
        self.binder = binder
        self.subquery = subquery

    def bind(self, e: Any, c: Clause) -> Scalar:
        raise NotImplementedError

    def condition(self, e: Any, c: Clause) -> Scalar:
        got = self.bind(e, c)
        if got.type.name == "unknown":
            got = cast(got, BOOL)
        if got.type.name != "bool":
            raise InvalidSql(
                f"argument of {c.name} must be type boolean, not type {got.type}", code="datatype_mismatch"
            )
        return got
