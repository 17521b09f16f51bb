"""Comparisons of rows: (a, b) < (c, d), with values or a subquery's row, and OVERLAPS."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlglot import exp

from compiler.bind.clause import Binding, Clause
from compiler.bind.functions import bind_function
from compiler.bind.operators import compare
from compiler.errors import InvalidSql
from compiler.ir.relation import Project
from compiler.ir.scalar import Call, Lit, Scalar, case, conj, is_null, negate
from compiler.ir.subquery import ScalarSub
from compiler.ir.types import BOOL


def items(e: exp.Expr) -> list[exp.Expr] | None:
    """The parts of (a, b) or ROW(a, b); None for another expression."""
    e = e.unnest()
    if isinstance(e, exp.Tuple):
        return list(e.expressions)
    if isinstance(e, exp.Anonymous) and str(e.this).upper() == "ROW":
        return list(e.expressions)
    return None


def values(x: Binding, e: exp.Expr, c: Clause) -> list[Scalar] | None:
    """The values of a row; of a subquery with several columns, each column of its one row. None for another
    expression."""
    if (parts := items(e)) is not None:
        return [x.bind(p, c) for p in parts]
    query = e.unnest()
    if not isinstance(query, exp.Query):
        return None
    rel = x.subquery(query, c.around)
    return [ScalarSub(Project(rel, ((col.name, col),)), col.type) for col in rel.schema]


def compare_rows(op: str, left: list[Scalar], right: list[Scalar]) -> Scalar:
    if len(left) != len(right):
        raise InvalidSql("unequal number of entries in row expressions", code="syntax_error")
    pairs = list(zip(left, right, strict=True))
    if op == "=":
        return conj([compare("=", a, b) for a, b in pairs])
    if op == "<>":
        return Call("or", tuple(compare("<>", a, b) for a, b in pairs), BOOL)
    whens: Scalar = compare(op, *pairs[-1])
    for a, b in reversed(pairs[:-1]):
        whens = case([(compare("<>", a, b), compare(op[0], a, b)), (compare("=", a, b), whens)], Lit(None, BOOL), BOOL)
    return whens


def same_rows(left: list[Scalar], right: list[Scalar]) -> Scalar:
    """Not distinct, column by column."""
    if len(left) != len(right):
        raise InvalidSql("unequal number of entries in row expressions", code="syntax_error")
    parts = [compare("=", a, b) for a, b in zip(left, right, strict=True)]
    return conj([Call("same", p.args, BOOL) for p in parts if isinstance(p, Call)])


def null_test(parts: list[Scalar], negated: bool) -> Scalar:
    """A row is NULL when every part is, and not NULL when none is."""
    tests = [is_null(p) for p in parts]
    return conj([negate(t) for t in tests] if negated else tests)


def overlaps(x: Binding, e: Any, c: Clause) -> Scalar:
    ends = [*(items(e.this) or []), *(items(e.expression) or [])]
    if len(ends) != 4:
        raise InvalidSql("wrong number of parameters of OVERLAPS", code="syntax_error")
    return bind_function("overlaps", [x.bind(p, c) for p in ends])


METHODS: dict[type, Callable[..., Scalar]] = {exp.Overlaps: overlaps}
