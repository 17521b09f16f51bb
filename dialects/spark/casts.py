"""Casts and typed literals."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable

from sqlglot import exp

from compiler.errors import UnsupportedSql
from compiler.formats.intervals import parse_interval
from compiler.formats.times import infinite, parse_timestamp, parse_timestamptz
from compiler.ir import types
from compiler.ir.scalar import Call, Col, Lit
from dialects.as_text import to_text
from dialects.dialect import Dialect, Emit, tree
from dialects.literals import items_of, literal_bytea, literal_json
from dialects.spark.common import lambda_of, no


def _cast(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    s, t = e.args[0].type, e.type
    x = a[0]
    if types.is_float(s) and types.is_exact(t):
        if types.is_integer(t):
            return d.cast(tree(d, "RINT($1)", x), t)
        exact = "pg_exact_real" if s.name == "float4" else "pg_exact"
        return d.cast(tree(d, f"CAST({exact}($1) AS DECIMAL(38,18))", x), t)
    if types.is_numeric(s) and types.is_integer(t):
        return d.cast(tree(d, "ROUND($1, 0)", x), t)
    if types.is_string(t):
        return to_text(d, e, x, SHOWN, elements_text)
    if t.name == "bytea" and types.is_string(s):
        return tree(d, "CASE WHEN STARTSWITH($1, '\\\\x') THEN UNHEX(SUBSTR($1, 3)) ELSE ENCODE($1, 'UTF-8') END", x)
    if t.name == "bool" and types.is_string(s):
        return tree(d, "pg_bool_of(LOWER(TRIM($1)))", x)
    if s.name in ("json", "jsonb") and types.is_integer(t):
        return d.cast(tree(d, "ROUND(CAST($1 AS DECIMAL(38,18)), 0)", x), t)
    if s.name in ("json", "jsonb") and t.name not in ("json", "jsonb"):
        return d.cast(x, t)
    if t.name in ("json", "jsonb"):
        return x
    if t.name == "uuid" and types.is_string(s):
        return tree(d, "pg_uuid_of($1)", x)
    if t.name == "time" and s.name in ("timestamp", "timestamptz"):
        return tree(d, "pg_clock(PMOD(UNIX_MICROS(CAST($1 AS TIMESTAMP_LTZ)), 86400000000))", x)
    if t.name == "interval" and s.name == "time":
        return tree(d, "pg_interval(0, 0, pg_micros_of_day($1))", x)
    if t.name in ("interval", "time") or s.name in ("interval", "time"):
        raise no(f"a cast from {s} to {t}")
    if t.name == "array" and types.is_string(s):
        raise no("a cast from text to an array")
    if t.name == "array":
        return _elements(d, x, s.element or types.TEXT, t)
    return d.cast(x, t)


def _elements(d: Dialect, x: exp.Expr, source: types.Type, t: types.Type) -> exp.Expr:
    """An array cast to another type: each element as a value of its own is."""
    v, to = exp.column("_v"), t.element or types.TEXT
    one = v if source == to or to.name == "array" else _cast(d, Call("cast", (Col("_v", source),), to), [v])
    plain = one in (v, d.cast(v, to))
    return d.cast(x if plain else exp.Anonymous(this="transform", expressions=[x, lambda_of("_v", one)]), t)


SHOWN = {
    **dict.fromkeys(("json", "jsonb", "uuid", "time"), "$1"),
    **dict.fromkeys(("date", "timestamp"), "pg_era(CAST($1 AS STRING))"),
    "timestamptz": "pg_era(CAST(CAST($1 AS TIMESTAMP_NTZ) AS STRING) || '+00')",
    "bytea": "'\\\\x' || LOWER(HEX($1))",
    "float4": "pg_real_text($1)",
    "float8": "pg_float_text($1)",
    "interval": "pg_interval_text($1)",
    "bpchar trimmed": "RTRIM($1)",
}


def elements_text(d: Dialect, x: exp.Expr, text: Callable[[exp.Expr], exp.Expr]) -> exp.Expr:
    shown = lambda_of("_v", tree(d, "pg_array_quoted($1)", text(exp.column("_v"))))
    return tree(d, "CONCAT('{', ARRAY_JOIN($1, ','), '}')", exp.Anonymous(this="transform", expressions=[x, shown]))


def _literal_interval(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    m, days, micros = parse_interval(str(e.args[0].value))  # type: ignore[attr-defined]
    return exp.Anonymous(this="pg_interval", expressions=[signed(m), signed(days), d.cast(signed(micros), types.INT8)])


def added(d: Dialect, text: str) -> exp.Expr:
    """An interval literal as the value Spark adds to timestamps."""
    m, days, micros = parse_interval(text)
    seconds = tree(d, f"CAST('{micros / 1e6:.6f}' AS DECIMAL(18,6))")
    zero = exp.Literal.number(0)
    return exp.Anonymous(this="make_interval", expressions=[zero, signed(m), zero, signed(days), zero, zero, seconds])


def signed(n: int) -> exp.Expr:
    return exp.Neg(this=exp.Literal.number(-n)) if n < 0 else exp.Literal.number(n)


def _literal_time(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    """As times of day are kept: with seconds, and no zeros at the end of a fraction."""
    text = str(e.args[0].value).strip()  # type: ignore[attr-defined]
    m = re.fullmatch(r"(\d{1,2}):(\d\d)(?::(\d\d)(\.\d{1,6})?)?", text)
    if m is None:
        raise UnsupportedSql(
            f"the time '{text}' is not supported", code="unsupported_literal", hint="Write it as 23:59:59."
        )
    return exp.Literal.string(f"{int(m[1]):02d}:{m[2]}:{m[3] or '00'}{(m[4] or '').rstrip('0').rstrip('.')}")


def _literal_array(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    items = items_of(e)
    element = e.type.element or types.TEXT
    elements = [exp.Null() if i is None else _literal(d, i, element) for i in items]
    return d.cast(exp.Anonymous(this="array", expressions=elements), e.type)


def _literal(d: Dialect, text: str, t: types.Type) -> exp.Expr:
    emit = FUNCTIONS.get(f"literal:{t.name}")
    if callable(emit):
        return emit(d, Call("literal", (Lit(text, t),), t), [exp.Literal.string(text)])
    return _cast(d, Call("cast", (Lit(text, types.TEXT),), t), [exp.Literal.string(text)])


def _literal_uuid(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    try:
        return exp.Literal.string(str(uuid.UUID(str(e.args[0].value).strip())))  # type: ignore[attr-defined]
    except ValueError as error:
        raise UnsupportedSql(f"'{e.args[0].value}' is no uuid", code="unsupported_literal") from error  # type: ignore[attr-defined]


def _literal_ts(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    text = str(e.args[0].value)  # type: ignore[attr-defined]
    if infinite(text):
        raise no(f"the {e.type} '{text}'")
    out = parse_timestamptz(text) + ":00" if e.type.name == "timestamptz" else parse_timestamp(text, e.type.name)
    return d.cast(exp.Literal.string(out), e.type)


FUNCTIONS: dict[str, str | Emit] = {
    "cast": _cast,
    "literal:interval": _literal_interval,
    "literal:timestamptz": _literal_ts,
    "literal:timestamp": _literal_ts,
    "literal:date": _literal_ts,
    "literal:time": _literal_time,
    "literal:array": _literal_array,
    "literal:json": literal_json,
    "literal:jsonb": literal_json,
    "literal:uuid": _literal_uuid,
    "literal:bytea": literal_bytea,
}
