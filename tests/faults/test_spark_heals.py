"""Spark's Java is killed between and within the phases of a batch: the same call goes on, and every view is equal."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from connectors.spark import batches, healing, pending
from connectors.spark.batches import Batches
from connectors.spark.engine import SparkEngine
from pipelines import deployment as deployments
from pipelines.warehouse import Warehouse
from tests.project import Project

SOCKETS = "ignore::pytest.PytestUnraisableExceptionWarning"  # those of a Java that was killed
pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.filterwarnings(SOCKETS)]

VIEWS = {
    "totals": "SELECT k, count(*) AS n, sum(v) AS s FROM t GROUP BY k",
    "extremes": "SELECT k, max(v) AS high FROM t GROUP BY k",
    "rows": "SELECT id, v FROM t WHERE v > 3",
}


def kill() -> None:
    """SIGKILL the Java that this process talks to."""
    from pyspark import SparkContext

    assert SparkContext._gateway is not None
    SparkContext._gateway.proc.kill()
    SparkContext._gateway.proc.wait(10)


def project(database: str, home: Path) -> Project:
    p = Project.create(home, database, VIEWS, "spark")
    p.source(
        "CREATE TABLE t (id int PRIMARY KEY, k int, v int)",
        "INSERT INTO t SELECT g, g % 3, g FROM generate_series(1, 30) g",
    )
    p.deploy()
    return p


def test_java_lost_in_a_batch_is_started_again(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(healing, "FIRST", 0.1)
    p = project(database, tmp_path)

    def at(point: str, then: Callable[[], None]) -> None:
        """Do it the first time that the batch is there."""
        left = [then]

        def reach(name: str) -> None:
            if name == point and left:
                left.pop()()

        monkeypatch.setattr(batches, "reach", reach)
        monkeypatch.setattr(pending, "reach", reach)

    def soon() -> None:
        threading.Timer(0.4, kill).start()

    for n, (point, then) in enumerate(
        [
            ("spark.landed", kill),  # phase one, before what it computes
            ("spark.landed", soon),  # in the midst of it
            ("spark.done", kill),  # between the phases
            ("spark.commit", kill),  # phase two, after its first commit
            ("spark.done", soon),  # in the midst of it
        ]
    ):
        caplog.clear()
        at(point, then)
        p.source(
            f"UPDATE t SET v = v + {n + 1}, k = (k + 1) % 4 WHERE id % 2 = 0",
            f"DELETE FROM t WHERE id = {n + 1}",
            f"INSERT INTO t VALUES ({n + 100}, {n}, 1)",
        )
        with caplog.at_level(logging.WARNING, "tidemark"):
            p.catch_up()
        assert "it is tried again" in caplog.text, point
        folder = p.config.warehouse_path / "delta" / "pending"
        assert not any(folder.iterdir()), "the batch is finished"
    p.assert_equal()


def test_java_lost_between_batches_and_under_readers(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(healing, "FIRST", 0.1)
    p = project(database, tmp_path)
    warehouse = Warehouse(p.config, deployments.require(p.config.warehouse_path))
    engine = warehouse.engine("spark")
    assert isinstance(engine, SparkEngine)
    assert engine.count("totals") == 3
    with engine.pinned() as at:
        kill()
        assert engine.read(warehouse.view("totals")[1], at=at).num_rows == 3
        assert at.lsn == engine.frontier()
    kill()
    states = engine.states()
    for s in warehouse.view("extremes")[1].states:  # as a repair does
        engine.drop_state(s.name)
        engine.create_state(s)
    assert engine.states() == states and engine.count("extremes") == 3
    warehouse.close()
    kill()
    p.source("UPDATE t SET k = 7")
    p.catch_up()
    p.assert_equal()


def test_what_does_not_heal_is_told_with_its_reason(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from connectors.engine import EngineFailure

    monkeypatch.setattr(healing, "FIRST", 0.01)
    p = project(database, tmp_path)
    real, tries = Batches._land, []

    def full(self: Batches, *args: object) -> int:
        tries.append(1)
        raise OSError(28, "No space left on device")

    p.source("UPDATE t SET k = 7")
    monkeypatch.setattr(Batches, "_land", full)
    with pytest.raises(EngineFailure, match="a batch failed on Spark") as raised:
        p.catch_up()
    assert "No space left" in raised.value.detail and len(tries) == healing.TRIES
    monkeypatch.setattr(Batches, "_land", real)
    p.assert_equal()
