"""Indexes of bases: they find what a scan finds, or rows too many, and what is no whole index is none."""

from __future__ import annotations

import datetime
import random
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from connectors.spark.local import index_files
from connectors.spark.local.dist import Request
from connectors.spark.local.near import FOLDER, NearReader

D = datetime.date
TEXTS = ["a", "", "it's", "ünï ☃", "x" * 40, None]
COLUMNS: dict[str, tuple[pa.DataType, list[Any]]] = {
    "i": (pa.int32(), [1, 2, -3, None, 2**31 - 1, 7]),
    "l": (pa.int64(), [1, 2**53 + 1, -(2**63), None, 2**63 - 1, 0]),
    "t": (pa.string(), TEXTS),
    "d": (pa.date32(), [D(2024, 2, 29), D(1, 1, 1), D(9999, 12, 31), None, D(1970, 1, 1), D(1582, 10, 15)]),
    "n": (
        pa.decimal128(12, 2),
        [Decimal("1.10"), Decimal("-2.00"), Decimal("0.00"), None, Decimal("5.55"), Decimal(9)],
    ),
    "b": (pa.binary(), [b"", b"\x00", b"\xff\x00", None, b"'", b"a"]),
    "a": (pa.list_(pa.int32()), [[], [1], [1, None], None, [2, 3], [1, 1]]),
    "f": (pa.float64(), [1.5, 0.1, -0.0, None, 0.0, 2.0]),
}


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """An index is made after one scan, of few rows, and of no more than so many."""
    monkeypatch.setattr(index_files, "LEAST", 0)
    monkeypatch.setattr(index_files, "SHARE", 0.0)
    monkeypatch.setattr(index_files, "SEGMENT", 50)


def base(root: Path, rng: random.Random, rows: int = 120) -> list[Path]:
    files, at = [], 0
    for n in range(rng.randint(1, 5)):
        count = rng.randint(0, rows // 3)
        data = {"at": pa.array(range(at, at + count), pa.int64())}
        data |= {c: pa.array([rng.choice(v) for _ in range(count)], t) for c, (t, v) in COLUMNS.items()}
        at += count
        path = root / "mirror" / f"base-{n}.parquet"
        path.parent.mkdir(exist_ok=True)
        pq.write_table(pa.table(data), path)
        files.append(path)
    return files


def request(files: list[Path], rng: random.Random) -> Request:
    by = rng.sample([*COLUMNS], rng.randint(1, 2))
    count = rng.randint(0, 4)
    keys = {
        f"_k{i}": pa.array([rng.choice(COLUMNS[c][1]) for _ in range(count)], COLUMNS[c][0]) for i, c in enumerate(by)
    }
    return Request(files, by, ["at", *rng.sample([*COLUMNS], rng.randint(0, 3))], pa.table(keys))


def found(rows: pa.Table) -> Counter[str]:
    return Counter(str(r) for r in rows.to_pylist())


@pytest.mark.parametrize("seed", range(8))
def test_what_is_found_is_what_a_scan_finds(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    files = base(tmp_path, rng)
    scans, indexed = NearReader(), NearReader(tmp_path)
    for i in range(120):
        if i == 40:
            indexed = NearReader(tmp_path)  # another process
        r = request(files, rng)
        (expected,), (got,) = scans.rows([r]), indexed.rows([r])
        assert got.schema.equals(expected.schema)
        missing, more = found(expected) - found(got), found(got) - found(expected)
        assert not missing, (r.by, r.keys.to_pydict())
        assert not more or "a" in r.by, (r.by, r.keys.to_pydict())  # [] and [1, 1] have one hash
    assert indexed.indexes is not None and len([s for s in indexed.indexes.open.values() if s is not None]) > 10


def one(root: Path, n: int = 100) -> tuple[Request, Path]:
    (root / "mirror").mkdir(exist_ok=True)
    file = root / "mirror" / "base.parquet"
    pq.write_table(pa.table({"k": pa.array(range(n)), "x": pa.array([i % 7 for i in range(n)])}), file)
    return Request([file], ["k"], ["k", "x"], pa.table({"_k0": pa.array([3, n - 1, 10 * n])})), file


def asked(root: Path, r: Request, times: int = 1) -> list[tuple[int, int]]:
    reader = NearReader(root)
    for _ in range(times):
        rows = reader.rows([r])[0]
    return sorted((x["k"], x["x"]) for x in rows.to_pylist())


def test_a_file_that_was_written_anew_has_another_index(tmp_path: Path) -> None:
    r, _ = one(tmp_path)
    assert asked(tmp_path, r, 2) == [(3, 3), (99, 1)]
    r, _ = one(tmp_path, 50)
    assert asked(tmp_path, r, 2) == [(3, 3), (49, 0)]
    assert len([*(tmp_path / FOLDER).iterdir()]) == 1


def cut(name: str) -> Callable[[Path], None]:
    def do(folder: Path) -> None:
        data = (folder / name).read_bytes()
        (folder / name).write_bytes(data[: len(data) // 2])

    return do


@pytest.mark.parametrize(
    "damage",
    [
        cut(index_files.OF),
        cut(index_files.ROWS),
        cut(index_files.HASHES),
        lambda folder: (folder / index_files.OF).unlink(),
        lambda folder: (folder / index_files.HASHES).write_bytes(b""),
    ],
)
def test_what_is_not_whole_is_made_again(damage: Callable[[Path], None], tmp_path: Path) -> None:
    r, _ = one(tmp_path)
    asked(tmp_path, r)
    (folder,) = (tmp_path / FOLDER).iterdir()
    damage(folder)
    reader = NearReader(tmp_path)
    assert reader.indexes is not None and reader.indexes.find(r) == ([], r.files)
    assert asked(tmp_path, r, 2) == [(3, 3), (99, 1)]
    assert NearReader(tmp_path).indexes.find(r)[1] == []  # type: ignore[union-attr]


def test_indexes_of_bases_that_are_gone_are_deleted(tmp_path: Path) -> None:
    r, file = one(tmp_path)
    asked(tmp_path, r)
    (tmp_path / FOLDER / ".begun").mkdir()
    other = file.with_name("other.parquet")
    file.rename(other)
    r.files = [other]
    assert asked(tmp_path, r, 2) == [(3, 3), (99, 1)]
    assert len([*(tmp_path / FOLDER).iterdir()]) == 1


def test_a_base_that_is_gone_is_no_answer(tmp_path: Path) -> None:
    r, file = one(tmp_path)
    reader = NearReader(tmp_path)
    reader.rows([r])
    reader.rows([r])
    file.unlink()
    again = NearReader(tmp_path)
    with pytest.raises(duckdb.Error):
        again.rows([r])


def test_another_column_is_taken_into_the_index(tmp_path: Path) -> None:
    r, _ = one(tmp_path)
    narrow = Request(r.files, ["k"], ["k"], r.keys)
    reader = NearReader(tmp_path)
    for _ in range(2):
        reader.rows([narrow])
    assert reader.indexes is not None and reader.indexes.find(r)[1] == r.files
    reader.rows([r])
    assert reader.indexes.find(r)[1] == [] and reader.indexes.find(narrow)[1] == []
    assert sorted(x["x"] for x in reader.rows([r])[0].to_pylist()) == [1, 3]


def test_without_room_there_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(index_files, "DISK", float("inf"))
    r, _ = one(tmp_path)
    assert asked(tmp_path, r, 3) == [(3, 3), (99, 1)]
    assert caplog.text.count("have no index") == 1 and not [*(tmp_path / FOLDER).iterdir()]


def test_processes_that_share_a_folder_make_one_index(tmp_path: Path) -> None:
    r, _ = one(tmp_path)
    readers = [NearReader(tmp_path, shared=True) for _ in range(4)]
    for reader in readers:
        reader.con.execute("SET threads = 1")
    readers[0].rows([r])
    (folder,) = (tmp_path / FOLDER).iterdir()
    made = (folder / index_files.ROWS).stat().st_ino
    for reader in readers:
        reader.rows([r])
        assert not reader.awaited
    wide = Request(r.files, ["k"], ["k"], r.keys)
    for reader in readers:
        reader.rows([wide])
        assert not reader.awaited
    assert (folder / index_files.ROWS).stat().st_ino == made
    other = Request(r.files, ["k"], ["x"], r.keys)
    assert sorted(x["x"] for x in readers[1].rows([other])[0].to_pylist()) == [1, 3]


def test_what_others_made_keeps_their_columns(tmp_path: Path) -> None:
    r, _ = one(tmp_path)
    first, second = NearReader(tmp_path, shared=True), NearReader(tmp_path, shared=True)
    second.rows([Request(r.files, ["x"], ["k"], pa.table({"_k0": pa.array([3])}))])
    first.rows([Request(r.files, ["k"], ["k"], r.keys)])
    second.rows([r])  # by another column more
    first.rows([Request(r.files, ["k"], ["k"], r.keys)])
    assert not first.awaited
    first.rows([r])
    assert not first.awaited
