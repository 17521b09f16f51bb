"""Arrow tables for DuckDB to read. A transaction keeps what was registered in it until it ends, also when its view is
gone: in a large one tables are lent, and taken back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import duckdb
import pyarrow as pa


class Lent:
    """Gives a table to who reads it, until it is taken back. One thread reads it at a time, which takes longer."""

    def __init__(self, rows: pa.Table) -> None:
        self.rows: pa.Table | None = rows

    def __arrow_c_stream__(self, requested: Any = None) -> Any:
        assert self.rows is not None, "it was taken back"
        return self.rows.__arrow_c_stream__(requested)


class Lending:
    """For one connection; `large` says that the transaction at hand is."""

    def __init__(self, con: duckdb.DuckDBPyConnection) -> None:
        self.con, self.large = con, False

    @contextmanager
    def table(self, name: str, rows: pa.Table) -> Iterator[None]:
        """A table under a name."""
        lent = Lent(rows) if self.large else None
        self.con.register(name, lent or rows)
        try:
            yield
        finally:
            if lent is not None:
                lent.rows = None
        self.con.unregister(name)
