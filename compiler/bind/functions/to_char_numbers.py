"""to_char of numbers: digits, signs and separators at the places that a pattern has for them."""

from __future__ import annotations

import re

from compiler.bind.coerce import joined
from compiler.errors import UnsupportedSql
from compiler.ir import types
from compiler.ir.scalar import Call, Lit, Scalar, case, cast
from compiler.ir.types import BOOL, INT4, TEXT


def number_by(value: Scalar, pattern: str) -> Scalar:
    """Digits at fixed places: leading blanks, group separators only between digits, the sign before the first digit."""
    bare = pattern.upper().startswith("FM")
    body = pattern[2:] if bare else pattern
    m = re.fullmatch(r"([$L]?)([09,G]+)(?:[.D]([09]*))?(MI|S)?", body, re.IGNORECASE)
    if m is None or m[1].upper() == "L" or (m[4] or "").upper() == "S" or not re.search(r"[09]", m[2]):
        raise unknown_pattern(pattern)
    if m[3] == "":
        raise unknown_pattern(pattern)
    whole, after = m[2].upper().replace("G", ","), m[3] if m[3] is not None else ""
    places = whole.replace(",", "")
    forced = len(places) - places.index("0") if "0" in places else 0
    exact = cast(value, types.as_numeric(value.type))
    scale = len(after)
    rounded = _round(Call("abs", (exact,), exact.type), scale)
    units = Call("trunc", (rounded,), types.numeric(types.digits(rounded.type)[0] + 1, 0))
    digits: Scalar = cast(units, TEXT)
    if after and not forced:  # .5 is written without a zero before the point
        digits = case([(Call("=", (units, Lit("0", types.numeric(1, 0))), BOOL), Lit("", TEXT))], digits, TEXT)
    if forced:
        digits = at_least(digits, forced, "lpad")
    given = Call("not", (Call("is_null", (value,), BOOL),), BOOL)
    tail = _decimals(rounded, scale, after, bare) if m[3] is not None else None
    shown = _grouped(digits, whole) if "," in whole else digits
    if tail is not None:
        shown = Call("||", (shown, tail), TEXT)
        if bare and not forced and "0" not in after:  # with nothing on either side of the point a zero is written
            shown = case([(Call("=", (shown, Lit(".", TEXT)), BOOL), Lit("0.", TEXT))], shown, TEXT)
    many = Call(">", (Call("length", (digits,), INT4), Lit(len(places), INT4)), BOOL)
    hashes = re.sub("[09]", "#", whole) + ("." + "#" * scale if m[3] is not None else "")
    shown = case([(many, Lit(hashes, TEXT))], shown, TEXT)
    return case([(given, _signed(rounded, exact, m, bare, shown, len(hashes)))], Lit(None, TEXT), TEXT)


def _signed(rounded: Scalar, exact: Scalar, m: re.Match[str], bare: bool, shown: Scalar, width: int) -> Scalar:
    """The sign (and currency) in front, or behind for MI, and blanks up to the pattern's width."""
    zero = Lit("0", types.numeric(1, 0))
    below = Call("and", (Call("<", (exact, zero), BOOL), Call("not", (Call("=", (rounded, zero), BOOL),), BOOL)), BOOL)
    trailing = (m[4] or "").upper() == "MI"
    minus = case([(below, Lit("-", TEXT))], Lit("" if bare or not trailing else " ", TEXT), TEXT)
    money = Lit(m[1], TEXT)
    total = width + len(m[1])
    if trailing:
        out = joined([money, shown]) if m[1] else shown
        if not bare:
            out = Call("lpad", (out, Lit(total, INT4), Lit(" ", TEXT)), TEXT)
        return Call("||", (out, minus), TEXT)
    out = joined([minus, shown])
    out = out if bare else Call("lpad", (out, Lit(width + 1, INT4), Lit(" ", TEXT)), TEXT)
    return Call("||", (money, out), TEXT) if m[1] else out


def _grouped(digits: Scalar, whole: str) -> Scalar:
    """Separators put where both sides have digits; places are counted from the right."""
    out: Scalar | None = None
    right, run = 0, 0
    length = Call("length", (digits,), INT4)
    for c in reversed(whole + "!"):
        if c == "!":
            continue
        if c != ",":
            run += 1
            continue
        out, right, run = _group(digits, length, right, run, out), right + run, 0
    return _group(digits, length, right, run, out)


def _group(digits: Scalar, length: Scalar, right: int, run: int, rest: Scalar | None) -> Scalar:
    """The digits of a group, and a separator if there are any."""
    end = binary_int("-", length, Lit(right, INT4))
    start = binary_int("+", binary_int("-", end, Lit(run, INT4)), Lit(1, INT4))
    part = Call("substring", (digits, start, Lit(run, INT4)), TEXT)
    some = Call(">", (end, Lit(0, INT4)), BOOL)
    own = case([(some, part)], Lit("", TEXT), TEXT)
    if rest is None:
        return own
    inner = binary_int("-", length, Lit(right, INT4))
    comma = case([(Call(">", (inner, Lit(0, INT4)), BOOL), Lit(",", TEXT))], Lit("", TEXT), TEXT)
    return Call("||", (Call("||", (own, comma), TEXT), rest), TEXT)


def _decimals(rounded: Scalar, scale: int, after: str, bare: bool) -> Scalar:
    """The point and what follows it; FM drops zeros at the end that the pattern writes as 9."""
    if not scale:
        return Lit(".", TEXT)
    fraction: Scalar = Call("right", (cast(rounded, TEXT), Lit(scale, INT4)), TEXT)
    if bare:
        least = after.rfind("0") + 1
        fraction = Call("rtrim", (fraction, Lit("0", TEXT)), TEXT)
        fraction = at_least(fraction, least, "rpad") if least else fraction
    return Call("||", (Lit(".", TEXT), fraction), TEXT)


def _round(x: Scalar, scale: int) -> Scalar:
    whole, has = types.digits(x.type)
    if scale >= has:
        return cast(x, types.numeric(min(whole + scale, 38), scale))
    return Call("round", (x, Lit(scale, INT4)), types.numeric(whole + 1 + scale, scale))


def at_least(x: Scalar, width: int, pad: str) -> Scalar:
    """Filled up with zeros; what is longer stays whole."""
    short = Call("<", (Call("length", (x,), INT4), Lit(width, INT4)), BOOL)
    return case([(short, Call(pad, (x, Lit(width, INT4), Lit("0", TEXT)), TEXT))], x, TEXT)


def binary_int(op: str, a: Scalar, b: Scalar) -> Scalar:
    return Call(op, (a, b), INT4)


def unknown_pattern(pattern: str) -> UnsupportedSql:
    return UnsupportedSql(
        f"to_char with the pattern '{pattern}' is not supported",
        code="unsupported_function",
        hint="Format it when reading, or with a simpler pattern.",
    )
