"""Which server, and which history of it, a warehouse was filled from: what has to hold before its stream is believed.

A frontier is a place in one server's WAL. It means nothing on another server, after a restore to an earlier point,
or on a slot that somebody moved. `Origin` is kept with the deployment; `LastCommit` with each frontier: the
transaction that is sent again after a reconnect has to be the very one that was applied.
"""

from __future__ import annotations

from dataclasses import dataclass

import psycopg
from psycopg import pq
from psycopg.pq.abc import PGconn

from compiler.errors import TidemarkError
from connectors.postgres.connection import ANSWER, format_lsn, parse_lsn
from connectors.postgres.replication import command, open_replication

RESYNC = "Run: tidemark deploy --resync (it copies the tables again and keeps the views)"


class SourceReplaced(TidemarkError):
    """The server, its history, or the slot is not the one that the frontier belongs to."""


@dataclass(frozen=True)
class Origin:
    """The server's identifier and timeline; the publication's mark of creation, and each table's in it
    (schema-qualified)."""

    system: str = ""
    timeline: int = 0
    publication: str = ""
    tables: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class LastCommit:
    """The last transaction that was applied: LSN of its commit, transaction id, and the server's clock in
    microseconds."""

    lsn: int
    xid: int
    time: int


def identify(conn: PGconn, patience: float) -> tuple[str, int, int]:
    """System identifier, timeline and position, from a replication connection."""
    r = command(conn, "IDENTIFY_SYSTEM", patience)
    if r.status != pq.ExecStatus.TUPLES_OK:
        raise SourceReplaced(
            "the source does not say which server it is", detail=r.get_error_message().strip(), code="source_replaced"
        )
    values = [(r.get_value(0, i) or b"").decode() for i in range(3)]
    return values[0], int(values[1]), parse_lsn(values[2])


def ask_server(dsn: str, origin: Origin, frontier: int) -> int:
    """`check_server`, on a connection of its own."""
    conn = open_replication(dsn)
    try:
        return check_server(conn, origin, frontier, ANSWER)
    finally:
        conn.finish()


def check_server(conn: PGconn, origin: Origin, frontier: int, patience: float) -> int:
    """The server's timeline. Raises SourceReplaced where the frontier is not a place in this server's WAL.

    An origin that is not known is not compared.
    """
    system, timeline, position = identify(conn, patience)
    if origin.system and system != origin.system:
        raise SourceReplaced(
            "the source is another server than the one that was deployed",
            code="source_replaced",
            hint=RESYNC,
            detail=f"Its system identifier is {system}, and was {origin.system}.",
        )
    if frontier > position:
        raise SourceReplaced(
            "the source is at an earlier point than the views",
            code="source_replaced",
            hint=RESYNC,
            detail=f"Its WAL ends at {format_lsn(position)}, the views are at {format_lsn(frontier)}: it was restored.",
        )
    if origin.timeline and timeline != origin.timeline:
        forked = _fork(conn, origin.timeline, timeline, patience)
        if forked is None or forked < frontier:
            at = "at a point that is not known" if forked is None else f"at {format_lsn(forked)}"
            raise SourceReplaced(
                "the source has another history than the views",
                code="source_replaced",
                hint=RESYNC,
                detail=f"Timeline {timeline} left timeline {origin.timeline} {at}, the views are at "
                f"{format_lsn(frontier)}.",
            )
    return timeline


def _fork(conn: PGconn, old: int, new: int, patience: float) -> int | None:
    """Where the server's timeline left the old one; None where its history does not have it."""
    r = command(conn, f"TIMELINE_HISTORY {new}", patience)
    if r.status != pq.ExecStatus.TUPLES_OK:
        return None
    for line in (r.get_value(0, 1) or b"").decode(errors="replace").splitlines():
        parts = line.split("\t")
        if len(parts) >= 2 and parts[0].strip() == str(old):
            return parse_lsn(parts[1].strip())
    return None


SLOT = """
SELECT s.confirmed_flush_lsn::text, s.database = current_database(), s.plugin, to_jsonb(s) ->> 'wal_status',
       s.active_pid, to_jsonb(s) ->> 'invalidation_reason'
FROM pg_replication_slots s WHERE s.slot_name = %s
"""


def check_slot(conn: psycopg.Connection, slot: str, frontier: int | None) -> int:
    """Where the slot stands, not past the frontier. Raises SourceReplaced where changes between the two cannot be
    had any more.

    Without a frontier, where nothing is mirrored or another process moves it, the place is not compared.
    """
    row = conn.execute(SLOT, (slot,)).fetchone()
    if row is None or not row[1]:
        raise SourceReplaced(
            f'replication slot "{slot}" is gone',
            code="slot_unavailable",
            hint=RESYNC,
            detail="Changes since then cannot be had from the stream.",
        )
    if row[3] == "lost" or row[0] is None:
        raise SourceReplaced(
            f'replication slot "{slot}" has lost changes',
            code="slot_unavailable",
            hint=RESYNC,
            detail=f"The server removed WAL that it needed{f' ({row[5]})' if row[5] else ''}.",
        )
    confirmed = parse_lsn(row[0])
    if frontier is None:
        return confirmed
    if row[2] != "pgoutput" or confirmed > frontier:
        raise SourceReplaced(
            f'replication slot "{slot}" is not where the views are',
            code="slot_moved",
            hint=RESYNC,
            detail=f"It stands at {row[0]}, the views at {format_lsn(frontier)}: it was moved, or dropped and made "
            f"again. "
            "The changes between are not in the stream.",
        )
    return confirmed


class Continuity:
    """Whether what is sent again is what was applied: `saw` each transaction, and `reached` an LSN without one.

    The slot sends everything that commits at or after `confirmed`. Of that, what lies below the frontier was
    applied: its last transaction has to be `last`, and where `last` lies below `confirmed` there must be none. Else
    the server was restored and went on past the frontier with other commits.
    """

    def __init__(self, durable: int, frontier: int, confirmed: int, last: LastCommit | None) -> None:
        """`durable`: what every engine keeps; `frontier`: of the foremost one. A `last` of None is not known:
        nothing is compared."""
        self.durable, self.frontier, self.confirmed, self.last = durable, frontier, confirmed, last
        self.seen: LastCommit | None = None
        self.proven = confirmed >= frontier or last is None

    def saw(self, lsn: int, xid: int, time: int, idle: bool = False) -> None:
        """An `idle` one changes nothing, and may not be sent again: it counts where it is the one to be found."""
        if self.proven or (idle and LastCommit(lsn, xid, time) != self.last and lsn < self.frontier):
            return
        if lsn < self.frontier:
            self.seen = LastCommit(lsn, xid, time)
        else:
            self._prove()

    def reached(self, lsn: int) -> None:
        """The server has sent all that commits below `lsn`."""
        if not self.proven and lsn >= self.frontier:
            self._prove()

    def _prove(self) -> None:
        again = self.last if self.last is not None and self.last.lsn >= self.confirmed else None
        if self.seen != again:
            other = self.seen or again
            assert other is not None
            raise SourceReplaced(
                "the source has another history than the views",
                code="source_replaced",
                hint=RESYNC,
                detail=f"The transaction that commits at {format_lsn(other.lsn)} is not the one that was applied: "
                "the server was restored to an earlier point.",
            )
        self.proven = True
