"""Values as Debezium's JSON has them, as the text that Postgres prints: one SQL expression a type, run by DuckDB.

The settings are those of `embedded`: decimals and intervals as strings, bytes in hexadecimal, times in microseconds.
"""

from __future__ import annotations

from compiler.catalog import Table
from compiler.errors import TidemarkError
from compiler.ir.types import COMPOSITE, Type, innermost
from compiler.opaque import is_printed_number

PLAIN = (
    "int2",
    "int4",
    "int8",
    "float4",
    "float8",
    "text",
    "varchar",
    "uuid",
)  # written as Postgres does, or read the same
EXACT = (
    *PLAIN,
    "bpchar",
    "json",
    "jsonb",
    "enum",
    "bool",
    "numeric",
    "date",
    "time",
    "timestamp",
    "timestamptz",
    "interval",
    "bytea",
)
OPAQUE = ("inet", "cidr", "macaddr", "macaddr8", "citext", "int4range", "int8range", "numrange", "daterange", "tsrange")
# that it does not know: it gives the text as bytes
UNKNOWN = ("int4multirange", "int8multirange", "nummultirange", "datemultirange", "tsmultirange", "pg_lsn")
DATES = {"-2147472692": "infinity", "-2147472691": "-infinity"}  # days since 1970, far out of Postgres' range
TIMESTAMPS = {"9223372036825200000": "infinity", "-9223372036832400000": "-infinity"}
NUMERICS = {"NAN": "NaN", "POSITIVE_INFINITY": "Infinity", "NEGATIVE_INFINITY": "-Infinity"}
ISO_INTERVAL = r"^P(-?\d+)Y(-?\d+)M(-?\d+)DT(-?\d+)H(-?\d+)M(-?[\d.]+)S$"


class NotExact(TidemarkError):
    """Debezium's events do not tell every value of a column's type apart."""


def exact(t: Type) -> bool:
    """Whether events carry every value of the type. Arrays lose bounds, dimensions, digits of times, eras of dates,
    NULL in jsonb. Within composites a time with a zone is printed in the connector's."""
    if COMPOSITE in t.labels[1:]:
        return all(_printed_alike(f.type) for f in t.fields)
    known = t.name == "opaque" and (set(t.labels) <= set(OPAQUE) or t.labels[0] in UNKNOWN)
    return t.name in EXACT or is_printed_number(t) or known


def _printed_alike(t: Type) -> bool:
    """Whether values within a composite are printed in one way by whatever session."""
    of = innermost(t)
    return exact(of) and of.name != "timestamptz"


def _as_bytes(t: Type) -> bool:
    return t.name == "opaque" and (COMPOSITE in t.labels[1:] or t.labels[0] in UNKNOWN)


def inexact(t: Table) -> NotExact | None:
    """Why Debezium's events do not carry the table's changes whole, if so."""
    column = next((c for c in t.columns if not exact(c.type)), None)
    if column is not None:
        return NotExact(
            f'column "{column.name}" of "{t.schema}.{t.name}" cannot be read through Debezium',
            code="not_exact",
            detail=f"Its events do not carry every value of {column.source_type or column.type}.",
            hint='Leave out capture = "debezium" in tidemark.toml: the stream itself carries them.',
        )
    if t.identity == "index":
        return NotExact(
            f'"{t.schema}.{t.name}" cannot be read through Debezium',
            code="not_exact",
            detail="Its replica identity is an index, and events name rows by the primary key.",
            hint=f"ALTER TABLE {t.quoted} REPLICA IDENTITY DEFAULT (or FULL), then: tidemark deploy --resync",
        )
    return None


def text_of(e: str, t: Type) -> str:
    """SQL for Postgres' text of a value, from SQL for the text that JSON has for it; what has none stays as it is."""
    if t.name == "bool":
        return f"CASE {e} WHEN 'true' THEN 't' WHEN 'false' THEN 'f' END"
    if t.name == "numeric" or is_printed_number(t):
        return _case(e, NUMERICS, e)
    if t.name == "date":
        return _case(e, DATES, f"coalesce(CAST(TRY(DATE '1970-01-01' + CAST({e} AS INTEGER)) AS VARCHAR), {e})")
    if t.name == "time":
        return _case(
            e, {"86400000000": "24:00:00"}, f"CAST(TIME '00:00:00' + to_microseconds(CAST({e} AS BIGINT)) AS VARCHAR)"
        )
    if t.name == "timestamp":
        return _case(e, TIMESTAMPS, f"coalesce(CAST(TRY(make_timestamp(CAST({e} AS BIGINT))) AS VARCHAR), {e})")
    if t.name == "timestamptz":
        return _instant(e)
    if t.name == "interval":
        return f"regexp_replace({e}, '{ISO_INTERVAL}', '\\1 years \\2 mons \\3 days \\4 hours \\5 mins \\6 secs')"
    if t.name == "bytea":
        return f"'\\x' || {e}"
    if _as_bytes(t):
        return f"decode(unhex({e}))"
    return e


def _instant(e: str) -> str:
    """ISO 8601 has a year 0, which is 1 BC, and a sign before years beyond 9999."""
    spaced = f"replace(replace({e}, 'T', ' '), 'Z', '+00')"
    year = f"CAST(regexp_extract({e}, '^-?(\\d+)-', 1) AS INTEGER) + 1"
    before_christ = f"lpad(CAST({year} AS VARCHAR), 4, '0') || regexp_replace({spaced}, '^-?\\d+', '') || ' BC'"
    return (
        f"CASE WHEN {e} IN ('infinity', '-infinity') THEN {e} WHEN regexp_matches({e}, '^(-|0000-)') THEN "
        f"{before_christ} "
        f"ELSE ltrim({spaced}, '+') END"
    )


def _case(e: str, named: dict[str, str], otherwise: str) -> str:
    arms = " ".join(f"WHEN '{k}' THEN '{v}'" for k, v in named.items())
    return f"CASE {e} {arms} ELSE {otherwise} END"
