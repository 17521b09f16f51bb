"""Numbers and dates of a moment, by the rules of Postgres' datetime.c for any DateStyle."""

from __future__ import annotations

import calendar
import re

from compiler.formats.input.fields import Bad
from compiler.formats.input.parts import DATE, DAY, DOY, MONTH, TIME, YEAR, ZONE, Moment, fraction, whole
from compiler.formats.input.words import WORDS, Word

ORDERS = {"mdy": MONTH, "dmy": DAY, "ymd": YEAR}  # the first number of a date


def number(m: Moment, text: str, seen: int, worded: bool) -> int:
    """A number beside what is `seen`: the parts that it says. `worded`: the month was a word."""
    digits, point, _ = text.partition(".")
    n = whole(digits)
    if point:
        if len(digits) > 2:
            return run_together(m, text, seen | DATE)
        m.micros = fraction(text[len(digits) :])
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
        return YEAR if length >= 3 else ORDERS[m.order]
    if date == YEAR:
        return MONTH
    if date == MONTH:
        return YEAR if worded and (length >= 3 or m.order == "ymd") else DAY
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
        word, value = WORDS.get(p[:10], (None, ""))
        if word is Word.IGNORED:
            continue
        if word is not Word.MONTH or (seen | said) & MONTH:
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
    if m.seen & DATE == DATE and m.day > _length(m.year, m.month):
        raise Bad("field")


def _length(year: int, month: int) -> int:
    """Days of a month, in a year as long that the calendar has."""
    return calendar.monthrange(2000 + year % 400, month)[1]


def _by_day_of_year(m: Moment) -> None:
    left = m.yday
    for m.month in range(1, 13):
        length = _length(m.year, m.month)
        if left <= length:
            m.day = left
            return
        left -= length
    m.year, m.month, m.day = m.year + 1, 1, left
