"""What a file knows of states that take what waits at paces of their own, in tables of the schema `meta`.

- `reached`: the LSN at which a state was finished last: it is what its definition gives there.
- `measured`: what taking paths took lately, by how many rows waited (`times`).
- `refreshes`: when views were finished, and what that took.
- `paces`: what was planned for a view.
"""

from __future__ import annotations

from collections.abc import Iterable

import duckdb

from compiler.maintain.paced import Path
from connectors.paced_states import Measured, Reached, Refresh

KEPT = 1_000  # refreshes of a view that are remembered
TABLES = {
    "reached": "state VARCHAR, lsn BIGINT, finished TIMESTAMPTZ, filled DOUBLE",
    "measured": "state VARCHAR, sources VARCHAR[], times DOUBLE, took_rows DOUBLE[], seconds DOUBLE",
    "refreshes": "view VARCHAR, lsn BIGINT, finished TIMESTAMPTZ, why VARCHAR, waited BIGINT, seconds DOUBLE, "
    "promised DOUBLE",
    "paces": "view VARCHAR, plan VARCHAR",
}


REFRESHES = (  # what a reader of tidemark.refreshes sees: the file's name is the first part
    "SELECT view, printf('%X/%X', lsn >> 32, lsn & 4294967295) AS lsn, finished, why, waited AS rows, seconds, "
    "nullif(promised, 0) AS promised FROM meta.refreshes"
)


def create(con: duckdb.DuckDBPyConnection) -> None:
    """What is there already where the file was made by this version."""
    for name, columns in TABLES.items():
        con.execute(f"CREATE TABLE IF NOT EXISTS meta.{name} ({columns})")
    for name in ("taken", "took"):
        con.execute(f"DROP TABLE IF EXISTS meta.{name}")  # of an older version
    con.execute(f"CREATE VIEW IF NOT EXISTS main.refreshes AS {REFRESHES}")


def filled(con: duckdb.DuckDBPyConnection, state: str, seconds: float) -> None:
    """In the transaction that fills a state: it is at the frontier."""
    con.execute("DELETE FROM meta.reached WHERE state = ?", [state])
    con.execute("INSERT INTO meta.reached SELECT ?, lsn, now(), ? FROM meta.frontier", [state, seconds])


def finished(con: duckdb.DuckDBPyConnection, states: Iterable[str]) -> None:
    """In the transaction that finishes them: they are at the frontier."""
    con.execute(
        "UPDATE meta.reached SET lsn = (SELECT lsn FROM meta.frontier), finished = now() WHERE state IN "
        "(SELECT unnest(?))",
        [list(states)],
    )


def complete(con: duckdb.DuckDBPyConnection, states: Iterable[str], lsn: int, at: float) -> None:
    """They were at this LSN at a time in seconds since the epoch: nothing waited for them."""
    con.execute(
        "UPDATE meta.reached SET lsn = ?, finished = to_timestamp(?) WHERE state IN (SELECT unnest(?))",
        [lsn, at, list(states)],
    )


def gone(con: duckdb.DuckDBPyConnection, state: str) -> None:
    for name in ("reached", "measured"):
        con.execute(f"DELETE FROM meta.{name} WHERE state = ?", [state])


def write(con: duckdb.DuckDBPyConnection, some: Iterable[Measured]) -> None:
    """What is known of how long these states take, in the place of what was, in the transaction that finishes them."""
    rows = list(some)
    con.execute("DELETE FROM meta.measured WHERE state IN (SELECT unnest(?))", [[m.paths[0].state for m in rows]])
    if rows:
        values = [(m.paths[0].state, [p.source for p in m.paths], m.times, list(m.each), m.seconds) for m in rows]
        con.execute(
            "INSERT INTO meta.measured (state, sources, times, took_rows, seconds) VALUES "
            + ", ".join(["(?, ?, ?, ?, ?)"] * len(rows)),
            [x for v in values for x in v],
        )


def remember(con: duckdb.DuckDBPyConnection, r: Refresh) -> None:
    """In the transaction that finishes a view."""
    con.execute(
        "INSERT INTO meta.refreshes VALUES (?, ?, to_timestamp(?), ?, ?, ?, ?)",
        [r.view, r.lsn, r.at, r.why, r.waited, r.seconds, r.promised],
    )
    con.execute(
        "DELETE FROM meta.refreshes WHERE view = ? AND finished < (SELECT min(finished) FROM (SELECT finished FROM "
        "meta.refreshes WHERE view = ? ORDER BY finished DESC LIMIT ?))",
        [r.view, r.view, KEPT],
    )


def note(con: duckdb.DuckDBPyConnection, view: str, text: str) -> None:
    con.execute("DELETE FROM meta.paces WHERE view = ?", [view])
    con.execute("INSERT INTO meta.paces VALUES (?, ?)", [view, text])


def reached(con: duckdb.DuckDBPyConnection) -> dict[str, Reached]:
    rows = con.execute("SELECT state, lsn, epoch(finished), filled FROM meta.reached").fetchall()
    return {s: Reached(int(lsn), float(when), float(took)) for s, lsn, when, took in rows}


def measured(con: duckdb.DuckDBPyConnection) -> list[Measured]:
    rows = con.execute("SELECT state, sources, times, took_rows, seconds FROM meta.measured").fetchall()
    return [
        Measured(tuple(Path(x, state) for x in sources), times, tuple(each), seconds)
        for state, sources, times, each, seconds in rows
    ]


def refreshes(con: duckdb.DuckDBPyConnection) -> list[Refresh]:
    rows = con.execute(
        "SELECT view, lsn, epoch(finished), why, waited, seconds, promised FROM meta.refreshes ORDER BY finished"
    ).fetchall()
    return [Refresh(*r) for r in rows]


def last_refreshes(con: duckdb.DuckDBPyConnection) -> dict[str, float]:
    last = "SELECT view, arg_max(epoch(finished), rowid) FROM meta.refreshes GROUP BY view"  # clocks may go back
    return dict(con.execute(last).fetchall())


def noted(con: duckdb.DuckDBPyConnection) -> dict[str, str]:
    return dict(con.execute("SELECT view, plan FROM meta.paces").fetchall())


def has_tables(con: duckdb.DuckDBPyConnection) -> bool:
    """Whether the file has these tables: one of an older version, opened to be read, has none."""
    found = con.execute(
        "SELECT count(*) FROM duckdb_tables() WHERE schema_name = 'meta' AND table_name IN (SELECT unnest(?))",
        [list(TABLES)],
    ).fetchone()
    return bool(found and found[0] == len(TABLES))
