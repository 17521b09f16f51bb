"""Array literals."""

from __future__ import annotations


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
