"""Types and how they are stored."""

from __future__ import annotations

from compiler.ir import types
from compiler.ir.types import Type

NAMES = {
    "bool": "BOOLEAN",
    "int2": "SMALLINT",
    "int4": "INTEGER",
    "int8": "BIGINT",
    "float4": "FLOAT",
    "float8": "DOUBLE",
    "date": "DATE",
    "time": "TIME",
    "timestamp": "TIMESTAMP",
    "timestamptz": "TIMESTAMP WITH TIME ZONE",
    "interval": "INTERVAL",
    "uuid": "UUID",
    "bytea": "BLOB",
}


def type_name(t: Type) -> str:
    if t.name == "numeric":
        return f"DECIMAL({t.precision},{t.scale})"
    if t.name == "array":
        return f"{type_name(t.element or types.TEXT)}[]"
    return NAMES.get(t.name, "VARCHAR")


def storage(t: Type) -> str:
    """128-bit decimals are kept as they are: reading them bit-packed took 17 times as long (200,000 rows, 1.5.5).
    Floats are not run-length encoded: it takes -0 for 0."""
    if types.is_float(t):
        return " USING COMPRESSION alp"
    wide = t.name == "numeric" and (t.precision or 0) > 18
    return " USING COMPRESSION uncompressed" if wide else ""
