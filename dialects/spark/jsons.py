"""JSON, kept as text in the form Postgres prints."""

from __future__ import annotations

import re

from sqlglot import exp

from compiler.ir import types
from compiler.ir.scalar import Call
from dialects.dialect import Dialect, Emit, tree
from dialects.spark.common import fn


def _path(d: Dialect, key: exp.Expr) -> exp.Expr:
    """The path of a key as it is marked (`macros`)."""
    if isinstance(key, exp.Literal) and key.is_string and "'" not in key.this:
        return exp.Literal.string(f"$['{len(key.this.encode()):06}{key.this}']")
    return tree(d, "pg_json_path($1)", key)


def _macros(as_text: bool) -> tuple[str, str]:
    """Those that give the value of a key and of a place in an array: as text, or as JSON."""
    return ("pg_json_text_at", "pg_json_text_nth") if as_text else ("pg_json_at", "pg_json_nth")


def _step(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    """A step of a path: a number is a place in an array, and a key of anything else."""
    key = str(e.args[1].value)  # type: ignore[attr-defined]
    at, nth = _macros(bool(e.args[2].value))  # type: ignore[attr-defined]
    by_key = tree(d, f"{at}($1, $2)", a[0], _path(d, a[1]))
    if not re.fullmatch(r"-?\d+", key):
        return by_key
    return tree(d, f"CASE WHEN pg_json_typeof($1) = 'array' THEN {nth}($1, {int(key)}) ELSE $2 END", a[0], by_key)


def _get(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    at, nth = _macros(e.fn == "json_text")
    if not types.is_integer(e.args[1].type):
        return tree(d, f"{at}($1, $2)", a[0], _path(d, a[1]))
    out = tree(d, f"{nth}($1, $2)", *a)
    if e.args[0].type.name == "jsonb":  # a scalar is its own first and last element
        itself = tree(d, f"{at}($1, '$')", a[0])
        out = tree(
            d,
            "CASE WHEN pg_json_typeof($1) IN ('array', 'object') THEN $2 WHEN $3 IN (0, -1) THEN $4 END",
            a[0],
            out,
            a[1],
            itself,
        )
    return out


FUNCTIONS: dict[str, str | Emit] = {
    "number_plain": "pg_number_plain($1)",
    "json_get": _get,
    "json_text": _get,
    "json_step": _step,
    "json_quote": "pg_json_quote($1)",
    "json_array_length": fn("json_array_length"),
    "json_typeof": "pg_json_typeof($1)",
    "json_equal": "pg_json_equal($1, $2)",
    "json_norm": "pg_json_norm($1)",
    "json_has_key": "COALESCE(ARRAY_CONTAINS(JSON_OBJECT_KEYS($1), $2), FALSE)",
    "json_has_element": "COALESCE(ARRAY_CONTAINS(TRANSFORM(pg_json_elements($1), _v -> pg_json_norm(_v)), "
    "pg_json_norm($2)), FALSE)",
    "json_made": "$1",
    # a VARIANT has the last of equal keys
    "json_members": "pg_json_concat('{}', CONCAT('{', ARRAY_JOIN(REVERSE($1), ', '), '}'))",
    "json_concat": "pg_json_concat($1, $2)",
    "json_pair": "CONCAT('{', pg_json_quote($1), ': ', $2, '}')",
    "json_minus": "pg_json_minus($1, $2)",
    "json_minus_place": "pg_json_minus_place($1, $2)",
    "json_list": "TRANSFORM($1, _v -> pg_json_quote(_v))",
}

UNNEST = {
    "json_elements": "SELECT p + 1 AS o, x FROM (SELECT POSEXPLODE(pg_json_elements($1)) AS (p, x))",
    "json_elements_text": "SELECT p + 1 AS o, x FROM (SELECT POSEXPLODE(pg_json_elements_text($1)) AS (p, x))",
    "json_keys": "SELECT p + 1 AS o, x FROM (SELECT POSEXPLODE(JSON_OBJECT_KEYS($1)) AS (p, x))",
    **{
        name: f"SELECT _p + 1 AS o, _k AS key, {macro}($1, _k) AS value FROM (SELECT POSEXPLODE(JSON_OBJECT_KEYS($1)) "
        f"AS (_p, _k))"
        for name, macro in (("json_each", "pg_json_member"), ("json_each_text", "pg_json_text_member"))
    },
}
