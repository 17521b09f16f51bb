"""What is read at a pin stays as it was, whatever is committed, rewritten, vacuumed, given up and filled again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from connectors.spark import upkeep
from connectors.spark.engine import SparkEngine
from connectors.spark.pins import Pin
from connectors.spark.published import Published, latest
from pipelines import deployment as deployments
from pipelines.asking.query import answer
from pipelines.warehouse import Warehouse
from tests.project import Project

pytestmark = pytest.mark.spark

VIEWS = {
    "totals": "SELECT k, sum(v) AS s FROM t GROUP BY k",
    "rows": "SELECT id, v FROM t WHERE v >= 0",
    "reached": "WITH RECURSIVE r AS (SELECT id, v FROM t WHERE id = 1 "
    "UNION SELECT t.id, t.v FROM t JOIN r ON t.id = r.id + 1) SELECT id, v FROM r",
}
QUESTION = (
    "SELECT (SELECT sum(s) FROM totals)::BIGINT AS a, (SELECT sum(v) FROM rows)::BIGINT AS b, "
    "(SELECT sum(v) FROM reached)::BIGINT AS c"
)


@pytest.fixture
def project(database: str, tmp_path: Path) -> Project:
    p = Project.create(tmp_path, database, VIEWS, "spark")
    p.source(
        "CREATE TABLE t (id int PRIMARY KEY, k int, v int)",
        "INSERT INTO t SELECT g, g % 3, g FROM generate_series(1, 10) g",
    )
    p.deploy()
    return p


@pytest.fixture
def warehouse(project: Project) -> Iterator[Warehouse]:
    w = Warehouse(project.config, deployments.require(project.config.warehouse_path), read_only=True)
    yield w
    w.close()


def engine(w: Warehouse) -> SparkEngine:
    spark = w.engine("spark")
    assert isinstance(spark, SparkEngine)
    return spark


def sums(w: Warehouse, at: Pin | None = None) -> list[int]:
    def total(t: pa.Table, column: str) -> int:
        return sum(x.as_py() for x in t[column])

    spark = engine(w)
    return [total(spark.read(w.view(v)[1], at=at), c) for v, c in (("totals", "s"), ("rows", "v"), ("reached", "v"))]


def test_a_pin_outlives_batches_rewrites_and_vacuums(
    project: Project, warehouse: Warehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OLD_FILES", "KEPT"):
        monkeypatch.setattr(upkeep, name, 0)
    monkeypatch.setattr(upkeep, "COMPACT_FILES", 1)
    spark = engine(warehouse)
    with spark.pinned() as at:
        before = at.lsn
        for _ in range(2):
            project.source("UPDATE t SET v = v + 1")
            project.catch_up()
        assert sums(warehouse, at) == [55, 55, 55] and spark.count("rows", at) == 10
        spark.export(warehouse.view("rows")[1], tmp_path / "out", "csv", at)
        lines = [line for f in (tmp_path / "out").glob("*.csv") for line in f.read_text().splitlines()[1:]]
        assert sum(int(line.split(",")[1]) for line in lines) == 55
        for s in warehouse.view("totals")[1].states:
            spark.drop_state(s.name)
            spark.create_state(s)
        assert sums(warehouse, at) == [55, 55, 55] and at.lsn == before
    with spark.pinned() as now:
        assert sums(warehouse, now) == sums(warehouse) == [75, 75, 75] and now.lsn > before
        assert now.versions == {n: latest(spark.store.path / n) for n in now.versions or {}}
    files = sum(1 for _ in spark.store.path.rglob("*.parquet"))
    project.source("UPDATE t SET v = v + 1 WHERE id = 1")
    project.catch_up()
    assert sum(1 for _ in spark.store.path.rglob("*.parquet")) < files, "what nobody reads any more goes"
    project.assert_equal()


def test_what_is_committed_and_not_published_is_not_seen(
    project: Project, warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.source("UPDATE t SET v = v + 1")

    def crash(self: Published, *args: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as m:
        m.setattr(Published, "publish", crash)
        with pytest.raises(KeyboardInterrupt):
            project.catch_up()
    spark = engine(warehouse)
    ahead = [n for n, v in (spark.store.published.pin().versions or {}).items() if latest(spark.store.path / n) != v]
    assert len(ahead) >= 3, ahead
    assert answer(warehouse, QUESTION).rows.to_pylist() == [{"a": 55, "b": 55, "c": 55}]
    project.catch_up()
    assert answer(warehouse, QUESTION).rows.to_pylist() == [{"a": 65, "b": 65, "c": 65}]


def test_a_warehouse_of_an_older_program_opens(project: Project, warehouse: Warehouse) -> None:
    spark = engine(warehouse)
    (spark.store.path / "frontier.json").write_text(json.dumps({"lsn": spark.store.published.pin().lsn, "moved": 1.0}))
    assert sums(warehouse) == [55, 55, 55]
    project.source("UPDATE t SET v = v + 1")
    project.catch_up()
    assert spark.store.published.pin().versions and sums(warehouse) == [65, 65, 65]
    project.assert_equal()


def test_a_state_that_is_not_there_is_told_of(warehouse: Warehouse) -> None:
    from connectors.engine import EngineFailure

    spark = engine(warehouse)
    with spark.pinned() as at:
        spark.drop_state(warehouse.view("totals")[1].states[-1].name)
        assert sums(warehouse, at) == [55, 55, 55]
    with pytest.raises(EngineFailure, match='view "totals" cannot be read'):
        sums(warehouse)
