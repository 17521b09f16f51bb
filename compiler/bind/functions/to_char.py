"""to_char as expressions: a pattern is taken apart when the view is compiled, so that it means the same in every
engine."""

from __future__ import annotations

import re

from compiler.bind.coerce import joined
from compiler.bind.functions.to_char_numbers import at_least, binary_int, number_by, unknown_pattern
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
    "IW": ("week", 2),
    "ID": ("isodow", 1),
    "Q": ("quarter", 1),
    "CC": ("century", 2),
}
COUNTED, COUNTED_ISO = "counted_year", "counted_isoyear"  # fields of extract of our own: 1 BC is 0, 2 BC is -1
YEARS = dict.fromkeys(("YYYY", "YYY", "YY", "Y"), COUNTED) | {"IYYY": COUNTED_ISO}
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
        return number_by(value, pattern.value)
    if value.type.name in SPANS:
        return joined([_span(value, p, pattern.value) for p in _pieces(pattern.value)])
    if value.type.name not in ("date", "timestamp", "timestamptz"):
        raise UnsupportedSql(
            f"to_char of {value.type} is not supported",
            code="unsupported_function",
            hint="Cast it to numeric or timestamp first, or to text.",
        )
    return joined([_piece(value, p) for p in _pieces(pattern.value)])


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
                raise unknown_pattern(pattern)  # Postgres knows such a field not at all, or as another
            th = pattern[at : at + 2] if pattern[at : at + 2] in ("th", "TH") else ""
            out.append((found, bare, th))
            at, bare = at + len(th), False
        elif rest[0].isalpha():
            raise unknown_pattern(pattern)
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
    if key == "CC":
        return _century(n, bare, suffix)
    out: Scalar = cast(n, TEXT) if bare or width == 1 else at_least(cast(n, TEXT), width, "lpad")
    return Call("||", (out, _ordinal(n, suffix.islower())), TEXT) if suffix else out


def _century(n: Scalar, bare: bool, suffix: str) -> Scalar:
    """With a minus before Christ, beside its digits."""
    size = cast(Call("abs", (n,), INT4), TEXT)
    minus = case([(Call("<", (n, Lit(0, INT4)), BOOL), Lit("-", TEXT))], Lit("", TEXT), TEXT)
    parts = [minus, size if bare else at_least(size, 2, "lpad")]
    return joined(parts + ([_ordinal(n, suffix.islower())] if suffix else []))


def _span(value: Scalar, piece: tuple[str, bool, str], pattern: str) -> Scalar:
    """A piece of a time or an interval, whose hours go on past 24; a minus stands before the padded digits (of days,
    among them)."""
    text, bare, suffix = piece
    if suffix != "'" and (suffix or text.upper() not in SPANS[value.type.name]):
        raise unknown_pattern(pattern)
    if suffix == "'" or value.type.name == "time" or text.upper() == "DD":
        return _piece(value, piece)
    n, width = _field(value, text.upper())
    size = cast(Call("abs", (n,), INT4), TEXT)
    minus = case([(Call("<", (n, Lit(0, INT4)), BOOL), Lit("-", TEXT))], Lit("", TEXT), TEXT)
    return joined([minus, size if bare else at_least(size, width, "lpad")])


def _field(value: Scalar, key: str) -> tuple[Scalar, int]:
    """A number of a date, and how many digits it is written with."""
    if key in YEARS and value.type.name != "interval":
        year = _year(value, YEARS[key])
        return (year if len(key) > 3 else binary_int("%", year, Lit(10 ** len(key), INT4))), len(key)
    if key in NUMBERS:
        field, width = NUMBERS[key]
        return _int(value, field), width
    hour, micros = _int(value, "hour"), _int(value, "microseconds")
    within = binary_int("%", micros, Lit(1000000, INT4))
    match key:
        case "HH" | "HH12":
            return binary_int(
                "+", binary_int("%", binary_int("+", hour, Lit(11, INT4)), Lit(12, INT4)), Lit(1, INT4)
            ), 2
        case "SS":
            return binary_int("/", micros, Lit(1000000, INT4)), 2
        case "US" | "FF6":
            return within, 6
        case "MS" | "FF3":
            return binary_int("/", within, Lit(1000, INT4)), 3
        case "FF1" | "FF2" | "FF4" | "FF5":
            return binary_int("/", within, Lit(10 ** (6 - int(key[2])), INT4)), int(key[2])
        case "SSSS" | "SSSSS":
            minutes = binary_int("+", binary_int("*", hour, Lit(60, INT4)), _int(value, "minute"))
            return binary_int(
                "+", binary_int("*", minutes, Lit(60, INT4)), binary_int("/", micros, Lit(1000000, INT4))
            ), 1
        case "D":
            return binary_int("+", _int(value, "dow"), Lit(1, INT4)), 1
        case "W" | "WW":
            day = _int(value, "day" if key == "W" else "doy")
            return binary_int(
                "+", binary_int("/", binary_int("-", day, Lit(1, INT4)), Lit(7, INT4)), Lit(1, INT4)
            ), len(key)
    raise unknown_pattern(key)


def _name(value: Scalar, text: str, bare: bool) -> Scalar | None:
    """Names of months and days, halves of the day and zones; None for numbers."""
    key = text.upper()
    if key in ("MONTH", "MON", "DAY", "DY", "RM"):
        names = MONTHS if key in ("MONTH", "MON") else ROMAN if key == "RM" else DAYS
        short = [n[:3] if key in ("MON", "DY") else n for n in names]
        styled = [n.upper() if text.isupper() else n.lower() if text.islower() else n for n in short]
        width = 4 if key == "RM" else 9 if key in ("MONTH", "DAY") else 3
        place = _int(value, "month") if names is not DAYS else binary_int("+", _int(value, "dow"), Lit(1, INT4))
        words = tuple(Lit(n if bare else n.ljust(width), TEXT) for n in styled)
        return Call("array_get", (Call("array", words, types.array(TEXT)), place), TEXT)
    if key in ("AM", "PM", "A.M.", "P.M."):
        am, pm = ("A.M.", "P.M.") if "." in key else ("AM", "PM")
        if text.islower():
            am, pm = am.lower(), pm.lower()
        hour = _int(value, "hour")
        if value.type.name == "time":  # the day's last may be 24:00
            hour = binary_int("%", hour, Lit(24, INT4))
        early = Call("<", (hour, Lit(12, INT4)), BOOL)
        given = Call("not", (Call("is_null", (value,), BOOL),), BOOL)
        return case([(early, Lit(am, TEXT)), (given, Lit(pm, TEXT))], Lit(None, TEXT), TEXT)
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
    last, tens = binary_int("%", n, Lit(10, INT4)), binary_int("%", binary_int("/", n, Lit(10, INT4)), Lit(10, INT4))
    teen = Call("=", (tens, Lit(1, INT4)), BOOL)
    words = [(teen, "th"), *((Call("=", (last, Lit(i, INT4)), BOOL), w) for i, w in ((1, "st"), (2, "nd"), (3, "rd")))]
    styled = [(c, Lit(w if lower else w.upper(), TEXT)) for c, w in words]
    return case(styled, Lit("th" if lower else "TH", TEXT), TEXT)


def _year(value: Scalar, field: str) -> Scalar:
    """Without its era: 1 BC is 1."""
    counted = _int(value, field)
    return Call("greatest", (counted, binary_int("-", Lit(1, INT4), counted)), INT4)


def _int(value: Scalar, field: str) -> Scalar:
    t = types.numeric(20, 6 if field in ("second", "epoch") else 0)
    return cast(Call("extract", (Lit(field, TEXT), value), t), INT4)
