"""Bindings told apart where their values are equal: 1 day and 24 hours are not alike to a subquery that reads their
parts."""

from __future__ import annotations

from compiler.ir.scalar import Call, Col, Lit, Scalar
from compiler.ir.types import BLANKS, INT4, INT8, INTERVAL, TEXT, Type, array

PARTS = Type("array", element=INT8, labels=("interval",))  # months, days and microseconds
WHOLE = Type("text", labels=("blanks",))
INTERVALS = array(INTERVAL)
PARTS_OF_EACH = array(PARTS)
FORMS = {INTERVAL: PARTS, INTERVALS: PARTS_OF_EACH, BLANKS: WHOLE}
NAMES = ("months", "days", "micros")


def type_of_form(t: Type) -> Type:
    return FORMS.get(t, t)


def form(e: Scalar) -> Scalar:
    """What is the same for no two forms of a value; other values as they are."""
    if e.type == INTERVAL:
        return Call("array", tuple(Call("interval_part", (Lit(n, TEXT), e), INT8) for n in NAMES), PARTS)
    if e.type == INTERVALS:
        return Call("intervals_form", (e,), PARTS_OF_EACH)
    return Call("with_blanks", (e,), WHOLE) if e.type == BLANKS else e


def value(c: Col) -> Scalar:
    """The value in the form that a column holds."""
    if c.type == PARTS:
        return Call("interval_make", tuple(Call("array_get", (c, Lit(i, INT4)), INT8) for i in (1, 2, 3)), INTERVAL)
    if c.type == PARTS_OF_EACH:
        return Call("intervals_of", (c,), INTERVALS)
    return Call("cast", (c,), BLANKS) if c.type == WHOLE else c
