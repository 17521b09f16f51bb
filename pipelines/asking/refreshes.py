"""`tidemark.refreshes`: when views that may lag were finished. DuckDB's file has it; to another connection that of all
engines is brought."""

from __future__ import annotations

import duckdb

from compiler.errors import InvalidSql
from connectors.postgres.connection import format_lsn
from pipelines.asking.read_only import REFRESHES
from pipelines.kinds import KINDS
from pipelines.warehouse import Warehouse

COLUMNS = "view VARCHAR, lsn VARCHAR, finished TIMESTAMPTZ, why VARCHAR, rows BIGINT, seconds DOUBLE, promised DOUBLE"


def check(warehouse: Warehouse) -> None:
    """Raises InvalidSql where nothing can be told of."""
    if not any(KINDS[e].in_process(warehouse.deployment.location) for e in warehouse.used_engines()):
        raise InvalidSql(
            f"{REFRESHES} tells of views that may lag, and there is none",
            code="undefined_view",
            hint="CREATE MATERIALIZED VIEW … WITH (target_lag = '1 h').",
        )


def bring(warehouse: Warehouse, con: duckdb.DuckDBPyConnection) -> None:
    """Make it, on a connection in memory."""
    con.execute("ATTACH ':memory:' AS tidemark")
    con.execute(f"CREATE TABLE {REFRESHES} ({COLUMNS})")
    for r in (r for e in warehouse.used_engines() for r in warehouse.engine(e).paced.refreshes()):
        row = [r.view, format_lsn(r.lsn), r.at, r.why, r.waited, r.seconds, r.promised]
        con.execute(f"INSERT INTO {REFRESHES} VALUES (?, ?, to_timestamp(?), ?, ?, ?, nullif(?::DOUBLE, 0))", row)
