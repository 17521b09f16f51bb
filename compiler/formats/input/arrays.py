"""Array literals: braces, commas, quotes and escapes; the elements are read by their type."""

from __future__ import annotations

import re
from collections.abc import Callable

from compiler.errors import InvalidSql
from compiler.formats.input.refusal import BLANKS, Undecided

END = "Unexpected end of input."
BOUNDS = re.compile(r"(\[\s*[+-]?[0-9]+(\s*:\s*[+-]?[0-9]+)?\s*\]\s*)+=")


def read(text: str, element: Callable[[str], object]) -> None:
    """Raises InvalidSql where Postgres refuses the array or an element of it."""
    bare = text.strip(BLANKS)
    reading = _Reading(text)
    if BOUNDS.match(bare):
        raise Undecided
    reading.skip()
    if not reading.at("{"):
        raise reading.malformed('Array value must start with "{" or dimension information.')
    reading.array()
    reading.skip()
    if reading.place < len(text):
        raise reading.malformed("Junk after closing right brace.")
    for item in reading.items:
        element(item)


class _Reading:
    """A place in an array literal, and the elements before it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.place = 0
        self.items: list[str] = []

    def malformed(self, detail: str) -> InvalidSql:
        return InvalidSql(
            f'malformed array literal: "{self.text}"',
            detail=detail,
            code="invalid_text",
            hint="Write ARRAY[…], or '{…}'.",
        )

    def at(self, signs: str) -> bool:
        return self.place < len(self.text) and self.text[self.place] in signs

    def skip(self) -> None:
        while self.at(BLANKS):
            self.place += 1

    def array(self) -> tuple[int, ...]:
        """Its lengths, outermost first."""
        self.place += 1
        self.skip()
        inner: list[tuple[int, ...]] = []
        if self.at("}"):
            self.place += 1
            return (0,)
        while True:
            self.skip()
            inner.append(self.array() if self.at("{") else self.item())
            self.skip()
            if self.at(","):
                self.place += 1
                continue
            if not self.at("}"):
                raise self.malformed(END if self.place >= len(self.text) else "Unexpected array element.")
            self.place += 1
            break
        if len(set(inner)) != 1:
            if any(0 in d for d in inner):
                raise Undecided
            raise self.malformed("Multidimensional arrays must have sub-arrays with matching dimensions.")
        if 0 in inner[0]:
            raise Undecided  # of no elements, but of several dimensions
        return (len(inner), *inner[0])

    def item(self) -> tuple[int, ...]:
        """Reads a bare element into `items`; NULL is none. Gives no dimensions. InvalidSql where it is malformed."""
        if self.at('"'):
            self.items.append(self.quoted())
            return ()
        out: list[str] = []
        kept, escaped = 0, False
        while self.place < len(self.text) and not self.at("{},"):
            char = self.text[self.place]
            if char == '"':
                raise self.malformed("Unexpected array element.")
            if char == "\\":
                self.place += 1
                escaped = True
                if self.place >= len(self.text):
                    raise self.malformed(END)
                char = self.text[self.place]
                kept = len(out) + 1
            elif char not in BLANKS:
                kept = len(out) + 1
            out.append(char)
            self.place += 1
        if self.at("{"):
            raise self.malformed('Unexpected "{" character.')
        if not kept:
            found = self.text[self.place : self.place + 1]
            raise self.malformed(f'Unexpected "{found}" character.' if found else END)
        word = "".join(out[:kept])
        if escaped or word.lower() != "null":
            self.items.append(word)
        return ()

    def quoted(self) -> str:
        self.place += 1
        out: list[str] = []
        while not self.at('"'):
            if self.at("\\"):
                self.place += 1
            if self.place >= len(self.text):
                raise self.malformed(END)
            out.append(self.text[self.place])
            self.place += 1
        self.place += 1
        return "".join(out)
