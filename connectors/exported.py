"""JSON in exported files: the type that a column's values share, and Parquet's VARIANT where they share none.

Objects are text with their keys in order: jsonb has no order of keys, and written in one order, equal values are
equal text. Numbers, booleans, strings and arrays of one kind are numbers, booleans, text and lists, and JSON's null
is NULL, as a client of Postgres would have them. What they share is found in a first pass over the values.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

import pyarrow as pa

from compiler.formats import json_text
from compiler.ir.types import MAX_PRECISION, Type, is_float, is_integer, is_numeric

TEXT = pa.string()
NOTHING = pa.null()


def is_json(t: Type) -> bool:
    return t.name in ("json", "jsonb")


def declared(t: Type) -> pa.DataType | None:
    """What a JSON column becomes where its elements' type is known at compile time."""
    return None if t.element is None or is_json(t.element) else pa.list_(_element(t.element))


def fits(declared: pa.DataType | None, found: pa.DataType | None) -> bool:
    """Whether values of the type found can be written as the type known when the view was compiled."""
    if declared is None or found is None or not (found == NOTHING or pa.types.is_list(found)):
        return False
    inner = NOTHING if found == NOTHING else found.value_type
    if inner in (NOTHING, declared.value_type):
        return True
    if pa.types.is_decimal(declared.value_type) or pa.types.is_floating(declared.value_type):
        return inner in (pa.int64(), pa.float64())
    return False


def _element(t: Type) -> pa.DataType:
    if is_integer(t):
        return pa.int64()
    if t.name == "bool":
        return pa.bool_()
    if is_numeric(t):
        return pa.decimal128(t.precision or MAX_PRECISION, t.scale or 0)
    return pa.float64() if is_float(t) else TEXT


def shared(a: pa.DataType | None, b: pa.DataType | None) -> pa.DataType | None:
    """The type of both; None where there is none."""
    if a is None or b is None:
        return None
    if NOTHING in (a, b):
        return b if a == NOTHING else a
    if a == b:
        return a
    if pa.types.is_list(a) and pa.types.is_list(b):
        inner = shared(a.value_type, b.value_type)
        return None if inner is None else pa.list_(inner)
    numbers = (pa.int64(), pa.float64())
    return pa.float64() if a in numbers and b in numbers else None


def shape(values: Iterable[str | None]) -> pa.DataType | None:
    """The type that JSON texts share: null of none; None where they share none."""
    out: pa.DataType | None = NOTHING
    for v in values:
        out = out if v is None or out is None else shared(out, _kind(json_text.read(v)))
    return out


def shapes(
    batch: pa.RecordBatch, names: Iterable[str], so_far: dict[str, pa.DataType | None]
) -> dict[str, pa.DataType | None]:
    """What the columns `names` share, with what they shared in batches before."""
    return {n: shared(so_far.get(n, NOTHING), shape(batch.column(n).to_pylist())) for n in names}


def _kind(x: Any) -> pa.DataType | None:
    if x is None:
        return NOTHING
    if isinstance(x, json_text.Number):
        return pa.int64() if x.lstrip("-").isdigit() and -(2**63) <= int(x) < 2**63 else pa.float64()
    if isinstance(x, bool):
        return pa.bool_()
    if isinstance(x, dict):
        return OBJECT
    if isinstance(x, list):
        inner: pa.DataType | None = NOTHING
        for i in x:
            inner = shared(inner, _kind(i))
        return None if inner is None else pa.list_(inner)
    return TEXT


OBJECT = pa.large_string()  # its own kind while types are compared: text of objects, not of strings


def settled(t: pa.DataType | None) -> pa.DataType:
    """The type a file is written with."""
    if t is None or t in (NOTHING, OBJECT):
        return TEXT
    return pa.list_(settled(t.value_type)) if pa.types.is_list(t) else t


def converted(column: pa.Array | pa.ChunkedArray, kind: pa.DataType | None) -> pa.Array:
    """A column of JSON text as the type its values share (`shape`); where that is None, as JSON text to make VARIANT
    of."""
    texts = column.to_pylist()
    if kind is None:
        return pa.array(
            [t if t is None else json_text.printed(json_text.read(t), str, plain_number, True) for t in texts], TEXT
        )
    target = settled(kind)
    return pa.array([None if t is None else _item(json_text.read(t), target) for t in texts], type=target)


def plain_number(n: json_text.Number) -> str:
    """A number that a VARIANT holds as an integer or a double, not as a decimal."""
    whole = n.lstrip("-").isdigit() and len(n) < 19
    return str(n) if whole else repr(float(n)) if "e" in repr(float(n)) else f"{float(n)!r}e0"


def _item(x: Any, kind: pa.DataType) -> Any:
    if x is None:
        return None
    if pa.types.is_list(kind) and isinstance(x, list):
        return [_item(i, kind.value_type) for i in x]
    if isinstance(x, json_text.Number) and not pa.types.is_string(kind):
        return int(x) if pa.types.is_integer(kind) else Decimal(x) if pa.types.is_decimal(kind) else float(x)
    return x if isinstance(x, bool) and pa.types.is_boolean(kind) or type(x) is str else json_text.ordered(x)


def export_batch(batch: pa.RecordBatch, kinds: dict[str, pa.DataType | None]) -> pa.RecordBatch:
    """A batch with its JSON columns, those named, converted."""
    columns = [
        converted(c, kinds[n]) if n in kinds else c for n, c in zip(batch.schema.names, batch.columns, strict=True)
    ]
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


def packed_shapes(batch: pa.RecordBatch) -> pa.RecordBatch:
    """A row that holds what each column of a batch shares, pickled, for a driver to put together."""
    kinds = [shape(c.to_pylist()) for c in batch.columns]
    return pa.RecordBatch.from_arrays([pa.array([pickle.dumps(kinds)], pa.binary())], names=["kinds"])


def unpacked_shapes(rows: Iterable[bytes], width: int) -> list[pa.DataType | None]:
    out: list[pa.DataType | None] = [NOTHING] * width
    for r in rows:
        out = [shared(a, b) for a, b in zip(out, pickle.loads(r), strict=True)]
    return out
