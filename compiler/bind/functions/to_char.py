"""to_char as expressions: a pattern is taken apart when the view is compiled, so that it means the same in every
engine."""

from __future__ import annotations

import re

from compiler.bind.coerce import joined
from compiler.errors import UnsupportedSql
from compiler.ir import types
from compiler.ir.scalar import Call, Lit, Scalar, case, cast
from compiler.ir.types import BOOL, INT4, TEXT

MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
DAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
ROMAN = ("I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII")
NUMBERS = {  # pattern -> (field of extract, width)
    "YYYY": ("year", 4),
    "MM": ("month", 2),
    "DDD": ("doy", 3),
    "DD": ("day", 2),
    "HH24": ("hour", 2),
    "MI": ("minute", 2),
    "IYYY": ("isoyear", 4),
    "IW": ("week", 2),
    "ID": ("isodow", 1),
    "Q": ("quarter", 1),
    "CC": ("century", 2),
}
PATTERNS = (
    "SSSSS",
    "MONTH",
    "IYYY",
    "HH24",
    "HH12",
    "SSSS",
    "YYYY",
    "A.M.",
    "P.M.",
    "DDD",
    "DAY",
    "MON",
    "YYY",
    "FF1",
    "FF2",
    "FF3",
    "FF4",
    "FF5",
    "FF6",
    "DD",
    "DY",
    "HH",
    "ID",
    "IW",
    "MI",
    "MM",
    "MS",
    "OF",
    "RM",
    "SS",
    "TZ",
    "US",
    "WW",
    "YY",
    "AM",
    "PM",
    "CC",
    "D",
    "Q",
    "W",
    "Y",
)

SPANS = {
    "time": {"HH24", "HH12", "HH", "MI", "SS", "MS", "US", "AM", "PM", "A.M.", "P.M."},
    "interval": {"YYYY", "MM", "DD", "HH24", "MI", "SS"},
}


def to_char(value: Scalar, pattern: Scalar) -> Scalar:
    """to_char(value, pattern); raises UnsupportedSql where the pattern is not constant or not one that is known."""
    if not isinstance(pattern, Lit) or not isinstance(pattern.value, str):
        raise UnsupportedSql(
            "to_char with a pattern that is not a constant is not supported", code="unsupported_function"
        )
    if types.is_exact(value.type):
        return _number(value, pattern.value)
    if value.type.name in SPANS:
        return joined([_span(value, p, pattern.value) for p in _pieces(pattern.value)])
    if value.type.name not in ("date", "timestamp", "timestamptz"):
        raise UnsupportedSql(
            f"to_char of {value.type} is not supported",
            code="unsupported_function",
            hint="Cast it to numeric or timestamp first, or to text.",
        )
    return joined([_piece(value, p) for p in _pieces(pattern.value)])


# -- dates and times


def _pieces(pattern: str) -> list[tuple[str, bool, str]]:
    """(what, without padding, suffix TH) of a date pattern; text between fields has what = the text, marked by a
    blank suffix `'`."""
    out: list[tuple[str, bool, str]] = []
    at, bare = 0, False
    while at < len(pattern):
        rest = pattern[at:]
        if rest[:2].upper() == "FM":
            at, bare = at + 2, True
        elif rest[0] == '"' and '"' in rest[1:]:
            end = rest.index('"', 1)
            out.append((rest[1:end], False, "'"))
            at += end + 1
        elif key := next((p for p in PATTERNS if rest.upper().startswith(p)), None):
            found, at = rest[: len(key)], at + len(key)
            if not (found.isupper() or found.islower() or found in ("Month", "Mon", "Day", "Dy")) or re.match(
                "IDDD|Y,YYY", rest, re.IGNORECASE
            ):
                raise _unknown(pattern)  # Postgres knows such a field not at all, or as another
            th = pattern[at : at + 2] if pattern[at : at + 2] in ("th", "TH") else ""
            out.append((found, bare, th))
            at, bare = at + len(th), False
        elif rest[0].isalpha():
            raise _unknown(pattern)
        else:
            out.append((rest[0], False, "'"))
            at += 1
    return out


def _piece(value: Scalar, piece: tuple[str, bool, str]) -> Scalar:
    text, bare, suffix = piece
    if suffix == "'":
        return Lit(text, TEXT)
    key = text.upper()
    named = _name(value, text, bare)
    if named is not None:
        return named
    n, width = _field(value, key)
    out: Scalar = cast(n, TEXT) if bare or width == 1 else _at_least(cast(n, TEXT), width, "lpad")
    return Call("||", (out, _ordinal(n, suffix.islower())), TEXT) if suffix else out


def _span(value: Scalar, piece: tuple[str, bool, str], pattern: str) -> Scalar:
    """A piece of a time or an interval, whose hours go on past 24; a minus stands before the padded digits (of days,
    among them)."""
    text, bare, suffix = piece
    if suffix != "'" and (suffix or text.upper() not in SPANS[value.type.name]):
        raise _unknown(pattern)
    if suffix == "'" or value.type.name == "time" or text.upper() == "DD":
        return _piece(value, piece)
    n, width = _field(value, text.upper())
    size = cast(Call("abs", (n,), INT4), TEXT)
    minus = case([(Call("<", (n, Lit(0, INT4)), BOOL), Lit("-", TEXT))], Lit("", TEXT), TEXT)
    return joined([minus, size if bare else _at_least(size, width, "lpad")])


def _field(value: Scalar, key: str) -> tuple[Scalar, int]:
    """A number of a date, and how many digits it is written with."""
    if key in NUMBERS:
        field, width = NUMBERS[key]
        return _int(value, field), width
    hour, micros = _int(value, "hour"), _int(value, "microseconds")
    within = _binary("%", micros, Lit(1000000, INT4))
    match key:
        case "YYY" | "YY" | "Y":
            return _binary("%", _int(value, "year"), Lit(10 ** len(key), INT4)), len(key)
        case "HH" | "HH12":
            return _binary("+", _binary("%", _binary("+", hour, Lit(11, INT4)), Lit(12, INT4)), Lit(1, INT4)), 2
        case "SS":
            return _binary("/", micros, Lit(1000000, INT4)), 2
        case "US" | "FF6":
            return within, 6
        case "MS" | "FF3":
            return _binary("/", within, Lit(1000, INT4)), 3
        case "FF1" | "FF2" | "FF4" | "FF5":
            return _binary("/", within, Lit(10 ** (6 - int(key[2])), INT4)), int(key[2])
        case "SSSS" | "SSSSS":
            minutes = _binary("+", _binary("*", hour, Lit(60, INT4)), _int(value, "minute"))
            return _binary("+", _binary("*", minutes, Lit(60, INT4)), _binary("/", micros, Lit(1000000, INT4))), 1
        case "D":
            return _binary("+", _int(value, "dow"), Lit(1, INT4)), 1
        case "W" | "WW":
            day = _int(value, "day" if key == "W" else "doy")
            return _binary("+", _binary("/", _binary("-", day, Lit(1, INT4)), Lit(7, INT4)), Lit(1, INT4)), len(key)
    raise _unknown(key)


def _name(value: Scalar, text: str, bare: bool) -> Scalar | None:
    """Names of months and days, halves of the day and zones; None for numbers."""
    key = text.upper()
    if key in ("MONTH", "MON", "DAY", "DY", "RM"):
        names = MONTHS if key in ("MONTH", "MON") else ROMAN if key == "RM" else DAYS
        short = [n[:3] if key in ("MON", "DY") else n for n in names]
        styled = [n.upper() if text.isupper() else n.lower() if text.islower() else n for n in short]
        width = 4 if key == "RM" else 9 if key in ("MONTH", "DAY") else 3
        place = _int(value, "month") if names is not DAYS else _binary("+", _int(value, "dow"), Lit(1, INT4))
        words = tuple(Lit(n if bare else n.ljust(width), TEXT) for n in styled)
        return Call("array_get", (Call("array", words, types.array(TEXT)), place), TEXT)
    if key in ("AM", "PM", "A.M.", "P.M."):
        am, pm = ("A.M.", "P.M.") if "." in key else ("AM", "PM")
        if text.islower():
            am, pm = am.lower(), pm.lower()
        hour = _int(value, "hour")
        if value.type.name == "time":  # the day's last may be 24:00
            hour = _binary("%", hour, Lit(24, INT4))
        early = Call("<", (hour, Lit(12, INT4)), BOOL)
        known = Call("not", (Call("is_null", (value,), BOOL),), BOOL)
        return case([(early, Lit(am, TEXT)), (known, Lit(pm, TEXT))], Lit(None, TEXT), TEXT)
    if key in ("TZ", "OF"):
        zone = (
            ""
            if value.type.name != "timestamptz" and key == "TZ"
            else "+00"
            if key == "OF"
            else "UTC"
            if text.isupper()
            else "utc"
        )
        return case([(Call("is_null", (value,), BOOL), Lit(None, TEXT))], Lit(zone, TEXT), TEXT)
    return None


def _ordinal(n: Scalar, lower: bool) -> Scalar:
    """st, nd, rd or th of a number."""
    last, tens = _binary("%", n, Lit(10, INT4)), _binary("%", _binary("/", n, Lit(10, INT4)), Lit(10, INT4))
    teen = Call("=", (tens, Lit(1, INT4)), BOOL)
    words = [(teen, "th"), *((Call("=", (last, Lit(i, INT4)), BOOL), w) for i, w in ((1, "st"), (2, "nd"), (3, "rd")))]
    styled = [(c, Lit(w if lower else w.upper(), TEXT)) for c, w in words]
    return case(styled, Lit("th" if lower else "TH", TEXT), TEXT)


# -- numbers


def _number(value: Scalar, pattern: str) -> Scalar:
    """Digits at fixed places: leading blanks, group separators only between digits, the sign before the first digit."""
    bare = pattern.upper().startswith("FM")
    body = pattern[2:] if bare else pattern
    m = re.fullmatch(r"([$L]?)([09,G]+)(?:[.D]([09]*))?(MI|S)?", body, re.IGNORECASE)
    if m is None or m[1].upper() == "L" or (m[4] or "").upper() == "S" or not re.search(r"[09]", m[2]):
        raise _unknown(pattern)
    if m[3] == "":
        raise _unknown(pattern)
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
        digits = _at_least(digits, forced, "lpad")
    known = Call("not", (Call("is_null", (value,), BOOL),), BOOL)
    tail = _decimals(rounded, scale, after, bare) if m[3] is not None else None
    shown = _grouped(digits, whole) if "," in whole else digits
    if tail is not None:
        shown = Call("||", (shown, tail), TEXT)
        if bare and not forced and "0" not in after:  # with nothing on either side of the point a zero is written
            shown = case([(Call("=", (shown, Lit(".", TEXT)), BOOL), Lit("0.", TEXT))], shown, TEXT)
    many = Call(">", (Call("length", (digits,), INT4), Lit(len(places), INT4)), BOOL)
    hashes = re.sub("[09]", "#", whole) + ("." + "#" * scale if m[3] is not None else "")
    shown = case([(many, Lit(hashes, TEXT))], shown, TEXT)
    return case([(known, _signed(rounded, exact, m, bare, shown, len(hashes)))], Lit(None, TEXT), TEXT)


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
    end = _binary("-", length, Lit(right, INT4))
    start = _binary("+", _binary("-", end, Lit(run, INT4)), Lit(1, INT4))
    part = Call("substring", (digits, start, Lit(run, INT4)), TEXT)
    some = Call(">", (end, Lit(0, INT4)), BOOL)
    own = case([(some, part)], Lit("", TEXT), TEXT)
    if rest is None:
        return own
    inner = _binary("-", length, Lit(right, INT4))
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
        fraction = _at_least(fraction, least, "rpad") if least else fraction
    return Call("||", (Lit(".", TEXT), fraction), TEXT)


def _round(x: Scalar, scale: int) -> Scalar:
    whole, has = types.digits(x.type)
    if scale >= has:
        return cast(x, types.numeric(min(whole + scale, 38), scale))
    return Call("round", (x, Lit(scale, INT4)), types.numeric(whole + 1 + scale, scale))


# -- pieces


def _at_least(x: Scalar, width: int, pad: str) -> Scalar:
    """Filled up with zeros; what is longer stays whole."""
    short = Call("<", (Call("length", (x,), INT4), Lit(width, INT4)), BOOL)
    return case([(short, Call(pad, (x, Lit(width, INT4), Lit("0", TEXT)), TEXT))], x, TEXT)


def _int(value: Scalar, field: str) -> Scalar:
    t = types.numeric(20, 6 if field in ("second", "epoch") else 0)
    return cast(Call("extract", (Lit(field, TEXT), value), t), INT4)


def _binary(op: str, a: Scalar, b: Scalar) -> Scalar:
    return Call(op, (a, b), INT4)


def _unknown(pattern: str) -> UnsupportedSql:
    return UnsupportedSql(
        f"to_char with the pattern '{pattern}' is not supported",
        code="unsupported_function",
        hint="Format it when reading, or with a simpler pattern.",
    )
