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
                out.append(parse_nested(text[start : at + 1], depth - 1))
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


def read_array(text: str) -> list[str | None]:
    """A one-dimensional array literal as a person writes it: blanks around elements, escapes, null in any case.
    ValueError for any other."""
    text = text.strip()
    if not text.startswith("{") or not text.endswith("}") or len(text) < 2:
        raise ValueError("no array, or one with bounds")
    end = len(text) - 1
    out: list[str | None] = []
    at = 1 if text[1:end].strip() else end
    while at < end:
        word, at = _element(text, at, end)
        out.append(word)
        at += 1  # the comma
    if text[end - 1] == "," and text[end - 2 : end] != "\\,":
        raise ValueError("an element is missing")
    return out


def _element(text: str, at: int, end: int) -> tuple[str | None, int]:
    """An element that begins at a place, and the place of the comma or brace after it."""
    item: list[str] = []
    kept, quoted, apart = 0, False, False  # kept: up to the last letter that is no blank at the end
    while at < end and (quoted or text[at] != ","):
        char = text[at]
        if char == "\\":
            at, apart = at + 1, True
            item.append(text[at])
            kept = len(item)
        elif char == '"':
            quoted, apart = not quoted, True
            kept = len(item)
        elif char in "{}" and not quoted:
            raise ValueError("array of several dimensions")
        elif quoted or not char.isspace():
            item.append(char)
            kept = len(item)
        elif item or apart:
            item.append(char)
        at += 1
    word = "".join(item[:kept])
    if quoted or at > end or not word and not apart:
        raise ValueError("an element is missing, or a quote")
    return (word if apart or word.lower() != "null" else None), at
