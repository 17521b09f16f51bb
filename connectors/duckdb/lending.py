"""Arrow tables for DuckDB to read.

To register one costs more than to read a small one, and a transaction keeps what was registered in it until it ends,
also when its view is gone. So what is registered is an object that lends tables, one after the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import duckdb
import pyarrow as pa

FEW = 20_000  # rows: what one thread reads as fast as several


class Lent:
    """Gives a table to who reads it, until it is taken back. One thread reads it at a time."""

    rows: pa.Table | None = None

    def __arrow_c_stream__(self, requested: Any = None) -> Any:
        assert self.rows is not None, "it was taken back"
        return self.rows.__arrow_c_stream__(requested)


class Lending:
    """For one connection; `large` says that the transaction at hand is."""

    def __init__(self, con: duckdb.DuckDBPyConnection) -> None:
        self.con, self.large, self.views_made = con, False, 0
        self.views: dict[tuple[str, pa.Schema], tuple[str, Lent]] = {}  # a view has the columns that it was made with

    @contextmanager
    def table(self, name: str, rows: pa.Table) -> Iterator[str]:
        """Gives the name under which SQL reads the table meanwhile."""
        if not self.large and rows.num_rows > FEW:
            self.con.register(name, rows)
            yield name
            self.con.unregister(name)
            return
        source, lent = self.views.get((name, rows.schema)) or self._view(name, rows.schema)
        lent.rows = rows
        try:
            yield source
        finally:
            lent.rows = None

    def _view(self, name: str, schema: pa.Schema) -> tuple[str, Lent]:
        self.views_made += 1
        new = f"{name}_{self.views_made}", Lent()
        self.views[name, schema] = new
        new[1].rows = schema.empty_table()
        self.con.register(*new)
        return new

    def forget(self) -> None:
        """A transaction was undone, and what was registered in it."""
        self.views.clear()
