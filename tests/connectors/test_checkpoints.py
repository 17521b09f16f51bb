"""The file takes what its WAL has after a batch, not in a commit."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from connectors.duckdb import checkpoints
from connectors.duckdb.session import connect

STEP = 100_000  # rows of one insert; larger ones are written to the file at once
ROWS = "SELECT i, hash(i)::VARCHAR AS v FROM range({}, {}) AS r(i)"


@pytest.fixture
def con(tmp_path: Path) -> duckdb.DuckDBPyConnection:
    con = connect(tmp_path / "w.duckdb", read_only=False)
    con.execute(f"CREATE TABLE t AS {ROWS.format(0, 10)}; CHECKPOINT")
    return con


def wal(path: Path) -> int:
    file = path / "w.duckdb.wal"
    return file.stat().st_size if file.exists() else 0


def test_a_commit_makes_none_and_one_that_is_due_is_made(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    path = tmp_path / "w.duckdb"
    con.execute(f"INSERT INTO t {ROWS.format(10, STEP)}")
    assert 0 < wal(tmp_path) < checkpoints.due(path)
    assert not checkpoints.make(con, path)
    for i in range(1, 14):
        con.execute(f"INSERT INTO t {ROWS.format(STEP * i, STEP * (i + 1))}")
    before = wal(tmp_path)
    assert before > checkpoints.due(path)
    assert checkpoints.make(con, path) and wal(tmp_path) == 0
    assert con.execute("SELECT count(*), count(DISTINCT i) FROM t").fetchall() == [(1_400_000, 1_400_000)]


def test_one_is_made_while_others_read(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    reader = con.cursor()
    reader.execute("BEGIN")
    assert reader.execute("SELECT count(*) FROM t").fetchall() == [(10,)]
    for i in range(1, 14):
        con.execute(f"INSERT INTO t {ROWS.format(STEP * i, STEP * (i + 1))}")
    assert checkpoints.make(con, tmp_path / "w.duckdb")
    con.execute("DELETE FROM t WHERE i < 5")
    assert reader.execute("SELECT count(*), sum(i)::BIGINT FROM t").fetchall() == [(10, 45)]
    reader.execute("COMMIT")
    assert reader.execute("SELECT count(*) FROM t").fetchall() == [(1_300_005,)]


def test_without_one_a_commit_bounds_the_wal(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    """Where nobody asks for one."""
    path, sizes = tmp_path / "w.duckdb", []
    for i in range(1, 60):
        con.execute(f"INSERT INTO t {ROWS.format(STEP * i, STEP * (i + 1))}")
        sizes.append(wal(tmp_path))
    assert max(sizes) <= checkpoints.LEAST_WAL * (checkpoints.PUT_OFF + 1)
    assert path.stat().st_size > checkpoints.LEAST_WAL
