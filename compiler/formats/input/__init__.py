"""Literals as Postgres' input functions read them: one file a family of types.

A literal that Postgres refuses is refused in its words; one of which it cannot be told is left as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from compiler.formats.input import arrays, booleans, dates, integers, intervals, jsons, numerics, texts
from compiler.formats.input.refusal import Undecided

if TYPE_CHECKING:
    from compiler.ir.types import Type

Reader = Callable[[str], str]

READERS: dict[str, Reader] = {
    "bool": booleans.read,
    **integers.READERS,
    **numerics.READERS,
    **dates.READERS,
    "interval": intervals.read,
    "json": jsons.read,
    "jsonb": jsons.read_jsonb,
    "uuid": texts.read_uuid,
    "bytea": texts.read_bytea,
}


def read(text: str, t: Type) -> str:
    """The text of a value of type `t` in a form that the engines read; raises InvalidSql where Postgres refuses it."""
    try:
        if t.name == "enum":
            return texts.read_enum(text, t.title, t.labels)
        if t.name == "array" and t.element is not None:
            element = t.element
            arrays.read(text, lambda item: read(item, element))
            return text
        if t.name == "opaque":
            return texts.read_opaque(text, t.labels[0])
        reader = READERS.get(t.name)
        return reader(text) if reader is not None else text
    except Undecided:
        return text
