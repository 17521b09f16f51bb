"""0 and -0 are equal, and are shown otherwise: files keep the one that was written."""

from __future__ import annotations

from pathlib import Path

import duckdb
import psycopg
import pytest

from tests.project import Project


@pytest.mark.parametrize("memory", ["2GB", "1KB"])
def test_the_sign_of_zero_is_kept_in_files(database: str, tmp_path: Path, memory: str) -> None:
    p = Project.create(tmp_path, database, {"zeros": "SELECT id, d, f FROM z"}, engine="spark", local_memory=memory)
    p.source(
        "CREATE TABLE z (id int PRIMARY KEY, d float8, f float4)",
        "INSERT INTO z SELECT g, z, z FROM generate_series(1, 3000) g, LATERAL "
        "(SELECT CASE WHEN g % 3 = 0 THEN '-0'::float8 WHEN g % 3 = 1 THEN 0 ELSE 'NaN' END AS z) x",
    )
    p.deploy()
    if memory == "2GB":
        for f in (p.config.warehouse_path / "delta").glob("local.duckdb*"):
            f.unlink()  # it is made again of the files
    p.source("INSERT INTO z VALUES (4002, 0, 0)")
    p.catch_up()
    p.command("export", "--to", str(tmp_path / "out"))
    got = duckdb.sql(f"SELECT id, d, f FROM '{tmp_path / 'out'}/zeros.parquet' ORDER BY id").fetchall()
    with psycopg.connect(p.dsn) as c:
        expected = c.execute("SELECT id, d, f FROM z ORDER BY id").fetchall()
    assert [tuple(map(str, r)) for r in got] == [tuple(map(str, r)) for r in expected]
