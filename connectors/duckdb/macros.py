"""The macros that a warehouse's file has, made once for each version of them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from contextlib import suppress

import duckdb


def make(con: duckdb.DuckDBPyConnection, statements: Sequence[str]) -> None:
    """Run the statements, where the file was not made by the very same ones; all of them, or none."""
    mark = hashlib.sha256("\n".join((duckdb.__version__, *statements)).encode()).hexdigest()
    con.execute("CREATE TABLE IF NOT EXISTS meta.macros (mark VARCHAR)")
    if con.execute("SELECT mark FROM meta.macros").fetchall() == [(mark,)]:
        return
    con.execute("BEGIN TRANSACTION")
    try:
        for statement in statements:
            con.execute(statement)
        con.execute("DELETE FROM meta.macros")
        con.execute("INSERT INTO meta.macros VALUES (?)", [mark])
        con.execute("COMMIT")
    except BaseException:
        with suppress(duckdb.Error):  # a commit that failed has ended it
            con.execute("ROLLBACK")
        raise
