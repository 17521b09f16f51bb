"""The order of ranges, and what is made of two: empty ones come first, the others by where they begin and then end."""

from __future__ import annotations

from compiler.bind.range_parts import (
    DISCRETE,
    Range,
    absent,
    alike,
    as_much,
    both,
    compared,
    either,
    is_range,
    opposite,
    parts,
    told,
    whole,
)
from compiler.ir import types
from compiler.ir.scalar import Call, Lit, Scalar, case, cast, null
from compiler.ir.types import BOOL, INT4


def begins_before(a: Range, b: Range) -> Scalar:
    """Whether a begins earlier than b; of ranges that are not empty."""
    touching = both(compared("=", a.lower, b.lower), a.lower_inc, opposite(b.lower_inc))
    open_alone = both(absent(a.lower), opposite(absent(b.lower)))
    return either(open_alone, told(either(compared("<", a.lower, b.lower), touching)))


def ends_before(a: Range, b: Range) -> Scalar:
    """Whether a ends earlier than b; of ranges that are not empty."""
    touching = both(compared("=", a.upper, b.upper), opposite(a.upper_inc), b.upper_inc)
    open_alone = both(opposite(absent(a.upper)), absent(b.upper))
    return either(open_alone, told(either(compared("<", a.upper, b.upper), touching)))


def less(a: Range, b: Range) -> Scalar:
    begin_alike = both(alike(a.lower, b.lower), as_much(a.lower_inc, b.lower_inc))
    earlier = either(begins_before(a, b), both(begin_alike, ends_before(a, b)))
    return both(opposite(b.empty), either(a.empty, earlier))


def keys(e: Scalar) -> list[Scalar]:
    """What orders rows as a range does: NULL, all of them, where that is missing. Any other value does it by itself."""
    if not is_range(e.type):
        return [e]
    r = parts(e)
    discrete = e.type.labels[0] in DISCRETE

    def place(*conditions: tuple[Scalar, int]) -> Scalar:
        """The number of the first condition that holds, and 1 where none does."""
        whens = [(c, Lit(n, INT4)) for c, n in conditions]
        return case([(r.missing, null(INT4)), *whens], Lit(1, INT4), INT4)

    out = [place((r.empty, 0)), place((absent(r.lower), 0)), r.lower]
    out += [] if discrete else [place((r.lower_inc, 0))]
    out += [place((opposite(absent(r.upper)), 0)), r.upper]
    return out + ([] if discrete else [place((opposite(r.upper_inc), 0))])


def _one_of(t: types.Type, low: list[tuple[Scalar, Range]], high: list[tuple[Scalar, Range]], **of: Scalar) -> Scalar:
    """The range that begins as the first of `low` does whose condition holds, and ends so."""

    def first(some: list[tuple[Scalar, Scalar]], kind: types.Type) -> Scalar:
        return case([(c, cast(x, kind)) for c, x in some[:-1]], cast(some[-1][1], kind), kind)

    element = types.common([r.lower.type for _, r in low + high]) or low[0][1].element
    begins = first([(c, r.lower_inc) for c, r in low], BOOL)
    ends = first([(c, r.upper_inc) for c, r in high], BOOL)
    lower, upper = first([(c, r.lower) for c, r in low], element), first([(c, r.upper) for c, r in high], element)
    return whole(Range(t, of["missing"], of["empty"], lower, upper, begins, ends))


def union(x: Range, y: Range, apart: Scalar) -> Scalar:
    """x + y; missing where they are `apart`, which is an error in Postgres."""
    missing = either(x.missing, y.missing, both(opposite(x.empty), opposite(y.empty), apart))
    low = [(y.empty, x), (x.empty, y), (begins_before(y, x), y), (opposite(x.empty), x)]
    high = [(y.empty, x), (x.empty, y), (ends_before(x, y), y), (opposite(x.empty), x)]
    return _one_of(x.type, low, high, missing=missing, empty=both(x.empty, y.empty))


def difference(x: Range, y: Range, apart: Scalar) -> Scalar:
    """x - y; missing where y is within x, so that two parts would be left, which is an error in Postgres. `apart`:
    they have nothing in common."""
    some = both(opposite(x.empty), opposite(y.empty), opposite(apart))
    left, right = both(some, begins_before(x, y)), both(some, ends_before(y, x))
    empty = either(x.empty, both(some, opposite(begins_before(x, y)), opposite(ends_before(y, x))))
    before = Range(y.type, y.missing, y.empty, y.lower, y.lower, y.lower_inc, _other(y.lower, y.lower_inc))
    after = Range(y.type, y.missing, y.empty, y.upper, y.upper, _other(y.upper, y.upper_inc), y.upper_inc)
    low, high = [(right, after), (opposite(right), x)], [(left, before), (opposite(left), x)]
    lower = _one_of(x.type, low, high, missing=either(x.missing, y.missing, both(left, right)), empty=empty)
    assert isinstance(lower, Call)
    missing, nothing, a, b, begins, ends = lower.args
    gone = case([(nothing, null(a.type))], a, a.type), case([(nothing, null(b.type))], b, b.type)
    flags = (both(opposite(nothing), f) for f in (begins, ends))
    return Call(lower.fn, (missing, nothing, *gone, *flags), lower.type)


def _other(bound: Scalar, inc: Scalar) -> Scalar:
    """Whether the bound belongs to what is on its other side."""
    return both(opposite(absent(bound)), opposite(inc))
