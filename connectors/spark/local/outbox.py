"""What changed since the last round, in the local file: noted in the transaction of each batch, so that a crash loses
none of it and a round is told of every row once.

Of a table with a key its keys are noted, as the row itself is in the mirror; of one without, the rows with the weights
that they got.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import duckdb

from compiler.catalog import Table
from compiler.spelling.duckdb import type_name
from connectors.duckdb.mirror import batch, columns, grouping, on_key, q
from connectors.duckdb.session import in_transaction
from connectors.spark.local.stored import mirror_folder
from connectors.staging import Staged

SETUP = (
    "CREATE SCHEMA IF NOT EXISTS outbox",
    "CREATE TABLE IF NOT EXISTS meta.outbox (since BIGINT)",
    "CREATE TABLE IF NOT EXISTS meta.unwritten (name VARCHAR)",
)


def key_of(t: Table) -> tuple[str, ...]:
    """What a row is found by; () where a table has equal rows."""
    return t.key or t.identity_key


class Outbox:
    """Tables of the local file. `since`: the LSN from which on every change is noted."""

    def __init__(self, con: duckdb.DuckDBPyConnection) -> None:
        self.con = con
        self.end = 0  # where the batch at hand ends
        for s in SETUP:
            con.execute(s)
        if self.since is None:
            con.execute("INSERT INTO meta.outbox VALUES (0)")

    @property
    def since(self) -> int | None:
        row = self.con.execute("SELECT since FROM meta.outbox").fetchone()
        return int(row[0]) if row else None

    def create(self, t: Table) -> None:
        """For a mirror that is made anew: what was noted of it is void."""
        types = {c.name: type_name(c.type) for c in t.columns}
        body = ", ".join(f"{q(n)} {types[n]}" for n in key_of(t) or types)
        weight = "" if key_of(t) else ", _weight BIGINT"
        self.con.execute(f"CREATE OR REPLACE TABLE outbox.{q(t.mirror)} ({body}{weight}, _lsn BIGINT)")

    def mirrors(self) -> set[str]:
        """Those of which it notes what changes."""
        query = "SELECT table_name FROM duckdb_tables() WHERE schema_name = 'outbox'"
        return {r[0] for r in self.con.execute(query).fetchall()}

    def drop(self, name: str) -> None:
        self.con.execute(f"DROP TABLE IF EXISTS outbox.{q(name)}")

    def note(self, s: Staged) -> None:
        """In a batch's transaction, once a mirror has its changes."""
        t, key = s.table, key_of(s.table)
        if s.truncated:
            self.con.execute("INSERT INTO meta.unwritten VALUES (?)", [mirror_folder(t.mirror)])
            self.con.execute(f"DELETE FROM outbox.{q(t.mirror)}")
            return
        chosen = f"DISTINCT {', '.join(map(q, key))}" if key else f"{columns(t)}, _weight"
        self.con.execute(f"INSERT INTO outbox.{q(t.mirror)} SELECT {chosen}, {self.end} FROM {batch(t)}")

    def write_whole(self, names: Iterable[str]) -> None:
        """Tables of which the next round is to write every row, as `mirror/…` and `views/…`."""
        for n in names:
            self.con.execute("INSERT INTO meta.unwritten VALUES (?)", [n])

    def unwritten(self) -> set[str]:
        return {r[0] for r in self.con.execute("SELECT DISTINCT name FROM meta.unwritten").fetchall()}

    def rows(self, t: Table) -> int:
        """How many are noted."""
        row = self.con.execute(f"SELECT count(*) FROM outbox.{q(t.mirror)}").fetchone()
        return int(row[0]) if row else 0

    @contextmanager
    def forgetting(self, to: int, written: bool = False) -> Iterator[None]:
        """What lies up to `to` is in Delta; `written`: so is all that was to be written whole. In a transaction with
        the block."""
        tables = self.con.execute("SELECT table_name FROM duckdb_tables() WHERE schema_name = 'outbox'").fetchall()
        with in_transaction(self.con):
            for (name,) in tables:
                self.con.execute(f"DELETE FROM outbox.{q(name)} WHERE _lsn <= {to}")
            if written:
                self.con.execute("DELETE FROM meta.unwritten")
            self.con.execute(f"UPDATE meta.outbox SET since = {to}")
            yield


def whole(t: Table, lsn: int) -> str:
    """Every row of a mirror, as a base."""
    weight = "1::BIGINT AS _weight" if t.key else "_weight"
    return f"SELECT {columns(t)}, {weight}, {lsn}::BIGINT AS _lsn, false AS _log FROM base.{q(t.mirror)}"


def changed(t: Table, lsn: int) -> str:
    """What is noted of a mirror, as a log: the rows of a key, or that there is none (weight 0); rows with weights."""
    marks = f"{lsn}::BIGINT AS _lsn, true AS _log"
    name = q(t.mirror)
    if not (key := key_of(t)):
        return (
            f"SELECT {columns(t)}, sum(_weight)::BIGINT AS _weight, {marks} FROM outbox.{name} GROUP BY {grouping(t)} "
            "HAVING sum(_weight) <> 0"
        )
    keys = f"(SELECT DISTINCT {', '.join(map(q, key))} FROM outbox.{name})"
    types = {c.name: type_name(c.type) for c in t.columns}
    gone = ", ".join(f"k.{q(n)}" if n in key else f"NULL::{types[n]} AS {q(n)}" for n in types)
    return (
        f"SELECT {columns(t, 'm.')}, 1::BIGINT AS _weight, {marks} FROM base.{name} m SEMI JOIN {keys} k "
        f"ON {on_key(key, 'm', 'k')} UNION ALL BY NAME SELECT {gone}, 0::BIGINT AS _weight, {marks} FROM {keys} k "
        f"ANTI JOIN base.{name} m ON {on_key(key, 'k', 'm')}"
    )


def tail(t: Table, lsn: int, all_of_it: bool = False) -> str:
    """The same of a mirror that is Dist: what is noted is in its tail; or `all_of_it`."""
    keys = f"SELECT DISTINCT {', '.join(map(q, t.key))} FROM outbox.{q(t.mirror)}"
    some = "" if all_of_it else f" SEMI JOIN ({keys}) k ON {on_key(t.key, 'm', 'k')}"
    return (
        f"SELECT {columns(t, 'm.')}, CAST(_present AS BIGINT) AS _weight, {lsn}::BIGINT AS _lsn, true AS _log "
        f"FROM tail.{q(t.mirror)} m{some}"
    )


def latest(t: Table, rows: str) -> str:
    """A tail, from a log: `rows` gives its columns, _weight and _lsn."""
    by = ", ".join(map(q, t.key))
    return (
        f"SELECT {columns(t)}, _weight > 0 AS _present FROM ({rows}) QUALIFY row_number() OVER (PARTITION BY {by} "
        "ORDER BY _lsn DESC) = 1"
    )


def restored(t: Table, rows: str) -> str:
    """A mirror's rows, from base and log: `rows` gives its columns, _weight, _lsn and _log."""
    weight = "" if t.key else ", _weight"
    if not (key := key_of(t)):
        return (
            f"SELECT {columns(t)}, sum(_weight)::BIGINT AS _weight FROM ({rows}) GROUP BY {grouping(t)} "
            "HAVING sum(_weight) <> 0"
        )
    by = ", ".join(map(q, key))
    return (
        f"SELECT {columns(t)}{weight} FROM ({rows}) QUALIFY row_number() OVER (PARTITION BY {by} "
        "ORDER BY _lsn DESC, _log DESC) = 1 AND _weight > 0"
    )
