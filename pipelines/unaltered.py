"""Whether what a deployment reads in the source is still what was deployed."""

from __future__ import annotations

import time

from compiler.errors import TidemarkError
from connectors.changed import AGAIN
from connectors.postgres.altered import check_publication, check_tables
from connectors.postgres.connection import connect
from pipelines.deployment import Deployment

EVERY = 10.0  # seconds; most that is altered is not in the stream


def check_source(dsn: str, d: Deployment) -> None:
    """Raises TableChanged for tables, enums and the publication, and TidemarkError for a slot that is gone."""
    with connect(dsn) as conn:
        if conn.execute("SELECT FROM pg_replication_slots WHERE slot_name = %s", (d.slot,)).fetchone() is None:
            raise TidemarkError(f'replication slot "{d.slot}" is gone', code="slot_unavailable",
                                detail="Changes since then cannot be had from the stream.", hint=AGAIN)
        check_tables(conn, d.catalog)
        check_publication(conn, d.publication, d.catalog)


class Watch:
    """Looks at the source again from time to time, while a pipeline runs."""

    def __init__(self, dsn: str, d: Deployment) -> None:
        self.dsn, self.deployment, self.looked = dsn, d, time.monotonic()

    def look(self) -> None:
        if time.monotonic() - self.looked > EVERY:
            check_source(self.dsn, self.deployment)
            self.looked = time.monotonic()
