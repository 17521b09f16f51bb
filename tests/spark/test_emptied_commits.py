"""A commit of a Delta table whose file is empty, as after a power cut: nobody takes it for one that did nothing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.project import Project

pytestmark = pytest.mark.spark
VIEWS = {"v": "SELECT g, count(*) AS n FROM t GROUP BY g", "w": "SELECT id FROM t"}
SCHEMA = (
    "CREATE TABLE t (id int PRIMARY KEY, g int)",
    "INSERT INTO t SELECT i, i % 5 FROM generate_series(1, 50) i",
)


def project(home: Path, dsn: str, memory: str) -> Project:
    p = Project.create(home, dsn, VIEWS, engine="spark", local_memory=memory)
    p.source(*SCHEMA)
    p.deploy()
    p.source("UPDATE t SET g = g + 1 WHERE id < 9", "DELETE FROM t WHERE id = 20")
    p.catch_up()
    return p


def last_commit(p: Project, table: str) -> Path:
    return max((p.config.warehouse_path / "delta" / table / "_delta_log").glob("*.json"))


def test_executors_refuse(database: str, tmp_path: Path) -> None:
    p = project(tmp_path, database, "none")
    os.truncate(last_commit(p, "mirror/t"), 0)
    p.source("INSERT INTO t VALUES (100, 1)")
    for command in (("query", "SELECT * FROM w"), ("run", "--once"), ("export", "--to", str(tmp_path / "out"))):
        done = p.command(*command)
        assert done.returncode and "deploy --resync" in done.stderr and "Traceback" not in done.stderr, done.stderr
    assert p.command("deploy", "--resync").returncode == 0
    p.assert_equal()


@pytest.mark.parametrize("table", ["mirror/t", "views/v"])
def test_the_driver_writes_them_anew(table: str, database: str, tmp_path: Path) -> None:
    p = project(tmp_path, database, "1GB")
    os.truncate(last_commit(p, table), 0)
    p.source("INSERT INTO t VALUES (100, 1)")
    p.assert_equal()
    for f in (p.config.warehouse_path / "delta").glob("local.duckdb*"):
        f.unlink()
    p.assert_equal()


def test_the_driver_makes_no_file_of_it(database: str, tmp_path: Path) -> None:
    p = project(tmp_path, database, "1GB")
    for f in (p.config.warehouse_path / "delta").glob("local.duckdb*"):
        f.unlink()
    os.truncate(last_commit(p, "mirror/t"), 0)
    done = p.command("run", "--once")
    assert done.returncode and "is damaged" in done.stderr and "deploy --resync" in done.stderr, done.stderr
