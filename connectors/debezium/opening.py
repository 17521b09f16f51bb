"""The stream of a deployment's changes by Debezium: by an engine in this process, or of events that a connector
elsewhere writes to Kafka or to files."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Mapping
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from compiler.catalog import Table
from connectors.debezium import settings
from connectors.debezium.assembling import Assembler
from connectors.debezium.embedded import Embedded, properties
from connectors.debezium.feed import Feed, Take
from connectors.debezium.files import Files
from connectors.debezium.places import Places
from connectors.debezium.source import Source
from connectors.debezium.spool import Room
from connectors.debezium.stream import DebeziumStream
from connectors.debezium.topics import Topics


def by_engine(dsn: str, slot: str, publication: str, tables: list[Table], start: int, room: Room) -> DebeziumStream:
    """By an engine on the slot, which ends with the stream."""
    unchanged = f"__tidemark_{secrets.token_hex(12)}"
    names = [
        re.escape(f"{t.schema}.{t.name}").replace(",", "\\,").replace("\\ ", "[ ]") for t in tables
    ]  # the list is trimmed

    def opened(source: Source, take: Take) -> Feed:
        return Embedded(properties(source.conn, slot, publication, names, unchanged), take, room)

    return _stream(dsn, slot, tables, start, unchanged, opened, elsewhere=False)


def from_log(
    dsn: str,
    slot: str,
    tables: list[Table],
    start: int,
    events: str,
    kafka: Mapping[str, str],
    folder: Path,
    room: Room,
) -> DebeziumStream:
    """Of what the deployment's connector writes to `events`: kafka://broker,… or file:///folder. Where it was read to
    is kept in `folder`."""
    place, name = urlsplit(events), settings.prefix(slot)

    def opened(source: Source, take: Take) -> Feed:
        places = Places(folder, name)
        places.load(start)
        assembler = Assembler(name, start, places.begun, room)
        if place.scheme == "file":
            return Files(Path(url2pathname(place.path)), assembler, places, take)
        return Topics(place.netloc, kafka, assembler, places, take)

    return _stream(dsn, slot, tables, start, settings.unchanged(slot), opened, elsewhere=True)


def _stream(
    dsn: str,
    slot: str,
    tables: list[Table],
    start: int,
    unchanged: str,
    opened: Callable[[Source, Take], Feed],
    elsewhere: bool,
) -> DebeziumStream:
    source = Source(dsn, slot)
    try:
        source.check(elsewhere)
        return DebeziumStream(source, tables, start, unchanged, lambda take: opened(source, take), elsewhere)
    except BaseException:
        source.close()
        raise
