"""Whether what a deployment reads in the source is still what was deployed."""

from __future__ import annotations

import psycopg

from connectors.postgres.altered import check_marks, check_publication, check_tables
from connectors.postgres.connection import connect
from connectors.postgres.origin import check_slot
from pipelines.deployment import Deployment


def check_source(dsn: str, d: Deployment, frontier: int | None = None) -> None:
    """Raises TableChanged for tables, enums and the publication, and SourceReplaced for a slot that is not where the
    views are.

    `frontier`: what every engine holds; where it is not given, the slot's place is not compared.
    """
    with connect(dsn) as conn:
        check_slot(conn, d.slot, frontier)
        check_deployed(conn, d)


def check_deployed(conn: psycopg.Connection, d: Deployment) -> None:
    """Tables, enums and the publication."""
    check_tables(conn, d.catalog)
    check_publication(conn, d.publication, d.catalog)
    check_marks(conn, d.publication, d.origin, d.catalog)
