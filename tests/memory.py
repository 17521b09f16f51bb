"""A DuckDB in memory with the schemas and macros of a warehouse, and mirrors of tables."""

from __future__ import annotations

from collections.abc import Iterable

import duckdb

from compiler.catalog import Table
from connectors.duckdb import mirror
from dialects import macros


def warehouse(tables: Iterable[Table]) -> duckdb.DuckDBPyConnection:
    c = duckdb.connect()
    for s in mirror.SCHEMAS:
        c.execute(f'CREATE SCHEMA "{s}"')
    for m in macros.created("duckdb"):
        c.execute(m)
    for t in tables:
        for s in mirror.create(t):
            c.execute(s)
    return c
