"""Debezium's events in Kafka: the topics of one connector, read from where they were read to.

A partition is read in order; partitions and topics are not in an order among each other. Topics begin to be when their
first event comes, so that they are looked for again and again.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any

from compiler.errors import TidemarkError
from connectors.debezium.assembling import Assembler
from connectors.debezium.feed import Take
from connectors.debezium.log import Log
from connectors.debezium.places import Places
from connectors.postgres.connection import SourceUnreachable

LOOKED = 1.0  # seconds between looks for topics
ANSWER = 10.0  # seconds that the brokers may take to answer
MOST = 10_000  # events at once
WAIT = 0.05  # seconds for the next one
SETTINGS = {
    "enable.auto.commit": "false",
    "enable.auto.offset.store": "false",
    "auto.offset.reset": "error",
    "isolation.level": "read_committed",
    "client.id": "tidemark",
}


class Topics(Log):
    """`given`: what the client is told besides, as librdkafka calls it."""

    def __init__(
        self, brokers: str, given: Mapping[str, str], assembler: Assembler, places: Places, take: Take
    ) -> None:
        super().__init__(assembler, places, take)
        self.prefix = assembler.prefix
        self.broken: list[str] = []
        kafka = _client()
        self.kafka = kafka
        try:
            self.consumer = kafka.Consumer(
                {**SETTINGS, "group.id": self.prefix, **given, "bootstrap.servers": brokers, "error_cb": self._said}
            )
        except (kafka.KafkaException, TypeError, ValueError, AttributeError) as e:
            raise TidemarkError(
                "the Kafka client does not take its settings",
                code="kafka_settings",
                detail=str(e.args[0].str()) if isinstance(e, kafka.KafkaException) else str(e),
                hint="They are under [source.kafka] in tidemark.toml, with librdkafka's names.",
            ) from e
        self.parts: set[tuple[str, int]] = set()
        self.looked = 0.0
        try:
            self._look()
        except BaseException:
            self.consumer.close()
            raise
        self.start()

    def _said(self, error: Any) -> None:
        self.broken = [str(error.str())]

    def _look(self) -> None:
        """Also read what has begun to be."""
        self.looked = time.monotonic()
        try:
            self._begin(self.consumer.list_topics(timeout=ANSWER).topics)
        except self.kafka.KafkaException as e:
            raise SourceUnreachable(
                "Kafka does not answer",
                code="source_unreachable",
                detail=(self.broken or [str(e.args[0].str())])[0],
                hint="Look at events and [source.kafka] in tidemark.toml.",
            ) from e

    def _begin(self, found: Mapping[str, Any]) -> None:
        topics = {n: t for n, t in found.items() if n.startswith(f"{self.prefix}.")}
        ends = topics.get(f"{self.prefix}.transaction")
        if ends is not None and len(ends.partitions) > 1:
            raise TidemarkError(
                f'the topic "{self.prefix}.transaction" has {len(ends.partitions)} partitions',
                code="events_unordered",
                detail="The order in which transactions committed is lost in them.",
                hint="Let it have one, and deploy again with a new connector: tidemark deploy --resync",
            )
        new = {(n, p) for n, t in topics.items() for p in t.partitions} - self.parts
        if not new:
            return
        at = []
        for topic, number in sorted(new):
            part = self.kafka.TopicPartition(topic, number)
            first, end = self.consumer.get_watermark_offsets(part, timeout=ANSWER)
            part.offset = self.places.durable.get(_name(topic, number), first)
            if not first <= part.offset <= end:
                raise TidemarkError(
                    f'events of the topic "{topic}" are gone',
                    code="events_gone",
                    detail=f"They were read up to {part.offset:,}, and the topic has {first:,} to {end:,}.",
                    hint="Run: tidemark deploy --resync",
                )
            at.append(part)
        self.consumer.incremental_assign(at)
        self.parts |= new

    def read(self) -> Iterator[tuple[str, int, bytes]]:
        found = self.consumer.consume(MOST, WAIT)
        if time.monotonic() - self.looked > LOOKED:
            self._look()
        for m in found:
            if m.error() is not None:
                raise self.kafka.KafkaException(m.error())
            if m.value() is not None:
                yield _name(m.topic(), m.partition()), m.offset() + 1, m.value()

    def release(self) -> None:
        self.consumer.close()


def _name(topic: str, partition: int) -> str:
    return f"{topic}/{partition}"


def _client() -> Any:
    try:
        import confluent_kafka
    except ImportError as e:
        raise TidemarkError(
            "the Kafka client is not installed",
            code="no_kafka",
            hint="pip install 'tidemark[kafka]'",
        ) from e
    return confluent_kafka
