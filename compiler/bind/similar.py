"""SIMILAR TO's patterns as regular expressions."""

from __future__ import annotations

from compiler.errors import InvalidSql

OWN = set("|*+?{}()[]")  # mean in SIMILAR TO what they mean in a regular expression
META = set("\\^$.")


def regex_of(pattern: str, escape: str = "\\") -> str:
    """The whole string must match: % is any characters, _ is one."""
    out, at, inside = "", 0, False
    while at < len(pattern):
        c = pattern[at]
        if c == escape:
            at += 1
            if at == len(pattern):
                raise InvalidSql(
                    "SIMILAR TO pattern must not end with the escape character", code="invalid_escape_sequence"
                )
            out += "\\" + pattern[at]  # as Postgres hands it on: \d is a digit
        elif inside or c in OWN:
            inside = c == "[" or (inside and c != "]")
            out += c
        elif c in "%_":
            out += ".*" if c == "%" else "."
        else:
            out += "\\" + c if c in META else c
        at += 1
    return f"^(?:{out})$"
