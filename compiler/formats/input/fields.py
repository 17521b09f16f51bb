"""Text of dates, times and intervals to fields, as ParseDateTime of Postgres (datetime.c) cuts it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

from compiler.formats.input.refusal import BLANKS
from compiler.formats.input.words import WORDS

MOST, LONGEST = 25, 128 + 25  # fields, and their letters


class Bad(Exception):
    """A field that cannot be: `format`, `field` (out of range), `order` (of month and day), `zone`, `whole` (of an
    interval), or a message of its own."""

    def __init__(self, what: str = "format") -> None:
        super().__init__(what)
        self.what = what


class FieldType(Enum):
    NUMBER = "number"
    DATE = "date"
    TIME = "time"
    ZONE = "zone"  # a sign and digits
    STRING = "string"
    SPECIAL = "special"  # a sign and letters


@dataclass(frozen=True, slots=True)
class Field:
    text: str
    type: FieldType


DIGITS = re.compile(r"[0-9]+")
LETTERS = re.compile(r"[A-Za-z]+")
SIGNED = re.compile(r"[+-][ \t\n\r\v\f]*")
PATTERNS = {
    "time": re.compile(r"[0-9]+:[0-9:.]*"),
    "decimal": re.compile(r"[0-9]+\.[0-9]+(?!\.)(?![0-9])"),
    "date": re.compile(r"[0-9]+(?P<by>[-/.])(?:[0-9]+(?:(?P=by)(?:[0-9]|(?P=by))*)?|(?:[A-Za-z0-9]|(?P=by))*)"),
    "point": re.compile(r"\.[0-9]*"),
    "zone": re.compile(r"[0-9][0-9:.\-]*"),
    "worded": re.compile(r"[A-Za-z0-9+\-/_.:]+"),
}


def split(text: str) -> list[Field]:
    """Raises Bad where a sign belongs to no field."""
    out: list[Field] = []
    at = 0
    while at < len(text):
        char = text[at]
        if char in BLANKS:
            at += 1
            continue
        if len(out) >= MOST:
            raise Bad
        found, at = _field(text, at)
        if found is not None:
            out.append(found)
    if sum(len(f.text) + 1 for f in out) > LONGEST:
        raise Bad
    return out


def _field(text: str, at: int) -> tuple[Field | None, int]:
    char = text[at]
    if DIGITS.match(char):
        return _numeric(text, at)
    if char == ".":
        return _taken("point", FieldType.NUMBER, text, at)
    if LETTERS.match(char):
        return _worded(text, at)
    if char in "+-":
        sign = SIGNED.match(text, at)
        assert sign is not None
        if m := PATTERNS["zone"].match(text, sign.end()):
            return Field(char + m[0], FieldType.ZONE), m.end()
        if m := LETTERS.match(text, sign.end()):
            return Field(char + m[0].lower(), FieldType.SPECIAL), m.end()
        raise Bad
    if char.isascii() and char.isprintable():  # punctuation sets apart
        return None, at + 1
    raise Bad


def _taken(pattern: str, type_: FieldType, text: str, at: int) -> tuple[Field, int]:
    m = PATTERNS[pattern].match(text, at)
    assert m is not None
    return Field(m[0].lower(), type_), m.end()


def _numeric(text: str, at: int) -> tuple[Field, int]:
    if PATTERNS["time"].match(text, at):
        return _taken("time", FieldType.TIME, text, at)
    if PATTERNS["decimal"].match(text, at):
        return _taken("decimal", FieldType.NUMBER, text, at)
    if PATTERNS["date"].match(text, at):
        return _taken("date", FieldType.DATE, text, at)
    m = DIGITS.match(text, at)
    assert m is not None
    return Field(m[0], FieldType.NUMBER), m.end()


def _worded(text: str, at: int) -> tuple[Field, int]:
    m = LETTERS.match(text, at)
    assert m is not None
    word, follows = m[0].lower(), text[m.end() : m.end() + 1]
    if follows in ("-", "/", ".") or (follows == "+" or DIGITS.match(follows)) and word[:10] not in WORDS:
        return _taken("worded", FieldType.DATE, text, at)
    return Field(word, FieldType.STRING), m.end()
