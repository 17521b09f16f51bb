"""Whoever reads Delta reads the views that the driver keeps: deltalake, Spark, and DuckDB's own extension."""

from __future__ import annotations

import datetime
import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import duckdb
import psycopg
import pytest
from deltalake import DeltaTable

from connectors.spark.driver import Driver
from tests.project import Project

QUERY = (
    'SELECT id, price, weight, note, seen, "at", day, flag, tags, raw, price * 3 AS "three times (of it)", '
    "count(*) OVER (PARTITION BY flag) AS n FROM t"
)
SCHEMA = (
    "CREATE TABLE t (id bigint PRIMARY KEY, price numeric(12,2), weight double precision, note text, seen timestamptz, "
    '"at" timestamp, day date, flag boolean, tags text[], raw bytea)',
    "INSERT INTO t SELECT g, g * 1.25, CASE WHEN g % 10 = 0 THEN 'NaN' ELSE g / 7.0 END, 'note ''' || g, "
    "timestamptz '2024-02-29 23:59:59.999999+00' + g * interval '1 hour', "
    "timestamp '1950-01-01' + g * interval '1 day', date '2024-01-01' - g, g % 3 = 0, "
    "CASE WHEN g % 4 = 0 THEN ARRAY['a', NULL, '{,\"}'] END, "
    "CASE WHEN g % 5 <> 0 THEN decode(md5(g::text), 'hex') END FROM generate_series(1, 60) g",
)
CHANGES = (
    "UPDATE t SET price = price + 1 WHERE flag",
    "DELETE FROM t WHERE id % 11 = 0",
    "INSERT INTO t (id) VALUES (0)",
)


def shown(rows: list[tuple[Any, ...]]) -> list[tuple[str, ...]]:
    """One spelling for equal values: of numbers without the zeros at their end, of times in UTC."""

    def text(v: Any) -> str:
        if isinstance(v, (bytes, bytearray)):
            return bytes(v).hex()
        if hasattr(v, "astimezone") and getattr(v, "tzinfo", None) is not None:
            v = v.astimezone(datetime.UTC).replace(tzinfo=None)
        return f"{v.normalize():f}" if hasattr(v, "normalize") else str(v)

    return sorted(tuple(map(text, r)) for r in rows)


@pytest.fixture
def table(database: str, tmp_path: Path) -> tuple[Path, int, list[tuple[str, ...]]]:
    """A published view's folder, the version that belongs to the frontier, and what Postgres says of it."""
    p = Project.create(tmp_path, database, {"all of it": QUERY}, engine="spark", local_memory="2GB")
    p.source(*SCHEMA)
    p.deploy()
    for c in CHANGES:
        p.source(c)
        p.catch_up()
    root = p.config.warehouse_path / "delta"
    version = json.loads((root / "frontier.json").read_text())["versions"]["views/all~20of~20it"]
    with psycopg.connect(database) as c:
        c.execute("SET TimeZone = 'UTC'")
        wanted = shown(c.execute(QUERY.encode()).fetchall())
    return root / "views" / "all~20of~20it", version, wanted


def test_deltalake(table: tuple[Path, int, list[tuple[str, ...]]]) -> None:
    folder, version, wanted = table
    read = DeltaTable(str(folder), version=version).to_pyarrow_table()
    assert read.column_names[-2:] == ["three%20times%20%28of%20it%29", "n"]
    assert shown([tuple(r.values()) for r in read.to_pylist()]) == wanted


def test_duckdb(table: tuple[Path, int, list[tuple[str, ...]]]) -> None:
    folder, version, wanted = table
    con = duckdb.connect(config={"allow_unsigned_extensions": "true"})
    extension = files("duckdb_extension_delta") / "extensions" / f"v{duckdb.__version__}" / "delta.duckdb_extension"
    con.execute(f"LOAD '{extension}'; SET TimeZone = 'UTC'")
    assert shown(con.execute("SELECT * FROM delta_scan(?, version := ?)", [str(folder), version]).fetchall()) == wanted


@pytest.mark.spark
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # pyspark leaves its sockets open
def test_spark(table: tuple[Path, int, list[tuple[str, ...]]]) -> None:
    folder, version, wanted = table
    session = Driver("local[2]", "", {}).session
    frame = session.read.format("delta").option("versionAsOf", version).load(str(folder))
    assert shown([tuple(r) for r in frame.collect()]) == wanted
