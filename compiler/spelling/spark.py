"""Types, in ANSI mode. Spark has no interval or time of day that a table can hold: these are a struct and a text."""

from __future__ import annotations

from compiler.ir import types
from compiler.ir.types import Type

NAMES = {
    "bool": "BOOLEAN",
    "int2": "SMALLINT",
    "int4": "INT",
    "int8": "BIGINT",
    "float4": "FLOAT",
    "float8": "DOUBLE",
    "date": "DATE",
    "timestamp": "TIMESTAMP_NTZ",
    "timestamptz": "TIMESTAMP_LTZ",
    "bytea": "BINARY",
    "interval": "STRUCT<months: INT, days: INT, micros: BIGINT>",
}


def type_name(t: Type) -> str:
    if t.name == "numeric":
        return f"DECIMAL({t.precision},{t.scale})"
    if t.name == "array":
        return f"ARRAY<{type_name(t.element or types.TEXT)}>"
    return NAMES.get(t.name, "STRING")


def shortest_real(x: str) -> str:
    """The fewest digits that tell a FLOAT from its neighbours, with an exponent (1.2345679E+09), as SQL; NaN and
    infinities by name. As Postgres has it, what lies halfway between two floats tells neither, and of two ends as
    near the even one is taken."""

    def exact(t: str) -> str:
        beyond = f"2 * CAST({t} AS DOUBLE) - d"
        return (
            f"CAST({t} AS FLOAT) = CAST(d AS FLOAT) AND (CAST({t} AS DOUBLE) = d OR CAST(CAST({beyond} AS FLOAT) AS "
            f"DOUBLE) <> {beyond})"
        )

    six, seven, eight, nine = (f"FORMAT_STRING('%.{n}E', d)" for n in (5, 6, 7, 8))
    cut = f"REPLACE({nine}, '5E', 'E')"
    even = f"{nine} RLIKE '[02468]5E' AND CAST({nine} AS DOUBLE) = d AND {exact(cut)}"
    digits = (
        f"CASE WHEN d IS NULL OR ISNAN(d) OR ABS(d) = DOUBLE('Infinity') OR ABS(d) < 1.1754E-38 THEN CAST(CAST(d AS "
        f"FLOAT) AS STRING) "
        f"WHEN {exact(six)} THEN {six} WHEN {exact(seven)} THEN {seven} WHEN {even} THEN {cut} WHEN {exact(eight)} "
        f"THEN {eight} ELSE {nine} END"
    )
    return f"GET(TRANSFORM(ARRAY(CAST({x} AS DOUBLE)), d -> {digits}), 0)"
