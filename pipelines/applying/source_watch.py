"""Asks the source where it is, beside the stream: a server that does not answer is noticed here and holds up nobody."""

from __future__ import annotations

import threading
import time
from contextlib import suppress

import psycopg

from compiler.errors import TidemarkError
from connectors.changed import TableChanged
from connectors.postgres.altered import altered_between
from connectors.postgres.connection import Connection, SourceUnreachable, connect, parse_lsn
from pipelines.applying.doubts import in_doubt
from pipelines.applying.freshness import Freshness
from pipelines.applying.unaltered import check_deployed
from pipelines.deployment import Deployment
from pipelines.refused import watched

EVERY = 0.5  # seconds between questions for its position
LOOK = 10.0  # seconds between looks at tables and publication: most that is altered is not in the stream
ANSWER = 5.0  # seconds that an answer may take
ASK = """
SELECT pg_current_wal_insert_lsn()::text,
       (pg_current_wal_lsn() - restart_lsn)::bigint, safe_wal_size
FROM (SELECT) one LEFT JOIN pg_replication_slots ON slot_name = %s
"""


class SourceWatch(threading.Thread):
    """A thread with a connection of its own. `check`, on the loop's thread, gives what it found altered of the tables
    and what is in doubt, and raises what nothing can go on after."""

    def __init__(self, dsn: str, deployment: Deployment, freshness: Freshness) -> None:
        super().__init__(daemon=True, name="source watch")
        self.dsn, self.deployment, self.freshness = dsn, deployment, freshness
        self.stopping = threading.Event()
        self.found: TidemarkError | None = None
        self.altered: list[TableChanged] = []
        self.doubts: dict[str, int] = {}
        self.retained = 0  # bytes of WAL that the slot makes the source keep
        self.safe: int | None = None  # that may be written until it may be lost; None without a bound
        self.silent = ""  # why there is no answer
        self.looked = time.monotonic()
        self.conn: Connection | None = None

    def check(self) -> tuple[list[TableChanged], dict[str, int]]:
        if self.found is not None:
            raise self.found
        found, doubts = self.altered, self.doubts
        self.altered, self.doubts = [], {}
        return found, doubts

    def stop(self) -> None:
        self.stopping.set()

    def run(self) -> None:
        try:
            self._watch()
        finally:
            self._close()

    def _watch(self) -> None:
        while not self.stopping.wait(EVERY):
            try:
                self.conn = self.conn or connect(self.dsn, patience=ANSWER)
                self._ask(self.conn)
            except SourceUnreachable as e:
                self.silent = e.detail or e.message
                self._close()
                self.stopping.wait(EVERY)
            except TidemarkError as e:
                self.found = e
                return
            except psycopg.Error as e:
                self.silent = str(e).split("\n")[0]
                self._close()

    def _close(self) -> None:
        with suppress(psycopg.Error):
            if self.conn is not None:
                self.conn.close()
        self.conn = None

    def _ask(self, conn: Connection) -> None:
        at = time.time()
        row = conn.execute(ASK, (self.deployment.slot,)).fetchone()
        assert row is not None
        self.retained, self.safe, self.silent = int(row[1] or 0), row[2], ""
        d = self.deployment
        altered = altered_between(conn, d.publication, d.origin) != set()  # what it leaves out must not be called fresh
        if altered or time.monotonic() - self.looked > LOOK:
            self.altered, self.doubts = check_deployed(conn, d), in_doubt(conn, watched(d))
            if self.altered or self.doubts:  # nothing is fresh until it is no longer kept, or known to be
                self.freshness.answered(at, parse_lsn(row[0]))
                return
            self.looked = time.monotonic()
        self.freshness.said(at, parse_lsn(row[0]))
