"""The 22 queries of TPC-H, maintained while all eight tables change, compared with the source after every batch."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import duckdb
import psycopg
import pytest

from tests.project import Project
from tests.scenarios.playing import WAYS, Fill, Play, views

CASE = Path(__file__).parent / "tpch"
TABLES = ("region", "nation", "supplier", "customer", "part", "partsupp", "orders", "lineitem")
SCALE = "0.01"


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tpch")
    subprocess.run(
        [Path(sys.executable).with_name("tpchgen-cli"), "parquet", "-s", SCALE, "-q", "-o", folder], check=True
    )
    for t in TABLES:
        duckdb.sql(f"COPY (SELECT * FROM '{folder}/{t}.parquet') TO '{folder}/{t}.csv' (FORMAT csv, HEADER false)")
    return folder


@pytest.fixture(scope="module")
def fill(data: Path) -> Fill:
    def from_generator(p: Project, case: Path) -> None:
        p.play(case / "schema.sql")
        with psycopg.connect(p.dsn) as c, c.cursor() as cur:
            for t in TABLES:
                with cur.copy(f"COPY {t} FROM STDIN (FORMAT csv)".encode()) as copy:
                    copy.write((data / f"{t}.csv").read_bytes())
        with psycopg.connect(p.dsn, autocommit=True) as c:
            c.execute("ANALYZE")

    return from_generator


@pytest.mark.parametrize(("engine", "strategy"), WAYS)
@pytest.mark.parametrize("view", views(CASE))
def test_a_query_is_maintained(view: str, engine: str, strategy: str, played: Play) -> None:
    played(CASE, engine, strategy).check(view)


@pytest.mark.parametrize(("engine", "strategy"), WAYS)
def test_mirrors_are_the_sources(engine: str, strategy: str, played: Play) -> None:
    assert played(CASE, engine, strategy).of_mirrors() == []


def test_there_are_all_queries() -> None:
    assert len(views(CASE)) == 22
