"""A connection to the warehouse's DuckDB file, and its settings."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import duckdb
import tenacity

from compiler.errors import TidemarkError
from connectors.duckdb import checkpoints

# DuckDB 1.5.5: the first counts deleted rows when it picks row groups for ORDER BY … LIMIT, the second loses columns of
# anti joins
UNSAFE_OPTIMIZERS = "row_group_pruner,compressed_materialization"
MEMORY_SHARE = 0.75  # of DuckDB's own limit, four fifths of the machine: Spark, and the source itself, may be there too
DUCKDB_SHARE = 0.8
# DuckDB 1.5.5 waits forever, now and then, where a result of windows or unions is read while it is being made
READY = "1TB"  # of a result that is made before it is read: all of it
LARGE = 512 << 20  # bytes that DuckDB may take while it lands a large transaction: what more it has goes to its files
PATIENCE = 5.0  # seconds that another process may have the file
UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB")
SETTINGS = {
    "TimeZone": "UTC",
    "enable_progress_bar": "false",  # on where Python looks interactive, and printed among the output
    "preserve_insertion_order": "false",
    "disabled_optimizers": UNSAFE_OPTIMIZERS,
    "order_by_non_integer_literal": "true",  # a column that is a constant may be ordered by
}


class WarehouseInUse(TidemarkError):
    exit_code = 3


def scratch() -> duckdb.DuckDBPyConnection:
    """A DuckDB in memory, for one piece of work."""
    con = duckdb.connect()
    return whole(con)


def whole(con: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyConnection:
    """The connection, with what no other has by itself: it makes a result before it gives any of it, has times in UTC,
    and may order by a constant."""
    con.execute(
        f"SET streaming_buffer_size = '{READY}'; SET TimeZone = 'UTC'; SET order_by_non_integer_literal = true; "
        "SET enable_progress_bar = false"
    )
    return con


def beside(con: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyConnection:
    """Another connection to the same file."""
    return whole(con.cursor())


@contextmanager
def attached(con: duckdb.DuckDBPyConnection, file: Path) -> Iterator[str]:
    """The name of another file, which is closed, while it is read."""
    path = str(file).replace("'", "''")
    con.execute(f"ATTACH '{path}' AS arriving (READ_ONLY)")
    try:
        yield "arriving"
    finally:
        con.execute("DETACH arriving")


@functools.cache
def own_limit() -> float:
    """Bytes that DuckDB takes at most if it is not told otherwise. Not the setting of a file that is open: who opens it
    once more has the same instance."""
    with duckdb.connect() as con:
        row = con.execute("SELECT current_setting('memory_limit')").fetchone()
    return _bytes(str(row[0]) if row else "1 GiB")


def memory() -> int:
    """A quarter of the machine's memory, or of what this process may use of it, in bytes, by DuckDB's limit."""
    return int(own_limit() / DUCKDB_SHARE / 4)


def share(con: duckdb.DuckDBPyConnection, part: float = 1.0) -> None:
    """Let it have this part of what a warehouse may have."""
    con.execute(f"SET memory_limit = '{int(own_limit() * MEMORY_SHARE * part) >> 20}MiB'")


@contextmanager
def bounded(con: duckdb.DuckDBPyConnection, most: int | None) -> Iterator[Callable[[], None]]:
    """With no more than so much memory for what can be put off to the disk, until the function that it gives is called;
    with None as much as ever. Inside a transaction temp tables that were replaced are kept until its end.

    It goes around the transaction: in one that failed nothing can be set.
    """
    if most is None:
        yield lambda: None
        return
    ever = str(con.execute("SELECT current_setting('memory_limit')").fetchall()[0][0])
    held = most < _bytes(ever)

    def lift() -> None:
        nonlocal held
        if held:
            held = False
            con.execute(f"SET memory_limit = '{ever}'")

    if held:
        with suppress(duckdb.OutOfMemoryException):  # what cannot be let go of now: then it is not bounded
            con.execute(f"SET memory_limit = '{most >> 20}MiB'")
    try:
        yield lift
    finally:
        lift()


def _bytes(size: str) -> float:
    amount, unit = size.split()
    return float(float(amount) * 1024 ** UNITS.index(unit))


def connect(path: Path, read_only: bool) -> duckdb.DuckDBPyConnection:
    """The file, made when it is not there; raises TidemarkError, and WarehouseInUse where another process has it and
    keeps it: a `status` has it for a moment."""
    if read_only and not path.exists():
        raise TidemarkError(f"there is no warehouse at {path}", hint="Run: tidemark deploy", code="no_warehouse")
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        con = _when_free(path, read_only)
    except duckdb.IOException as e:
        if _is_locked(e):
            raise WarehouseInUse(
                f"the warehouse {path} is in use by another process",
                code="warehouse_in_use",
                detail=str(e).split("\n")[0],
                hint="Stop the other tidemark, or ask it: tidemark query.",
            ) from e
        raise TidemarkError(
            f"cannot open the warehouse {path}",
            detail=str(e).split("\n")[0],
            hint="It may have been written by a newer DuckDB.",
            code="warehouse_unreadable",
        ) from e
    for name, value in SETTINGS.items():
        con.execute(f"SET {name} = '{value}'")
    checkpoints.pace(con, path)
    share(con)
    return whole(con)


def _is_locked(e: BaseException) -> bool:
    return isinstance(e, duckdb.IOException) and "could not set lock" in str(e).lower()


@tenacity.retry(
    retry=tenacity.retry_if_exception(_is_locked),
    stop=tenacity.stop_after_delay(PATIENCE),
    wait=tenacity.wait_random(0.02, 0.1),
    reraise=True,
)
def _when_free(path: Path, read_only: bool) -> duckdb.DuckDBPyConnection:
    return duckdb.connect(str(path), read_only=read_only)


@contextmanager
def in_transaction(con: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """All of the block, or nothing."""
    con.execute("BEGIN")
    try:
        yield
        con.execute("COMMIT")
    except BaseException:
        with suppress(duckdb.Error):  # a commit that failed has ended it
            con.execute("ROLLBACK")
        raise
