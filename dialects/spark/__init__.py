"""Spark SQL: how Postgres' types and functions are spelled there (ANSI mode, session time zone UTC)."""

from __future__ import annotations

from compiler.spelling.spark import type_name
from dialects import macros
from dialects.dialect import Dialect
from dialects.spark import aggregates, arrays, casts, jsons, lists, numbers, texts, times, windows

__all__ = ["SPARK", "type_name"]

UNNEST = {
    "unnest": "SELECT p + 1 AS o, x FROM (SELECT POSEXPLODE($1) AS (p, x))",
    "series": "SELECT p + 1 AS o, x FROM (SELECT POSEXPLODE(CASE WHEN ($3 > 0 AND $1 <= $2) "
    "OR ($3 < 0 AND $1 >= $2) THEN SEQUENCE($1, $2, $3) ELSE ARRAY() END) AS (p, x))",
    "series_time": "SELECT p + 1 AS o, x FROM (SELECT POSEXPLODE(CASE WHEN pg_length($3) > 0 AND $1 <= $2 OR "
    "pg_length($3) < 0 AND $1 >= $2 "
    "THEN pg_series($1, $2, $3) ELSE ARRAY() END) AS (p, x))",
    **jsons.UNNEST,
}

SPARK = Dialect(
    name="spark",
    sqlglot="spark",
    types=type_name,
    functions={
        **numbers.FUNCTIONS,
        **casts.FUNCTIONS,
        **times.FUNCTIONS,
        **texts.FUNCTIONS,
        **arrays.FUNCTIONS,
        **lists.FUNCTIONS,
        **jsons.FUNCTIONS,
        **aggregates.FUNCTIONS,
        **windows.FUNCTIONS,
    },
    copies="EXPLODE(SEQUENCE(1, CAST($1 AS INT)))",
    unnest=UNNEST,
    macros={n: (m.parameters, m.body) for n, m in macros.read("spark").items()},
    sort_keys={"interval": "pg_length($1)", "interval[]": "TRANSFORM($1, v -> pg_length(v))", "blanks": "RTRIM($1)"},
    frames=windows.has,
    window_filters=False,
    semi_side="LEFT",
    mirrors={
        ("after", True): ("after_rows", False),
        ("after", False): ("after", True),
        ("before", True): ("before_rows", False),
        ("before", False): ("before", True),
    },
)
