"""A range by its parts: whether it is empty, its bounds, whether these belong to it.

A range is carried as the text that Postgres prints. Its bounds are read from that, or are at hand where the view makes
it of two values or writes it down. Infinite bounds are NULL, as lower() and upper() have them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal

from compiler.bind.coerce import coerce, joined, untyped_number
from compiler.errors import InvalidSql, UnsupportedSql
from compiler.formats.input import ranges
from compiler.ir import types
from compiler.ir.outers import map_scalars
from compiler.ir.parts import scalars
from compiler.ir.relation import Relation
from compiler.ir.scalar import FALSE, TRUE, Call, Lit, Scalar, case, cast, conj, is_null, negate, null, transform, walk
from compiler.ir.types import BOOL, DATE, INT4, INT8, TEXT, TIMESTAMP, TIMESTAMPTZ, UNKNOWN, Type
from compiler.opaque import every

ELEMENTS = {
    "int4range": INT4,
    "int8range": INT8,
    "numrange": types.numeric(),
    "daterange": DATE,
    "tsrange": TIMESTAMP,
    "tstzrange": TIMESTAMPTZ,
}
DISCRETE = {"int4range", "int8range", "daterange"}  # whose values have a next one: bounds are written [a,b)
MADE = "range"  # the call that holds the parts of a range without a text
FLAGS = ("[)", "[]", "(]", "()")
ISO = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)  # a date whose text has the order of its value


def is_range(t: Type) -> bool:
    return t.name == "opaque" and t.labels[0] in ELEMENTS


@dataclass(frozen=True)
class Range:
    """Its parts: conditions, which are never NULL, and bounds, which are where there is none. Parts of a range that is
    missing mean nothing."""

    type: Type
    missing: Scalar
    empty: Scalar
    lower: Scalar
    upper: Scalar
    lower_inc: Scalar
    upper_inc: Scalar

    @property
    def element(self) -> Type:
        return ELEMENTS[self.type.labels[0]]


def parts(e: Scalar) -> Range:
    """Of a value of a range type."""
    if isinstance(e, Call) and e.fn == MADE:
        missing, empty, low, high, begins, ends = e.args
        return Range(e.type, missing, empty, low, high, begins, ends)
    return _written(e) if isinstance(e, Lit) else printed(cast(e, TEXT), e.type)


def printed(t: Scalar, of: Type) -> Range:
    """Of a text as Postgres prints ranges of the type."""
    element = ELEMENTS[of.labels[0]]
    bounds = [Call("range_bound", (t, Lit(i, INT4)), TEXT) for i in (1, 2)]
    low, high = (cast(Call("era_of_date", (b,), TEXT) if element == DATE else b, element) for b in bounds)
    first = Call("=", (Call("left", (t, Lit(1, INT4)), TEXT), Lit("[", TEXT)), BOOL)
    last = Call("=", (Call("right", (t, Lit(1, INT4)), TEXT), Lit("]", TEXT)), BOOL)
    return Range(of, is_null(t), Call("=", (t, Lit("empty", TEXT)), BOOL), low, high, first, last)


def _written(e: Lit) -> Range:
    """A literal; raises InvalidSql where Postgres does."""
    name = e.type.labels[0]
    if e.value is None:
        return Range(e.type, TRUE, FALSE, null(ELEMENTS[name]), null(ELEMENTS[name]), FALSE, FALSE)
    try:
        b = ranges.read(str(e.value))
        if b is None:
            return Range(e.type, FALSE, TRUE, null(ELEMENTS[name]), null(ELEMENTS[name]), FALSE, FALSE)
        low, high = (Lit(x, UNKNOWN if x is not None else ELEMENTS[name], e.at) for x in (b.lower, b.upper))
        return _between(e.type, low, high, b.lower_inc, b.upper_inc)
    except InvalidSql as error:
        error.at = error.at or e.at
        raise


def make(name: str, args: list[Scalar]) -> Scalar:
    """int4range(1, 5, '[]') and its like; raises InvalidSql where Postgres has no such function."""
    flags = args[2].value if len(args) == 3 and isinstance(args[2], Lit) else "[)"
    if len(args) not in (2, 3) or (len(args) == 3 and not isinstance(args[2], Lit)):
        raise UnsupportedSql(
            f"{name}() of {len(args)} arguments, or of bounds that vary, is not supported", code="unsupported_function"
        )
    if flags not in FLAGS:
        raise InvalidSql(
            "invalid range bound flags" if flags is not None else "range constructor flags argument must not be null",
            code="invalid_text",
            hint='Valid values are "[]", "[)", "(]", and "()".',
        )
    low, high = args[:2]
    for x in (low, high):
        if x.type.name != "unknown" and not _fits(x.type, ELEMENTS[name]):
            raise InvalidSql(
                f"function {name}({low.type}, {high.type}) does not exist",
                code="undefined_function",
                hint="Cast the bounds to the type of the range's elements.",
            )
    element = ELEMENTS[name]
    if not types.is_numeric(element):
        low, high = cast(low, element), cast(high, element)
    return whole(_between(Type("opaque", labels=(name,)), low, high, str(flags)[0] == "[", str(flags)[1] == "]"))


def is_made(e: Scalar) -> bool:
    return isinstance(e, Call) and e.fn == MADE


def whole(r: Range) -> Scalar:
    return Call(MADE, (r.missing, r.empty, r.lower, r.upper, r.lower_inc, r.upper_inc), r.type)


def _fits(t: Type, element: Type) -> bool:
    """Whether a value is cast to the element's type by itself."""
    if types.is_numeric(element):
        return types.is_exact(t)
    if types.is_integer(element):
        return types.is_integer(t) and types.INTEGERS[t.name] <= types.INTEGERS[element.name]
    return t == element or (t.name, element.name) in {
        ("date", "timestamp"),
        ("date", "timestamptz"),
        ("timestamp", "timestamptz"),
    }


def _between(t: Type, low: Scalar, high: Scalar, low_inc: bool, high_inc: bool) -> Range:
    """From one value to another, in the form that Postgres gives it. One that ends before it begins is an error there,
    and missing here, where that is not told before."""
    element = ELEMENTS[t.labels[0]]
    low, high = (untyped_number(x) if types.is_numeric(element) else coerce(x, element) for x in (low, high))
    order = _order(low, high)
    if order is not None and order > 0:
        raise InvalidSql("range lower bound must be less than or equal to range upper bound", code="invalid_text")
    constant = order is not None or any(isinstance(x, Lit) and x.value is None for x in (low, high))
    missing = FALSE if constant else told(Call(">", (low, high), BOOL))
    begins, ends = Lit(low_inc, BOOL), Lit(high_inc, BOOL)
    if t.labels[0] in DISCRETE:
        low, begins = (low if low_inc else _next(low)), TRUE
        high, ends = (_next(high) if high_inc else high), FALSE
        order = _order(low, high)
    if begins == ends == TRUE:
        empty: Scalar = FALSE
    elif constant:
        empty = Lit(order is not None and order >= 0, BOOL)
    else:
        empty = told(Call(">=" if t.labels[0] in DISCRETE else "=", (low, high), BOOL))
    if empty == TRUE:
        low, high = null(element), null(element)
    elif empty != FALSE:
        low, high = (case([(empty, null(x.type))], x, x.type) for x in (low, high))
    return Range(t, missing, empty, low, high, _held(begins, low), _held(ends, high))


def _held(inc: Scalar, bound: Scalar) -> Scalar:
    """A bound that is not there belongs to no range."""
    if inc == FALSE or isinstance(bound, Lit):
        return FALSE if inc == FALSE or (isinstance(bound, Lit) and bound.value is None) else inc
    return negate(is_null(bound))


def _next(x: Scalar) -> Scalar:
    """The value after this one."""
    if isinstance(x, Lit):
        if x.value is None or str(x.value).lstrip("+-").lower() == "infinity":
            return x
        if x.type != DATE:
            return Lit(int(str(x.value)) + 1, x.type)
        if ISO.fullmatch(str(x.value)) and str(x.value) < "9999-12-31":
            return Lit(str(date.fromisoformat(str(x.value)) + timedelta(1)), DATE)
    return Call("+", (x, Lit(1, INT4 if x.type == DATE else x.type)), x.type)


def _order(a: Scalar, b: Scalar) -> int | None:
    """-1, 0 or 1 of constants whose order can be told."""
    if not (isinstance(a, Lit) and isinstance(b, Lit)) or a.value is None or b.value is None:
        return None
    x, y = str(a.value), str(b.value)
    if types.is_exact(a.type) and types.is_exact(b.type):
        n, m = Decimal(x), Decimal(y)
        return (n > m) - (n < m)
    if x == y or (a.type == DATE and ISO.fullmatch(x) and ISO.fullmatch(y)):
        return (x > y) - (x < y)
    return None


def told(e: Scalar) -> Scalar:
    """A condition that is false where it cannot be told."""
    return Call("coalesce", (e, FALSE), BOOL)


def either(*conditions: Scalar) -> Scalar:
    if TRUE in conditions:
        return TRUE
    some = tuple(c for c in conditions if c != FALSE)
    return FALSE if not some else some[0] if len(some) == 1 else Call("or", some, BOOL)


def both(*conditions: Scalar) -> Scalar:
    return FALSE if FALSE in conditions else conj(conditions)


def opposite(e: Scalar) -> Scalar:
    return Lit(not e.value, BOOL) if isinstance(e, Lit) else negate(e)


def absent(e: Scalar) -> Scalar:
    return Lit(e.value is None, BOOL) if isinstance(e, Lit) else is_null(e)


def compared(op: str, a: Scalar, b: Scalar) -> Scalar:
    return FALSE if any(isinstance(x, Lit) and x.value is None for x in (a, b)) else Call(op, (a, b), BOOL)


def alike(x: Scalar, y: Scalar) -> Scalar:
    """Whether two bounds are the same, or both none."""
    return either(both(absent(x), absent(y)), told(compared("=", x, y)))


def as_much(x: Scalar, y: Scalar) -> Scalar:
    return either(both(x, y), both(opposite(x), opposite(y)))


def strict(body: Scalar, *missing: Scalar) -> Scalar:
    """NULL where something is missing."""
    some = either(*missing)
    return (
        body if some == FALSE else null(body.type) if some == TRUE else case([(some, null(body.type))], body, body.type)
    )


def shown(r: Relation) -> Relation:
    """With their texts for ranges that the view makes and nothing asks for their parts."""
    made = (s for n in every(r) for e in scalars(n) for s in walk(e) if _is_made_here(s))
    return map_scalars(r, lambda e: transform(e, _text)) if any(made) else r


def _is_made_here(e: Scalar) -> bool:
    return is_range(e.type) and (is_made(e) or isinstance(e, Lit) and e.value is not None)


def _text(e: Scalar) -> Scalar | None:
    if not _is_made_here(e):
        return None
    r = parts(e)

    def bound(x: Scalar) -> Scalar:
        t = cast(x, TEXT)
        quoted = joined([Lit('"', TEXT), t, Lit('"', TEXT)])
        spaced = Call(">", (Call("strpos", (t, Lit(" ", TEXT)), INT4), Lit(0, INT4)), BOOL)
        return case([(is_null(x), Lit("", TEXT)), (spaced, quoted)], t, TEXT)

    def sign(inc: Scalar, one: str, other: str) -> Scalar:
        return case([(inc, Lit(one, TEXT))], Lit(other, TEXT), TEXT)

    begins, ends = sign(r.lower_inc, "[", "("), sign(r.upper_inc, "]", ")")
    text = joined([begins, bound(r.lower), Lit(",", TEXT), bound(r.upper), ends])
    text = case([(r.missing, null(TEXT)), (r.empty, Lit("empty", TEXT))], text, TEXT)
    return Call("cast", (text,), e.type)
