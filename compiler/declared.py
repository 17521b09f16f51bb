"""How numerics are kept that no engine has a number for, and arrays whose values have more dimensions than their column
says, as tidemark.toml declares it under [source.types].

`text`: as Postgres prints them, so that NaN, infinity, digits and dimensions are kept. `numeric(p, s)`, up to 38
digits: a column that has no scale of its own takes this one, in place of 12 digits after the point. Nothing is rounded:
a value that does not fit is an error.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from compiler.catalog import Catalog, Column, Table
from compiler.errors import TidemarkError
from compiler.ir.types import MAX_PRECISION, VARYING_PARTS, Type, is_numeric, numeric, varying
from compiler.opaque import as_printed

TEXT = "text"
NUMERIC = re.compile(r"numeric\(\s*(\d+)\s*,\s*(\d+)\s*\)")


def is_declared(text: str) -> bool:
    """Whether a column can be declared so."""
    m = NUMERIC.fullmatch(text)
    return text == TEXT or m is not None and 0 < int(m[1]) <= MAX_PRECISION and int(m[2]) <= int(m[1])


class NotDeclared(TidemarkError):
    """[source.types] says what cannot be."""

    exit_code = 2


def declared(catalog: Catalog, types: Mapping[str, str], strict: bool = True) -> Catalog:
    """The catalog with columns, [schema.]table.column, as they are declared. One that is not there may have been
    (`check_there`). Raises NotDeclared for a column of which that cannot be; not `strict`, it stays what it is."""
    tables, done = dict(catalog.tables), set[tuple[str, str, str]]()
    for name, text in types.items():
        t, c = _find(Catalog(tables, catalog.path), name)
        if t is None or c is None or not strict and not _may(c, text):
            continue
        if (t.schema, t.name, c.name) in done:
            raise _wrong(name, c, "It is declared twice.", "Take one of the lines out.")
        done.add((t.schema, t.name, c.name))
        kept = replace(c, type=_type(name, c, text))
        tables[(t.schema, t.name)] = replace(t, columns=tuple(kept if x is c else x for x in t.columns))
    return replace(catalog, tables=tables)


def check_there(catalog: Catalog, types: Mapping[str, str]) -> None:
    """Raises NotDeclared for a declared column that is not there."""
    for name in types:
        t, c = _find(catalog, name)
        if c is None:
            raise NotDeclared(
                f"[source.types] in tidemark.toml names {name}, which is not there",
                detail=f'Table "{t.schema}.{t.name}" has no such column.' if t else "There is no such table.",
                code="undefined_column",
                hint="Correct the name, [schema.]table.column as the source has it by now, or take the line out.",
            )


def _find(catalog: Catalog, name: str) -> tuple[Table | None, Column | None]:
    """By all of the ways in which the name can be divided: a table's name may have dots."""
    found: Table | None = None
    for m in re.finditer(r"\.", name):
        of, column = name[: m.start()], name[m.end() :]
        whole = [t for (s, n), t in catalog.tables.items() if f"{s}.{n}" == of]
        t = whole[0] if whole else catalog.find(None, of)
        if t is not None and (c := t.column(column)) is not None:
            return t, c
        found = found or t
    return found, None


def _may(c: Column, text: str) -> bool:
    if c.type.element is not None:
        return text == TEXT
    return is_numeric(c.type) and (text == TEXT or c.type == numeric())


def _type(name: str, c: Column, text: str) -> Type:
    if c.type.element is not None:
        if text != TEXT:
            raise _wrong(name, c, "An array can be kept as text, and no otherwise.", f'"{name}" = "text", or nothing.')
        return as_printed(c.type, 1)
    if not is_numeric(c.type):
        raise _wrong(name, c, "A numeric or an array alone can be kept otherwise.", "Take the line out.")
    if text == TEXT:
        name = c.over or c.source_type
        return Type("opaque", labels=(name,) if "(" in name else (name, VARYING_PARTS))
    if c.type != numeric():
        raise _wrong(name, c, "It has a scale of its own, within 38 digits.", f'"{name}" = "text", or nothing.')
    m = NUMERIC.fullmatch(text)
    assert m is not None
    return varying(numeric(int(m[1]), int(m[2])))


def _wrong(name: str, c: Column, why: str, hint: str) -> NotDeclared:
    return NotDeclared(
        f"[source.types] in tidemark.toml declares {name}, which has type {c.source_type}",
        detail=why,
        code="bad_value",
        hint=hint,
    )
