"""Times at a zone: AT TIME ZONE, by name, abbreviation or distance."""

from __future__ import annotations

import re

from compiler.bind.coerce import coerce, unsupported
from compiler.ir.scalar import Call, Lit, Scalar, cast
from compiler.ir.types import INTERVAL, TEXT, TIMESTAMP, TIMESTAMPTZ

# an abbreviation is an offset all the year, also where a zone that has summer time is called by it
ABBREVIATIONS = {
    "CET": 1,
    "CEST": 2,
    "MET": 1,
    "MEST": 2,
    "EET": 2,
    "EEST": 3,
    "WET": 0,
    "WEST": 1,
    "BST": 1,
    "MSK": 3,
    "JST": 9,
    "EST": -5,
    "EDT": -4,
    "CST": -6,
    "CDT": -5,
    "MST": -7,
    "MDT": -6,
    "PST": -8,
    "PDT": -7,
    "HST": -10,
    "AKST": -9,
    "AKDT": -8,
    "AST": -4,
    "ADT": -3,
    "NST": -3.5,
    "NDT": -2.5,
    "ART": -3,
    "ACT": -5,
    "EAT": 3,
    "WAT": 1,
    "SAST": 2,
    "IST": 2,
    "PKT": 5,
    "SGT": 8,
    "HKT": 8,
    "KST": 9,
    "AEST": 10,
    "AEDT": 11,
    "NZST": 12,
    "NZDT": 13,
    "Z": 0,
    "UT": 0,
}


def at_zone(x: Scalar, zone: Scalar) -> Scalar:
    """x AT TIME ZONE zone; a zone given as an offset is one with the sign turned, as POSIX has it."""
    x = coerce(x, TIMESTAMPTZ)
    if x.type.name == "time":
        raise unsupported("AT TIME ZONE of a time of day")
    if x.type.name == "date":
        x = cast(x, TIMESTAMPTZ)
    t = TIMESTAMPTZ if x.type.name == "timestamp" else TIMESTAMP
    if zone.type.name == "interval":
        shift = Call("-" if t == TIMESTAMPTZ else "+", (cast(x, TIMESTAMP), zone), TIMESTAMP)
        return cast(shift, t)
    zone = coerce(zone, TEXT)
    if isinstance(zone, Lit) and (hours := ABBREVIATIONS.get(str(zone.value).upper())) is not None:
        return at_zone(x, Lit(f"{hours} hours", INTERVAL))
    if isinstance(zone, Lit) and (
        m := re.fullmatch(r"(?:UTC|GMT)?([+-])(\d{1,2})(?::?(\d\d))?", str(zone.value), re.IGNORECASE)
    ):
        back = Lit(
            f"{'-' if m[1] == '+' else ''}{m[2]} hours {'-' if m[1] == '+' else ''}{m[3] or 0} minutes", INTERVAL
        )
        return at_zone(x, back)
    return Call("at_zone", (x, zone), t)
