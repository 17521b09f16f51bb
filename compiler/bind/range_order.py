"""The order of ranges: empty ones come first, the others by where they begin, and then by where they end."""

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
)
from compiler.ir.scalar import Lit, Scalar, case, null
from compiler.ir.types import INT4


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
    return of(parts(e))


def of(r: Range) -> list[Scalar]:
    """What orders rows as a range of these parts does."""
    discrete = r.type.labels[0] in DISCRETE

    def place(*conditions: tuple[Scalar, int]) -> Scalar:
        """The number of the first condition that holds, and 1 where none does."""
        whens = [(c, Lit(n, INT4)) for c, n in conditions]
        return case([(r.missing, null(INT4)), *whens], Lit(1, INT4), INT4)

    out = [place((r.empty, 0)), place((absent(r.lower), 0)), r.lower]
    out += [] if discrete else [place((r.lower_inc, 0))]
    out += [place((opposite(absent(r.upper)), 0)), r.upper]
    return out + ([] if discrete else [place((opposite(r.upper_inc), 0))])
