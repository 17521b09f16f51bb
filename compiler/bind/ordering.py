"""ORDER BY, LIMIT, OFFSET and FETCH FIRST."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from compiler.bind.aggregates import orders
from compiler.bind.coerce import coerce
from compiler.errors import InvalidSql, UnsupportedSql
from compiler.ir import types
from compiler.ir.relation import Filter, Order, Project, Relation, TopK, Window, WindowCall
from compiler.ir.scalar import Call, Col, Lit, Scalar, cast, conj, is_null
from compiler.ir.types import BOOL, INT8

ZERO = Lit(0, INT8)


Limit = int | Scalar | None


def limits(e: exp.Expr, bind: Callable[[exp.Expr], Scalar]) -> tuple[Limit, Limit, bool]:
    """(limit, offset, with ties) of a query; what is no constant is bound. Raises InvalidSql where it is no whole
    number."""
    limit, offset, ties = e.args.get("limit"), e.args.get("offset"), False
    n: Limit = None
    if isinstance(limit, exp.Fetch):
        count = limit.args.get("count")
        n = _number(count, "LIMIT", bind) if count is not None else 1
        options = limit.args.get("limit_options")
        ties = bool(options is not None and options.args.get("with_ties"))
    elif isinstance(limit, exp.Limit):
        every = isinstance(limit.expression.unnest(), exp.Null) or limit.expression.name.upper() == "ALL"
        n = None if every else _number(limit.expression, "LIMIT", bind)
    return n, (_number(offset.expression, "OFFSET", bind) if offset is not None else 0), ties


def _number(e: exp.Expr, what: str, bind: Callable[[exp.Expr], Scalar]) -> Limit:
    bare = e if isinstance(e, exp.Subquery) else e.unnest()
    if isinstance(bare, exp.Cast) and isinstance(bare.this, exp.Literal):
        bare = bare.this
    if isinstance(bare, exp.Literal) and bare.this.isdigit():
        return int(bare.this)
    got = coerce(bind(bare), INT8)
    if not types.is_integer(got.type):
        raise InvalidSql(
            f"argument of {what} must be type bigint, not type {got.type}",
            code="datatype_mismatch",
            hint="Cast it to bigint.",
        )
    return got


def cut(
    rel: Relation, order: tuple[Order, ...], bounds: tuple[Limit, Limit, bool], fresh: Callable[[str], str]
) -> Relation:
    """LIMIT and OFFSET over an order; computed ones are compared with the numbers of the rows. NULL is no limit."""
    limit, skip, ties = bounds
    if limit is None and skip == 0:
        return rel
    if not isinstance(limit, Scalar) and isinstance(skip, int):
        return TopK(rel, (), order, limit, skip, ties)
    if ties:
        raise UnsupportedSql(
            "WITH TIES after a number of rows that is no constant is not supported",
            code="unsupported_syntax",
            hint="Compare rank() OVER (ORDER BY …) with it.",
        )
    place = Col(fresh("place"), INT8)
    numbered = Window(rel, (), ((place.name, WindowCall("row_number", (), INT8, order)),))
    before = Call("coalesce", (cast(skip, INT8), ZERO), INT8) if isinstance(skip, Scalar) else Lit(skip, INT8)
    kept: Scalar = Call(">", (place, before), BOOL)
    if limit is not None:
        n = cast(limit, INT8) if isinstance(limit, Scalar) else Lit(limit, INT8)
        last = Call("<=", (place, Call("+", (before, n), INT8)), BOOL)
        kept = conj([kept, Call("or", (is_null(n), last), BOOL)])
    return Project(Filter(numbered, kept), tuple((c.name, c) for c in rel.schema))


def order_by(
    e: exp.Expr | None, outputs: list[tuple[str, Col]], bind: Callable[[exp.Expr], Scalar], whole: bool = False
) -> tuple[Order, ...]:
    """ORDER BY: a number is an output column, a bare name an output column before anything else. Ranges are left
    `whole` for who tells outputs by what they are."""

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

    return orders(e, one, whole)
