"""Where what is on Spark is kept: with the driver (Local) where it is small, else with the executors (Dist).

It is decided when the tables are copied, and stays until they all are copied again.
"""

from __future__ import annotations

import psycopg

from compiler.errors import TidemarkError, UnsupportedSql
from pipelines.asking.explain import statements
from pipelines.config import Config
from pipelines.deployment import DIST, LOCAL
from pipelines.project import Compiled

BYTES = (
    "SELECT coalesce(sum(pg_table_size(p.relid)), 0)::bigint FROM pg_class c JOIN pg_namespace n ON n.oid = "
    "c.relnamespace CROSS JOIN LATERAL (SELECT c.oid AS relid UNION SELECT relid FROM pg_partition_tree(c.oid) "
    "UNION SELECT inhrelid FROM pg_inherits WHERE inhparent = c.oid) p "
    "WHERE n.nspname || '.' || c.relname = ANY(%s)"
)
AGAIN = "tidemark deploy --resync copies all tables again, and keeps them where they have room."


def locate(conn: psycopg.Connection, views: list[Compiled], config: Config) -> str:
    """LOCAL or DIST, for the views on Spark; the why goes into their notes."""
    mine = [v for v in views if v.engine == "spark" and v.plan is not None and v.error is None]
    size, limit = held(conn, mine), config.spark.local_bytes
    foreign = sorted(v.name for v in mine if unsayable(v) is not None)
    fits = bool(limit) and size <= limit and not foreign
    for v in mine:
        why = f"its tables and those of the other views on Spark have {size:,} bytes, local_memory is {limit:,}"
        if foreign and size <= limit:
            why = f'the driver cannot run view "{foreign[0]}"'
        v.location = LOCAL if fits else DIST
        v.notes.append(f"{'Local: kept by the driver' if fits else 'Dist: kept by the executors'}, since {why}")
    return LOCAL if fits else DIST


def held(conn: psycopg.Connection, views: list[Compiled]) -> int:
    """Bytes of the tables in the source that views read, partitions included."""
    names = sorted({t for v in views if v.plan is not None for t in v.plan.tables})
    row = conn.execute(BYTES, (names,)).fetchone()
    return int(row[0]) if row else 0


def unsayable(v: Compiled) -> TidemarkError | None:
    """Why the driver's DuckDB cannot run a view; None where it can."""
    before, v.location = v.location, LOCAL
    try:
        statements(v, fetches=False)
    except TidemarkError as e:
        return e
    finally:
        v.location = before
    return None


def check_local(views: list[Compiled]) -> None:
    """Give views on Spark an error that a deployment which is Local cannot take."""
    for v in views:
        if v.engine != "spark" or v.error is not None:
            continue
        if (e := unsayable(v)) is not None:
            v.error = UnsupportedSql(
                f'view "{v.name}" cannot be kept by the driver, as the other views on Spark are',
                detail=e.message,
                code="not_local",
                hint=AGAIN,
            )


def outgrown(conn: psycopg.Connection, views: list[Compiled], config: Config) -> list[str]:
    """A warning where what is Local is larger than it may be, as a list of one."""
    size = held(conn, [v for v in views if v.engine == "spark"])
    if size <= config.spark.local_bytes:
        return []
    return [
        f"the tables on Spark have {size:,} bytes, more than local_memory ({config.spark.local_memory}), and are kept "
        f"by the driver all the same. {AGAIN}"
    ]
