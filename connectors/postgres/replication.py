"""A replication connection and its commands: sent and waited for, so that an interrupt is heard and a silent server
noticed."""

from __future__ import annotations

import select
import time
from collections.abc import Callable
from contextlib import suppress

import psycopg
from psycopg import conninfo, pq
from psycopg.pq.abc import PGconn, PGresult

from connectors.postgres.connection import SourceUnreachable, describe, replication_dsn, unreachable

LOOK = 0.2  # seconds between looks at the clock while a command runs
ENDED = b"57P"  # states of a server that shuts down, or has let go of us
CONNECT = 10  # seconds that a server may take to let us in, where the dsn does not say


def open_replication(dsn: str) -> PGconn:
    """A connection that speaks the replication protocol; raises SourceUnreachable."""
    try:
        parameters = replication_dsn(dsn)
    except psycopg.ProgrammingError:  # its text may quote a password
        raise unreachable(dsn, "") from None
    conn = _connected(parameters)
    if conn.status != pq.ConnStatus.OK:
        message = conn.get_error_message().strip()
        conn.finish()
        raise SourceUnreachable(
            f"cannot stream from the source {describe(dsn)}",
            detail=message,
            code="source_unreachable",
            hint="The user needs the REPLICATION attribute: ALTER ROLE … REPLICATION.",
        )
    return conn


def _connected(parameters: bytes) -> PGconn:
    """As `PGconn.connect`, which stops every thread of the process while it waits; at its end it may have failed."""
    told, seconds = conninfo.conninfo_to_dict(parameters.decode()), 0
    if "," in f"{told.get('host')}{told.get('hostaddr')}":  # each of several has its time only so
        return pq.PGconn.connect(parameters)
    with suppress(ValueError):  # libpq says what is wrong with it
        seconds = int(float(told.get("connect_timeout") or 0))
    conn, deadline = pq.PGconn.connect_start(parameters), time.monotonic() + (seconds or CONNECT)
    state = pq.PollingStatus.WRITING
    while conn.status != pq.ConnStatus.BAD and state in (pq.PollingStatus.WRITING, pq.PollingStatus.READING):
        sockets, reading = [conn.socket], state == pq.PollingStatus.READING
        ready = select.select(sockets if reading else [], [] if reading else sockets, [], LOOK)
        if any(ready):
            state = pq.PollingStatus(conn.connect_poll())
        elif time.monotonic() > deadline:
            conn.finish()
            raise SourceUnreachable(
                "cannot stream from the source",
                code="source_unreachable",
                detail="The server does not answer.",
                hint="Run tidemark again; nothing is lost.",
            )
    return conn


def command(
    conn: PGconn, text: str, patience: float | None, waiting: Callable[[float], None] = lambda s: None
) -> PGresult:
    """The command's result, also where it is an error. `waiting(seconds)` is called while it runs.

    Raises SourceUnreachable after `patience` seconds without an answer, or when the connection breaks, or the server
    ends it.
    """
    try:
        result = _answered(conn, text, patience, waiting)
    except psycopg.OperationalError as e:
        raise _lost(conn, str(e)) from e
    state = result.error_field(pq.DiagnosticField.SQLSTATE) or b""
    if conn.status == pq.ConnStatus.BAD or state.startswith(ENDED):
        raise _lost(conn, result.get_error_message())
    return result


def _lost(conn: PGconn, why: str) -> SourceUnreachable:
    conn.finish()
    return SourceUnreachable(
        "lost the connection to the source",
        code="source_unreachable",
        detail=why.strip().split("\n")[0],
        hint="Run tidemark again; nothing is lost.",
    )


def _answered(conn: PGconn, text: str, patience: float | None, waiting: Callable[[float], None]) -> PGresult:
    conn.send_query(text.encode())
    conn.flush()
    begun = time.monotonic()
    while conn.is_busy():
        ready, _, _ = select.select([conn.socket], [], [], LOOK)
        spent = time.monotonic() - begun
        if ready:
            conn.consume_input()
        elif patience is not None and spent > patience:
            conn.finish()
            raise SourceUnreachable(
                "the source does not answer",
                code="source_unreachable",
                detail=f"{text.split(' ')[0]} had no answer within {patience:.0f} s.",
                hint="Run tidemark again; nothing is lost.",
            )
        else:
            waiting(spent)
    result = conn.get_result()
    assert result is not None
    if result.status != pq.ExecStatus.COPY_BOTH:
        while conn.get_result() is not None:
            pass
    return result
