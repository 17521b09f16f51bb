"""Where changes come from: the replication stream, read by Tidemark itself or by Debezium's engine on the same slot."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from connectors.postgres.pgoutput import Decoded, Decoder, Relation
from connectors.postgres.stream import Limits, Received, Stream
from pipelines.config import Source
from pipelines.deployment import Deployment


class ChangeStream(Protocol):
    """Whole transactions in commit order. `server_end` is how far it is known to be, `carry` what was kept for the next call."""

    server_end: int
    carry: tuple[list[bytes], int, int] | None

    def receive(self, limits: Limits, wait: float, until: int | None = None, before: int | None = None) -> Received: ...

    def acknowledge(self, lsn: int) -> None: ...

    def close(self) -> None: ...


class ChangeDecoder(Protocol):
    """What was received, as columns; `relations` are the tables as they were seen last."""

    relations: dict[int, Relation]

    def decode(self, frames: list[bytes]) -> Decoded: ...


def open_changes(source: Source, d: Deployment, start: int) -> tuple[ChangeStream, Callable[[], ChangeDecoder]]:
    """The stream of a deployment from LSN `start`, and what makes decoders for it."""
    if source.capture == "debezium":
        from connectors.debezium.stream import DebeziumStream

        stream = DebeziumStream(source.dsn, d.slot, d.publication, d.catalog, start)
        return stream, stream.decoder
    return Stream(source.dsn, d.slot, d.publication, start), Decoder
