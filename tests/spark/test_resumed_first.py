"""A first deploy on Spark that is killed while it copies a large table: the next one goes on with what is there."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from pipelines import deployment as deployments
from pipelines.deploying.beside import beside
from pipelines.deployment import FILE
from tests.pipelines.test_resumed_copy import CHANGES, VIEWS, deployed, slots
from tests.project import Project

pytestmark = pytest.mark.spark


def ranges(p: Project) -> set[int]:
    """Of `big`, those that are there."""
    with duckdb.connect(str(beside(p.config).warehouse_path / "tidemark.duckdb"), read_only=True) as con:
        return {n for (n,) in con.execute("SELECT number FROM meta.copied_ranges WHERE mirror = 'big'").fetchall()}


def project(home: Path, dsn: str, memory: str) -> Project:
    p = Project.create(home, dsn, {n: VIEWS[n] for n in ("sums", "pairs")}, engine="spark", local_memory=memory)
    p.source(
        "CREATE TABLE big (id int PRIMARY KEY, k int, v int)",
        "CREATE TABLE other (id int PRIMARY KEY, name text)",
        "CREATE TABLE text_rows (id int PRIMARY KEY, kind int, body text)",
        "INSERT INTO big SELECT i, i % 7, i FROM generate_series(1, 8000) i",
        "INSERT INTO other SELECT i, 'other ' || i FROM generate_series(0, 9) i",
    )
    return p


@pytest.mark.parametrize("memory", ["1GB", "200KB", "none"])
def test_each_range_is_copied_once(memory: str, database: str, tmp_path: Path) -> None:
    p = project(tmp_path, database, memory)
    seen: list[set[int]] = []
    for hit in (3, 4):
        code, said = deployed(p, f"snapshot.range=kill:{hit}")
        assert code == -9, said
        seen.append(ranges(p))
        p.source(*CHANGES)
    assert seen[0] < seen[1], seen
    found = deployments.load(beside(p.config).warehouse_path)
    assert found is not None and found.copying is not None
    left = sum(found.copying.ranges.values()) - len(seen[-1])  # of `other`, which is one, nothing may be there
    code, said = deployed(p, f"snapshot.range=kill:{left + 1}")
    assert code == 0, said
    assert slots(p) == 1 and not (beside(p.config).warehouse_path / FILE).exists()
    p.source(*CHANGES)
    p.assert_equal()


def test_an_error_leaves_nothing(database: str, tmp_path: Path) -> None:
    p = project(tmp_path, database, "1GB")
    code, said = deployed(p, "redeploy.copied=raise")
    assert code not in (0, -9), said
    assert slots(p) == 0 and not (p.config.warehouse_path / FILE).exists()
    assert deployed(p)[0] == 0
    p.assert_equal()
