"""JSON, kept as text in the form Postgres prints."""

from __future__ import annotations

import re

from sqlglot import exp

from compiler.ir import types
from compiler.ir.scalar import Call
from dialects.dialect import Dialect, Emit, cast_to_type, tree


def _step(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    """A step of a path: a number is a place in an array, and a key of anything else."""
    key = str(e.args[1].value)  # type: ignore[attr-defined]
    macro = "pg.json_text_at" if bool(e.args[2].value) else "pg.json_at"  # type: ignore[attr-defined]
    by_key = tree(d, f"{macro}($1, $2)", a[0], _path(d, a[1]))
    if not re.fullmatch(r"-?\d+", key):
        return by_key
    place = exp.Literal.string(f"$[{key}]" if int(key) >= 0 else f"$[#{key}]")
    return tree(d, f"CASE WHEN JSON_TYPE($1) = 'ARRAY' THEN {macro}($1, $2) ELSE $3 END", a[0], place, by_key)


def _path(d: Dialect, key: exp.Expr) -> exp.Expr:
    if isinstance(key, exp.Literal) and key.is_string:
        return exp.Literal.string(
            "/" + key.this if key.this in ("", "*") else '$."' + key.this.replace('"', '\\"') + '"'
        )
    return tree(d, "pg.json_key($1)", key)


def _get(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    as_text = e.fn == "json_text"
    macro = "pg.json_text_at" if as_text else "pg.json_at"
    if not types.is_integer(e.args[1].type):
        return tree(d, f"{macro}($1, $2)", a[0], _path(d, a[1]))
    path = tree(d, "CASE WHEN $1 >= 0 THEN '$[' || $1 || ']' ELSE '$[#' || $1 || ']' END", a[1])
    out = tree(d, f"{macro}($1, $2)", a[0], path)
    if e.args[0].type.name == "jsonb":  # a scalar is its own first and last element
        itself = (
            a[0]
            if not as_text
            else tree(d, "CASE WHEN JSON_TYPE($1) = 'VARCHAR' THEN $1 ->> '$' WHEN $1 <> 'null' THEN $1 END", a[0])
        )
        out = tree(
            d,
            "CASE WHEN JSON_TYPE($1) IN ('ARRAY', 'OBJECT') THEN $2 WHEN $3 IN (0, -1) THEN $4 END",
            a[0],
            out,
            a[1],
            itself,
        )
    return out


FUNCTIONS: dict[str, str | Emit] = {
    "number_plain": "pg.number_plain($1)",
    "json_get": _get,
    "json_text": _get,
    "json_step": _step,
    "json_quote": "pg.json_quoted($1)",
    "json_array_length": cast_to_type("JSON_ARRAY_LENGTH($1)"),
    "json_typeof": "pg.json_typeof($1)",
    "json_equal": "pg.json_equal($1, $2)",
    "json_norm": "pg.json_norm($1)",
    "json_has_key": "pg.json_has_key($1, $2)",
    "json_has_element": "pg.json_has_element($1, $2)",
    "json_made": "$1",
    "json_members": "pg.json_concat('{}', '{' || ARRAY_TO_STRING($1, ', ') || '}')",
    "json_concat": "pg.json_concat($1, $2)",
    "json_pair": "'{' || pg.json_quoted($1) || ': ' || $2 || '}'",
    "json_minus": "pg.json_minus($1, $2)",
    "json_minus_place": "pg.json_minus_place($1, $2)",
    "json_list": "LIST_TRANSFORM($1, lambda v: pg.json_quoted(v))",
}

UNNEST = {
    "json_elements": "SELECT UNNEST(pg.json_elements($1)) AS x, UNNEST(RANGE(1, pg.json_size($1) + 1)) AS o",
    "json_elements_text": "SELECT pg.json_shown(UNNEST(CAST(pg.json_marked($1) AS JSON[]))) AS x, UNNEST(RANGE(1, "
    "pg.json_size($1) + 1)) AS o",
    "json_keys": "SELECT UNNEST(JSON_KEYS($1)) AS x, UNNEST(RANGE(1, LEN(JSON_KEYS($1)) + 1)) AS o",
    "json_each": "SELECT UNNEST(JSON_KEYS($1)) AS key, pg.json_at($1, pg.json_key(UNNEST(JSON_KEYS($1)))) AS value, "
    "UNNEST(RANGE(1, LEN(JSON_KEYS($1)) + 1)) AS o",
    "json_each_text": "SELECT UNNEST(JSON_KEYS($1)) AS key, pg.json_text_at($1, pg.json_key(UNNEST(JSON_KEYS($1)))) "
    "AS value, "
    "UNNEST(RANGE(1, LEN(JSON_KEYS($1)) + 1)) AS o",
}
