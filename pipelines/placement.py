"""engine = 'auto': small views on DuckDB, large ones on Spark, by the size of the tables they read."""

from __future__ import annotations

import psycopg

from compiler.catalog import Catalog
from pipelines.config import Config
from pipelines.project import Compiled


def place(conn: psycopg.Connection, views: list[Compiled], catalog: Catalog, config: Config) -> None:
    """Decide the engine of every view that says auto; the why goes into its notes."""
    undecided = [v for v in views if v.engine == "auto"]
    if not undecided:
        return
    sizes: dict[str, int] = {}
    for name in sorted({t for v in undecided if v.plan for t in v.plan.tables}):
        schema, _, table = name.partition(".")
        row = conn.execute("SELECT greatest(reltuples, 0)::bigint, pg_relation_size(c.oid) FROM pg_class c JOIN pg_namespace n "
                           "ON n.oid = c.relnamespace WHERE n.nspname = %s AND c.relname = %s", (schema, table)).fetchone()
        rows, size = row if row else (0, 0)
        sizes[name] = max(int(rows), int(size) // 200)
    for v in undecided:
        assert v.plan is not None
        largest = max(((sizes[t], t) for t in v.plan.tables), default=(0, ""))
        big = largest[0] > config.spark.threshold_rows
        v.engine = "spark" if big else "duckdb"
        v.notes.append(f"engine auto: {v.engine}, since its largest table, {largest[1] or 'none'}, has about {largest[0]} "
                       f"rows, {'above' if big else 'within'} the threshold of {config.spark.threshold_rows}")
