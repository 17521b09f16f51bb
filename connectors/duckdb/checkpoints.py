"""Checkpoints: the file takes what its WAL has, after a batch rather than in its commit."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import duckdb

LEAST_WAL, MOST_WAL = 16 << 20, 256 << 20  # bytes of WAL at which a checkpoint is due
WAL_SHARE = 0.25  # of the file: what is small is kept small
PUT_OFF = 4  # as much of it, and DuckDB makes one in a commit: where nobody asks for one, or none can be made


def due(path: Path) -> int:
    """The bytes of WAL from which on the file should take them."""
    size = path.stat().st_size if path.exists() else 0
    return min(max(int(size * WAL_SHARE), LEAST_WAL), MOST_WAL)


def pace(con: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Leave checkpoints to `make`, within bounds."""
    con.execute(f"SET checkpoint_threshold = '{due(path) * PUT_OFF >> 20}MB'")


def make(con: duckdb.DuckDBPyConnection, path: Path) -> bool:
    """One, where it is due and no other transaction is in its way; outside a transaction."""
    wal = path.with_name(path.name + ".wal")
    if not wal.exists() or wal.stat().st_size < due(path):
        return False
    with suppress(duckdb.TransactionException):  # it is tried again after the next batch
        con.execute("CHECKPOINT")
        return True
    return False
