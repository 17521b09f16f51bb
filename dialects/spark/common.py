"""What the families of functions share."""

from __future__ import annotations

from sqlglot import exp

from compiler.errors import UnsupportedSql
from compiler.ir.scalar import Call
from dialects.dialect import Dialect, Emit


def no(what: str, hint: str = "") -> UnsupportedSql:
    return UnsupportedSql(
        f"{what} has no counterpart in spark",
        code="unsupported_function",
        hint=hint or "Place the view on DuckDB: WITH (engine = 'duckdb').",
    )


def fn(name: str, cast: bool = False) -> Emit:
    def emit(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
        out = exp.Anonymous(this=name, expressions=a)
        return d.cast(out, e.type) if cast else out

    return emit


def refused(what: str) -> Emit:
    def emit(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
        raise no(what)

    return emit


def lambda_of(name: str, body: exp.Expr) -> exp.Expr:
    """name -> body"""
    return exp.Lambda(this=body, expressions=[exp.to_identifier(name)])
