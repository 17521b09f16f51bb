"""interval: Postgres' own style, SQL's, and ISO 8601 with designators, as DecodeInterval takes them: from the right."""

from __future__ import annotations

import re
from decimal import Decimal

from compiler.errors import InvalidSql
from compiler.formats.input.fields import Bad, Field, FieldType, split
from compiler.formats.input.parts import Moment as Clock
from compiler.formats.input.parts import clock
from compiler.formats.input.refusal import Undecided, invalid
from compiler.formats.intervals import parse_interval

SPELLINGS = {
    "microsecond": "us usec usecond useconds usecs microsecon",
    "millisecond": "ms msec msecond mseconds msecs millisecon",
    "second": "s sec second seconds secs",
    "minute": "m min mins minute minutes",
    "hour": "h hour hours hr hrs",
    "day": "d day days",
    "week": "w week weeks",
    "month": "mon mons month months",
    "year": "y year years yr yrs",
    "decade": "dec decade decades decs",
    "century": "c cent century centuries",
    "millennium": "mil mils millennia millennium",
}
UNITS = {w: unit for unit, words in SPELLINGS.items() for w in words.split()}
YEARS = {"year": 1, "decade": 10, "century": 100, "millennium": 1000}
MICROS = {"microsecond": 1, "millisecond": 1000, "second": 10**6, "minute": 60 * 10**6, "hour": 3600 * 10**6}
DAYS = {"day": 1, "week": 7}
NUMBER = re.compile(r"([+-]?[0-9]*)(?:-([0-9]*)|(\.[0-9]*))?")
ALTERNATIVE = re.compile(r"P.*[-:].*|P[0-9.]+(T.*)?|P.*T[0-9]+")  # forms of ISO 8601 without designators
PART = r"[+-]?(?=[0-9.])[0-9]*\.?[0-9]*"
DESIGNATED = re.compile(rf"P(?=.)(?:{PART}[YMWD])*(?:T(?:{PART}[HMS])*)?")


def read(text: str) -> str:
    """The text, in other words where `parse_interval` does not read it; raises InvalidSql for what is no interval."""
    try:
        return _as_written(text, _Interval(split(text)).read())
    except Bad as e:
        if e.what == "format":
            if DESIGNATED.fullmatch(text):
                return _as_written(text, _designated(text))
            if ALTERNATIVE.fullmatch(text) and re.fullmatch(r"P[0-9TYMWDHS.:+\-]+", text):
                raise Undecided from e
            raise invalid("interval", text, hint="Write it as 1 year 2 months 3 days 04:05:06.") from e
        if e.what == "whole":
            raise InvalidSql("interval out of range", code="datetime_overflow", detail=f'It is "{text}".') from e
        raise InvalidSql(f'interval field value out of range: "{text}"', code="datetime_overflow") from e


def _as_written(text: str, plain: str) -> str:
    """The text where it is read as what it says, in plain words."""
    try:
        return text if parse_interval(text) == parse_interval(plain) else plain
    except InvalidSql:
        return plain


def _designated(text: str) -> str:
    """ISO 8601 with designators in plain words."""
    date, _, clock = text[1:].partition("T")
    units = [{"Y": "year", "M": "month", "W": "week", "D": "day"}, {"H": "hour", "M": "minute", "S": "second"}]
    return (
        " ".join(
            f"{n} {names[sign]}"
            for part, names in zip((date, clock), units, strict=True)
            for n, sign in re.findall(r"([+-]?[0-9.]+)([A-Z])", part)
        )
        or "0 day"
    )


class _Interval:
    def __init__(self, fields: list[Field]) -> None:
        self.fields = fields
        self.seen: set[str] = set()
        self.unit = ""  # of the number to the left; none: not told yet
        self.years = self.months = self.days = self.micros = 0
        self.plain: list[str] = []
        self.ago = ""

    def read(self) -> str:
        """The same in plain words."""
        for f in reversed(self.fields):
            said = self.word(f.text) if f.type in (FieldType.STRING, FieldType.SPECIAL) else self.value(f)
            if said & self.seen:
                raise Bad
            self.seen |= said
        if not self.seen:
            raise Bad
        if abs(self.years * 12 + self.months) >= 2**31:
            raise Bad("whole")
        return " ".join(self.plain[::-1]) + self.ago

    def value(self, f: Field) -> set[str]:
        """Adds a number or a clock to the interval, and gives the units that are then said. Bad where it is none."""
        if f.type is FieldType.TIME or f.type is FieldType.ZONE and ":" in f.text and _is_clock(f.text[1:]):
            self.unit = "day"
            c = _clock(f.text.lstrip("+-"))
            self.plain.append(f"{'-' if f.text[0] == '-' else ''}{c.hour}:{c.minute:02}:{c.second:02}.{c.micros:06}")
            return {"hour", "minute", "second", "millisecond", "microsecond"}
        self.unit = self.unit or "second"
        m = NUMBER.fullmatch(f.text)
        if m is None:
            raise Bad
        n = int(m[1]) if m[1].strip("+-") else 0
        if abs(n) >= 2**63:
            raise Bad("field")
        if m[2] is not None:
            if int(m[2] or 0) >= 12:
                raise Bad("field")
            self.unit = "month"
            n = n * 12 + int(m[2] or 0) * (-1 if f.text[0] == "-" else 1)
        elif m[3] == ".":
            raise Undecided
        unit = self.unit
        if unit not in SPELLINGS:
            raise Bad
        self.add(unit, n)
        factor, name = (YEARS[unit], "year") if unit in YEARS else (1, unit)
        value = str(n) if m[2] is not None else f.text
        self.plain.append(f"{Decimal(value) * factor:f} {name}" if factor > 1 else f"{value} {name}")
        if unit == "hour":
            self.unit = "day"
        return {"second", "millisecond", "microsecond"} if unit == "second" and m[3] and m[3].strip(".0") else {unit}

    def add(self, unit: str, n: int) -> None:
        self.years += n * YEARS.get(unit, 0)
        self.months += n * (unit == "month")
        self.days += n * DAYS.get(unit, 0)
        self.micros += n * MICROS.get(unit, 0)
        if max(map(abs, (self.years, self.months, self.days))) >= 2**31 or abs(self.micros) >= 2**63:
            raise Bad("field")

    def word(self, text: str) -> set[str]:
        word = text[:10]
        if word == "ago":
            self.unit, self.ago = "ago", " ago"
        elif word in UNITS:
            self.unit = UNITS[word]
        elif word in ("qtr", "quarter", "timezone", "timezone_h", "timezone_m"):
            self.unit = word  # units, but not of an interval
        elif word.lstrip("+-") == "infinity":
            raise Undecided  # since Postgres 17
        else:
            raise Bad
        return set()


def _is_clock(text: str) -> bool:
    try:
        _clock(text)
        return True
    except Bad:
        return False


def _clock(text: str) -> Clock:
    """Hours as many as there are: an interval is no time of day."""
    c = Clock()
    clock(c, text)
    return c
