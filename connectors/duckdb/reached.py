"""How far states are that take what waits at a pace of their own, and when views were finished.

`meta.reached` has the LSN at which a state was finished last: it is what its definition gives there. `meta.refreshes`
has when views were finished, and what that took.
"""

from __future__ import annotations

import duckdb

from connectors.engine import Refresh

KEPT = 1_000  # refreshes of a view that are remembered
TABLES = (
    "CREATE TABLE IF NOT EXISTS meta.reached (state VARCHAR, lsn BIGINT, finished TIMESTAMPTZ)",
    "CREATE TABLE IF NOT EXISTS meta.refreshes (view VARCHAR, lsn BIGINT, finished TIMESTAMPTZ, why VARCHAR, waited BIGINT, "
    "seconds DOUBLE, promised DOUBLE)",
)


def create(con: duckdb.DuckDBPyConnection) -> None:
    """What a file needs to know how far states are; there already where it was made by this version."""
    for sql in TABLES:
        con.execute(sql)


def filled(con: duckdb.DuckDBPyConnection, state: str) -> None:
    """In the transaction that fills a state: it is at the frontier."""
    gone(con, state)
    con.execute("INSERT INTO meta.reached SELECT ?, lsn, now() FROM meta.frontier", [state])


def gone(con: duckdb.DuckDBPyConnection, state: str) -> None:
    con.execute("DELETE FROM meta.reached WHERE state = ?", [state])


def remember(con: duckdb.DuckDBPyConnection, r: Refresh) -> None:
    """In the transaction that finishes a view."""
    con.execute(
        "INSERT INTO meta.refreshes VALUES (?, ?, to_timestamp(?), ?, ?, ?, ?)",
        [r.view, r.lsn, r.at, r.why, r.waited, r.seconds, r.promised],
    )
    con.execute(
        "DELETE FROM meta.refreshes WHERE view = ? AND finished < (SELECT min(finished) FROM (SELECT finished FROM meta.refreshes "
        "WHERE view = ? ORDER BY finished DESC LIMIT ?))",
        [r.view, r.view, KEPT],
    )


def reached(con: duckdb.DuckDBPyConnection) -> dict[str, tuple[int, float]]:
    """State → where it was finished last, and when; nothing in a file of an older version."""
    if not _known(con):
        return {}
    rows = con.execute("SELECT state, lsn, epoch(finished) FROM meta.reached").fetchall()
    return {s: (int(lsn), float(at)) for s, lsn, at in rows}


def refreshes(con: duckdb.DuckDBPyConnection) -> list[Refresh]:
    if not _known(con):
        return []
    rows = con.execute(
        "SELECT view, lsn, epoch(finished), why, waited, seconds, promised FROM meta.refreshes ORDER BY finished"
    ).fetchall()
    return [Refresh(*r) for r in rows]


def _known(con: duckdb.DuckDBPyConnection) -> bool:
    found = con.execute(
        "SELECT count(*) FROM duckdb_tables() WHERE schema_name = 'meta' AND table_name IN ('reached', 'refreshes')"
    ).fetchone()
    return bool(found and found[0] == 2)
