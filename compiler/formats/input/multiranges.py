"""Multiranges as multirange_in reads them, down to the texts of their ranges."""

from __future__ import annotations

import re

from compiler.errors import InvalidSql
from compiler.formats.input.ranges import BOUND
from compiler.formats.input.refusal import BLANKS

ITEM = re.compile(rf"[{BLANKS}]*(empty|[\[(]{BOUND},{BOUND}[\])])[{BLANKS}]*", re.S | re.I)
FORM = re.compile(rf"[{BLANKS}]*\{{(.*)\}}[{BLANKS}]*", re.S)


def read(text: str) -> list[str]:
    """Raises InvalidSql for what is no multirange; what its bounds are is not looked at."""
    outer = FORM.fullmatch(text)
    found: list[str] = []
    at, inner = 0, outer[1] if outer is not None else ""
    while outer is not None and (at < len(inner) or found):
        item = ITEM.match(inner, at)
        if item is None:
            break
        found.append(item[1])
        at = item.end()
        if at == len(inner):
            return found
        if inner[at] != ",":
            break
        at += 1
    if outer is None or inner.strip(" \t\n\r\v\f"):
        raise InvalidSql(
            f'malformed multirange literal: "{text}"',
            code="invalid_text",
            hint="Write it as '{[1,3),[5,10)}', or '{}'.",
        )
    return []
