"""Interval text as Postgres reads it: months, days and microseconds, kept apart."""

from __future__ import annotations

import re
from fractions import Fraction

from compiler.errors import InvalidSql

MONTHS = {
    "mon": 1,
    "mons": 1,
    "month": 1,
    "months": 1,
    "y": 12,
    "yr": 12,
    "yrs": 12,
    "year": 12,
    "years": 12,
    "decade": 120,
    "decades": 120,
    "century": 1200,
    "centuries": 1200,
}
DAYS = {"d": 1, "day": 1, "days": 1, "w": 7, "week": 7, "weeks": 7}
MICROS = {
    "us": 1,
    "usec": 1,
    "microsecond": 1,
    "microseconds": 1,
    "ms": 1000,
    "msec": 1000,
    "millisecond": 1000,
    "milliseconds": 1000,
    "s": 10**6,
    "sec": 10**6,
    "secs": 10**6,
    "second": 10**6,
    "seconds": 10**6,
    "m": 60 * 10**6,
    "min": 60 * 10**6,
    "mins": 60 * 10**6,
    "minute": 60 * 10**6,
    "minutes": 60 * 10**6,
    "h": 3600 * 10**6,
    "hr": 3600 * 10**6,
    "hrs": 3600 * 10**6,
    "hour": 3600 * 10**6,
    "hours": 3600 * 10**6,
}


def parse_interval(text: str) -> tuple[int, int, int]:
    """(months, days, microseconds) of an interval literal; raises InvalidSql."""
    months, days, micros = Fraction(0), Fraction(0), Fraction(0)
    rest = text.strip().lower().removeprefix("@").strip()
    ago = rest.endswith(" ago")
    rest = rest.removesuffix(" ago").strip()
    pattern = re.compile(r"\s*(?:([+-]?\d+):(\d+)(?::(\d+(?:\.\d+)?))?|([+-]?\d*\.?\d+)\s*([a-z]+)?)")
    rest = re.sub(r"([+-])\s+(?=\d)", r"\1", rest)
    at = 0
    while at < len(rest):
        if ym := re.compile(r"\s*([+-]?)(\d+)-(\d+)(?=\s|$)").match(rest, at):  # years-months
            months += (-1 if ym[1] == "-" else 1) * (int(ym[2]) * 12 + int(ym[3]))
            at = ym.end()
            continue
        m = pattern.match(rest, at)
        if not m or m.end() == at:
            raise InvalidSql(f'invalid input syntax for type interval: "{text}"', code="invalid_text")
        at = m.end()
        if m[1] is not None:
            sign = -1 if m[1].startswith("-") else 1
            micros += sign * (abs(int(m[1])) * 3600 + int(m[2]) * 60 + Fraction(m[3] or 0)) * 10**6
            continue
        n, unit = Fraction(m[4]), m[5] or "s"
        if unit in MONTHS:
            months += n * MONTHS[unit]
        elif unit in DAYS:
            days += n * DAYS[unit]
        elif unit in MICROS:
            micros += n * MICROS[unit]
        else:
            raise InvalidSql(f'invalid input syntax for type interval: "{text}"', code="invalid_text")
    days += (months - int(months)) * 30
    micros += (days - int(days)) * 86400 * 10**6
    sign = -1 if ago else 1
    return sign * int(months), sign * int(days), sign * round(micros)


def interval_text(months: int, days: int, micros: int) -> str:
    """As Postgres prints it: 1 year 2 mons -3 days +04:05:06.7."""
    years = int(months / 12)
    out, negative = [], False
    for n, unit in ((years, "year"), (months - 12 * years, "mon"), (days, "day")):
        if n:
            out.append(f"{'+' if negative and n > 0 else ''}{n} {unit}{'s' if n != 1 else ''}")
            negative = n < 0
    if micros or not out:
        seconds, part = divmod(abs(micros), 1_000_000)
        sign = "-" if micros < 0 else "+" if negative else ""
        clock = f"{sign}{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
        out.append(clock + f".{part:06}".rstrip("0") if part else clock)
    return " ".join(out)
