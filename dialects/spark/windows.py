"""Frames of window functions."""

from __future__ import annotations

from decimal import Decimal

from sqlglot import exp

from compiler.formats.intervals import parse_interval
from compiler.ir import types
from compiler.ir.relation import WindowCall
from compiler.ir.scalar import Call, Lit, Scalar
from dialects.dialect import Dialect, Emit

DAY = 86_400_000_000
STAMPS = ("timestamp", "timestamptz")


def has(c: WindowCall) -> bool:
    """Whether Spark has the frame: no GROUPS, no EXCLUDE, distances that are constant and of a type it can add, an
    end after the start."""
    if c.filter is not None or c.fn == "nth_by":
        return False
    if c.fn in ("lag", "lead", "nth_value") and len(c.args) > 1 and not isinstance(c.args[1], Lit):
        return False
    if c.frame is None:
        return True
    unit, start, end, exclude = c.frame
    if unit == "groups" or exclude:
        return False
    return all(
        b is None or isinstance(b, Lit) and (unit == "rows" or _added(c, b)) for _, b in (start, end)
    ) and not _crossed(start, end)


def _crossed(start: tuple[str, Scalar | None], end: tuple[str, Scalar | None]) -> bool:
    """Both distances lie on one side, and the end comes before the start: no row is in such a frame."""
    a, b = start[1], end[1]
    if start[0] != end[0] or not isinstance(a, Lit) or not isinstance(b, Lit):
        return False
    first, last = _far(a), _far(b)
    return first < last if start[0] == "preceding" else first > last


def _far(by: Lit) -> Decimal:
    if by.type.name != "interval":
        return Decimal(str(by.value))
    _, days, micros = parse_interval(str(by.value))
    return Decimal(days * DAY + micros)


def _added(c: WindowCall, by: Lit) -> bool:
    key = c.order[0].expr.type
    if by.type.name == "interval":
        months, days, micros = parse_interval(str(by.value))
        return months == 0 and (key.name in STAMPS or key.name == "date" and micros == 0)
    if not types.is_exact(key) or not types.is_exact(by.type):
        return types.is_float(key)
    whole, scale = types.digits(key)
    return whole < 37 and types.digits(by.type)[1] <= scale


def _distance(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    _, days, micros = parse_interval(str(e.args[0].value))  # type: ignore[attr-defined]
    total = abs(days * DAY + micros)
    rest, fraction = divmod(total % DAY, 1_000_000)
    if not rest and not fraction:
        return exp.Interval(this=exp.Literal.string(str(total // DAY)), unit=exp.var("DAY"))
    clock = f"{total // DAY} {rest // 3600:02d}:{rest // 60 % 60:02d}:{rest % 60:02d}.{fraction:06d}"
    return exp.Interval(
        this=exp.Literal.string(clock), unit=exp.IntervalSpan(this=exp.var("DAY"), expression=exp.var("SECOND"))
    )


FUNCTIONS: dict[str, str | Emit] = {"distance:interval": _distance}
