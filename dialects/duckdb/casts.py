"""Casts and typed literals."""

from __future__ import annotations

import re
from collections.abc import Callable

from sqlglot import exp

from compiler.formats.intervals import parse_interval
from compiler.formats.times import parse_timestamp, parse_timestamptz
from compiler.ir import types
from compiler.ir.scalar import Call, Col, Lit
from dialects.as_text import to_text
from dialects.dialect import Dialect, Emit, tree
from dialects.literals import items_of, literal_bytea, literal_json


def _cast(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    s, t = e.args[0].type, e.type
    x = a[0]
    if types.is_float(s) and types.is_exact(t):
        if types.is_integer(t):
            return d.cast(tree(d, "ROUND_EVEN($1, 0)", x), t)
        return (
            d.cast(tree(d, "pg.exact_real($1)" if s.name == "float4" else "pg.exact($1)", x), t)
            if (t.scale or 0) > 0
            else d.cast(x, t)
        )
    if types.is_numeric(s) and (t.name == "float4" or t.name == "float8" and (s.precision or 38) > 15):
        return d.cast(d.cast(x, types.TEXT), t)  # DuckDB's own cast rounds twice
    if types.is_numeric(s) and types.is_integer(t):
        return d.cast(tree(d, "ROUND($1, 0)", x), t)
    if types.is_string(t):
        return to_text(d, e, x, SHOWN, elements_text)
    if t.name == "bytea" and types.is_string(s):
        return tree(d, "CASE WHEN STARTS_WITH($1, '\\x') THEN UNHEX(SUBSTR($1, 3)) ELSE ENCODE($1) END", x)
    if t.name == "bool" and types.is_string(s):
        return tree(d, "pg.bool_of(LOWER(TRIM($1)))", x)
    if t.name == "interval" and s.name == "time":
        return tree(d, "TO_MICROSECONDS(EPOCH_US($1))", x)
    if t.name == "time" and s.name == "interval":
        return tree(d, "pg.time_of($1)", x)
    if t.name == "date" and s.name == "timestamptz":
        return d.cast(tree(d, "$1 AT TIME ZONE 'UTC'", x), t)
    if t.name == "timestamp" and s.name == "timestamptz":
        return tree(d, "$1 AT TIME ZONE 'UTC'", x)
    if t.name == "timestamptz" and s.name in ("timestamp", "date"):
        return tree(d, "CAST($1 AS TIMESTAMP) AT TIME ZONE 'UTC'", x)
    if t.name == "time" and s.name in ("timestamp", "timestamptz"):
        at = tree(d, "$1 AT TIME ZONE 'UTC'", x) if s.name == "timestamptz" else x
        return tree(d, "CASE WHEN ISFINITE($1) THEN CAST($2 AS TIME) END", x, at)
    if t.name in ("json", "jsonb") and types.is_string(s):
        return tree(d, "pg.jsonb($1)", x) if t.name == "jsonb" else x
    if s.name in ("json", "jsonb") and not types.is_string(t) and t.name not in ("json", "jsonb"):
        return d.cast(x, t)
    if t.name == "interval" and types.is_string(s):
        return tree(d, "CAST(REPLACE($1, '+', '') AS INTERVAL)", x)
    if t.name == "array" and types.is_string(s):
        return _read(d, x, t)
    if t.name == "array":
        return _elements(d, x, s.element or types.TEXT, t)
    return d.cast(x, t)


def _read(d: Dialect, x: exp.Expr, t: types.Type) -> exp.Expr:
    """An array type's value from Postgres' text of it."""
    texts = tree(d, "pg.array_text($1)", x)
    plain = d.cast(texts, t)
    read = _elements(d, d.cast(texts, types.array(types.TEXT)), types.TEXT, t)
    return plain if isinstance(read, exp.Cast) and isinstance(read.this, exp.Cast) else read


def _elements(d: Dialect, x: exp.Expr, source: types.Type, t: types.Type) -> exp.Expr:
    """A list cast to an array type: each element as a value of its own is."""
    v, to = exp.column("v"), t.element or types.TEXT
    one = v if source == to or to.name == "array" else _cast(d, Call("cast", (Col("v", source),), to), [v])
    plain = one in (v, d.cast(v, to))
    return d.cast(x if plain else tree(d, "LIST_TRANSFORM($1, lambda v: $2)", x, one), t)


SHOWN = {
    "bool": "CASE WHEN $1 THEN 'true' WHEN NOT $1 THEN 'false' END",
    "float4": "pg.real_text($1)",
    "float8": "pg.float_text($1)",
    "timestamptz": "pg.timestamptz_text($1 AT TIME ZONE 'UTC')",
    "timestamp": "pg.timestamp_text($1)",
    "date": "pg.era(CAST($1 AS VARCHAR))",
    "interval": "pg.interval_text($1)",
    "bytea": "'\\x' || LOWER(HEX($1))",
    "bpchar trimmed": "RTRIM($1, ' ')",
}


def elements_text(d: Dialect, x: exp.Expr, text: Callable[[exp.Expr], exp.Expr]) -> exp.Expr:
    quoted = tree(d, "LIST_TRANSFORM($1, lambda v: pg.array_quoted($2))", x, text(exp.column("v")))
    return tree(d, "CASE WHEN $1 IS NOT NULL THEN '{' || COALESCE(ARRAY_TO_STRING($2, ','), '') || '}' END", x, quoted)


def _literal_interval(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    """An interval literal as (months, days, microseconds), read as Postgres reads it."""
    lit = e.args[0]
    assert isinstance(lit, Lit)
    months, days, micros = parse_interval(str(lit.value))
    parts = [
        f"TO_MONTHS({months})" if months else "",
        f"TO_DAYS({days})" if days else "",
        f"TO_MICROSECONDS({micros})" if micros else "",
    ]
    text = " + ".join(p for p in parts if p) or "TO_DAYS(0)"
    return exp.Paren(this=tree(d, text)) if "+" in text else tree(d, text)


def _literal_tz(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    lit = e.args[0]
    assert isinstance(lit, Lit)
    return d.cast(exp.Literal.string(parse_timestamptz(str(lit.value))), e.type)


def _literal_ts(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    lit = e.args[0]
    assert isinstance(lit, Lit)
    return d.cast(exp.Literal.string(parse_timestamp(str(lit.value), e.type.name)), e.type)


def _literal_array(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    """Elements of letters and digits are left to the engine; others it reads by rules of its own."""
    items = items_of(e)
    if all(i is not None and re.fullmatch(r"[\w.+-]+", i) and i.lower() != "null" for i in items) and " " not in str(
        a[0].this
    ):
        return _read(d, a[0], e.type)
    element = e.type.element or types.TEXT
    elements = [exp.Null() if i is None else _literal(d, i, element) for i in items]
    return d.cast(exp.Array(expressions=elements), e.type)


def _literal(d: Dialect, text: str, t: types.Type) -> exp.Expr:
    emit = FUNCTIONS.get(f"literal:{t.name}")
    if callable(emit):
        return emit(d, Call("literal", (Lit(text, t),), t), [exp.Literal.string(text)])
    return _cast(d, Call("cast", (Lit(text, types.TEXT),), t), [exp.Literal.string(text)])


FUNCTIONS: dict[str, str | Emit] = {
    "cast": _cast,
    "literal:interval": _literal_interval,
    "literal:timestamptz": _literal_tz,
    "literal:timestamp": _literal_ts,
    "literal:date": _literal_ts,
    "literal:array": _literal_array,
    "literal:json": literal_json,
    "literal:jsonb": literal_json,
    "literal:bytea": literal_bytea,
}
