"""Mirrors on Spark are rewritten when their log is in many files, once, and files of earlier versions go."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from connectors.spark import store, upkeep
from connectors.spark.session import start
from tests.project import Project

pytestmark = pytest.mark.spark

VIEWS = {
    "totals": "SELECT k, count(*) AS n, max(v) AS top FROM t GROUP BY k",
    "bag": "SELECT a, count(*) AS n FROM loose GROUP BY a",
}


def rewrites(table: Path) -> int:
    commits = [json.loads(line) for f in (table / "_delta_log").glob("*.json") for line in f.read_text().splitlines()]
    return sum(c["commitInfo"]["operationParameters"].get("mode") == "Overwrite" for c in commits if "commitInfo" in c)


def test_a_log_is_folded_once_and_old_files_go(database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upkeep, "COMPACT_FILES", 4)
    monkeypatch.setattr(upkeep, "OLD_FILES", 6)
    monkeypatch.setattr(upkeep, "KEPT", 0)
    p = Project.create(tmp_path, database, VIEWS, "spark")
    p.source(
        "CREATE TABLE t (id int PRIMARY KEY, k int, v int)",
        "CREATE TABLE loose (a int)",
        "ALTER TABLE loose REPLICA IDENTITY FULL",
        "INSERT INTO t SELECT i, i % 5, i FROM generate_series(1, 50) i",
        "INSERT INTO loose SELECT i % 3 FROM generate_series(1, 9) i",
    )
    p.deploy()
    warehouse = p.config.warehouse_path / "delta"
    mirror, state = (
        warehouse / "mirror" / "t",
        next(f for f in (warehouse / "state").iterdir() if f.name.startswith("t_")),
    )

    def change() -> int:
        p.source("UPDATE t SET v = v + 1 WHERE id % 5 = 2", "DELETE FROM t WHERE id IN (SELECT min(id) FROM t)")
        p.catch_up()
        return rewrites(mirror)

    batches = 1
    while not change():
        batches += 1
    assert 1 < batches <= 4
    assert change() == 1  # the log is short again, though its files were there for an hour
    assert sum(1 for _ in mirror.rglob("_log=true/*.parquet")) <= 4
    assert sum(1 for _ in state.glob("*.parquet")) <= 6
    p.assert_equal()


@pytest.mark.parametrize(("limit", "codegen"), [(0, "true"), (1 << 20, "false")])
def test_little_is_interpreted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: int, codegen: str) -> None:
    monkeypatch.setattr(store, "LIGHT", limit)
    (tmp_path / "mirror" / "t").mkdir(parents=True)
    (tmp_path / "mirror" / "t" / "0.parquet").write_bytes(b"x")
    session = start("local[2]", "", {}).newSession()
    kept = store.Store(tmp_path, None, settings={"spark.sql.codegen.factoryMode": "CODEGEN_ONLY"}).paced(session)  # type: ignore[arg-type]
    assert kept.conf.get("spark.sql.codegen.wholeStage") == codegen
    assert kept.conf.get("spark.sql.codegen.factoryMode") != "NO_CODEGEN"  # the user's own settings stay
