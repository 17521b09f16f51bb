"""Rows by keys in tasks of executors: what a scan finds, by indexes that tasks make; and the faster of two ways."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from connectors.spark.driver import Driver
from connectors.spark.local import tasks
from connectors.spark.local.dist import Request
from connectors.spark.local.fastest import FAILURES, FastestReader, Means
from connectors.spark.local.fetching import SparkReader
from connectors.spark.local.index_files import OF
from connectors.spark.local.near import FOLDER, NearReader
from connectors.spark.local.tasks import TaskReader
from tests.spark.test_fetching import little_room
from tests.spark.test_index_files import base, found, request

pytestmark = [
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),  # pyspark leaves its sockets open
]


@pytest.fixture(scope="module")
def driver() -> Driver:
    return Driver("local[2]", "", {})


def small(root: str, keys: list[bytes], task: tasks.Task, least: int = 0) -> tasks.Found:
    """As `_found`, with an index of few rows and after one scan."""
    from connectors.spark.local import index_files

    index_files.LEAST, index_files.SHARE = least, 0.0
    return tasks.found(root, keys, task)


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TaskReader, "work", staticmethod(small))


def same(requests: Sequence[Request], got: list[Any], expected: list[pa.Table]) -> None:
    for r, g, e in zip(requests, got, expected, strict=True):
        assert g.schema.equals(e.schema)
        assert not found(e) - found(g), (r.by, r.keys.to_pydict())
        assert not found(g) - found(e) or "a" in r.by


def indexes(root: Path) -> list[Path]:
    return sorted(f.parent for f in (root / FOLDER).glob(f"*/{OF}"))


@pytest.mark.usefixtures("at_once")
def test_what_tasks_find_is_what_a_scan_finds(driver: Driver, tmp_path: Path) -> None:
    rng = random.Random(1)
    files = base(tmp_path, rng)
    reader, scans = TaskReader(driver, tmp_path), NearReader()
    for _ in range(25):
        asked = [request(files, rng) for _ in range(rng.randint(1, 3))]
        same(asked, reader.rows(asked), scans.rows(asked))
    assert len(indexes(tmp_path)) > 3


@pytest.mark.usefixtures("at_once")
def test_what_waits_for_no_index_is_told(driver: Driver, tmp_path: Path) -> None:
    rng = random.Random(2)
    files = base(tmp_path, rng)
    asked = [Request(files, ["i"], ["at", "t"], pa.table({"_k0": pa.array([1, 7], pa.int32())}))]
    reader = TaskReader(driver, tmp_path)
    waited = []
    for _ in range(8):  # two processes may find it
        reader.rows(asked)
        waited.append(reader.awaited)
    assert waited[0] and not waited[-1] and len(indexes(tmp_path)) == 1
    files[0].rename(files[0].with_name("base-9.parquet"))  # the base is another one
    asked[0].files = [files[0].with_name("base-9.parquet"), *files[1:]]
    reader.rows(asked)
    same(asked, reader.rows(asked), NearReader().rows(asked))
    assert len(indexes(tmp_path)) == 1


def fastest_reader(driver: Driver, root: Path) -> FastestReader:
    return FastestReader(TaskReader(driver, root), SparkReader(driver, root / "fetched"))


def some(root: Path) -> list[Request]:
    files = base(root, random.Random(3))
    return [Request(files, ["i"], ["at", "t"], pa.table({"_k0": pa.array([1, 7, 2], pa.int32())}))]


def test_both_are_tried_and_the_faster_is_taken(driver: Driver, tmp_path: Path) -> None:
    asked, reader = some(tmp_path), fastest_reader(driver, tmp_path)
    (expected,) = NearReader().rows(asked)
    for _ in range(6):
        (got,) = reader.rows(asked)
        assert found(pa.table(got)) == found(expected)
    ((kind, _),) = {k for k in reader.ways.seconds if k[1] is Means.QUERY}
    assert len(reader.ways.seconds[kind, Means.TASKS]) >= 2 and reader.ways.seconds[kind, Means.QUERY]
    assert reader.jobs == 6 and reader.query.jobs >= 2  # the first query of a kind does not count


def no_packages(root: str, keys: list[bytes], task: tasks.Task) -> tasks.Found:
    raise ModuleNotFoundError("No module named 'connectors'")


def test_tasks_that_fail_are_asked_no_more(
    driver: Driver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(TaskReader, "work", staticmethod(no_packages))
    asked, reader = some(tmp_path), fastest_reader(driver, tmp_path)
    (expected,) = NearReader().rows(asked)
    for _ in range(FAILURES + 2):
        (got,) = reader.rows(asked)
        assert found(pa.table(got)) == found(expected)
    assert caplog.text.count("No module named 'connectors'") == FAILURES and "from now on" in caplog.text
    assert reader.failed == FAILURES and reader.query.jobs == FAILURES + 2


def test_what_is_too_much_for_the_driver_comes_by_files(driver: Driver, tmp_path: Path) -> None:
    asked, reader = some(tmp_path), fastest_reader(driver, tmp_path)
    (expected,) = NearReader().rows(asked)
    with little_room(reader.query):
        (got,) = reader.rows(asked)
    rows = got if isinstance(got, pa.Table) else got.to_table()
    assert found(rows) == found(expected) and not reader.failed
