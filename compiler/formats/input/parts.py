"""Parts of a moment, and those of them that clocks and zones say, by the rules of Postgres' datetime.c."""

from __future__ import annotations

import re
from dataclasses import dataclass

from compiler.formats.input.fields import Bad
from compiler.formats.input.refusal import Undecided

YEAR, MONTH, DAY, HOUR, MINUTE, SECOND, ZONE = (1 << i for i in range(7))
DOY, HALF, ERA, WEEKDAY, SUMMER = (1 << i for i in range(7, 12))
DATE, TIME = YEAR | MONTH | DAY, HOUR | MINUTE | SECOND
INT = 2**31


@dataclass
class Moment:
    """What the fields so far have said; `seen` the parts that are known. `zone`: seconds east; None for one by name."""

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
    order: str = "mdy"  # of a date's numbers, as the server's DateStyle says
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


def overflows(m: Moment) -> bool:
    """Whether it is later than 24:00."""
    return (
        m.hour > 24
        or m.minute > 59
        or m.second > 60
        or ((m.hour * 3600 + m.minute * 60 + m.second) * 10**6 + m.micros > 86400 * 10**6)
    )


def twelve_hours(m: Moment) -> None:
    if m.half and m.hour > 12:
        raise Bad("field")
    if m.half == "am" and m.hour == 12:
        m.hour = 0
    elif m.half == "pm" and m.hour != 12:
        m.hour += 12
