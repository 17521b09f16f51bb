"""A replication connection and its commands: sent and waited for, so that an interrupt is heard and a silent server
noticed."""

from __future__ import annotations

import select
import time
from collections.abc import Callable

import psycopg
from psycopg import pq
from psycopg.pq.abc import PGconn, PGresult

from connectors.postgres.connection import SourceUnreachable, describe, replication_dsn, unreachable

LOOK = 0.2  # seconds between looks at the clock while a command runs


def open_replication(dsn: str) -> PGconn:
    """A connection that speaks the replication protocol; raises SourceUnreachable."""
    try:
        parameters = replication_dsn(dsn)
    except psycopg.ProgrammingError:  # its text may quote a password
        raise unreachable(dsn, "") from None
    conn = pq.PGconn.connect(parameters)
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


def command(
    conn: PGconn, text: str, patience: float | None, waiting: Callable[[float], None] = lambda s: None
) -> PGresult:
    """The command's result, also where it is an error. `waiting(seconds)` is called while it runs.

    Raises SourceUnreachable after `patience` seconds without an answer, or when the connection breaks.
    """
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
