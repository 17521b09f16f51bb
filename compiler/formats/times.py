"""Timestamp literals as Postgres reads them under TimeZone UTC and DateStyle ISO."""

from __future__ import annotations

import datetime as dt
import re

from compiler.errors import UnsupportedSql

ENDLESS = {"year", "isoyear", "decade", "century", "millennium", "epoch"}  # fields that are infinite of infinite times


def _parse(text: str) -> dt.datetime:
    t = text.strip().replace("T", " ")
    m = re.fullmatch(
        r"(\d{4,5})-(\d{1,2})-(\d{1,2})(?:\s+(\d{1,2}):(\d{2})(?::(\d{2})(?:\.(\d{1,6}))?)?)?"
        r"\s*(z|utc|gmt|[+-]\d{1,2}(?::?\d{2})?)?",
        t,
        re.I,
    )
    if t.lower() == "epoch":
        return dt.datetime(1970, 1, 1)
    if m is None:
        if t.lower() in ("now", "today", "tomorrow", "yesterday"):
            raise UnsupportedSql(f"the special timestamp '{text}' is not supported", code="unsupported_literal")
        raise UnsupportedSql(
            f"the timestamp '{text}' is not supported",
            code="unsupported_literal",
            hint="Write it as 2026-01-31 23:59:59+00.",
        )
    try:
        out = dt.datetime(
            int(m[1]),
            int(m[2]),
            int(m[3]),
            int(m[4] or 0),
            int(m[5] or 0),
            int(m[6] or 0),
            int((m[7] or "0").ljust(6, "0")),
        )
    except ValueError as e:
        raise UnsupportedSql(
            f"the timestamp '{text}' is not supported",
            code="unsupported_literal",
            detail="The engines' years have four digits.",
        ) from e
    if m[8] and m[8].lower() not in ("z", "utc", "gmt"):
        z = m[8]
        hours, minutes = int(z[1:3].rstrip(":")), int(z[-2:]) if len(z) > 3 else 0
        shift = dt.timedelta(hours=hours, minutes=minutes) * (-1 if z[0] == "-" else 1)
        return (out - shift).replace(tzinfo=dt.UTC)
    return out.replace(tzinfo=dt.UTC) if m[8] else out


def infinite(text: str) -> str:
    """'infinity' or '-infinity', where that is what it says; else nothing."""
    return found.lower() if (found := text.strip()).lower() in ("infinity", "-infinity") else ""


def parse_timestamptz(text: str) -> str:
    """The instant in UTC, ISO with offset; a literal without a zone is UTC."""
    if found := infinite(text):
        return found
    return _parse(text).replace(tzinfo=None).isoformat(" ") + "+00"


def parse_timestamp(text: str, type_: str) -> str:
    """A timestamp or date, by the name of its type; a zone in the text is ignored, as Postgres does."""
    if found := infinite(text):
        return found
    out = _parse(
        re.sub(r"\s*([+-]\d{1,2}(:?\d{2})?|z)$", "", text.strip(), flags=re.I) if re.search(r"\d:\d\d", text) else text
    )
    return out.date().isoformat() if type_ == "date" else out.replace(tzinfo=None).isoformat(" ")
