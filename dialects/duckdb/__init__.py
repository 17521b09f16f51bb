"""DuckDB: how Postgres' types and functions are spelled there."""

from __future__ import annotations

from compiler.ir.relation import WindowCall
from compiler.spelling.duckdb import storage, type_name
from dialects import macros
from dialects.dialect import Dialect
from dialects.duckdb import aggregates, arrays, casts, jsons, lists, numbers, texts, times

__all__ = ["DUCKDB", "storage", "type_name"]

UNNEST = {
    "unnest": "SELECT UNNEST($1) AS x, GENERATE_SUBSCRIPTS($1, 1) AS o",
    "series": "SELECT x, (x - CAST($1 AS BIGINT)) // CAST($3 AS BIGINT) + 1 AS o "
    "FROM GENERATE_SERIES(CAST($1 AS BIGINT), CAST($2 AS BIGINT), CAST($3 AS BIGINT)) AS s(x)",
    "series_time": "SELECT UNNEST(GENERATE_SERIES($1, $2, $3)) AS x, UNNEST(RANGE(1, LEN(GENERATE_SERIES($1, $2, $3)) "
    "+ 1)) AS o",
    **jsons.UNNEST,
}


def has_frame(c: WindowCall) -> bool:
    """Intervals are ordered by their length, to which DuckDB adds no interval."""
    distant = c.frame is not None and c.frame[0] == "range" and any(by for _, by in c.frame[1:3])
    return not (distant and c.order[0].expr.type.name == "interval")


DUCKDB = Dialect(
    name="duckdb",
    sqlglot="duckdb",
    types=type_name,
    storage=storage,
    sort_keys={
        "interval": "pg.span($1)",
        "interval[]": "LIST_TRANSFORM($1, lambda v: pg.span(v))",
        "blanks": "RTRIM($1, ' ')",
    },
    forms={
        "interval": ("pg.months_of($1)", "DATEPART('day', $1)"),
        "interval[]": ("LIST_TRANSFORM($1, lambda v: [pg.months_of(v), DATEPART('day', v)])",),
    },
    frames=has_frame,
    filters_below_limits=True,
    hashes_comparisons=True,
    joins_unequal=True,
    setup=lambda: macros.created("duckdb"),
    functions={
        **numbers.FUNCTIONS,
        **casts.FUNCTIONS,
        **times.FUNCTIONS,
        **texts.FUNCTIONS,
        **arrays.FUNCTIONS,
        **lists.FUNCTIONS,
        **jsons.FUNCTIONS,
        **aggregates.FUNCTIONS,
    },
    copies="UNNEST(RANGE($1))",
    unnest=UNNEST,
    fetches=True,
    one_digit="CAST($1 AS DECIMAL(1, 0))",
    large_total="pg.total(SUM($1), SUM(CAST($1 AS DOUBLE)), $2)",
    mirrors={
        ("after", True): ("base", False),
        ("after", False): ("base", False),
        ("before", True): ("before_rows", False),
        ("before", False): ("before", True),
    },
)
