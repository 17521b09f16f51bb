"""Operators and functions of ranges, which ask for parts of these."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from compiler.bind.range_order import less
from compiler.bind.range_parts import (
    Range,
    absent,
    alike,
    as_much,
    both,
    compared,
    either,
    is_made,
    is_range,
    opposite,
    parts,
    strict,
    told,
    whole,
)
from compiler.errors import InvalidSql, UnsupportedSql
from compiler.ir import types
from compiler.ir.scalar import FALSE, Call, Lit, Scalar, case, cast, is_null, negate, null
from compiler.ir.types import BOOL, TEXT, Type


def _before(a: Range, b: Range) -> Scalar:
    """Whether a ends before b begins."""
    touching = both(compared("=", a.upper, b.lower), opposite(both(a.upper_inc, b.lower_inc)))
    return told(either(compared("<", a.upper, b.lower), touching))


def _begins_with(a: Range, b: Range) -> Scalar:
    """Whether a begins no later than b."""
    touching = both(compared("=", a.lower, b.lower), either(a.lower_inc, opposite(b.lower_inc)))
    return either(absent(a.lower), told(either(compared("<", a.lower, b.lower), touching)))


def _ends_with(a: Range, b: Range) -> Scalar:
    """Whether a ends no later than b."""
    touching = both(compared("=", a.upper, b.upper), either(b.upper_inc, opposite(a.upper_inc)))
    return either(absent(b.upper), told(either(compared("<", a.upper, b.upper), touching)))


def _contains(a: Range, b: Range) -> Scalar:
    return either(b.empty, both(opposite(a.empty), _begins_with(a, b), _ends_with(b, a)))


def _overlaps(a: Range, b: Range) -> Scalar:
    return both(opposite(a.empty), opposite(b.empty), opposite(_before(a, b)), opposite(_before(b, a)))


def _some(holds: Callable[[Range, Range], Scalar]) -> Callable[[Range, Range], Scalar]:
    return lambda a, b: both(opposite(a.empty), opposite(b.empty), holds(a, b))


def _adjacent(a: Range, b: Range) -> Scalar:
    def meets(x: Range, y: Range) -> Scalar:
        one = either(both(x.upper_inc, opposite(y.lower_inc)), both(opposite(x.upper_inc), y.lower_inc))
        return told(both(compared("=", x.upper, y.lower), one))

    return either(meets(a, b), meets(b, a))


def _equal(a: Range, b: Range) -> Scalar:
    ends = both(alike(a.lower, b.lower), alike(a.upper, b.upper))
    same = both(ends, as_much(a.lower_inc, b.lower_inc), as_much(a.upper_inc, b.upper_inc))
    return either(both(a.empty, b.empty), both(opposite(a.empty), opposite(b.empty), same))


OPERATORS: dict[str, Callable[[Range, Range], Scalar]] = {
    "=": _equal,
    "<>": lambda a, b: opposite(_equal(a, b)),
    "@>": _contains,
    "<@": lambda a, b: _contains(b, a),
    "&&": _overlaps,
    "<<": _some(_before),
    ">>": _some(lambda a, b: _before(b, a)),
    "&<": _some(_ends_with),
    "&>": _some(lambda a, b: _begins_with(b, a)),
    "-|-": _some(_adjacent),
    "<": less,
    ">": lambda a, b: less(b, a),
    "<=": lambda a, b: opposite(less(b, a)),
    ">=": lambda a, b: opposite(less(a, b)),
}


def operator(op: str, a: Scalar, b: Scalar) -> Scalar:
    """a op b, where one is a range; an untyped literal beside it is one, too. Raises InvalidSql where there is no such
    operator."""
    a, b = (cast(x, y.type) if x.type.name == "unknown" else x for x, y in ((a, b), (b, a)))
    if op in ("<@", "@>") and is_range(a.type) != is_range(b.type):
        inner, outer = (a, b) if op == "<@" else (b, a)
        if is_range(outer.type):
            return _holds(parts(outer), inner, op)
    if a.type != b.type or op not in OPERATORS:
        _refuse(a.type, op, b.type)
    if op in ("=", "<>") and not any(isinstance(x, Lit) or is_made(x) for x in (a, b)) and _is_told_by_text(a.type):
        return Call(op, (cast(a, TEXT), cast(b, TEXT)), BOOL)
    x, y = parts(a), parts(b)
    return strict(OPERATORS[op](x, y), x.missing, y.missing)


def same(a: Scalar, b: Scalar) -> Scalar:
    """a IS NOT DISTINCT FROM b."""
    return either(both(absent(a), absent(b)), told(operator("=", a, b)))


def _refuse(x: Type, op: str, y: Type) -> None:
    if x == y:
        raise UnsupportedSql(
            f"{op} of {x} is not supported", code="unsupported_type", hint="Compare their bounds: lower(r), upper(r)."
        )
    raise InvalidSql(f"operator does not exist: {x} {op} {y}", code="undefined_operator", hint="You might need a cast.")


def _is_told_by_text(t: Type) -> bool:
    """Whether equal ranges have one text: numerics keep the digits they are written with."""
    return t.labels[0] != "numrange"


def _holds(r: Range, x: Scalar, op: str) -> Scalar:
    """Whether a value is in the range."""
    if x.type.name != r.element.name and not (types.is_numeric(r.element) and types.is_numeric(x.type)):
        _refuse(*((r.type, op, x.type) if op == "@>" else (x.type, op, r.type)))
    low = either(absent(r.lower), compared("<", r.lower, x), both(r.lower_inc, compared("=", r.lower, x)))
    high = either(absent(r.upper), compared(">", r.upper, x), both(r.upper_inc, compared("=", r.upper, x)))
    always = isinstance(x, Lit) and x.value is not None or isinstance(x, Call) and x.fn == "now"
    return strict(both(opposite(r.empty), low, high), r.missing, FALSE if always else absent(x))


def common(a: Scalar, b: Scalar) -> Scalar:
    """a * b: what both have in common."""
    a, b = (cast(x, y.type) if x.type.name == "unknown" else x for x, y in ((a, b), (b, a)))
    if a.type != b.type:
        _refuse(a.type, "*", b.type)
    x, y = parts(a), parts(b)
    apart = opposite(_overlaps(x, y))

    def bound(fn: str, p: Scalar, q: Scalar) -> Scalar:
        t = types.common([p.type, q.type]) or p.type
        return case([(apart, null(t))], Call(fn, (cast(p, t), cast(q, t)), t), t)

    def held(end: Scalar, p: Scalar, p_inc: Scalar, q: Scalar, q_inc: Scalar) -> Scalar:
        mine, other = (either(i, opposite(told(compared("=", v, end)))) for v, i in ((p, p_inc), (q, q_inc)))
        return both(negate(is_null(end)), mine, other)

    low, high = bound("greatest", x.lower, y.lower), bound("least", x.upper, y.upper)
    begins = held(low, x.lower, x.lower_inc, y.lower, y.lower_inc)
    ends = held(high, x.upper, x.upper_inc, y.upper, y.upper_inc)
    return whole(Range(x.type, either(x.missing, y.missing), apart, low, high, begins, ends))


FUNCTIONS: dict[str, Callable[[Range], Scalar]] = {
    "lower": lambda r: r.lower,
    "upper": lambda r: r.upper,
    "isempty": lambda r: r.empty,
    "lower_inc": lambda r: r.lower_inc,
    "upper_inc": lambda r: r.upper_inc,
    "lower_inf": lambda r: both(opposite(r.empty), absent(r.lower)),
    "upper_inf": lambda r: both(opposite(r.empty), absent(r.upper)),
}


def function(name: str, args: Sequence[Scalar]) -> Scalar | None:
    """A function of ranges; None where it is another one of its name."""
    if name not in FUNCTIONS or len(args) != 1 or not is_range(args[0].type):
        return None
    r = parts(args[0])
    return strict(FUNCTIONS[name](r), r.missing if isinstance(args[0], Lit) or is_made(args[0]) else FALSE)
