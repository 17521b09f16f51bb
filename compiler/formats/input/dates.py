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

KINDS = {"date": "date", "timestamp": "timestamp", "timestamptz": "timestamp with time zone", "time": "time"}
LEAST, MOST = -4713, {"date": 5874897, "timestamp": 294276, "timestamptz": 294276}  # years
PLAIN_TIME = re.compile(r"\d{1,2}:\d\d(:\d\d(\.\d{1,6})?)?", re.ASCII)
OUT = 'date/time field value out of range: "{}"'
STYLES = "Write it as year-month-day: 2026-01-31."


def refused(e: Bad, kind: str, text: str) -> InvalidSql:
    """The error in the words of DateTimeParseError."""
    if e.what == "format":
        return invalid(KINDS.get(kind, kind), text, hint=HINTS.get(kind, ""))
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


def reader(kind: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        """In every order of day, month and year: what one takes passes, and what all take as the same is told."""
        values: set[str] = set()
        errors: list[InvalidSql] = []
        for order in ORDERS:
            try:
                values.add(_read(text, kind, order))
            except InvalidSql as e:
                errors.append(e)
        if not values:
            raise errors[0]
        if errors or len(values) > 1:
            raise Undecided
        return values.pop()

    return read


def _read(text: str, kind: str, order: str) -> str:
    try:
        fields = Fields(text, kind == "time", order)
        m = fields.read()
    except Bad as e:
        raise refused(e, kind, text) from e
    if kind == "time":
        return text if PLAIN_TIME.fullmatch(text) else written(m, kind) or text
    if not LEAST < m.year <= MOST[kind]:
        if LEAST - 2 < m.year <= LEAST:
            raise Undecided  # the first year is not whole
        what = "date" if kind == "date" else "timestamp"
        raise InvalidSql(f'{what} out of range: "{text}"', code="datetime_overflow")
    if fields.named_zone and kind == "timestamptz":
        raise Undecided
    value = written(m, kind)
    same = not value or meaning(text, kind) == meaning(value, kind)
    return text if same else value


def meaning(text: str, kind: str) -> str | None:
    """What the engines are given for the text; None where they are given nothing."""
    try:
        return times.parse_timestamptz(text) if kind == "timestamptz" else times.parse_timestamp(text, kind)
    except TidemarkError:
        return None


def written(m: Moment, kind: str) -> str:
    """In ISO 8601; nothing for what Python has no date of."""
    if kind == "time":
        clock = f"{m.hour:02}:{m.minute:02}:{m.second:02}" if m.second < 60 else ""
        return clock + f".{m.micros:06}".rstrip("0") if clock and m.micros else clock
    if not 1 <= m.year <= 9999:
        return ""
    day = dt.datetime(m.year, m.month, m.day)
    if kind == "date":
        return day.date().isoformat()
    at = day + dt.timedelta(hours=m.hour, minutes=m.minute, seconds=m.second, microseconds=m.micros)
    if kind == "timestamptz":
        return (at - dt.timedelta(seconds=m.zone or 0)).isoformat(" ") + "+00"
    return at.isoformat(" ")


READERS = {kind: reader(kind) for kind in KINDS}
