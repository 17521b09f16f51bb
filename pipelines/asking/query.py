"""query: SQL over the deployed views, wherever they live, at one frontier an engine."""

from __future__ import annotations

from contextlib import ExitStack, suppress

import duckdb
import pyarrow as pa

from compiler.errors import InvalidSql
from connectors.duckdb.session import scratch
from pipelines.asking.read_only import checked
from pipelines.warehouse import Warehouse


def answer(warehouse: Warehouse, sql: str, internal: bool = False) -> pa.Table:
    """The result of a query in DuckDB's SQL; views on Spark are read first, all at one version."""
    views = {v.name: v for v in warehouse.deployment.views}
    read = checked(sql, set(views), internal)
    remote = [v for v in views.values() if v.engine == "spark" and v.name.lower() in read]
    for v in views.values():
        if v.error and v.name.lower() in read:
            raise warehouse.set_aside_error(v)
    con = _connection(warehouse)
    try:
        with ExitStack() as stack:
            at = stack.enter_context(warehouse.engine("spark").pinned()) if remote else None
            for v in remote:
                con.register(v.name, warehouse.engine("spark").read(warehouse.view(v.name)[1], None, at))
        con.execute("BEGIN TRANSACTION READ ONLY")
        return con.execute(sql).to_arrow_table()
    except duckdb.Error as e:
        lines = str(e).split("\n")
        raise InvalidSql(
            "the query failed", detail=lines[0], hint="tidemark query reads DuckDB's SQL.", code="query_failed"
        ) from e
    finally:
        with suppress(duckdb.Error):
            con.execute("ROLLBACK")
        con.close()


def _connection(warehouse: Warehouse) -> duckdb.DuckDBPyConnection:
    if "duckdb" in warehouse.used_engines():
        from connectors.duckdb.engine import DuckDBEngine

        engine = warehouse.engine("duckdb")
        assert isinstance(engine, DuckDBEngine)
        con = engine.con.cursor()
    else:
        con = scratch()
    con.execute("SET TimeZone = 'UTC'")
    con.execute("SET python_enable_replacements = false")
    return con
