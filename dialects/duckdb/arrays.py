"""Arrays, as lists."""

from __future__ import annotations

from sqlglot import exp

from compiler.ir import types
from compiler.ir.scalar import Call
from dialects.as_text import element_text
from dialects.dialect import Dialect, Emit, cast_to_type, tree
from dialects.duckdb.casts import SHOWN, elements_text


def _compared(macro: str) -> Emit:
    """ANY or ALL over the comparisons with each element."""

    def emit(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
        op = str(e.args[2].value)  # type: ignore[attr-defined]
        return tree(d, f"{macro}(LIST_TRANSFORM($1, lambda v: $2 {op} v))", a[0], a[1])

    return emit


def _to_string(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    element = e.args[0].type.element or types.TEXT
    one = element_text(d, element, exp.column("v"), SHOWN, elements_text)
    shown = (
        a[0]
        if types.is_string(element) and not types.is_padded(element)
        else tree(d, "LIST_TRANSFORM($1, lambda v: $2)", a[0], one)
    )
    if len(a) > 2:
        shown = tree(d, "LIST_TRANSFORM($1, lambda v: COALESCE(v, $2))", shown, a[2])
    return tree(
        d,
        "CASE WHEN $1 IS NOT NULL AND $2 IS NOT NULL THEN COALESCE(ARRAY_TO_STRING($3, $2), '') END",
        a[0],
        a[1],
        shown,
    )


def _padded(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    return tree(
        d,
        "LIST_TRANSFORM($1, lambda v: $2)",
        a[0],
        element_text(d, e.type.element or types.TEXT, exp.column("v"), SHOWN, elements_text),
    )


FUNCTIONS: dict[str, str | Emit] = {
    # DuckDB 1.5.5 makes two bounds of a list one BETWEEN, which it then has not
    **{f"{op}:array": f"($1 {op} $2) = TRUE" for op in ("<", "<=", ">", ">=")},
    "array": lambda d, e, a: d.cast(exp.Array(expressions=a), e.type) if not a else exp.Array(expressions=a),
    "array_get": "LIST_EXTRACT($1, $2)",
    "array_has": "pg.array_has($1, $2)",
    "array_any": _compared("pg.any_of"),
    "array_all": _compared("pg.all_of"),
    "array_length": "CASE WHEN LEN($1) = 0 THEN NULL ELSE LEN($1) END",
    "cardinality": cast_to_type("LEN($1)"),
    "array_append": "LIST_APPEND($1, $2)",
    "array_prepend": "LIST_PREPEND($1, $2)",
    "array_cat": "CASE WHEN $1 IS NULL THEN $2 ELSE LIST_CONCAT($1, $2) END",
    "array_position": cast_to_type("LIST_POSITION($1, $2)"),
    "array_positions": lambda d, e, a: d.cast(
        tree(d, "LIST_FILTER(RANGE(1, LEN($1) + 1), lambda i: LIST_EXTRACT($1, i) IS NOT DISTINCT FROM $2)", *a), e.type
    ),
    "array_remove": "LIST_FILTER($1, lambda v: v IS DISTINCT FROM $2)",
    "array_replace": "LIST_TRANSFORM($1, lambda v: CASE WHEN v IS NOT DISTINCT FROM $2 THEN $3 ELSE v END)",
    "array_slice": "pg.slice($1, $2, $3)",
    "array_to_string": _to_string,
    "array_padded": _padded,
    "string_to_array": "CASE WHEN $1 = '' THEN CAST([] AS VARCHAR[]) ELSE STRING_SPLIT($1, $2) END",
    "characters": "CASE WHEN $1 = '' THEN CAST([] AS VARCHAR[]) ELSE STRING_SPLIT($1, '') END",
    "array_contains_all": "pg.contains_all($1, $2)",
    "array_overlap": "LIST_HAS_ANY($1, $2)",
}
