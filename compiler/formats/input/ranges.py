"""Ranges as range_in reads them, down to the texts of their bounds."""

from __future__ import annotations

import re
from dataclasses import dataclass

from compiler.errors import InvalidSql
from compiler.formats.input.refusal import BLANKS

BOUND = r'((?:"(?:[^"\\]|""|\\.)*"(?!")|\\.|[^"\\,\[\]()])*)'
FORM = re.compile(rf"[{BLANKS}]*([\[(]){BOUND},{BOUND}([\])])[{BLANKS}]*", re.S)
EMPTY = re.compile(rf"[{BLANKS}]*empty[{BLANKS}]*", re.I)


@dataclass(frozen=True)
class Bounds:
    """Of a range that is not empty; None is a bound that is infinite."""

    lower: str | None
    upper: str | None
    lower_inc: bool
    upper_inc: bool


def read(text: str) -> Bounds | None:
    """None for one that is empty. Raises InvalidSql for what is no range; what its bounds are is not looked at."""
    if EMPTY.fullmatch(text):
        return None
    m = FORM.fullmatch(text)
    if m is None:
        raise InvalidSql(
            f'malformed range literal: "{text}"', code="invalid_text", hint="Write it as '[1,10)', or 'empty'."
        )
    return Bounds(_bound(m[2]), _bound(m[3]), m[1] == "[", m[4] == "]")


def _bound(text: str) -> str | None:
    """A bound without its quotes; nothing at all is none, "" is the empty text."""
    if not text:
        return None
    return re.sub(r'\\(.)|""|"', lambda m: m[1] or ('"' if m[0] == '""' else ""), text, flags=re.S)
