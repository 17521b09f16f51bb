"""Enums, uuid, bytea, and types that are carried as text."""

from __future__ import annotations

import difflib
import re

from compiler.errors import InvalidSql
from compiler.formats.input.refusal import invalid

SHOWN = 20  # labels that a hint lists

UUID = re.compile(r"(\{)?" + "-?".join(["[0-9a-fA-F]{4}"] * 8) + r"(?(1)\})")
NETWORK, HARDWARE = "0-9a-fA-F.:/", r"0-9a-fA-F.:\-\s"
ALPHABETS = {"inet": NETWORK, "cidr": NETWORK, "macaddr": HARDWARE, "macaddr8": HARDWARE}


def read_enum(text: str, name: str, labels: tuple[str, ...]) -> str:
    if text in labels:
        return text
    same = [x for x in labels if x.lower() == text.strip().lower()]
    near = same or difflib.get_close_matches(text, labels, 1)
    shown = ", ".join(labels[:SHOWN]) + (", …" if len(labels) > SHOWN else "")
    raise InvalidSql(
        f'invalid input value for enum {name or "type"}: "{text}"',
        code="invalid_text",
        detail=f"Its labels are: {shown}.",
        hint=f'Perhaps you meant "{near[0]}".' if near else "Use one of its labels.",
    )


def read_uuid(text: str) -> str:
    """In small letters, with hyphens where Postgres prints them."""
    if not UUID.fullmatch(text):
        raise invalid("uuid", text)
    h = re.sub(r"[{}-]", "", text).lower()
    return f"{h[:8]}-{h[8:12]}-{h[12:16]}-{h[16:20]}-{h[20:]}"


def read_bytea(text: str) -> str:
    """The text, where it is bytes in hexadecimal or escaped; InvalidSql where it is not."""
    if not text.startswith("\\x"):
        if re.fullmatch(r"(?:[^\\]|\\\\|\\[0-3][0-7][0-7])*", text, re.S):
            return text
        raise InvalidSql(
            "invalid input syntax for type bytea",
            code="invalid_text",
            detail=f'It is "{text}".',
            hint="Write '\\x0aff'.",
        )
    at, rest = 0, text[2:]
    while at < len(rest):
        if rest[at] in " \n\t\r":  # between two digits of a byte there may be none
            at += 1
            continue
        for digit in (rest[at], rest[at + 1 : at + 2]):
            if not digit:
                raise InvalidSql(
                    "invalid hexadecimal data: odd number of digits", code="invalid_text", detail=f'In "{text}".'
                )
            if not re.fullmatch("[0-9a-fA-F]", digit):
                raise InvalidSql(f'invalid hexadecimal digit: "{digit}"', code="invalid_text", detail=f'In "{text}".')
        at += 2
    return text


def read_opaque(text: str, name: str) -> str:
    """Addresses of the network: what holds a sign that none can have. Of other types nothing is known here."""
    letters = ALPHABETS.get(name)
    if letters is not None and not re.fullmatch(f"[{letters}]+", text):
        raise invalid(name, text)
    return text
