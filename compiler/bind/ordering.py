"""ORDER BY, LIMIT, OFFSET and FETCH FIRST."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from compiler.bind.aggregates import orders
from compiler.errors import InvalidSql, UnsupportedSql
from compiler.ir.relation import Order
from compiler.ir.scalar import Col, Scalar


def limits(e: exp.Expr) -> tuple[int | None, int, bool]:
    """(limit, offset, with ties) of a query; raises UnsupportedSql where they are not constants."""
    limit, offset, ties = e.args.get("limit"), e.args.get("offset"), False
    n: int | None = None
    if isinstance(limit, exp.Fetch):
        count = limit.args.get("count")
        n = _constant(count) if count is not None else 1
        options = limit.args.get("limit_options")
        ties = bool(options is not None and options.args.get("with_ties"))
    elif isinstance(limit, exp.Limit):
        every = isinstance(limit.expression.unnest(), exp.Null) or limit.expression.name.upper() == "ALL"
        n = None if every else _constant(limit.expression)
    return n, (_constant(offset.expression) if offset is not None else 0), ties


def _constant(e: exp.Expr) -> int:
    e = e.unnest()
    if isinstance(e, exp.Cast) and isinstance(e.this, exp.Literal):
        e = e.this
    if isinstance(e, exp.Literal) and not e.is_string and e.this.isdigit():
        return int(e.this)
    raise UnsupportedSql("LIMIT and OFFSET must be constants", code="unsupported_syntax", detail=e.sql("postgres"))


def order_by(e: exp.Expr | None, outputs: list[tuple[str, Col]],
             bind: Callable[[exp.Expr], Scalar]) -> tuple[Order, ...]:
    """ORDER BY: a number is an output column, a bare name an output column before anything else."""
    def one(x: exp.Expr) -> Scalar:
        if isinstance(x, exp.Literal) and not x.is_string and x.this.isdigit():
            i = int(x.this)
            if not 1 <= i <= len(outputs):
                raise InvalidSql(f"ORDER BY position {i} is not in select list", code="invalid_column_reference")
            return outputs[i - 1][1]
        if isinstance(x, exp.Column) and x.args.get("table") is None:
            name = x.this.this if x.this.args.get("quoted") else x.this.this.lower()
            hits = [c for n, c in outputs if n == name]
            if hits:
                return hits[0]
        return bind(x)

    return orders(e, one)
