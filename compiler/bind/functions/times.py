"""Dates, times and intervals."""

from __future__ import annotations

import re

from compiler.bind.coerce import coerce, constant_text, unify, unsupported
from compiler.bind.functions.rules import Rule, fixed
from compiler.bind.functions.to_char import COUNTED, to_char
from compiler.bind.functions.zones import at_zone
from compiler.bind.operators import binary, compare
from compiler.errors import InvalidSql, UnsupportedSql
from compiler.formats.input import intervals
from compiler.formats.times import ENDLESS
from compiler.functions.signatures import found
from compiler.ir import types
from compiler.ir.scalar import Call, Lit, Scalar, case, cast, conj, is_null, negate
from compiler.ir.types import BOOL, FLOAT8, INT4, INTERVAL, TEXT, TIMESTAMP, TIMESTAMPTZ, UNKNOWN

UNITS = {
    "years": "year",
    "months": "mon",
    "weeks": "week",
    "days": "day",
    "hours": "hour",
    "mins": "minute",
    "secs": "second",
}
FIELDS = {
    "year",
    "month",
    "day",
    "hour",
    "minute",
    "second",
    "week",
    "quarter",
    "dow",
    "isodow",
    "doy",
    "epoch",
    "millennium",
    "century",
    "decade",
    "isoyear",
    "milliseconds",
    "microseconds",
}
CLOCK = ("hour", "minute", "second", "milliseconds", "microseconds")
NAMES = {
    **intervals.UNITS,
    **dict.fromkeys(intervals.SPELLINGS["microsecond"].split(), "microseconds"),
    **dict.fromkeys(intervals.SPELLINGS["millisecond"].split(), "milliseconds"),
    "qtr": "quarter",
    "quarters": "quarter",
}
LONGEST = 10  # letters of a name that count
CUT = {*CLOCK, "day", "week", "month", "quarter", "year", "decade", "century", "millennium"}  # what date_trunc cuts to


def _unit(name: str) -> str:
    """The unit, by any of its names."""
    name = name.lower()
    return NAMES.get(name) or NAMES.get(name[:LONGEST]) or name


def _date_trunc(args: list[Scalar]) -> Scalar:
    named = constant_text(coerce(args[0], TEXT), "date_trunc with a unit")
    unit = _unit(named)
    a = coerce(args[1], TIMESTAMPTZ)
    if a.type.name == "time":
        a = cast(a, INTERVAL)
    if unit not in CUT or unit == "week" and a.type.name == "interval":
        raise InvalidSql(f'unit "{named}" not recognized for type {a.type}', code="invalid_parameter")
    t = TIMESTAMPTZ if a.type.name == "date" else a.type
    a = cast(a, t)
    if len(args) > 2:
        zone = coerce(args[2], TEXT)
        local = Call("at_zone", (a, zone), TIMESTAMP)
        if unit in CLOCK:  # an hour that clocks repeat stays the one it is
            return binary("-", a, binary("-", local, _truncated(unit, local)))
        return Call("at_zone", (_truncated(unit, local), zone), TIMESTAMPTZ)
    return _truncated(unit, a)


def _truncated(unit: str, a: Scalar) -> Scalar:
    """date_trunc of an interval or a timestamp. A century begins with its year 1, a decade with its year 0."""
    years = {"decade": 10, "century": 100, "millennium": 1000}.get(unit)
    if a.type.name == "interval" and unit in ("century", "millennium"):
        raise UnsupportedSql(f"date_trunc('{unit}') of an interval is not supported", code="unsupported_function")
    if years is None or a.type.name == "interval":
        return Call("date_trunc", (Lit(unit, TEXT), a), a.type)
    year = cast(Call("extract", (Lit(COUNTED, TEXT), a), types.numeric(20, 0)), INT4)
    n, since = Lit(years, INT4), year if unit == "decade" else binary("-", year, Lit(1, INT4))
    passed = binary("%", binary("+", binary("%", since, n), n), n)  # before Christ, too
    return binary("-", Call("date_trunc", (Lit("year", TEXT), a), a.type), make_interval({"years": passed}))


def extract(field: str, e: Scalar, as_float: bool = False) -> Scalar:
    """extract(field FROM e), or date_part, which gives a double."""
    e = coerce(e, TIMESTAMP)
    field = _unit(field)
    if field not in FIELDS:
        raise UnsupportedSql(f"extract({field}) is not supported", code="unsupported_function")
    if e.type.name not in ("date", "timestamp", "timestamptz", "time", "interval"):
        raise InvalidSql(f"extract({field}) from {e.type} does not exist", code="undefined_function")
    finer = field == "second" or field == "epoch" and e.type.name != "date"
    t = types.numeric(20, 6 if finer else 3 if field == "milliseconds" else 0)
    got = Call("extract", (Lit(field, TEXT), e), t)
    if not as_float:
        return got
    if field not in ENDLESS or e.type.name in ("time", "interval") or isinstance(e, Lit):
        return cast(got, FLOAT8)
    endless = negate(Call("isfinite", (e,), BOOL))
    late = Call(">", (e, Lit("2000-01-01", e.type)), BOOL)
    whens = [(conj([endless, late]), Lit("Infinity", FLOAT8)), (endless, Lit("-Infinity", FLOAT8))]
    return case(whens, cast(got, FLOAT8), FLOAT8)


def _date_part(args: list[Scalar]) -> Scalar:
    return extract(constant_text(coerce(args[0], TEXT), "date_part with a field"), args[1], as_float=True)


def _age(args: list[Scalar]) -> Scalar:
    return Call("age", tuple(cast(coerce(a, TIMESTAMP), TIMESTAMP) for a in args), INTERVAL)


def _date_bin(args: list[Scalar]) -> Scalar:
    x, origin = coerce(args[1], TIMESTAMP), coerce(args[2], args[1].type)
    t = TIMESTAMPTZ if "timestamptz" in (x.type.name, origin.type.name) else TIMESTAMP
    return Call("date_bin", (coerce(args[0], INTERVAL), cast(x, t), cast(origin, t)), t)


def make_interval(parts: dict[str, Scalar]) -> Scalar:
    """The sum of the parts, each so many of its unit."""
    out: Scalar = Lit("0", INTERVAL)
    for name, n in parts.items():
        n = coerce(n, FLOAT8 if name == "secs" else INT4)
        out = Call("+", (out, Call("*", (Lit(f"1 {UNITS[name]}", INTERVAL), n), INTERVAL)), INTERVAL)
    return out


def interval_named(args: list[Scalar], named: dict[str, Scalar]) -> Scalar:
    """make_interval with arguments by their names, after those without."""
    parts = {**dict(zip(UNITS, args, strict=False)), **named}
    if unknown := sorted(set(parts) - set(UNITS)):
        raise InvalidSql(f'function make_interval has no argument "{unknown[0]}"', code="undefined_function")
    kinds = [parts[u].type if u in parts else UNKNOWN for u in UNITS]
    if len(parts) < len(args) + len(named) or not found("make_interval", kinds):
        shown = [str(a.type) for a in args] + [f"{n} => {a.type}" for n, a in named.items()]
        raise InvalidSql(f"function make_interval({', '.join(shown)}) does not exist", code="undefined_function")
    return make_interval(parts)


def _made(fn: str, result: types.Type, *others: types.Type) -> Rule:
    """Of parts, of which the first is the year: -1 is 1 BC, which engines count as 0."""

    def rule(args: list[Scalar]) -> Scalar:
        year, *rest = fixed(fn, result, INT4, *others)(args).children
        if not (isinstance(year, Lit) and isinstance(year.value, int) and year.value > 0):
            year = case([(Call("<", (year, Lit(0, INT4)), BOOL), binary("+", year, Lit(1, INT4)))], year, INT4)
        return Call(fn, (year, *rest), result)

    return rule


_make_timestamp = _made("make_timestamp", TIMESTAMP, *[INT4] * 4, FLOAT8)


def _make_timestamptz(args: list[Scalar]) -> Scalar:
    at = _make_timestamp(args[:6])
    return Call("at_zone", (at, coerce(args[6], TEXT) if len(args) > 6 else Lit("UTC", TEXT)), TIMESTAMPTZ)


READ = {"YYYY": r"\d{1,4}", "MM": r"\d{1,2}", "DD": r"\d{1,2}", "HH24": r"\d{1,2}", "MI": r"\d{1,2}", "SS": r"\d{1,2}"}


def _read_by(pattern: str, x: Scalar) -> dict[str, Scalar]:
    """The numbers that a date pattern finds in a text, by field; between fields any one character that is no digit
    stands."""
    pieces = re.findall("YYYY|MM|DD|HH24|MI|SS|.", pattern.upper())
    if any(p.isalnum() and p not in READ for p in pieces) or len({p for p in pieces if p in READ}) != sum(
        p in READ for p in pieces
    ):
        raise unsupported(f"a date read by the pattern {pattern}")
    out: dict[str, Scalar] = {}
    before = r"^\s*"
    for i, p in enumerate(pieces):
        if p in READ:
            tight = i + 1 < len(pieces) and pieces[i + 1] in READ
            number = READ[p].replace("1,", "") if tight else READ[p]
            out[p] = cast(Call("regexp_substr", (x, Lit(f"{before}({number})", TEXT)), TEXT), INT4)
            before += number
        else:
            before += r"\b\s*" if p == " " else r"[^0-9]"
    return out


def _read_date(name: str) -> Rule:
    def rule(args: list[Scalar]) -> Scalar:
        x = cast(coerce(args[0], TEXT), TEXT)
        got = _read_by(constant_text(coerce(args[1], TEXT), f"{name} with a pattern"), x)
        year = got.get("YYYY")
        if year is None:
            raise unsupported(f"{name} without a year")
        day = (year, got.get("MM", Lit(1, INT4)), got.get("DD", Lit(1, INT4)))
        if name == "to_date":
            return Call("make_date", day, types.DATE)
        time = [Call("coalesce", (got.get(k, Lit(0, INT4)), Lit(0, INT4)), INT4) for k in ("HH24", "MI")]
        seconds = cast(Call("coalesce", (got.get("SS", Lit(0, INT4)), Lit(0, INT4)), INT4), FLOAT8)
        return Call(
            "at_zone", (Call("make_timestamp", (*day, *time, seconds), TIMESTAMP), Lit("UTC", TEXT)), TIMESTAMPTZ
        )

    return rule


def _to_timestamp(args: list[Scalar]) -> Scalar:
    return (
        _read_date("to_timestamp")(args)
        if len(args) > 1
        else Call("to_timestamp", (cast(args[0], FLOAT8),), TIMESTAMPTZ)
    )


def _timezone(args: list[Scalar]) -> Scalar:
    return at_zone(args[1], args[0])


def overlaps(a: Scalar, b: Scalar, c: Scalar, d: Scalar) -> Scalar:
    """(a, b) OVERLAPS (c, d): each half open, the earlier end first; an end that is an interval is added to the
    start. An end that is not known is the later one: the answer is known where it does not matter."""
    kind = next((x.type for x in (a, b, c, d) if x.type.name not in ("unknown", "interval")), TIMESTAMPTZ)
    a, b, c, d = (coerce(x, TIMESTAMPTZ if kind.name == "date" else kind) for x in (a, b, c, d))
    (low1, high1), (low2, high2) = (
        _ends(x, binary("+", x, y) if y.type.name == "interval" else y) for x, y in ((a, b), (c, d))
    )
    no, yes, unknown = Lit(False, BOOL), Lit(True, BOOL), Lit(None, BOOL)

    def from_first(later: Scalar, high: Scalar, other: Scalar) -> Scalar:
        """The later start is met where the other half is still open."""
        return case([(is_null(high), unknown), (compare("<", later, high), yes), (is_null(other), unknown)], no, BOOL)

    given = conj([negate(is_null(high1)), negate(is_null(high2))])
    return case(
        [
            (compare(">", low1, low2), from_first(low1, high2, high1)),
            (compare("<", low1, low2), from_first(low2, high1, high2)),
            (conj([compare("=", low1, low2), given]), yes),
        ],
        unknown,
        BOOL,
    )


def _ends(a: Scalar, b: Scalar) -> tuple[Scalar, Scalar]:
    """The earlier end, or the one that is known; the later, or NULL."""
    (a, b), t = unify([a, b], "OVERLAPS")
    one = Call("or", (is_null(a), is_null(b)), BOOL)
    return (
        case([(is_null(a), b), (is_null(b), a), (compare("<=", a, b), a)], b, t),
        case([(one, Lit(None, t)), (compare(">=", a, b), a)], b, t),
    )


def _justify(fn: str) -> Rule:
    return fixed(fn, INTERVAL, INTERVAL)


def _make_interval(args: list[Scalar]) -> Scalar:
    return make_interval(dict(zip(UNITS, args, strict=False)))


RULES: dict[str, Rule] = {
    "date_trunc": _date_trunc,
    "date_part": _date_part,
    "age": _age,
    "date_bin": _date_bin,
    "make_date": _made("make_date", types.DATE, INT4),
    "make_timestamp": _make_timestamp,
    "make_timestamptz": _make_timestamptz,
    "make_interval": _make_interval,
    "to_timestamp": _to_timestamp,
    "to_date": _read_date("to_date"),
    "to_char": lambda a: to_char(a[0], coerce(a[1], TEXT)),
    "isfinite": fixed("isfinite", BOOL, TIMESTAMP),
    "timezone": _timezone,
    "overlaps": lambda a: overlaps(*a),
    "justify_hours": _justify("justify_hours"),
    "justify_days": _justify("justify_days"),
}
