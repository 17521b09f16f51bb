"""Parquet files as DuckDB writes them."""

from __future__ import annotations

from collections.abc import Callable

import duckdb


def options(run: Callable[[str], duckdb.DuckDBPyConnection], query: str) -> str:
    """What COPY says of the file for the rows of a query, which `run` describes.

    Without Bloom filters: DuckDB 1.5.5 looks bytes up in them by their printed form, and misses rows. Floats without
    dictionaries: in these it takes 0 for -0, or -0 for 0, whichever comes first.
    """
    kinds = [kind for _, kind, *_ in run(f"DESCRIBE {query}").fetchall()]
    floats = any("FLOAT" in kind or "DOUBLE" in kind for kind in kinds)
    return f"FORMAT parquet, WRITE_BLOOM_FILTER false{', DICTIONARY_SIZE_LIMIT 0' if floats else ''}"
