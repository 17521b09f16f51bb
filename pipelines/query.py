"""query: SQL over the deployed views, wherever they live."""

from __future__ import annotations

import duckdb
import pyarrow as pa

from compiler.errors import InvalidSql
from connectors.duckdb.session import scratch
from pipelines.warehouse import Warehouse


def _only_reads(sql: str) -> None:
    """A warehouse is written by its pipeline alone."""
    try:
        kinds = [s.type for s in duckdb.extract_statements(sql)]
    except duckdb.Error as e:
        raise InvalidSql("the query does not parse", detail=str(e).split("\n")[0], code="syntax_error") from e
    if not kinds:
        raise InvalidSql("the query is empty", code="syntax_error")
    if any(k not in (duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN) for k in kinds):
        raise InvalidSql("only queries can be run", detail="A warehouse is written by its pipeline alone.", code="read_only",
                         hint="tidemark export writes a view to files.")


def answer(warehouse: Warehouse, sql: str) -> pa.Table:
    """The result of a query in DuckDB's SQL; views on Spark are read from their Delta tables first."""
    _only_reads(sql)
    remote = [v for v in warehouse.deployment.views if v.engine == "spark" and v.name.lower() in sql.lower()]
    try:
        if "duckdb" in warehouse.used_engines():
            from connectors.duckdb.engine import DuckDBEngine

            engine = warehouse.engine("duckdb")
            assert isinstance(engine, DuckDBEngine)
            con = engine.con.cursor()
        else:
            con = scratch()
        con.execute("SET TimeZone = 'UTC'")
        if remote:
            from connectors.spark.engine import SparkEngine

            spark = warehouse.engine("spark")
            assert isinstance(spark, SparkEngine)
            with spark.pinned() as at:  # all of them as they were at one LSN
                for v in remote:
                    con.register(v.name, spark.read(warehouse.view(v.name)[1], at=at))
        return con.execute(sql).to_arrow_table()
    except duckdb.Error as e:
        lines = str(e).split("\n")
        raise InvalidSql("the query failed", detail=lines[0], hint="tidemark query reads DuckDB's SQL.", code="query_failed") from e
