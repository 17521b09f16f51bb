"""A deploy that is killed while it copies an altered table again: the next one does it, or a run; the rest goes on."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from connectors.failpoints import VARIABLE
from pipelines.warehouse import HEALING_FILE
from tests.project import Project

VIEWS = {
    "by_g": "SELECT g, count(*) AS n FROM t GROUP BY g",
    "ids": "SELECT count(*) AS n, max(id) AS m FROM t",
    "other": "SELECT x, count(*) AS n FROM u GROUP BY x",
}
SCHEMA = (
    "CREATE TABLE t (id int PRIMARY KEY, g int)",
    "CREATE TABLE u (id int PRIMARY KEY, x int)",
    "INSERT INTO t SELECT i, i % 5 FROM generate_series(1, 500) i",
    "INSERT INTO u SELECT i, i % 3 FROM generate_series(1, 50) i",
)


@pytest.mark.parametrize("engine", ["duckdb", pytest.param("spark", marks=[pytest.mark.spark, pytest.mark.slow])])
@pytest.mark.parametrize("where", ["snapshot.chunk=kill:1", "snapshot.chunk=raise:1", "redeploy.copied=kill:1"])
@pytest.mark.parametrize("by", ["deploy", "run"])
def test_it_is_copied_by_the_next(
    by: str, where: str, engine: str, database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    p = Project.create(tmp_path, database, VIEWS, engine=engine, local_memory="1GB")
    p.source(*SCHEMA)
    p.deploy()
    p.source("ALTER TABLE t ALTER g TYPE int USING g + 10", "INSERT INTO t VALUES (501, 1)")
    p.catch_up()
    assert {v.name for v in p.deployed.views if v.error} == {"by_g"}
    monkeypatch.setenv(VARIABLE, where)
    assert p.command("deploy").returncode in (-9, 1)
    monkeypatch.delenv(VARIABLE)
    p.source("UPDATE t SET g = g + 1 WHERE id % 7 = 0", "UPDATE u SET x = x + 1 WHERE id % 7 = 0")
    if by == "deploy":  # a run has tried it just now, and does not again
        note = {"at": time.time(), "seconds": 100.0}
        (p.config.warehouse_path / HEALING_FILE).write_text(json.dumps(note))
        p.catch_up()
        assert {v.name for v in p.deployed.views if v.error} == {"by_g", "ids"}
        assert {r.view for r in p.verify() if not r.equal} == {"by_g", "ids"}
        p.source("DELETE FROM t WHERE id % 9 = 0")
        p.deploy()
    else:
        p.catch_up()
    assert not [v for v in p.deployed.views if v.error]
    p.source("UPDATE t SET g = g + 1 WHERE id % 5 = 0")
    p.assert_equal()
