"""Parts of a moment: numbers, dates, clocks and zones, by the rules of Postgres' datetime.c (DateStyle ISO, MDY)."""

from __future__ import annotations

import calendar
import re
from dataclasses import dataclass

from compiler.formats.input.fields import Bad
from compiler.formats.input.refusal import Undecided
from compiler.formats.input.words import WORDS

YEAR, MONTH, DAY, HOUR, MINUTE, SECOND, ZONE, DOY, HALF, ERA, WEEKDAY, SUMMER = (1 << i for i in range(12))
DATE, TIME = YEAR | MONTH | DAY, HOUR | MINUTE | SECOND
INT = 2**31


@dataclass
class Moment:
    """What the fields so far have said; `seen` the parts that are known. `zone` is seconds east; None: none, or one by name."""

    year: int = 0
    month: int = 0
    day: int = 0
    yday: int = 0
    hour: int = 0
    minute: int = 0
    second: int = 0
    micros: int = 0
    zone: int | None = None
    seen: int = 0
    short_year: bool = False
    julian: bool = False
    era: str = ""
    half: str = ""

    def add(self, parts: int) -> None:
        """Parts that a field has said; none may be said twice."""
        if parts & self.seen:
            raise Bad
        self.seen |= parts


def whole(text: str, what: str = "field") -> int:
    """Digits that fit an int; raises Bad(what)."""
    n = int(text or "0") if len(text) < 20 else INT
    if n >= INT:
        raise Bad(what)
    return n


def fraction(text: str) -> int:
    """Microseconds of `.123`."""
    if text == ".":
        raise Undecided  # since Postgres 16
    if not re.fullmatch(r"\.[0-9]+", text):
        raise Bad
    return round(float(f"0{text}") * 1_000_000)


def number(m: Moment, text: str, seen: int, worded: bool) -> int:
    """A number beside what is `seen`: the parts that it says. `worded`: the month was a word."""
    digits, point, _ = text.partition(".")
    n = whole(digits)
    if point:
        if len(digits) > 2:
            return run_together(m, text, seen | DATE)
        m.micros = fraction(text[len(digits):])
    if len(text) == 3 and seen & DATE == YEAR and 1 <= n <= 366:
        m.yday = n
        return DOY | MONTH | DAY
    part = _part(m, n, len(text), seen & DATE, worded)
    if part == TIME:
        return run_together(m, text, seen)
    if part == YEAR:
        m.year, m.short_year = n, len(text) <= 2
    elif part == MONTH:
        m.month = n
    else:
        m.day = n
    return part


def _part(m: Moment, n: int, length: int, date: int, worded: bool) -> int:
    if date == 0:
        return YEAR if length >= 3 else MONTH
    if date == YEAR:
        return MONTH
    if date == MONTH:
        return YEAR if worded and length >= 3 else DAY
    if date == YEAR | MONTH:
        if worded and length >= 3 and m.short_year:  # the first number was the day
            m.day, m.year, m.short_year = m.year, n, False
            raise _Swapped
        return DAY
    if date == DAY:
        return MONTH
    if date == MONTH | DAY:
        return YEAR
    if date == DATE:
        return TIME
    raise Bad


class _Swapped(Exception):
    """The day is known, and no part is to be set."""


def numbered(m: Moment, text: str, seen: int, worded: bool) -> int:
    try:
        return number(m, text, seen, worded)
    except _Swapped:
        return DAY


def run_together(m: Moment, text: str, seen: int) -> int:
    """yyyymmdd, yymmdd, hhmmss or hhmm, the last two also with a fraction: the parts that it says."""
    digits, point, part = text.partition(".")
    if point:
        m.micros = fraction("." + part)
    elif seen & DATE != DATE and len(digits) >= 6:
        m.day, m.month, m.year = int(digits[-2:]), int(digits[-4:-2]), whole(digits[:-4])
        m.short_year = m.short_year or len(digits) == 6
        return DATE
    if seen & TIME != TIME and len(digits) in (4, 6) and digits.isdigit():
        m.hour, m.minute, m.second = int(digits[:2]), int(digits[2:4]), int(digits[4:] or 0)
        return TIME
    raise Bad


def date(m: Moment, text: str, seen: int) -> int:
    """A date with signs between its parts: the parts that it says."""
    pieces, at = [], 0
    while at < len(text):
        found = re.compile(r"[0-9]+|[A-Za-z]+").search(text, at)
        if found is None:
            raise Bad
        pieces.append(found[0])
        at = found.end() + 1  # the sign after it, whichever it is
    said, worded, numbers = 0, False, []
    for p in pieces:
        if p[0].isdigit():
            numbers.append(p)
            continue
        kind, value = WORDS.get(p[:10], ("", ""))
        if kind == "ignored":
            continue
        if kind != "month" or (seen | said) & MONTH:
            raise Bad
        m.month, worded = int(str(value)), True
        said |= MONTH
    for p in numbers:
        got = numbered(m, p, seen | said, worded)
        if (seen | said) & got:
            raise Bad
        said |= got
    if (seen | said) & ~(DOY | ZONE) != DATE:
        raise Bad
    return said


def clock(m: Moment, text: str) -> int:
    """hh:mm, hh:mm:ss, with a fraction; mm:ss.fff."""
    found = re.fullmatch(r"([0-9]+):([0-9]*)(?:(\.[0-9.]*)|:([0-9]*)(\.[0-9.]*)?)?", text)
    if found is None:
        raise Bad
    m.hour, m.minute, m.second = whole(found[1]), whole(found[2]), whole(found[4] or "")
    m.micros = 0
    if found[3]:
        m.micros = fraction(found[3])
        m.hour, m.minute, m.second = 0, m.hour, m.minute
    elif found[5]:
        m.micros = fraction(found[5])
    if m.minute > 59 or m.second > 60:
        raise Bad("field")
    return TIME


def zone(text: str) -> int:
    """Seconds east of UTC that a sign and digits say."""
    if text[1:2] == "-":
        raise Bad("zone")
    found = re.match(r"([+-])([0-9]*)(?::([0-9]*)(?::([0-9]*))?)?", text)
    if found is None:
        raise Bad
    hours, minutes, seconds = whole(found[2], "zone"), whole(found[3] or "", "zone"), whole(found[4] or "", "zone")
    if found[3] is None and found.end() == len(text) and len(text) > 3:
        hours, minutes = divmod(hours, 100)
    if hours > 15 or minutes > 59 or seconds > 59:
        raise Bad("zone")
    if found.end() != len(text):
        raise Bad
    return (hours * 3600 + minutes * 60 + seconds) * (-1 if found[1] == "-" else 1)


def validate(m: Moment) -> None:
    """Year, month and day are such as there are; raises Bad."""
    if m.seen & YEAR and not m.julian:
        if m.era == "bc":
            if m.year <= 0:
                raise Bad("field")
            m.year = 1 - m.year
        elif m.short_year:
            m.year += 2000 if m.year < 70 else 1900 if m.year < 100 else 0
        elif m.year <= 0:
            raise Bad("field")
    if m.seen & DOY:
        _by_day_of_year(m)
    if m.seen & MONTH and not 1 <= m.month <= 12 or m.seen & DAY and not 1 <= m.day <= 31:
        raise Bad("order")
    if m.seen & DATE == DATE and m.day > (calendar.monthrange(_alike(m.year), m.month)[1]):
        raise Bad("field")


def _alike(year: int) -> int:
    """A year of the calendar's range that is as long."""
    return 2000 + year % 400


def _by_day_of_year(m: Moment) -> None:
    left = m.yday
    for m.month in range(1, 13):
        length = calendar.monthrange(_alike(m.year), m.month)[1]
        if left <= length:
            m.day = left
            return
        left -= length
    m.year, m.month, m.day = m.year + 1, 1, left


def overflows(m: Moment) -> bool:
    """Whether it is later than 24:00."""
    return m.hour > 24 or m.minute > 59 or m.second > 60 or (
        (m.hour * 3600 + m.minute * 60 + m.second) * 10**6 + m.micros > 86400 * 10**6)


def twelve_hours(m: Moment) -> None:
    if m.half and m.hour > 12:
        raise Bad("field")
    if m.half == "am" and m.hour == 12:
        m.hour = 0
    elif m.half == "pm" and m.hour != 12:
        m.hour += 12
