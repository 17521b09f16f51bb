"""Mirrors in DuckDB are rewritten when deleted rows have become many; nothing about them changes."""

from __future__ import annotations

from pathlib import Path

from connectors.duckdb import engine as module
from pipelines import deployment as deployments
from pipelines.warehouse import Warehouse
from tests.project import Project

VIEWS = {
    "totals": "SELECT k, count(*) AS n, max(v) AS top FROM t GROUP BY k",
    "bag": "SELECT a, count(*) AS n FROM loose GROUP BY a",
}


def test_rewriting_changes_no_answer(database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, VIEWS)
    p.source(
        "CREATE TABLE t (id int PRIMARY KEY, k int, v numeric)",
        "CREATE TABLE loose (a int, b text)",
        "ALTER TABLE loose REPLICA IDENTITY FULL",
        "INSERT INTO t SELECT i, i % 7, i FROM generate_series(1, 500) i",
        "INSERT INTO loose SELECT i % 3, 'x' FROM generate_series(1, 50) i",
    )
    p.deploy()
    p.catch_up()
    d = deployments.require(p.config.warehouse_path)
    warehouse = Warehouse(p.config, d)
    try:
        engine = warehouse.engine("duckdb")
        assert isinstance(engine, module.DuckDBEngine)
        engine.con.execute("DELETE FROM base.t WHERE id > 400")  # as a batch would, without the checkpoint of a close
        engine.con.execute("INSERT INTO base.t SELECT i, i % 7, i FROM range(401, 501) r(i)")
        tables = [d.table(t) for t in d.tables["duckdb"]]
        assert engine.compact(tables) == []  # too few to be worth it
        assert set(engine.compact(tables, force=True)) >= {"t"}
        assert engine.con.execute("SELECT max(rowid) + 1, count(*) FROM base.t").fetchone() == (500, 500)
        assert engine.compact(tables, force=True) == []
    finally:
        warehouse.close()
    p.source("UPDATE t SET k = k + 1 WHERE id < 100", "INSERT INTO loose VALUES (1, NULL)")
    p.assert_equal()
