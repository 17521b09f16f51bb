"""date, time, timestamp and timestamptz, under any DateStyle and TimeZone UTC."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable

from compiler.errors import InvalidSql, TidemarkError
from compiler.formats import times
from compiler.formats.input.days import ORDERS
from compiler.formats.input.fields import Bad
from compiler.formats.input.moments import Fields
from compiler.formats.input.parts import Moment
from compiler.formats.input.refusal import Undecided, invalid

TYPES = {"date": "date", "timestamp": "timestamp", "timestamptz": "timestamp with time zone", "time": "time"}
LEAST, MOST = -4713, {"date": 5874897, "timestamp": 294276, "timestamptz": 294276}  # years
PLAIN_TIME = re.compile(r"\d{1,2}:\d\d(:\d\d(\.\d{1,6})?)?", re.ASCII)
OUT = 'date/time field value out of range: "{}"'
STYLES = "Write it as year-month-day: 2026-01-31."


def refused(e: Bad, type_: str, text: str) -> InvalidSql:
    """The error in the words of DateTimeParseError."""
    if e.what == "format":
        return invalid(TYPES.get(type_, type_), text, hint=HINTS.get(type_, ""))
    if e.what in ("field", "order"):
        return InvalidSql(OUT.format(text), code="datetime_overflow", hint=STYLES if e.what == "order" else "")
    if e.what == "zone":
        return InvalidSql(f'time zone displacement out of range: "{text}"', code="datetime_overflow")
    return InvalidSql(e.what, code="invalid_text")


HINTS = {
    "date": "Write it as 2026-01-31.",
    "time": "Write it as 23:59:59.",
    "timestamp": "Write it as 2026-01-31 23:59:59.",
    "timestamptz": "Write it as 2026-01-31 23:59:59+00.",
}


def reader(type_: str) -> Callable[[str], str]:
    """What reads text as a date or timestamp; it raises InvalidSql, or Undecided where orders of day and month
    differ."""

    def read(text: str) -> str:
        """In every order of day, month and year: what one takes passes, and what all take as the same is told."""
        values: set[str] = set()
        errors: list[InvalidSql] = []
        for order in ORDERS:
            try:
                values.add(_read(text, type_, order))
            except InvalidSql as e:
                errors.append(e)
        if not values:
            raise errors[0]
        if errors or len(values) > 1:
            raise Undecided
        return values.pop()

    return read


def _read(text: str, type_: str, order: str) -> str:
    try:
        fields = Fields(text, type_ == "time", order)
        m = fields.read()
    except Bad as e:
        raise refused(e, type_, text) from e
    if type_ == "time":
        return text if PLAIN_TIME.fullmatch(text) else written(m, type_) or text
    if not LEAST < m.year <= MOST[type_]:
        if LEAST - 2 < m.year <= LEAST:
            raise Undecided  # the first year is not whole
        what = "date" if type_ == "date" else "timestamp"
        raise InvalidSql(f'{what} out of range: "{text}"', code="datetime_overflow")
    if fields.named_zone and type_ == "timestamptz":
        raise Undecided
    value = written(m, type_)
    same = not value or meaning(text, type_) == meaning(value, type_)
    return text if same else value


def meaning(text: str, type_: str) -> str | None:
    """What the engines are given for the text; None where they are given nothing."""
    try:
        return times.parse_timestamptz(text) if type_ == "timestamptz" else times.parse_timestamp(text, type_)
    except TidemarkError:
        return None


def written(m: Moment, type_: str) -> str:
    """In ISO 8601; nothing for what Python has no date of."""
    if type_ == "time":
        clock = f"{m.hour:02}:{m.minute:02}:{m.second:02}" if m.second < 60 else ""
        return clock + f".{m.micros:06}".rstrip("0") if clock and m.micros else clock
    if not 1 <= m.year <= 9999:
        return ""
    day = dt.datetime(m.year, m.month, m.day)
    if type_ == "date":
        return day.date().isoformat()
    at = day + dt.timedelta(hours=m.hour, minutes=m.minute, seconds=m.second, microseconds=m.micros)
    if type_ == "timestamptz":
        return (at - dt.timedelta(seconds=m.zone or 0)).isoformat(" ") + "+00"
    return at.isoformat(" ")


READERS = {type_: reader(type_) for type_ in TYPES}
