"""What Debezium's engine does not say, asked of the source beside it: whether the slot and the tables are what they
were."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import Any

import psycopg
from psycopg import errors

from compiler.catalog import Table
from compiler.errors import TidemarkError
from connectors.changed import changed
from connectors.debezium.events import has_old_images
from connectors.postgres.altered import check_tables
from connectors.postgres.connection import SourceUnreachable, connect, describe, format_lsn, parse_lsn
from connectors.postgres.stream import RELEASE, SlotInUse, SlotUnavailable

AGAIN = "Run: tidemark deploy --resync"
SILENT = 60.0  # seconds in which something that was sent through a connector has come
FIRST_VERSION = 140000  # messages are part of the stream from Postgres 14 on
FIRST_ELSEWHERE = 150000  # commits that publish nothing are no longer: so that one that is missing is noticed
BARE_ENUMS = """
SELECT format_type(t.oid, NULL) FROM pg_type t
WHERE t.typcategory = 'E' AND t.typtype <> 'p' AND NOT EXISTS (SELECT FROM pg_enum e WHERE e.enumtypid = t.oid) ORDER
  BY 1
"""


class Source:
    """A connection of our own, for as long as the engine runs."""

    def __init__(self, dsn: str, slot: str) -> None:
        self.dsn, self.slot = dsn, slot
        self.conn = connect(dsn)

    def close(self) -> None:
        self.conn.close()

    def ask(self, query: str, *args: object) -> tuple[Any, ...] | None:
        """The first row; raises SourceUnreachable where the connection is gone."""
        try:
            return self.conn.execute(query, args).fetchone()
        except psycopg.OperationalError as e:
            raise self._gone(e) from e

    def _gone(self, e: Exception) -> SourceUnreachable:
        return SourceUnreachable(
            f"the connection to the source {describe(self.dsn)} broke",
            code="source_unreachable",
            detail=str(e).strip().split("\n")[0],
            hint="Run tidemark again; nothing is lost.",
        )

    def check(self, elsewhere: bool) -> None:
        """What would stop the engine, or make it go on where it should not: it makes a slot that is missing. One
        `elsewhere` has its slot in use."""
        version, first = self.conn.info.server_version, FIRST_ELSEWHERE if elsewhere else FIRST_VERSION
        if version < first:
            raise TidemarkError(
                "the source is too old to be read through Debezium",
                code="unsupported_source",
                detail=f"It is PostgreSQL {version // 10000}; {first // 10000} is the first.",
                hint='Leave out capture = "debezium" in tidemark.toml.',
            )
        bare = self.ask(BARE_ENUMS)
        if bare is not None:
            raise TidemarkError(
                "Debezium does not start on this source",
                code="unsupported_source",
                detail=f"Its type {bare[0]} is an enum without labels, or a domain over an enum.",
                hint='Drop or alter the type, or leave out capture = "debezium" in tidemark.toml.',
            )
        if elsewhere:
            return
        deadline = time.monotonic() + RELEASE
        while (detail := self._unavailable()) and ("in use" in detail and time.monotonic() < deadline):
            time.sleep(0.1)
        if detail:
            hint = "Another tidemark run holds it; stop that one first." if "in use" in detail else AGAIN
            kind = SlotInUse if "in use" in detail else SlotUnavailable
            raise kind(
                f'replication slot "{self.slot}" cannot be read', detail=detail, hint=hint, code="slot_unavailable"
            )

    def _unavailable(self) -> str:
        """Why the slot cannot be read, if so."""
        row = self.ask("SELECT active, wal_status FROM pg_replication_slots WHERE slot_name = %s", self.slot)
        if row is None:
            return f'replication slot "{self.slot}" does not exist'
        if row[1] == "lost":
            return f'replication slot "{self.slot}" has lost changes: the server removed WAL that it needed'
        return f'replication slot "{self.slot}" is in use' if row[0] else ""

    def check_read(self, silent: float) -> None:
        """Raises SourceUnreachable where no connector reads the slot, or its events do not come: not for `silent`
        seconds."""
        row = self.ask("SELECT active FROM pg_replication_slots WHERE slot_name = %s", self.slot)
        if row is None:
            raise SlotUnavailable(
                f'replication slot "{self.slot}" is gone',
                code="slot_unavailable",
                detail="A connector that makes it again passes over what was committed meanwhile.",
                hint=AGAIN,
            )
        if not row[0]:
            raise SourceUnreachable(
                f'no connector of Debezium reads the slot "{self.slot}"',
                code="connector_away",
                detail="What was committed since it stopped has not been written where its events are.",
                hint="Start it: tidemark check --connector prints it as Kafka Connect is given it.",
            )
        if silent > SILENT:
            raise SourceUnreachable(
                "Debezium's events do not come",
                code="events_silent",
                detail=f"A connector reads the slot, and nothing came of it for {silent:.0f} s.",
                hint="Look at what it tells, and at events in tidemark.toml.",
            )

    def check_unaltered(self, tables: list[Table]) -> None:
        """Events do not tell what a table is: it is compared before each batch. Raises TableChanged.

        Old images have what a column that is NOT NULL today cannot hold as 0, false or ''.
        """
        try:
            now = check_tables(self.conn, tables)
        except psycopg.OperationalError as e:
            raise self._gone(e) from e
        for t in tables:
            found = now[(t.schema, t.name)]
            if found.identity != t.identity:
                raise changed(
                    t,
                    f'the replica identity of "{t.schema}.{t.name}" was altered',
                    f"It was {t.identity.upper()}, and is {found.identity.upper()}.",
                )
            stricter = [c.name for c in t.columns if not c.not_null and c.name in found.not_null]
            if stricter and has_old_images(t):
                raise changed(
                    t,
                    f'column "{stricter[0]}" of "{t.schema}.{t.name}" was made NOT NULL',
                    "Debezium reads older rows as if it had always been.",
                )

    def position(self) -> int:
        """Where the source's WAL is now."""
        row = self.ask("SELECT pg_current_wal_insert_lsn()")
        return parse_lsn(row[0]) if row else 0

    def send_marker(self) -> None:
        """A transaction of nothing but a message, which comes through the stream."""
        self.ask("SELECT pg_logical_emit_message(true, 'tidemark', '')")

    def move_slot(self, lsn: int) -> None:
        """To `lsn`, without the engine, which has just let go of it. What this does not do is read again, and known."""
        deadline = time.monotonic() + RELEASE
        with suppress(TidemarkError, psycopg.Error):
            while time.monotonic() < deadline:
                try:
                    self.ask(
                        "SELECT pg_replication_slot_advance(slot_name, least(%s::pg_lsn, pg_current_wal_flush_lsn())) "
                        "FROM pg_replication_slots WHERE slot_name = %s AND confirmed_flush_lsn < %s::pg_lsn",
                        format_lsn(lsn),
                        self.slot,
                        format_lsn(lsn),
                    )
                    return
                except SourceUnreachable as e:
                    if not isinstance(e.__cause__, errors.ObjectInUse):
                        return
                    time.sleep(0.1)
