"""JSON's operators: -> and its kin, @>, ?, #-."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlglot import exp

from compiler.bind import json_edit, json_values
from compiler.bind.clause import Binding, Clause
from compiler.bind.coerce import coerce
from compiler.errors import InvalidSql, UnsupportedSql
from compiler.formats.arrays import read_array
from compiler.ir.scalar import Call, Lit, Scalar, case, cast, conj
from compiler.ir.types import BOOL, INT4, JSONB, TEXT, Type


def get(x: Binding, e: Any, c: Clause) -> Scalar:
    """->, ->>, #> and #>>."""
    as_text = isinstance(e, (exp.JSONExtractScalar, exp.JSONBExtractScalar))
    v = coerce(x.bind(e.this, c), JSONB)
    if v.type.name not in ("json", "jsonb"):
        raise InvalidSql(f"operator does not exist: {v.type} ->", code="undefined_operator")
    if isinstance(e, (exp.JSONBExtract, exp.JSONBExtractScalar)):
        steps = json_edit.path(x.bind(e.expression, c))
        if not steps and as_text:  # the text of the whole: of an element of an array of it
            inside = Call(
                "json_text", (cast(json_values.text("[", cast(v, TEXT), "]"), Type(v.type.name)), Lit(0, INT4)), TEXT
            )
            return case(
                [(json_edit.is_kind(v, "string"), inside), (json_edit.is_kind(v, "null"), Lit(None, TEXT))],
                cast(v, TEXT),
                TEXT,
            )
        for i, s in enumerate(steps):
            v = json_edit.step(v, Lit(s, TEXT), as_text and i == len(steps) - 1)
        return v
    return Call(
        "json_text" if as_text else "json_get", (v, key(x, e.expression, c)), TEXT if as_text else Type(v.type.name)
    )


def key(x: Binding, path: exp.Expr, c: Clause) -> Scalar:
    if isinstance(path, exp.JSONPath):
        part = path.expressions[-1]
        if isinstance(part, exp.JSONPathSubscript):
            return Lit(int(part.this), INT4)
        return Lit(str(part.this), TEXT)
    got = x.bind(path, c)
    return cast(got, TEXT) if got.type.name == "unknown" else got


def exists(x: Binding, e: Any, c: Clause) -> Scalar:
    """?, ?| and ?&."""
    v = coerce(x.bind(e.this, c), JSONB)
    if isinstance(e, exp.JSONBContainsTopKey | exp.JSONBContains):
        return json_edit.has_key(v, cast(x.bind(e.expression, c), TEXT))
    keys = e.expression.unnest()
    if isinstance(keys, exp.Literal) and keys.is_string:
        try:
            listed = read_array(str(keys.this))
        except ValueError as error:
            raise InvalidSql(f'malformed array literal: "{keys.this}"', code="invalid_text") from error
        keys = exp.Array(expressions=[exp.Null() if k is None else exp.Literal.string(k) for k in listed])
    if not isinstance(keys, exp.Array) or not keys.expressions:
        raise UnsupportedSql("?| and ?& with keys that are not listed", code="unsupported_syntax")
    parts = tuple(json_edit.has_key(v, cast(x.bind(k, c), TEXT)) for k in keys.expressions)
    return (
        conj(parts)
        if isinstance(e, exp.JSONBContainsAllTopKeys)
        else Call("or", parts, BOOL)
        if len(parts) > 1
        else parts[0]
    )


def without(x: Binding, e: Any, c: Clause) -> Scalar:
    return json_edit.minus_path(coerce(x.bind(e.this, c), JSONB), x.bind(e.expression, c))


METHODS: dict[type, Callable[..., Scalar]] = {
    exp.JSONExtract: get,
    exp.JSONExtractScalar: get,
    exp.JSONBExtract: get,
    exp.JSONBExtractScalar: get,
    exp.JSONBContains: exists,
    exp.JSONBContainsTopKey: exists,
    exp.JSONBContainsAnyTopKeys: exists,
    exp.JSONBContainsAllTopKeys: exists,
    exp.JSONBDeleteAtPath: without,
}
