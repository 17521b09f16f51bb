"""Postgres' text output of a value to DuckDB's type: one SQL expression a type."""

from __future__ import annotations

from compiler.ir.types import TEXT, Type
from compiler.spelling.duckdb import type_name


def from_text(column: str, t: Type, strict: bool = True) -> str:
    """SQL that reads column (text as Postgres prints it) as a value of `t`; not strict gives NULL for what fails."""
    cast = "CAST" if strict else "TRY_CAST"
    if t.name == "bool":
        return f"({column} = 't')"
    if t.name in ("text", "varchar", "json", "jsonb", "enum", "opaque"):
        return f"CAST({column} AS VARCHAR)"
    if t.name == "bpchar":
        return f"rtrim(CAST({column} AS VARCHAR), ' ')"
    if t.name in ("date", "timestamp", "timestamptz"):
        before_christ = (
            f"regexp_replace(CAST({column} AS VARCHAR), '^(\\S+)(.*) BC$', '\\1 (BC)\\2')"  # costs more than the cast
        )
        return (
            f"CASE WHEN ends_with(CAST({column} AS VARCHAR), ' BC') THEN {cast}({before_christ} AS {type_name(t)}) "
            f"ELSE {cast}({column} AS {type_name(t)}) END"
        )
    if t.name == "bytea":
        return f"unhex(substr({column}, 3))"
    if t.name == "interval":
        return column  # already read: connectors.literal_rows
    if t.name == "array":
        element = t.element or TEXT
        inner = from_text("x", element, strict)  # already a list of text: connectors.literal_rows
        return f"CAST(list_transform({column}, lambda x: {inner}) AS {type_name(t)})"
    return f"{cast}({column} AS {type_name(t)})"
