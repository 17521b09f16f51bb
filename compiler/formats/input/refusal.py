"""What an input function says of a text that it does not take."""

from __future__ import annotations

from compiler.errors import InvalidSql

BLANKS = " \t\n\r\v\f"  # isspace in C


class Undecided(Exception):
    """Versions of Postgres differ, or it depends on the server: the text passes."""


def invalid(kind: str, text: str, detail: str = "", hint: str = "") -> InvalidSql:
    return InvalidSql(f'invalid input syntax for type {kind}: "{text}"', detail=detail, hint=hint, code="invalid_text")


def out_of_range(kind: str, text: str) -> InvalidSql:
    return InvalidSql(f'value "{text}" is out of range for type {kind}', code="out_of_range")
