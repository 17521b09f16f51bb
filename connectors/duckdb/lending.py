"""Arrow tables for DuckDB to read.

To register one makes a view, which costs more than to read a small table. A name that DuckDB does not know it looks for
among the global names of the function that calls it (its replacement scans): there it finds what is lent, as the stream
that it is. DuckDB 1.5.5 lets Arrow filter what else it reads, and then finds other rows where a date is infinite.
"""

from __future__ import annotations

import builtins
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FunctionType
from typing import Any

import duckdb
import pyarrow as pa

PREFIX = f"lent_{secrets.token_hex(8)}_"  # a table or view of that name would be read instead


def _execute(sql: str) -> Any:
    return con.execute(sql)  # type: ignore[name-defined]  # noqa: F821


class Lending:
    """For one connection."""

    def __init__(self, con: duckdb.DuckDBPyConnection) -> None:
        self.rows: dict[str, pa.Table] = {}
        self.names: dict[str, object] = {"con": con, "__builtins__": builtins}
        self.run: Callable[[str], duckdb.DuckDBPyConnection] = FunctionType(_execute.__code__, self.names)

    @contextmanager
    def table(self, name: str, rows: pa.Table) -> Iterator[str]:
        """Gives the name under which each statement of `execute` may read the table meanwhile, once."""
        self.rows[PREFIX + name] = rows
        try:
            yield PREFIX + name
        finally:
            del self.rows[PREFIX + name]

    def execute(self, sql: str) -> duckdb.DuckDBPyConnection:
        """Run a statement, which may read what is lent."""
        self.names |= {n: r.__arrow_c_stream__() for n, r in self.rows.items()}
        try:
            return self.run(sql)
        finally:
            for n in self.rows:
                del self.names[n]
