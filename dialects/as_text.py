"""A value as Postgres prints it: templates by type from the dialect, the rest the same for all."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sqlglot import exp

from compiler.errors import UnsupportedSql
from compiler.ir import types
from compiler.ir.scalar import Call, Col
from dialects.dialect import Dialect, tree

Elements = Callable[[Dialect, exp.Expr, Callable[[exp.Expr], exp.Expr]], exp.Expr]


def to_text(d: Dialect, e: Call, x: exp.Expr, shown: Mapping[str, str], elements: Elements) -> exp.Expr:
    """A cast to text, varchar(n) or char(n).

    `shown` has a template a type that does not print as it casts; `elements(d, array, text)` gives an array's text,
    where `text` gives that of an element. Raises UnsupportedSql for numbers whose digits Postgres chooses by how a
    value was made.
    """
    s, t = e.args[0].type, e.type
    if s.name == "numeric" and (s.scale or 0) >= types.QUOTIENT_SCALE - 2:
        raise UnsupportedSql(
            "the text of a quotient depends on how Postgres scales it",
            code="unsupported_cast",
            hint="Round it first: round(x, 2)::text.",
        )
    if types.is_varying(s):
        raise UnsupportedSql(
            "the text of this number depends on which value it was made from: they have different scales",
            code="unsupported_cast",
            hint="Give it one: round(x, 2)::text.",
        )
    if s == types.numeric():
        raise UnsupportedSql(
            "the text of a numeric without a scale depends on how each value was written",
            code="unsupported_cast",
            hint="Round it first: round(x, 2)::text, or give the column a scale: numeric(12, 2).",
        )
    if s.name == "array":
        out = elements(d, x, lambda v: element_text(d, s.element or types.TEXT, v, shown, elements))
    elif s.name in shown:
        out = tree(d, shown[s.name], x)
    else:
        if (
            types.is_numeric(s) and s.precision == s.scale
        ):  # an engine may leave out the zero that no digit stands before
            x = d.cast(x, types.numeric((s.precision or 0) + 1, s.scale or 0))
        out = x if types.is_string(s) else d.cast(x, types.TEXT)
    if t == types.BLANKS:
        return tree(d, f"RPAD($1, {s.precision}, ' ')", out) if types.is_padded(s) else out
    if s == types.BLANKS:
        out = tree(d, shown["bpchar trimmed"], out)
    if t.name == "varchar" and t.precision:
        out = tree(d, f"LEFT($1, {t.precision})", out)
    if t.name == "bpchar":
        cut = tree(d, f"LEFT($1, {t.precision})", out) if t.precision else out
        out = tree(d, shown["bpchar trimmed"], cut)
    return out


def element_text(
    d: Dialect, element: types.Type, v: exp.Expr, shown: Mapping[str, str], elements: Elements
) -> exp.Expr:
    """An element of an array as its text has it: a boolean is t or f there."""
    if element == types.BLANKS:
        return v
    inner = to_text(d, Call("cast", (Col("v", element),), types.TEXT), v, shown, elements)
    if types.is_padded(element):
        return tree(d, f"RPAD($1, {element.precision}, ' ')", inner)
    return tree(d, "LEFT($1, 1)", inner) if element.name == "bool" else inner
