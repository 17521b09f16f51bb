"""Types, in ANSI mode. Spark has no interval or time of day that a table can hold: these are a struct and a text."""

from __future__ import annotations

from compiler.ir import types
from compiler.ir.types import Type

NAMES = {"bool": "BOOLEAN", "int2": "SMALLINT", "int4": "INT", "int8": "BIGINT", "float4": "FLOAT", "float8": "DOUBLE",
         "date": "DATE", "timestamp": "TIMESTAMP_NTZ", "timestamptz": "TIMESTAMP_LTZ", "bytea": "BINARY",
         "interval": "STRUCT<months: INT, days: INT, micros: BIGINT>"}


def type_name(t: Type) -> str:
    if t.name == "numeric":
        return f"DECIMAL({t.precision},{t.scale})"
    if t.name == "array":
        return f"ARRAY<{type_name(t.element or types.TEXT)}>"
    return NAMES.get(t.name, "STRING")


