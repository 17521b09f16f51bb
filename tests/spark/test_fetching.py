"""Rows by keys through Spark: told in the query where they can be, of every type as DuckDB finds them."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from connectors.spark.driver import Driver
from connectors.spark.local import fetching
from connectors.spark.local.dist import Request
from connectors.spark.local.fetching import SparkReader
from connectors.spark.local.near import NearReader

pytestmark = [
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),  # pyspark leaves its sockets open
]
D = datetime.date
COLUMNS: dict[str, tuple[pa.DataType, list[Any]]] = {
    "i": (pa.int32(), [1, 2, -3, None, 2**31 - 1, 7]),
    "l": (pa.int64(), [1, 2**53 + 1, -(2**63), None, 2**63 - 1, 0]),
    "t": (pa.string(), ["a", "it's", "\\n back\\\\", None, "", "ünï ☃ '); ${env:HOME} \" `"]),
    "d": (pa.date32(), [D(2024, 2, 29), D(1, 1, 1), D(9999, 12, 31), None, D(1970, 1, 1), D(1582, 10, 15)]),
    "n": (
        pa.decimal128(12, 2),
        [Decimal("1.10"), Decimal("-2.00"), Decimal("0.00"), None, Decimal("5.55"), Decimal(9)],
    ),
    "f": (pa.float64(), [1.5, 0.1, -0.0, None, 1e300, 2.0]),
}


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> SparkReader:
    return SparkReader(Driver("local[2]", "", {}), tmp_path_factory.mktemp("fetched") / "files")


@contextmanager
def little_room(reader: SparkReader) -> Iterator[None]:
    """The driver takes no more of a job than eight kilobytes."""
    conf = reader.driver.session.sparkContext._jsc.sc().conf()
    before = conf.get("spark.driver.maxResultSize", "1g")
    conf.set("spark.driver.maxResultSize", "8k")
    try:
        yield
    finally:
        conf.set("spark.driver.maxResultSize", before)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    rows = pa.table({"at": pa.array(range(6)), **{n: pa.array(v, t) for n, (t, v) in COLUMNS.items()}})
    pq.write_table(rows, tmp_path / "base.parquet")
    return tmp_path / "base.parquet"


def keys(column: str, places: list[int], more: list[Any]) -> pa.Table:
    t, values = COLUMNS[column]
    return pa.table({"_k0": pa.array([values[p] for p in places] + more, t)})


def requests(file: Path) -> Iterator[Request]:
    for c in COLUMNS:
        for places in ([0], [1, 2], [3], [4, 5, 3], []):
            yield Request([file], [c], ["at", c], keys(c, places, []))
    both = pa.table({"_k0": pa.array([1, 7], pa.int32()), "_k1": pa.array(["a", None], pa.string())})
    yield Request([file], ["i", "t"], ["at"], both)


def test_what_is_found_is_what_has_the_keys(file: Path, reader: SparkReader) -> None:
    asked = list(requests(file))
    for r, got, expected in zip(asked, reader.rows(asked), NearReader().rows(asked), strict=True):
        told = (r.by, r.keys.to_pydict())
        if len(r.by) == 1:
            assert sorted(got["at"].to_pylist()) == sorted(expected["at"].to_pylist()), told
        else:  # of a pair it may find more
            assert {*expected["at"].to_pylist()} <= {*got["at"].to_pylist()}, told


def test_what_is_too_much_for_the_driver_comes_by_files(file: Path, reader: SparkReader) -> None:
    """And back again."""
    asked, before = list(requests(file)), reader.by_files
    plain = reader.rows(asked)
    with little_room(reader):
        for _ in range(3):
            found = reader.rows(asked)
    assert reader.by_files == before + 3 and len(list(reader.folder.iterdir())) == 2
    for r, got, expected in zip(asked, found, plain, strict=True):
        rows, same = got.to_table(), expected
        assert rows.column_names == same.column_names == r.columns
        assert sorted(map(str, rows.to_pylist())) == sorted(map(str, same.to_pylist()))
    for _ in range(2):
        reader.rows(asked)
    assert reader.by_files == before + 3 and not list(reader.folder.iterdir())


def test_a_round_is_one_job_of_one_stage(file: Path, reader: SparkReader, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = [r for r in requests(file) if r.by[0] in ("i", "l", "t", "d") and r.keys.num_rows]
    tracker = reader.driver.session.sparkContext.statusTracker()

    def counted() -> tuple[int, int]:
        before = set(tracker.getJobIdsForGroup(None))
        reader.rows(asked)
        new = [tracker.getJobInfo(i) for i in set(tracker.getJobIdsForGroup(None)) - before]
        return len(new), sum(len(i.stageIds) for i in new if i is not None)

    assert counted() == (1, 1)
    monkeypatch.setattr(fetching, "LISTED", 0)  # where there are too many they are broadcast
    assert counted()[0] > 1
