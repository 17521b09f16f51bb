"""How two ranges lie to each other, and a value to a range. All are conditions on their parts, and none is NULL."""

from __future__ import annotations

from compiler.bind.range_parts import Range, absent, alike, as_much, both, compared, either, opposite, told
from compiler.errors import InvalidSql, UnsupportedSql
from compiler.ir import types
from compiler.ir.scalar import Scalar
from compiler.ir.types import Type


def before(a: Range, b: Range) -> Scalar:
    """Whether a ends before b begins."""
    touching = both(compared("=", a.upper, b.lower), opposite(both(a.upper_inc, b.lower_inc)))
    return told(either(compared("<", a.upper, b.lower), touching))


def begins_with(a: Range, b: Range) -> Scalar:
    """Whether a begins no later than b."""
    touching = both(compared("=", a.lower, b.lower), either(a.lower_inc, opposite(b.lower_inc)))
    return either(absent(a.lower), told(either(compared("<", a.lower, b.lower), touching)))


def ends_with(a: Range, b: Range) -> Scalar:
    """Whether a ends no later than b."""
    touching = both(compared("=", a.upper, b.upper), either(b.upper_inc, opposite(a.upper_inc)))
    return either(absent(b.upper), told(either(compared("<", a.upper, b.upper), touching)))


def contains(a: Range, b: Range) -> Scalar:
    return either(b.empty, both(opposite(a.empty), begins_with(a, b), ends_with(b, a)))


def overlaps(a: Range, b: Range) -> Scalar:
    return both(opposite(a.empty), opposite(b.empty), opposite(before(a, b)), opposite(before(b, a)))


def meets(a: Range, b: Range) -> Scalar:
    """Whether b begins where a ends."""
    one = either(both(a.upper_inc, opposite(b.lower_inc)), both(opposite(a.upper_inc), b.lower_inc))
    return told(both(compared("=", a.upper, b.lower), one))


def adjacent(a: Range, b: Range) -> Scalar:
    return either(meets(a, b), meets(b, a))


def equal(a: Range, b: Range) -> Scalar:
    ends = both(alike(a.lower, b.lower), alike(a.upper, b.upper))
    same = both(ends, as_much(a.lower_inc, b.lower_inc), as_much(a.upper_inc, b.upper_inc))
    return either(both(a.empty, b.empty), both(opposite(a.empty), opposite(b.empty), same))


def holds(r: Range, x: Scalar, op: str) -> Scalar:
    """Whether a value, which is not NULL, is in the range. Raises InvalidSql for one of another type."""
    if x.type.name != r.element.name and not (types.is_numeric(r.element) and types.is_numeric(x.type)):
        refuse(*((r.type, op, x.type) if op == "@>" else (x.type, op, r.type)))
    low = either(absent(r.lower), compared("<", r.lower, x), both(r.lower_inc, compared("=", r.lower, x)))
    high = either(absent(r.upper), compared(">", r.upper, x), both(r.upper_inc, compared("=", r.upper, x)))
    return both(opposite(r.empty), low, high)


def refuse(x: Type, op: str, y: Type) -> None:
    """Raise InvalidSql where Postgres has no such operator, UnsupportedSql where it has one."""
    if x == y:
        raise UnsupportedSql(
            f"{op} of {x} is not supported", code="unsupported_type", hint="Compare their bounds: lower(r), upper(r)."
        )
    raise InvalidSql(f"operator does not exist: {x} {op} {y}", code="undefined_operator", hint="You might need a cast.")
