"""Arrays."""

from __future__ import annotations

from sqlglot import exp

from compiler.ir import types
from compiler.ir.scalar import Call
from dialects.as_text import element_text
from dialects.dialect import Dialect, Emit, tree
from dialects.spark.casts import SHOWN, elements_text
from dialects.spark.common import lambda_of


def _over(name: str, text: str) -> Emit:
    """A higher function over the elements _v; the text is what is computed of each."""

    def emit(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
        return exp.Anonymous(this=name, expressions=[a[0], lambda_of("_v", tree(d, text, *a))])

    return emit


def _compared(name: str) -> Emit:
    """ANY or ALL over the elements; both know three values."""

    def emit(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
        op = str(e.args[2].value)  # type: ignore[attr-defined]
        return exp.Anonymous(this=name, expressions=[a[0], lambda_of("_v", tree(d, f"$1 {op} _v", a[1]))])

    return emit


def _appended(first: bool) -> Emit:
    def emit(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
        text = "CONCAT(ARRAY($2), COALESCE($1, ARRAY()))" if first else "CONCAT(COALESCE($1, ARRAY()), ARRAY($2))"
        return d.cast(tree(d, text, *(a[::-1] if first else a)), e.type)

    return emit


def _position(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    """NULL is found too."""
    same = exp.Anonymous(this="transform", expressions=[a[0], lambda_of("_v", tree(d, "_v <=> $1", a[1]))])
    return d.cast(tree(d, "NULLIF(ARRAY_POSITION($1, TRUE), 0)", same), e.type)


def _positions(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    places = tree(d, "CASE WHEN SIZE($1) = 0 THEN CAST(ARRAY() AS ARRAY<INT>) ELSE SEQUENCE(1, SIZE($1)) END", a[0])
    return exp.Anonymous(this="filter", expressions=[places, lambda_of("_i", tree(d, "GET($1, _i - 1) <=> $2", *a))])


def _to_string(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    element = e.args[0].type.element or types.TEXT
    if not types.is_string(element) or types.is_padded(element):
        one = element_text(d, element, exp.column("_v"), SHOWN, elements_text)
        a = [exp.Anonymous(this="transform", expressions=[a[0], lambda_of("_v", one)]), *a[1:]]
    return exp.Anonymous(this="array_join", expressions=a)


def _padded(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    one = element_text(d, e.type.element or types.TEXT, exp.column("_v"), SHOWN, elements_text)
    return exp.Anonymous(this="transform", expressions=[a[0], lambda_of("_v", one)])


FUNCTIONS: dict[str, str | Emit] = {
    "enum_ordinals": lambda d, e, a: exp.Anonymous(
        this="transform",
        expressions=[
            a[0],
            lambda_of("_v", tree(d, "ARRAY_POSITION($1, _v)", exp.Anonymous(this="array", expressions=a[1:]))),
        ],
    ),
    "array": lambda d, e, a: d.cast(exp.Anonymous(this="array", expressions=a), e.type),
    "array_get": lambda d, e, a: exp.Anonymous(
        this="get", expressions=[a[0], exp.Sub(this=exp.Paren(this=a[1]), expression=exp.Literal.number(1))]
    ),
    "array_has": _over("exists", "_v = $2"),
    "array_any": _compared("exists"),
    "array_all": _compared("forall"),
    "array_length": "CASE WHEN SIZE($1) > 0 THEN SIZE($1) END",
    "cardinality": "CASE WHEN $1 IS NOT NULL THEN SIZE($1) END",
    "array_append": _appended(False),
    "array_prepend": _appended(True),
    "array_cat": "CASE WHEN $1 IS NULL THEN $2 WHEN $2 IS NULL THEN $1 ELSE CONCAT($1, $2) END",
    "array_position": _position,
    "array_positions": _positions,
    "array_remove": _over("filter", "NOT (_v <=> $2)"),
    "array_replace": _over("transform", "CASE WHEN _v <=> $2 THEN $3 ELSE _v END"),
    "array_slice": "CASE WHEN $3 < GREATEST($2, 1) THEN SLICE($1, 1, 0) WHEN $2 IS NOT NULL THEN "
    "SLICE($1, GREATEST($2, 1), $3 - GREATEST($2, 1) + 1) END",
    "array_to_string": _to_string,
    "array_padded": _padded,
    "string_to_array": "CASE WHEN $1 = '' THEN CAST(ARRAY() AS ARRAY<STRING>) ELSE SPLIT($1, CONCAT('\\\\Q', $2, "
    "'\\\\E')) END",
    "characters": "CASE WHEN $1 = '' THEN CAST(ARRAY() AS ARRAY<STRING>) ELSE SPLIT($1, '') END",
    "array_contains_all": "CASE WHEN $1 IS NOT NULL AND $2 IS NOT NULL THEN SIZE(ARRAY_EXCEPT($2, $1)) = 0 AND NOT "
    "EXISTS($2, _v -> _v IS NULL) END",
    "array_overlap": "COALESCE(ARRAYS_OVERLAP($1, $2), CASE WHEN $1 IS NOT NULL AND $2 IS NOT NULL THEN FALSE END)",
}
