"""A view whose answer hangs on ties: verify tells what differs by them from what is wrong."""

from __future__ import annotations

from pathlib import Path

from pipelines.warehouse import Warehouse
from tests.project import Project

VIEW = {
    "firsts": "SELECT g, id FROM (SELECT g, id, row_number() OVER (PARTITION BY g ORDER BY v) AS n FROM t) x WHERE n "
    "= 1"
}


def test_what_differs_by_ties_is_told_from_what_is_wrong(database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, VIEW)
    p.source(
        "CREATE TABLE t (id int PRIMARY KEY, g int, v int)",
        "INSERT INTO t SELECT i, i % 3, 0 FROM generate_series(60, 1, -1) i",
    )
    done = p.command("deploy")
    assert done.returncode == 0 and "ties" in done.stderr, done.stderr
    done = p.command("verify")
    assert done.returncode == 0 and "firsts: differs by ties, in " in done.stdout, done.stdout
    warehouse = Warehouse(p.config, p.deployed)
    state = warehouse.view("firsts")[1].states[-1].name
    con = warehouse.engine("duckdb").con  # type: ignore[attr-defined]
    (column,) = con.execute(
        "SELECT min(column_name) FROM duckdb_columns() WHERE table_name = ? AND column_name LIKE 'id%'", [state]
    ).fetchone()
    con.execute(f'UPDATE state."{state}" SET "{column}" = 40')
    warehouse.close()
    done = p.command("verify")
    assert done.returncode == 1 and "firsts: DIFFERS" in done.stdout, done.stdout
    assert p.command("verify", "--repair").returncode == 0
