"""engine = 'auto': where a view is kept, by what it would take there."""

from __future__ import annotations

from pathlib import Path

import pytest

from compiler.catalog import read_schema
from compiler.parse import parse_view
from connectors.duckdb.pace import seconds_a_row
from connectors.postgres.catalog import load_catalog
from connectors.postgres.connection import connect
from pipelines.deploying import deploy as deployed
from pipelines.deploying import placement
from pipelines.deploying.placement import Room, Size
from pipelines.project import Compiled, compile_project
from tests.project import Project

SCHEMA = "CREATE TABLE large (id bigint PRIMARY KEY, k int, v int); CREATE TABLE small (k int PRIMARY KEY, name text);"
GB = 1 << 30
PLENTY, FAST, SLOW = Room(100 * GB, 10 * GB), 2e-9, 8e-9
SIZES = {"public.large": Size(60_000_000, 3, 4 * GB), "public.small": Size(1_000, 2, 100_000)}


def placed(queries: dict[str, str], room: Room, row: float = FAST) -> dict[str, Compiled]:
    views = [
        Compiled(n, parse_view(f"CREATE MATERIALIZED VIEW {n} {q}"), engine="auto", strategy="auto")
        for n, q in queries.items()
    ]
    compile_project(views, read_schema(SCHEMA), "auto")
    assert all(v.error is None for v in views)
    placement._by_cost(views, views, SIZES, room, lambda: row)
    return {v.name: v for v in views}


JOINED = {"j": "AS SELECT s.name, sum(l.v) AS v FROM large l JOIN small s ON s.k = l.k GROUP BY s.name"}
BOTH = {**JOINED, "n": "AS SELECT name, count(*) AS n FROM small GROUP BY name"}


def test_what_has_room_and_an_index_is_on_one_machine() -> None:
    got = placed(BOTH, PLENTY)
    assert {v.engine for v in got.values()} == {"duckdb"}
    assert "by an index" in got["j"].notes[-1]


def test_what_is_scanned_for_longer_than_spark_takes_is_not() -> None:
    """60 million rows twice, in 2 ns each, are half as long as Spark's batch; in 8 ns twice as long."""
    assert placed(BOTH, Room(100 * GB, 1 * GB))["j"].engine == "duckdb"
    got = placed(BOTH, Room(100 * GB, 1 * GB), SLOW)
    assert (got["j"].engine, got["n"].engine) == ("spark", "duckdb")
    assert "by scans" in got["j"].notes[-1]


def test_nor_is_what_has_no_room_on_the_disk() -> None:
    got = placed(BOTH, Room(1 * GB, 10 * GB))
    assert (got["j"].engine, got["n"].engine) == ("spark", "duckdb")
    assert "of disk" in got["j"].notes[-1]


def test_views_that_may_lag_stay() -> None:
    late = {"j": JOINED["j"].replace("AS SELECT", "WITH (target_lag = '1 h') AS SELECT", 1)}
    assert placed(late, Room(1 * GB, 10 * GB))["j"].engine == "duckdb"


def test_sizes_are_those_of_all_partitions(database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, {"v": "SELECT k, sum(x) AS s FROM parts GROUP BY k"})
    p.source(
        "CREATE TABLE parts (id int, k int, x int, rest text, PRIMARY KEY (id)) PARTITION BY RANGE (id)",
        "CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (0) TO (10000)",
        "CREATE TABLE parts_2 PARTITION OF parts FOR VALUES FROM (10000) TO (30000)",
        "INSERT INTO parts SELECT i, i % 7, i, repeat('x', 100) FROM generate_series(1, 20000) i",
        "ANALYZE parts",
    )
    with connect(database) as conn:
        catalog = load_catalog(conn)
        views = [Compiled("v", parse_view((tmp_path / "views" / "v.sql").read_text()), engine="auto", strategy="auto")]
        compile_project(views, catalog, "auto")
        size = placement._sizes(conn, views, catalog)["public.parts"]
    assert 19_000 < size.rows < 30_000 and size.columns == 3
    p.deploy()
    assert {v.engine for v in p.deployed.views} == {"duckdb"}
    toml = tmp_path / "tidemark.toml"
    toml.write_text(toml.read_text().replace('engine = "duckdb"', 'engine = "auto"') + "threshold_rows = 50\n")
    (v,) = deployed.compiled(p.config)[1]
    assert v.engine == "spark" and "above the threshold of 50" in v.notes[-1]


def test_the_pace_of_this_machine_is_measured() -> None:
    assert 1e-11 < seconds_a_row() < 1e-6
    assert seconds_a_row() == pytest.approx(seconds_a_row())
