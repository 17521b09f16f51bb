"""The frontier of a DuckDB warehouse, in a table of one row: it moves in the transaction of what it stands for."""

from __future__ import annotations

import duckdb

from compiler.errors import TidemarkError
from connectors.postgres.origin import LastCommit

FORMAT = 2
TAILS = 3  # the format of a file in which a mirror has a tail
AWAY = 4  # that of one of which a state is in files beside it
SUMMED = 5  # that of one in which a state has a tail that no plan knows of
ADDED = {
    "commit_lsn": "BIGINT",
    "xid": "BIGINT",
    "commit_time": "BIGINT",
    "deployment": "VARCHAR",
}  # since FORMAT 2 began


def create(con: duckdb.DuckDBPyConnection) -> None:
    con.execute("CREATE TABLE meta.frontier (lsn BIGINT, moved TIMESTAMPTZ, format INTEGER)")
    con.execute("INSERT INTO meta.frontier VALUES (0, now(), ?)", [FORMAT])
    upgrade(con)
    con.execute("UPDATE meta.frontier SET commit_lsn = 0, xid = 0, commit_time = 0")


def upgrade(con: duckdb.DuckDBPyConnection) -> None:
    """Give the table the columns that it has not yet; what they hold is not known then."""
    for name in ADDED.keys() - _columns(con):
        con.execute(f"ALTER TABLE meta.frontier ADD COLUMN {name} {ADDED[name]}")


def _columns(con: duckdb.DuckDBPyConnection) -> set[str]:
    rows = con.execute(
        "SELECT column_name FROM duckdb_columns() WHERE schema_name = 'meta' AND table_name = 'frontier'"
    ).fetchall()
    return {r[0] for r in rows}


def check_format(con: duckdb.DuckDBPyConnection, path: object) -> None:
    """Raises TidemarkError for a file that another version wrote."""
    row = con.execute("SELECT max(format) FROM meta.frontier").fetchone()
    found = row[0] if row is not None else None
    if found is not None and found > SUMMED:
        raise TidemarkError(
            f"the warehouse {path} was written by a newer Tidemark",
            code="newer_warehouse",
            detail=f"Its format is {found}; this version knows {SUMMED}.",
            hint="Upgrade Tidemark, or deploy into another warehouse.",
        )
    if found is not None and found < FORMAT:
        raise TidemarkError(
            f"the warehouse {path} was written by an older Tidemark",
            code="older_warehouse",
            detail=f"Its format is {found}; this version writes {FORMAT}.",
            hint="Run: tidemark deploy --resync. The source is copied again.",
        )


def lsn(con: duckdb.DuckDBPyConnection) -> int:
    rows = con.execute("SELECT lsn FROM meta.frontier").fetchall()  # all: its transaction ends with the last row
    return int(rows[0][0]) if rows else 0


def moved(con: duckdb.DuckDBPyConnection) -> float:
    rows = con.execute("SELECT epoch(moved) FROM meta.frontier").fetchall()
    return float(rows[0][0]) if rows else 0.0


def last_commit(con: duckdb.DuckDBPyConnection) -> LastCommit | None:
    """The last transaction that was applied; None where that is not known."""
    if not _columns(con) >= ADDED.keys():
        return None
    rows = con.execute("SELECT commit_lsn, xid, commit_time FROM meta.frontier").fetchall()
    return None if not rows or rows[0][0] is None else LastCommit(*map(int, rows[0]))


def move(con: duckdb.DuckDBPyConnection, to: int, last: LastCommit | None = None) -> None:
    if last is None:
        con.execute("UPDATE meta.frontier SET lsn = ?, moved = now()", [to])
    else:
        con.execute(
            "UPDATE meta.frontier SET lsn = ?, moved = now(), commit_lsn = ?, xid = ?, commit_time = ?",
            [to, last.lsn, last.xid, last.time],
        )


def has(con: duckdb.DuckDBPyConnection, feature: int) -> None:
    """From now on versions that do not know that refuse the file: TAILS, AWAY or SUMMED."""
    con.execute("UPDATE meta.frontier SET format = ? WHERE format < ?", [feature, feature])


def forget_commit(con: duckdb.DuckDBPyConnection) -> None:
    con.execute("UPDATE meta.frontier SET commit_lsn = NULL, xid = NULL, commit_time = NULL")


def deployment(con: duckdb.DuckDBPyConnection) -> str:
    """The mark of the deployment that the file belongs to, '' where it is not known."""
    if "deployment" not in _columns(con):
        return ""
    row = con.execute("SELECT deployment FROM meta.frontier").fetchone()
    return str(row[0] or "") if row else ""


def belong(con: duckdb.DuckDBPyConnection, mark: str) -> None:
    con.execute("UPDATE meta.frontier SET deployment = ?", [mark])
