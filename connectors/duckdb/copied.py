"""The note of which ranges of tables were copied (`ranges`)."""

from __future__ import annotations

import duckdb

TABLE = "meta.copied_ranges"


def forget(con: duckdb.DuckDBPyConnection, mirror: str) -> None:
    """The mirror is made anew."""
    if there(con):
        con.execute(f"DELETE FROM {TABLE} WHERE mirror = ?", [mirror])


def there(con: duckdb.DuckDBPyConnection) -> bool:
    found = "SELECT 1 FROM duckdb_tables() WHERE schema_name = 'meta' AND table_name = 'copied_ranges'"
    return con.execute(found).fetchone() is not None
