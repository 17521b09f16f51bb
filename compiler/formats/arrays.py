"""Array literals."""

from __future__ import annotations

from typing import Any


def parse_nested(text: str, depth: int) -> list[Any]:
    """An array literal of `depth` dimensions, as lists in lists; raises ValueError for any other."""
    if depth == 1:
        return list(parse_array(text))
    out, level, quoted, start = [], 0, False, 0
    if not text.startswith("{") or not text.endswith("}"):
        raise ValueError("array with bounds")
    at = 0
    while at < len(text):
        char = text[at]
        if char == "\\":
            at += 1
        elif char == '"':
            quoted = not quoted
        elif char == "{" and not quoted:
            level += 1
            start = at if level == 2 else start
        elif char == "}" and not quoted:
            if level == 2:
                out.append(parse_nested(text[start:at + 1], depth - 1))
            level -= 1
        at += 1
    return out


def parse_array(text: str) -> list[str | None]:
    """A one-dimensional array literal as Postgres prints it; raises ValueError for any other."""
    if not text.startswith("{") or not text.endswith("}"):
        raise ValueError("array with bounds")
    out: list[str | None] = []
    at, end = 1, len(text) - 1
    while at < end:
        if text[at] == "{":
            raise ValueError("array of several dimensions")
        if text[at] == '"':
            at, item = at + 1, []
            while text[at] != '"':
                if text[at] == "\\":
                    at += 1
                item.append(text[at])
                at += 1
            out.append("".join(item))
            at += 1
        else:
            stop = text.find(",", at, end)
            stop = end if stop < 0 else stop
            word = text[at:stop]
            out.append(None if word == "NULL" else word)
            at = stop
        at += 1  # the comma
    return out
