"""Operators and functions of ranges, which ask for parts of these."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from compiler.bind import multiranges
from compiler.bind.multiranges import is_multirange
from compiler.bind.range_order import less
from compiler.bind.range_parts import (
    Range,
    absent,
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
from compiler.bind.range_relations import (
    adjacent,
    before,
    begins_with,
    contains,
    ends_with,
    equal,
    holds,
    overlaps,
    refuse,
)
from compiler.ir import types
from compiler.ir.scalar import FALSE, TRUE, Call, Lit, Scalar, case, cast, is_null, negate, null
from compiler.ir.types import BOOL, TEXT, UNKNOWN, Type


def _some(holds: Callable[[Range, Range], Scalar]) -> Callable[[Range, Range], Scalar]:
    return lambda a, b: both(opposite(a.empty), opposite(b.empty), holds(a, b))


OPERATORS: dict[str, Callable[[Range, Range], Scalar]] = {
    "=": equal,
    "<>": lambda a, b: opposite(equal(a, b)),
    "@>": contains,
    "<@": lambda a, b: contains(b, a),
    "&&": overlaps,
    "<<": _some(before),
    ">>": _some(lambda a, b: before(b, a)),
    "&<": _some(ends_with),
    "&>": _some(lambda a, b: begins_with(b, a)),
    "-|-": _some(adjacent),
    "<": less,
    ">": lambda a, b: less(b, a),
    "<=": lambda a, b: opposite(less(b, a)),
    ">=": lambda a, b: opposite(less(a, b)),
}


def spans(t: Type) -> bool:
    """Whether a type is one of ranges, or of several in one value."""
    return is_range(t) or is_multirange(t)


def operator(op: str, a: Scalar, b: Scalar) -> Scalar:
    """a op b, where one is a range or a multirange; an untyped literal beside it is one, too. Raises InvalidSql where
    there is no such operator."""
    if is_multirange(a.type) or is_multirange(b.type):
        return multiranges.operator(op, a, b)
    a, b = (cast(x, y.type) if x.type.name == "unknown" else x for x, y in ((a, b), (b, a)))
    if op in ("<@", "@>") and is_range(a.type) != is_range(b.type):
        inner, outer = (a, b) if op == "<@" else (b, a)
        if is_range(outer.type):
            return _holds(parts(outer), inner, op)
    if a.type != b.type or op not in OPERATORS:
        refuse(a.type, op, b.type)
    if op in ("=", "<>") and not any(isinstance(x, Lit) or is_made(x) for x in (a, b)) and _is_told_by_text(a.type):
        return Call(op, (cast(a, TEXT), cast(b, TEXT)), BOOL)
    x, y = parts(a), parts(b)
    return strict(OPERATORS[op](x, y), x.missing, y.missing)


def same(a: Scalar, b: Scalar) -> Scalar:
    """a IS NOT DISTINCT FROM b."""
    return either(both(absent(a), absent(b)), told(operator("=", a, b)))


def _is_told_by_text(t: Type) -> bool:
    """Whether equal ranges have one text: numerics keep the digits they are written with."""
    return t.labels[0] != "numrange"


def casted(x: Scalar, t: Type) -> Scalar | None:
    """x::t, of a literal, of a value of the type, and of a range as one of several; None of others."""
    if x.type in (UNKNOWN, t):
        return cast(x, t)
    return multiranges.of_range(x) if is_multirange(t) and multiranges.range_type(t) == x.type else None


def _holds(r: Range, x: Scalar, op: str) -> Scalar:
    """Whether a value is in the range."""
    always = isinstance(x, Lit) and x.value is not None or isinstance(x, Call) and x.fn == "now"
    return strict(holds(r, x, op), r.missing, FALSE if always else absent(x))


def common(a: Scalar, b: Scalar) -> Scalar:
    """a * b, of ranges: what both have in common."""
    a, b = (cast(x, y.type) if x.type.name == "unknown" else x for x, y in ((a, b), (b, a)))
    if a.type != b.type:
        refuse(a.type, "*", b.type)
    x, y = parts(a), parts(b)
    apart = opposite(overlaps(x, y))

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


def _choose(condition: Scalar, x: Scalar, y: Scalar) -> Scalar:
    t = types.common([x.type, y.type]) or x.type
    return x if condition == TRUE else y if condition == FALSE else case([(condition, cast(x, t))], cast(y, t), t)


def _together(a: Range, b: Range, everything: bool) -> Range:
    """Both in one, with what is between them where that is asked for; else there is none where they are apart, which is
    an error in Postgres."""
    gap = both(opposite(a.empty), opposite(b.empty), opposite(overlaps(a, b)), opposite(adjacent(a, b)))
    first = either(b.empty, both(opposite(a.empty), begins_with(a, b)))
    final = either(b.empty, both(opposite(a.empty), ends_with(b, a)))
    return Range(
        a.type,
        either(a.missing, b.missing, FALSE if everything else gap),
        both(a.empty, b.empty),
        _choose(first, a.lower, b.lower),
        _choose(final, a.upper, b.upper),
        _choose(first, a.lower_inc, b.lower_inc),
        _choose(final, a.upper_inc, b.upper_inc),
    )


def _without(a: Range, b: Range) -> Range:
    """What of a is not in b; there is none where that is in two pieces, which is an error in Postgres."""
    met = overlaps(a, b)
    begins, ends = begins_with(b, a), ends_with(a, b)  # of what is left: after b, before b
    two = both(met, opposite(begins), opposite(ends))
    cut_low, cut_high = both(met, begins), both(met, opposite(begins))
    nothing = both(met, begins, ends)
    return Range(
        a.type,
        either(a.missing, b.missing, two),
        either(a.empty, nothing),
        _choose(nothing, null(a.element), _choose(cut_low, b.upper, a.lower)),
        _choose(nothing, null(a.element), _choose(cut_high, b.lower, a.upper)),
        _choose(cut_low, opposite(b.upper_inc), a.lower_inc),
        _choose(cut_high, opposite(b.lower_inc), a.upper_inc),
    )


def arithmetic(op: str, a: Scalar, b: Scalar) -> Scalar:
    """a + b, a - b and a * b, of sets of values. Raises InvalidSql where there is no such operator."""
    a, b = (cast(x, y.type) if x.type.name == "unknown" else x for x, y in ((a, b), (b, a)))
    if a.type != b.type or op not in ("+", "-", "*"):
        refuse(a.type, op, b.type)
    if is_multirange(a.type):
        return multiranges.arithmetic(op, a, b)
    if op == "*":
        return common(a, b)
    x, y = parts(a), parts(b)
    return whole(_together(x, y, everything=False) if op == "+" else _without(x, y))


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
    if any(is_multirange(a.type) for a in args) or name in multiranges.CONSTRUCTORS:
        return multiranges.function(name, args)
    if name == "range_merge" and len(args) == 2 and any(is_range(a.type) for a in args):
        a, b = (cast(x, y.type) if x.type.name == "unknown" else x for x, y in ((args[0], args[1]), (args[1], args[0])))
        return whole(_together(parts(a), parts(b), everything=True)) if a.type == b.type else None
    if name not in FUNCTIONS or len(args) != 1 or not is_range(args[0].type):
        return None
    r = parts(args[0])
    return strict(FUNCTIONS[name](r), r.missing if isinstance(args[0], Lit) or is_made(args[0]) else FALSE)
