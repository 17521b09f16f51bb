"""Staged text as DuckDB reads it best: in parts that threads share, and with the columns it cannot read by itself read.

Those are intervals and arrays; each distinct value is read once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from compiler.catalog import Column, Table
from compiler.errors import InvalidSql, TidemarkError
from compiler.formats.arrays import parse_array, parse_nested
from compiler.formats.intervals import parse_interval
from compiler.ir.types import is_numeric

PART = 8192  # rows that one thread casts at a time: a table in one part is cast by one thread


class ValueOutOfRange(TidemarkError):
    """A value of the source that the engine's type cannot hold; nothing was stored. `table` and `column` say of
    what."""

    table: Table
    column: str


def parsed(rows: pa.Table, t: Table) -> pa.Table:
    """Staged rows in parts, with interval columns as Arrow intervals and array columns as lists of text, keys
    included."""
    named = [(f"c{i}", c) for i, c in enumerate(t.columns)]
    named += [
        (f"{kind}{i}", c) for i, k in enumerate(t.identity_key) for kind in "kf" for c in t.columns if c.name == k
    ]
    for name, c in named:
        if name not in rows.column_names:
            continue
        if c.type.name == "interval":
            rows = _replace(rows, t, name, c, pa.month_day_nano_interval(), _interval)
        elif c.type.name == "array" and c.type.element is not None and c.type.element.name == "interval":
            rows = _replace(rows, t, name, c, pa.list_(pa.month_day_nano_interval()), _intervals)
        elif c.type.name == "array" and c.type.element is not None and c.type.element.name == "array":
            kind = pa.list_(pa.list_(pa.large_string()))
            rows = _replace(rows, t, name, c, kind, lambda text: parse_nested(text, 2))
        elif c.type.name == "array":
            rows = _replace(rows, t, name, c, pa.list_(pa.large_string()), parse_array)
    return pa.Table.from_batches(rows.to_batches(max_chunksize=PART), schema=rows.schema)


def _interval(text: str) -> Any:
    months, days, micros = parse_interval(text)
    return pa.MonthDayNano([months, days, micros * 1000])


def _intervals(text: str) -> list[Any]:
    return [None if x is None else _interval(x) for x in parse_array(text)]


def _replace(rows: pa.Table, t: Table, name: str, c: Column, kind: pa.DataType, read: Callable[[str], Any]) -> pa.Table:
    column = rows[name].cast(pa.large_string()).combine_chunks()
    encoded = pc.dictionary_encode(column)
    encoded = encoded.combine_chunks() if isinstance(encoded, pa.ChunkedArray) else encoded
    values = []
    for text in encoded.dictionary.to_pylist():
        try:
            values.append(read(text))
        except (ValueError, InvalidSql, OverflowError) as e:
            raise out_of_range(t, c, rows, pc.index(column, text).as_py(), text) from e
    taken = pa.array(values, type=kind).take(encoded.indices)
    return rows.set_column(rows.schema.get_field_index(name), name, taken)


def _declare(t: Table, c: Column) -> str:
    if not is_numeric(c.type) and c.type.element is None:
        return ""
    return f', or keep it as it is: "{t.schema}.{t.name}.{c.name}" = "text" under [source.types] in tidemark.toml'


def out_of_range(t: Table, c: Column, rows: pa.Table, at: int, text: str) -> ValueOutOfRange:
    """The error for a value, naming table, column and key."""
    names = [x.name for x in t.columns]
    key = ", ".join(f"{k} = {rows[f'c{names.index(k)}'][at].as_py()}" for k in t.key) or "(no key)"
    error = ValueOutOfRange(
        f'a value of "{t.schema}.{t.name}"."{c.name}" is out of range',
        code="value_out_of_range",
        detail=f"Row {key}: {text!s:.60} does not fit {c.type}.",
        hint=f"Correct the value in the source{_declare(t, c)}, then run: tidemark deploy",
    )
    error.table, error.column = t, c.name
    return error
