"""Typed literals that every engine is given in one form: read when the view is compiled."""

from __future__ import annotations

from sqlglot import exp

from compiler.errors import InvalidSql, UnsupportedSql
from compiler.formats import json_text
from compiler.formats.arrays import read_array
from compiler.ir.scalar import Call
from dialects.dialect import Dialect, tree


def literal_json(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    """json as it was written, jsonb as Postgres prints it."""
    text = str(e.args[0].value)  # type: ignore[attr-defined]
    if e.type.name == "json":
        return a[0]
    try:
        return exp.Literal.string(json_text.jsonb(text))
    except ValueError as x:
        raise InvalidSql(f'invalid input syntax for type json: "{text}"', code="invalid_text") from x


def literal_bytea(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    text = str(e.args[0].value)  # type: ignore[attr-defined]
    if not text.startswith("\\x"):
        raise UnsupportedSql(
            "a bytea literal is read in hex format only", code="unsupported_literal", hint="Write '\\x0aff'."
        )
    return tree(d, "UNHEX($1)", exp.Literal.string(text[2:]))


def items_of(e: Call) -> list[str | None]:
    """The texts of an array literal's elements."""
    text = str(e.args[0].value)  # type: ignore[attr-defined]
    try:
        return read_array(text)
    except ValueError as x:
        raise UnsupportedSql(
            f"the array literal '{text}' is not supported: {x}", code="unsupported_literal", hint="Write ARRAY[…]."
        ) from x
