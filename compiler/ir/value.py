"""The meaning of a scalar: its value on one row, in memory. NULL and unknown are None, numerics are fractions."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from compiler.ir.scalar import Call, Col, Lit, Scalar


def value(e: Scalar, row: dict[str, Any]) -> Any:
    """A scalar's value on a row; NULL is None, unknown is None."""
    if isinstance(e, Col):
        return row[e.name]
    if isinstance(e, Lit):
        if e.type.name == "numeric" and e.value is not None:
            return Fraction(str(e.value))
        return e.value
    assert isinstance(e, Call)
    if e.fn in SPECIAL:
        return SPECIAL[e.fn](e, row)
    args = [value(a, row) for a in e.args]
    if e.fn == "cast":
        return args[0]
    return None if any(a is None for a in args) else STRICT[e.fn](*args)


def _and(e: Call, row: dict[str, Any]) -> Any:
    vs = [value(a, row) for a in e.args]
    return False if any(v is False for v in vs) else None if any(v is None for v in vs) else True


def _or(e: Call, row: dict[str, Any]) -> Any:
    vs = [value(a, row) for a in e.args]
    return True if any(v is True for v in vs) else None if any(v is None for v in vs) else False


def _case(e: Call, row: dict[str, Any]) -> Any:
    for i in range(0, len(e.args) - 1, 2):
        if value(e.args[i], row) is True:
            return value(e.args[i + 1], row)
    return value(e.args[-1], row)


def _in(e: Call, row: dict[str, Any]) -> Any:
    x, *items = [value(a, row) for a in e.args]
    if x is None:
        return None
    return True if x in [i for i in items if i is not None] else None if None in items else False


def _extreme(pick: Callable[..., Any]) -> Callable[[Call, dict[str, Any]], Any]:
    def f(e: Call, row: dict[str, Any]) -> Any:
        vs = [v for v in (value(a, row) for a in e.args) if v is not None]
        return pick(vs) if vs else None

    return f


SPECIAL: dict[str, Callable[[Call, dict[str, Any]], Any]] = {
    "and": _and,
    "or": _or,
    "case": _case,
    "in": _in,
    "is_null": lambda e, r: value(e.args[0], r) is None,
    "is_true": lambda e, r: value(e.args[0], r) is True,
    "is_false": lambda e, r: value(e.args[0], r) is False,
    "same": lambda e, r: value(e.args[0], r) == value(e.args[1], r),
    "array": lambda e, r: tuple(value(a, r) for a in e.args),
    "coalesce": lambda e, r: next((v for v in (value(a, r) for a in e.args) if v is not None), None),
    "greatest": _extreme(max),
    "least": _extreme(min),
}

STRICT: dict[str, Callable[..., Any]] = {
    "=": lambda a, b: a == b,
    "<>": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: Fraction(a) / Fraction(b),
    "%": lambda a, b: a % b,
    "not": lambda a: not a,
    "neg": lambda a: -a,
    "||": lambda a, b: a + b,
    "upper": lambda a: a.upper(),
    "abs": abs,
}
