"""Files of views on Spark: JSON by the type its values share, intervals and arrays of them in seconds."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from pipelines.asking.export import export
from tests.project import Project

pytestmark = [
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]  # Spark leaves a socket to the garbage collector


def test_files_hold_json_and_intervals(database: str, tmp_path: Path) -> None:
    p = Project.create(
        tmp_path,
        database,
        {"v": "SELECT id, j -> 'n' AS n, iv, array_agg(iv) OVER (ORDER BY id) AS ivs FROM t"},
        "spark",
    )
    p.source(
        "CREATE TABLE t (id int PRIMARY KEY, j jsonb, iv interval)",
        """INSERT INTO t VALUES (1, '{"n": 7}', '1 year 2 mons'), (2, '{"n": 8}', '1 day -02:00'), (3, '{}', NULL)""",
    )
    p.deploy()
    export(p.config, [], tmp_path / "out", "parquet")
    path = tmp_path / "out" / "v.parquet"
    rows = duckdb.sql(
        f"SELECT id, n, iv, ivs FROM read_parquet('{path}{'/*.parquet' if path.is_dir() else ''}') ORDER BY id"
    ).fetchall()
    year, day = (365 + 60) * 86400.0, 79200.0
    assert rows == [(1, 7, year, [year]), (2, 8, day, [year, day]), (3, None, None, [year, day, None])]


def test_files_hold_reals_by_the_digits_that_are_shown(database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, {"v": "SELECT id, r, rs, r::text AS t FROM t"}, "spark")
    p.source(
        "CREATE TABLE t (id int PRIMARY KEY, r real, rs real[])",
        "INSERT INTO t VALUES (1, 255455.625, '{0.1,NULL}'), (2, 1234567890, '{258083.875}'), "
        "(3, 9.62774e18, NULL), (4, -0.25, '{}'), (5, NULL, NULL)",
    )
    p.deploy()
    export(p.config, [], tmp_path / "out", "parquet")
    path = tmp_path / "out" / "v.parquet"
    rows = duckdb.sql(
        f"SELECT * FROM read_parquet('{path}{'/*.parquet' if path.is_dir() else ''}') ORDER BY id"
    ).fetchall()
    assert rows == [
        (1, 255455.62, [0.1, None], "255455.62"),
        (2, 1234567900.0, [258083.88], "1.2345679e+09"),
        (3, 9.62774e18, None, "9.62774e+18"),
        (4, -0.25, [], "-0.25"),
        (5, None, None, None),
    ]
