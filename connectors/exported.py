"""JSON in exported files: objects with their keys in order, arrays of known elements as lists.

jsonb has no order of keys; written in one order, equal values are equal text.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pyarrow as pa

from compiler.formats import json_text
from compiler.ir.types import MAX_PRECISION, Type, is_float, is_integer, is_numeric


def is_json(t: Type) -> bool:
    return t.name in ("json", "jsonb")


def arrow_type(t: Type) -> pa.DataType:
    """What a JSON column becomes: text, or a list when its elements' type is known."""
    return pa.string() if t.element is None else pa.list_(_element(t.element))


def _element(t: Type) -> pa.DataType:
    if is_integer(t):
        return pa.int64()
    if t.name == "bool":
        return pa.bool_()
    if is_numeric(t):
        return pa.decimal128(t.precision or MAX_PRECISION, t.scale or 0)
    return pa.float64() if is_float(t) else pa.string()


def converted(column: pa.Array | pa.ChunkedArray, t: Type) -> pa.Array:
    """A column of JSON text in the form of `arrow_type`."""
    out: list[Any] = []
    kind = arrow_type(t)
    for text in column.to_pylist():
        value = None if text is None else json_text.read(text)
        if value is None:
            out.append(text)
        elif t.element is None:
            out.append(json_text.ordered(value))
        else:
            out.append([_item(x, kind.value_type) for x in value])
    return pa.array(out, type=kind)


def _item(x: Any, kind: pa.DataType) -> Any:
    if isinstance(x, json_text.Number) and not pa.types.is_string(kind):
        return int(x) if pa.types.is_integer(kind) else Decimal(x) if pa.types.is_decimal(kind) else float(x)
    return x if x is None or isinstance(x, bool) or type(x) is str else json_text.ordered(x)


def export_batch(batch: pa.RecordBatch, types: list[Type]) -> pa.RecordBatch:
    """A batch with its JSON columns converted."""
    columns = [converted(c, t) if is_json(t) else c for c, t in zip(batch.columns, types, strict=True)]
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)
