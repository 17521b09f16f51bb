"""What Spark raises, told apart by class and SQLSTATE: of the data, passing, or neither; and what is tried again."""

from __future__ import annotations

import logging
import os
import threading
import time
from pathlib import Path

import pytest

from compiler.errors import InvalidSql
from connectors.failpoints import FailpointReached
from connectors.spark import healing
from connectors.spark.driver import alive
from connectors.spark.engine import SparkEngine
from connectors.spark.failures import SparkFailure, conflicts, failure
from connectors.spark.healing import TRIES, Healing
from connectors.spark.published import latest
from connectors.spark.store import Store
from dialects.spark.printer import SparkPrinter

SOCKETS = "ignore::pytest.PytestUnraisableExceptionWarning"  # those of a Java that was killed
pytestmark = [pytest.mark.spark, pytest.mark.filterwarnings(SOCKETS)]
SLOW = "SELECT CASE WHEN java_method('java.lang.Thread', 'sleep', 5000L) IS NULL THEN 1 END AS id"


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SparkEngine:
    monkeypatch.setattr(healing, "FIRST", 0.01)
    return SparkEngine(Store(tmp_path / "delta", SparkPrinter(tmp_path / "delta"), "local[2]"))


@pytest.mark.parametrize(
    ("sql", "state", "heals"),
    [
        ("SELECT 1 / id AS x FROM range(2)", "s", False),
        ("SELECT CAST(CONCAT('x', id) AS INT) AS x FROM range(2)", "s", False),
        ("SELECT CAST(id + 9223372036854775807 AS BIGINT) + 1 AS x FROM range(2)", "s", False),
        ("SELECT (SELECT id FROM range(2)) AS x", "s", False),
        ("SELECT raise_error('no') AS x", "s", False),
        ("SELECT nope", "s", False),
        ("SELEC 1", "s", False),
        ("SELECT 1 AS x", "", True),  # to a folder that cannot be made
    ],
)
def test_failures_by_their_kind(engine: SparkEngine, tmp_path: Path, sql: str, state: str, heals: bool) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(Exception) as raised:
        engine.store.spark.sql(sql).write.parquet(str(tmp_path / ("file" if heals else "rows") / "x"))
    found = failure("a statement", raised.value, "s")
    assert (found.state, found.heals, "SQLSTATE" in found.detail or heals) == (state, heals, True), found.detail


@pytest.mark.parametrize("damage", ["cut", "gone"])
def test_a_file_that_cannot_be_read_is_told_with_the_way_out(engine: SparkEngine, tmp_path: Path, damage: str) -> None:
    folder = tmp_path / "rows"
    engine.store.spark.range(9).coalesce(1).write.parquet(str(folder))
    rows = engine.store.spark.read.parquet(str(folder))
    (file,) = folder.glob("*.parquet")
    os.truncate(file, 9) if damage == "cut" else file.unlink()
    with pytest.raises(Exception, match="FAILED_READ_FILE") as e:
        rows.collect()
    assert "deploy --resync" in failure("reading", e.value).hint


def test_a_conflicting_commit_is_tried_again(engine: SparkEngine) -> None:
    target = engine.store.path / "state" / "a"
    engine.store.sql(f"CREATE TABLE delta.`{target}` USING delta AS SELECT 1 AS id, 0 AS n")
    begun, causes = threading.Event(), []

    def commit() -> None:
        text = "SELECT 1 AS id" if begun.is_set() else SLOW
        begun.set()
        try:
            engine.batches._tagged(
                f"MERGE INTO delta.`{target}` s USING ({text}) d ON s.id = d.id "
                "WHEN MATCHED THEN UPDATE SET n = n + 10",
                "state/a",
                7,
            )
        except SparkFailure as e:
            causes.append(conflicts(e.__cause__ or e))
            raise

    def between() -> None:
        begun.wait()
        time.sleep(2.5)
        engine.store.spark.newSession().sql(f"UPDATE delta.`{target}` SET n = 1")

    other = threading.Thread(target=between)
    other.start()
    engine.store.healing.run("a batch", commit)
    other.join()
    assert causes == [True]
    assert [tuple(r) for r in engine.store.sql(f"SELECT id, n FROM delta.`{target}`").collect()] == [(1, 11)]
    version = latest(target)
    engine.store.healing.run("a batch", commit)  # Delta has this LSN
    assert latest(target) == version


def test_a_lost_java_is_started_again(engine: SparkEngine, caplog: pytest.LogCaptureFixture) -> None:
    from pyspark import SparkContext

    target = engine.store.path / "state" / "a"
    engine.store.sql(f"CREATE TABLE delta.`{target}` USING delta AS SELECT 1 AS id")
    first = engine.store.spark
    assert alive(first) and SparkContext._gateway is not None
    SparkContext._gateway.proc.kill()
    with caplog.at_level(logging.WARNING, "tidemark"):
        rows = engine.store.healing.run(
            "reading", lambda: engine.store.sql(f"SELECT id FROM delta.`{target}`").collect()
        )
    assert [r.id for r in rows] == [1] and not alive(first) and alive(engine.store.spark)
    assert "it is tried again" in caplog.text
    other = SparkEngine(Store(engine.store.path, SparkPrinter(engine.store.path), "local[2]"))
    assert other.store.spark is not first and alive(other.store.spark)


def test_tries_are_bounded_and_only_for_what_may_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(healing, "FIRST", 0.0)
    mended, tries = [], []
    h = Healing(lambda: mended.append(1))

    def fail(e: BaseException) -> None:
        tries.append(e)
        raise e

    with pytest.raises(SparkFailure, match="a batch failed on Spark") as raised:
        h.run("a batch", lambda: fail(OSError(28, "No space left on device")))
    assert (len(tries), len(mended)) == (TRIES, TRIES - 1)
    assert "No space left" in raised.value.detail and raised.value.hint
    for e in (PermissionError(13, "no"), InvalidSql("no"), FailpointReached("x"), KeyError("x"), SparkFailure("no")):
        tries.clear()
        with pytest.raises(SparkFailure if isinstance(e, OSError) else type(e)):
            h.run("a batch", lambda e=e: fail(e))  # type: ignore[misc]
        assert len(tries) == 1
    h.closed = True
    tries.clear()
    with pytest.raises(SparkFailure):
        h.run("a batch", lambda: fail(OSError("no")))
    assert len(tries) == 1


def test_what_is_made_is_not_for_others(tmp_path: Path) -> None:
    old = os.umask(0o077)
    try:
        engine = SparkEngine(Store(tmp_path / "delta", SparkPrinter(tmp_path / "delta"), "local[2]"))
        engine.store.sql(f"CREATE TABLE delta.`{engine.store.path / 'state' / 'a'}` USING delta AS SELECT 1 AS id")
        engine.store.spark.sql("SELECT 1 AS x").write.parquet(str(engine.store.pending.begin(3) / "x"))
        engine.store.published.publish(["state/a"], 1)
    finally:
        os.umask(old)
    made = [engine.store.path, *engine.store.path.rglob("*")]
    assert len(made) > 10 and not [f for f in made if f.stat().st_mode & 0o077]
