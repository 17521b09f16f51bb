"""numeric, real, double precision."""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Decimal, localcontext

from compiler.errors import InvalidSql
from compiler.formats.input.integers import LATER
from compiler.formats.input.refusal import BLANKS, Undecided, invalid

DECIMAL = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
SPECIAL = re.compile(r"nan|[+-]?inf(inity)?", re.I)
FLOAT_SPECIAL = re.compile(r"[+-]?(nan(\([a-z0-9_]*\))?|inf(inity)?)", re.I)
RUN = "[0-9]+(?:_[0-9]+)*"
UNDERSCORES = re.compile(rf"[+-]?({RUN}(\.({RUN})?)?|\.{RUN})([eE][+-]?{RUN})?")
SPACED = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)[eE]\s+[+-]?[0-9]+")  # until Postgres 15
HEXADECIMAL = re.compile(r"[+-]?0x(?=\.?[0-9a-f])[0-9a-f]*\.?[0-9a-f]*(p[+-]?[0-9]+)?", re.I)
WHOLE, FRACTION = 131072, 16383  # the digits before and after the point that a numeric can have


def read(text: str) -> str:
    """The text itself; what is no number is refused, and what no numeric can hold."""
    bare = text.strip(BLANKS)
    if SPECIAL.fullmatch(bare):
        return text
    m = DECIMAL.fullmatch(bare)
    if m is None:
        if LATER.fullmatch(bare) or SPACED.fullmatch(bare) or "_" in bare and UNDERSCORES.fullmatch(bare):
            raise Undecided
        raise invalid("numeric", text)
    exponent = int(m[2][1:]) if m[2] and len(m[2]) < 12 else 0 if not m[2] else 10**9
    whole, _, part = m[1].lstrip("0").partition(".")
    if abs(exponent) > 10**6 or len(whole) + exponent > WHOLE or len(part) - exponent > FRACTION:
        if exponent > 0 and not m[1].strip("0."):
            raise Undecided
        raise InvalidSql("value overflows numeric format", code="out_of_range", detail=f'It is "{text}".')
    return text


def check_field(text: str, precision: int, scale: int) -> None:
    """A literal cast to numeric(precision, scale) must fit it."""
    try:
        read(text)
    except Undecided:
        return
    bare = text.strip(BLANKS)
    if SPECIAL.fullmatch(bare):
        return
    with localcontext() as c:
        c.prec = max(len(bare) + 2 * abs(Decimal(bare).adjusted()) + scale + 10, 60)
        rounded = abs(Decimal(bare)).quantize(Decimal(1).scaleb(-scale), ROUND_HALF_UP)
        if rounded >= Decimal(10) ** (precision - scale):
            whole = precision - scale
            raise InvalidSql(
                "numeric field overflow",
                code="out_of_range",
                detail=f"A field with precision {precision}, scale {scale} must round to an absolute "
                f"value less than {f'10^{whole}' if whole else 1}.",
            )


def float_reader(kind: str, least: Decimal, most: Decimal) -> Callable[[str], str]:
    """What reads text as a float between `least` and `most`; it raises InvalidSql, or Undecided for hexadecimal."""

    def read(text: str) -> str:
        bare = text.strip(BLANKS)
        if FLOAT_SPECIAL.fullmatch(bare):
            return text
        if not DECIMAL.fullmatch(bare):
            if HEXADECIMAL.fullmatch(bare):
                raise Undecided  # what strtod of the server's platform takes
            raise invalid(kind, text)
        digits, _, exponent = bare.lower().partition("e")
        n = abs(Decimal(digits))
        if n:
            power = int(exponent or 0) if len(exponent) < 9 else -9999 if exponent[0] == "-" else 9999
            n = n.scaleb(max(-9999, min(9999, power)))
        if n and (n >= most or n <= least):
            raise InvalidSql(f'"{bare}" is out of range for type {kind}', code="out_of_range")
        return text

    return read


def _bounds(digits: int, low: int, high: int) -> tuple[Decimal, Decimal]:
    """What rounds to zero, and what to infinity."""
    with localcontext() as c:
        c.prec = 1100
        return Decimal(2) ** low, Decimal(2) ** high - Decimal(2) ** (high - digits - 1)


READERS = {
    "numeric": read,
    "float8": float_reader("double precision", *_bounds(53, -1075, 1024)),
    "float4": float_reader("real", *_bounds(24, -150, 128)),
}
