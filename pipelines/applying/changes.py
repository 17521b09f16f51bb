"""Where changes come from: the replication stream, read by Tidemark itself or by Debezium's engine on the same slot.

A stream is opened only on the server, the history, the slot and the publication that were deployed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from compiler.catalog import Table
from compiler.errors import TidemarkError
from connectors.changed import TableChanged
from connectors.postgres.connection import connect
from connectors.postgres.origin import Continuity, LastCommit, ask_server, check_slot
from connectors.postgres.pgoutput import Decoded, Decoder, RelationMessage
from connectors.postgres.stream import Stream
from connectors.postgres.transactions import Admit, Limits, Received, Transaction
from pipelines import deployment as deployments
from pipelines.applying.unaltered import check_deployed
from pipelines.refused import watched
from pipelines.warehouse import Warehouse


class ChangeStream(Protocol):
    """Whole transactions in commit order. `server_end` is how far it is known to be, `held` what was not given out yet.
    `receive` may raise TableChanged, and gives what it had once `follow` is told what is kept now.

    `backend`: the process that serves it at the source, 0 where that is not known.
    """

    backend: int
    server_end: int
    wanted: int
    urged: bool
    held: deque[Transaction]

    @property
    def complete(self) -> int: ...

    def receive(
        self, limits: Limits, wait: float, until: int | None = None, admit: Admit | None = None
    ) -> Received: ...

    def follow(self, tables: list[Table]) -> None: ...

    def acknowledge(self, lsn: int) -> None: ...

    def wake(self) -> None: ...

    def close(self) -> None: ...


class ChangeDecoder(Protocol):
    """What was received, as columns; `relations` are the tables as they were seen last. `lsn` is where a transaction
    commits that is read in parts."""

    relations: dict[int, RelationMessage]

    def decode(self, frames: list[bytes], lsn: int = 0) -> Decoded: ...


Follow = Callable[[list[TableChanged]], None]
OF_MEMORY = 4  # what messages take in memory, with what becomes of them, by their bytes
LEAVE = "SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots WHERE slot_name = %s AND active_pid = %s"


def open_changes(
    warehouse: Warehouse, follow: Follow, leaving: int = 0
) -> tuple[ChangeStream, Callable[[], ChangeDecoder]]:
    """The stream from every engine's frontier on, and what makes decoders for it; `follow` is first given what was
    altered of the tables. Raises SourceReplaced, and TableChanged for the publication.

    `leaving`: the backend of a stream of ours that broke, which may not have noticed and holds the slot.
    """
    d, source = warehouse.deployment, warehouse.config.source
    frontiers = {e: warehouse.frontier(e) for e in warehouse.used_engines()}
    lowest, highest = min(frontiers.values(), default=None), max(frontiers.values(), default=0)
    timeline = ask_server(source.dsn, d.origin, highest)
    if d.origin.timeline and timeline != d.origin.timeline:
        d.origin = replace(d.origin, timeline=timeline)
        deployments.save(warehouse.path, d)
    if leaving:
        with connect(source.dsn) as conn:
            conn.execute(LEAVE, (d.slot, leaving))
    if source.capture == "debezium":
        return _debezium(warehouse, follow, lowest)
    memory = warehouse.config.batch.memory_bytes // OF_MEMORY
    stream = Stream(source.dsn, d.slot, d.publication, source.timeout, warehouse.path, memory)
    try:
        with connect(source.dsn) as conn:
            confirmed = check_slot(conn, d.slot, lowest)
            follow(check_deployed(conn, d))
        kept = min((warehouse.engine(e).kept() for e in frontiers), default=confirmed)
        stream.resume(Continuity(kept, highest, confirmed, _last(warehouse)))
    except BaseException:
        stream.close()
        raise
    return stream, Decoder


def _debezium(
    warehouse: Warehouse, follow: Follow, frontier: int | None
) -> tuple[ChangeStream, Callable[[], ChangeDecoder]]:
    from connectors.debezium.opening import by_engine, from_log
    from connectors.debezium.spool import Room

    d, source = warehouse.deployment, warehouse.config.source
    if renamed := [t for t in d.catalog if t.elsewhere]:
        raise TidemarkError(
            f"{renamed[0].schema}.{renamed[0].name}, or a column of it, was renamed since it was deployed",
            code="renamed",
            detail="Debezium knows tables and columns by the names that they have now.",
            hint="Run: tidemark deploy --resync",
        )
    with connect(source.dsn) as conn:
        confirmed = check_slot(conn, d.slot, source.held(frontier))
        follow(check_deployed(conn, d))
    start = confirmed if frontier is None else frontier
    room = Room(warehouse.path, warehouse.config.batch.memory_bytes // OF_MEMORY)
    if source.events:
        stream = from_log(source.dsn, d.slot, watched(d), start, source.events, source.kafka, warehouse.path, room)
    else:
        stream = by_engine(source.dsn, d.slot, d.publication, watched(d), start, room)
    return stream, stream.decoder


def _last(warehouse: Warehouse) -> LastCommit | None:
    """The last transaction that any engine has applied; None where one does not know."""
    found = [warehouse.engine(e).last_commit() for e in warehouse.used_engines()]
    return (
        None
        if any(c is None for c in found)
        else max((c for c in found if c is not None), key=lambda c: c.lsn, default=None)
    )
