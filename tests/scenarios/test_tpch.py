"""The 22 queries of TPC-H, maintained while all eight tables change, compared with the source after every batch."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import duckdb
import psycopg
import pytest

from tests.project import Project
from tests.scenarios.test_cases import WAYS

CASE = Path(__file__).parent / "tpch"
TABLES = ("region", "nation", "supplier", "customer", "part", "partsupp", "orders", "lineitem")
SCALE = "0.01"


def queries() -> dict[str, str]:
    parts = re.split(r"^-- view: (\w+).*\n", (CASE / "views.sql").read_text(), flags=re.M)[1:]
    return {name: text.strip().rstrip(";") for name, text in zip(parts[::2], parts[1::2], strict=True)}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tpch")
    subprocess.run(
        [Path(sys.executable).with_name("tpchgen-cli"), "parquet", "-s", SCALE, "-q", "-o", folder], check=True
    )
    for t in TABLES:
        duckdb.sql(f"COPY (SELECT * FROM '{folder}/{t}.parquet') TO '{folder}/{t}.csv' (FORMAT csv, HEADER false)")
    return folder


def load(dsn: str, data: Path) -> None:
    with psycopg.connect(dsn) as c, c.cursor() as cur:
        cur.execute((CASE / "schema.sql").read_text().encode())
        for t in TABLES:
            with cur.copy(f"COPY {t} FROM STDIN (FORMAT csv)".encode()) as copy:
                copy.write((data / f"{t}.csv").read_bytes())
    with psycopg.connect(dsn, autocommit=True) as c:
        c.execute("ANALYZE")


@pytest.mark.parametrize(("engine", "strategy"), WAYS)
def test_every_query_is_maintained(engine: str, strategy: str, database: str, tmp_path: Path, data: Path) -> None:
    p = Project.create(tmp_path, database, queries(), engine, strategy=strategy)
    load(database, data)
    p.deploy()
    told = p.maintenance
    assert len(told) == 22 and set(told.values()) <= {"incremental", "keyed"}, told
    p.follow(CASE / "batches")
