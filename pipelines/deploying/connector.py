"""Debezium's connector of a deployment, where it runs elsewhere: as Kafka Connect is given it."""

from __future__ import annotations

import psycopg

from connectors.debezium import settings
from pipelines.deployment import Deployment


def elsewhere(conn: psycopg.Connection, d: Deployment) -> dict[str, object]:
    """Its name and settings; the password is the worker's to know, and is not in it."""
    info = conn.info
    database = {"hostname": info.host, "port": str(info.port), "user": info.user, "dbname": info.dbname}
    return settings.elsewhere(d.slot, d.publication, database)
