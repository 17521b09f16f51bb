"""json and jsonb: RFC 8259, as Postgres' lexer takes it."""

from __future__ import annotations

import json
import re
from typing import NoReturn

from compiler.errors import InvalidSql
from compiler.formats.input.refusal import Undecided

PAIR = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}")
SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def invalid(text: str, why: str) -> InvalidSql:
    return InvalidSql(
        "invalid input syntax for type json",
        code="invalid_text",
        detail=f'{why} In "{text}".',
        hint="Keys and texts stand in double quotes.",
    )


def read(text: str) -> str:
    """The text itself; raises InvalidSql for what is no JSON."""

    def no_number(word: str) -> NoReturn:
        raise ValueError(f'Token "{word}" is invalid.')

    try:
        json.loads(text, parse_constant=no_number, parse_float=str, parse_int=str)
    except RecursionError as e:
        raise Undecided from e
    except json.JSONDecodeError as e:
        near = text[e.pos : e.pos + 20]
        raise invalid(text, f'{e.msg}, at "{near}".' if near else "The input string ended unexpectedly.") from e
    except ValueError as e:
        raise invalid(text, str(e)) from e
    return text


def read_jsonb(text: str) -> str:
    read(text)
    bare = text.replace("\\\\", "")
    if re.search(r"\\u0000", bare):
        raise InvalidSql(
            "unsupported Unicode escape sequence", code="invalid_text", detail="\\u0000 cannot be converted to text."
        )
    if SURROGATE.search(PAIR.sub("", bare)):
        raise invalid(text, "Unicode high and low surrogates come in pairs.")
    return text
