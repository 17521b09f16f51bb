"""Which ranges of tables have been copied into their mirrors: noted in the transaction that brings them."""

from __future__ import annotations

from collections.abc import Iterable
from threading import Lock

import duckdb
import pyarrow as pa

from compiler.catalog import Table
from connectors.duckdb.copied import TABLE, there
from connectors.duckdb.mirrors import Mirrors
from connectors.duckdb.session import beside


class Ranges:
    """For one file (`connectors.engine.Ranges`)."""

    def __init__(self, con: duckdb.DuckDBPyConnection, mirrors: Mirrors) -> None:
        self.con, self.mirrors, self.lock = con, mirrors, Lock()

    def done(self, t: Table) -> set[int]:
        con = beside(self.con)
        try:
            if not there(con):
                return set()
            found = con.execute(f"SELECT number FROM {TABLE} WHERE mirror = ?", [t.mirror]).fetchall()
            return {int(r[0]) for r in found}
        finally:
            con.close()

    def load(self, t: Table, number: int, batches: Iterable[pa.Table]) -> int:
        con = beside(self.con)
        try:
            with self.lock:
                con.execute(f"CREATE TABLE IF NOT EXISTS {TABLE} (mirror VARCHAR, number INTEGER)")
            con.execute("BEGIN TRANSACTION")
            rows = self.mirrors.insert(con, t, batches)
            con.execute(f"INSERT INTO {TABLE} VALUES (?, ?)", [t.mirror, number])
            con.execute("COMMIT")
            return rows
        finally:
            con.close()  # and what was begun is undone

    def forget(self) -> None:
        self.con.execute(f"DROP TABLE IF EXISTS {TABLE}")
