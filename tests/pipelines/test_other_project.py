"""A warehouse has the views of one project: a deploy in another folder does not drop them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from tests.project import Project

SCHEMA = ("CREATE TABLE t (id int PRIMARY KEY, g int)", "INSERT INTO t SELECT i, i % 3 FROM generate_series(1, 9) i")


def two(tmp_path: Path, database: str) -> tuple[Project, Project]:
    """Two projects with one warehouse, of which the first is deployed."""
    first = Project.create(tmp_path / "one", database, {"counts": "SELECT g, count(*) AS n FROM t GROUP BY g"})
    first.source(*SCHEMA)
    first.deploy()
    second = Project.create(tmp_path / "two", database, {"total": "SELECT sum(g) AS s FROM t"})
    config = second.home / "tidemark.toml"
    config.write_text(f'{config.read_text()}\n[warehouse]\npath = "{first.config.warehouse_path}"\n')
    return first, second


def test_a_deploy_in_another_folder_is_refused(tmp_path: Path, database: str) -> None:
    first, second = two(tmp_path, database)
    for more in ((), ("--resync",)):
        got = second.command("deploy", *more)
        assert got.returncode == 1 and str(first.home) in got.stderr and "of its own" in got.stderr
    assert list(first.maintenance) == ["counts"]
    first.assert_equal()


def test_a_project_that_was_moved_goes_on(tmp_path: Path, database: str) -> None:
    first = Project.create(tmp_path / "one", database, {"counts": "SELECT g, count(*) AS n FROM t GROUP BY g"})
    first.source(*SCHEMA)
    first.deploy()
    shutil.move(first.home, tmp_path / "moved")
    moved = Project(tmp_path / "moved", database)
    moved.write({"total": "SELECT sum(g) AS s FROM t"})
    assert moved.command("deploy").returncode == 0
    assert sorted(moved.maintenance) == ["counts", "total"]
    moved.assert_equal()


def test_one_that_an_older_version_deployed_is_taken_over(tmp_path: Path, database: str) -> None:
    first, second = two(tmp_path, database)
    file = first.config.warehouse_path / "deployment.json"
    known = json.loads(file.read_text())
    del known["project"]
    file.write_text(json.dumps(known))
    second.deploy()
    assert list(second.maintenance) == ["total"]
