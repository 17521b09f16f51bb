"""What Debezium's connector for PostgreSQL is told, in this process or elsewhere: nothing lost on the way, transactions
marked, nothing made in the source. Source: Debezium documentation, "Debezium connector for PostgreSQL"."""

from __future__ import annotations

import hashlib
import json

from connectors.postgres.connection import SETTINGS

CLASS = "io.debezium.connector.postgresql.PostgresConnector"
JSON = "org.apache.kafka.connect.json.JsonConverter"
VALUES = {  # how values are written: `values` reads them so
    "decimal.handling.mode": "string",
    "interval.handling.mode": "string",
    "binary.handling.mode": "hex",
    "time.precision.mode": "microseconds",
    "include.unknown.datatypes": "true",
    "event.converting.failure.handling.mode": "fail",
    "provide.transaction.metadata": "true",
    "tombstones.on.delete": "false",
    "skipped.operations": "none",
}
ROLE = {
    "plugin.name": "pgoutput",
    "slot.drop.on.stop": "false",
    "publication.autocreate.mode": "disabled",
    "snapshot.mode": "no_data",  # deploy has copied the tables in the snapshot that the slot exported
    "heartbeat.interval.ms": "1000",
}
SESSION = "driver.options"


def prefix(slot: str) -> str:
    """What the topics of a deployment's connector begin with. It has the settings' fingerprint: events that were
    written with others, of which some would be read as other values, have another name."""
    told = json.dumps(VALUES, sort_keys=True)
    return f"{slot}-{hashlib.sha256(told.encode()).hexdigest()[:6]}"


def unchanged(slot: str) -> str:
    """What events of a connector elsewhere have for a value that was not sent."""
    return f"__{slot}_{hashlib.sha256(slot.encode()).hexdigest()[:16]}"


def session() -> str:
    """How the connector's sessions print values."""
    return " ".join(f"-c {k}={v}" for k, v in SETTINGS.items() if k not in ("client_encoding", "TimeZone"))


def elsewhere(slot: str, publication: str, database: dict[str, str]) -> dict[str, object]:
    """A connector as Kafka Connect is given it, on a deployment's slot; `database`: host, port, user and dbname."""
    return {
        "name": slot,
        "config": {
            "connector.class": CLASS,
            "tasks.max": "1",
            "topic.prefix": prefix(slot),
            **{f"database.{k}": v for k, v in database.items()},
            "database.password": "${env:PGPASSWORD}",
            SESSION: session(),
            "slot.name": slot,
            "publication.name": publication,
            "unavailable.value.placeholder": unchanged(slot),
            **ROLE,
            **VALUES,
            "key.converter": JSON,
            "key.converter.schemas.enable": "false",
            "value.converter": JSON,
            "value.converter.schemas.enable": "false",
        },
    }
