"""Views that may lag, kept by the driver: as on DuckDB, and Delta has what readers see, with the LSN that it is of."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from deltalake import DeltaTable

from connectors.spark.local.delta import MARK
from pipelines.pacing.finishing import finish
from pipelines.warehouse import Warehouse
from tests.pipelines.lagging import COMMITS, VIEWS, assert_any_order, project, rows, take_in
from tests.pipelines.running import running, until
from tests.project import Project

FEW = {v: VIEWS[v] for v in ("totals", "best")}


def published(p: Project, view: str) -> tuple[list[tuple[object, ...]], str]:
    """A view's rows as Delta has them, and of which LSN."""
    table = DeltaTable(str(p.config.warehouse_path / "delta" / "views" / view))
    found = table.to_pyarrow_table().to_pylist()
    return sorted((tuple(r.values()) for r in found), key=repr), str(table.history(1)[0][MARK])


def finish_all(p: Project) -> None:
    w = Warehouse(p.config, p.deployed)
    try:
        finish(w)
        w.engine("spark").settle(force=True)
    finally:
        w.close()


@pytest.mark.parametrize("memory", ["2GB", "0"])
def test_states_take_what_waits_in_any_order(database: str, tmp_path: Path, memory: str) -> None:
    """With all mirrors Dist, too: what waits meets them by keys."""
    p = project(database, tmp_path, engine="spark", local_memory=memory)
    commits = COMMITS
    if memory == "0":
        p.source("ALTER TABLE w ADD id serial PRIMARY KEY")
        commits = tuple(c.replace("INSERT INTO w VALUES", "INSERT INTO w (g, z) VALUES") for c in COMMITS)
    assert {v.strategy for v in p.deploy().views} == {"paces"}
    assert_any_order(p, commits, random.Random(memory))


def test_delta_has_what_was_finished_and_says_of_when(database: str, tmp_path: Path) -> None:
    p = project(database, tmp_path, views=FEW, engine="spark", local_memory="2GB")
    p.deploy()
    before = {v: published(p, v) for v in FEW}
    p.source(*COMMITS[:2])
    take_in(p)
    assert {v: published(p, v) for v in FEW} == before
    finish_all(p)
    for v in FEW:
        now, lsn = published(p, v)
        assert now != before[v][0] and lsn != before[v][1]
        assert [tuple(map(str, r)) for r in now] == [tuple(map(str, r)) for r in rows(p, v)]
    p.assert_equal()


def test_a_lost_file_is_made_again_at_one_lsn(database: str, tmp_path: Path) -> None:
    p = project(database, tmp_path, views=FEW, engine="spark", local_memory="2GB")
    p.deploy()
    p.source(*COMMITS[:2])
    take_in(p)
    for f in (p.config.warehouse_path / "delta").glob("local.duckdb*"):
        f.unlink()
    p.source(COMMITS[2])
    take_in(p)
    w = Warehouse(p.config, p.deployed)
    on = w.engine("spark")
    assert 0 < min(r.lsn for r in on.paced.reached().values()) < on.frontier()
    w.close()
    p.assert_equal()


def test_it_is_told_when_they_were_finished(database: str, tmp_path: Path) -> None:
    """Of both engines."""
    p = project(database, tmp_path, lag="2 s", views={"totals": VIEWS["totals"]}, engine="spark", local_memory="2GB")
    on_duckdb = f"CREATE MATERIALIZED VIEW best WITH (engine = 'duckdb', target_lag = '2 s') AS {VIEWS['best']};\n"
    (tmp_path / "views" / "best.sql").write_text(on_duckdb)
    p.deploy()
    told = "SELECT DISTINCT view FROM tidemark.refreshes ORDER BY 1"
    with running(p):
        p.source(COMMITS[0])
        until(
            lambda: p.command("query", told, "--format", "csv").stdout.split() == ["view", "best", "totals"], "told", 30
        )
        p.assert_equal()


def test_delta_follows_on_a_source_that_is_quiet(database: str, tmp_path: Path) -> None:
    p = project(database, tmp_path, lag="6 s", views={"totals": VIEWS["totals"]}, engine="spark", local_memory="2GB")
    p.deploy()
    before = published(p, "totals")
    with running(p):
        p.source(COMMITS[0])
        until(lambda: published(p, "totals") != before, "in Delta", 40)
        assert [tuple(map(str, r)) for r in published(p, "totals")[0]] == [tuple(map(str, r)) for r in rows_of(p)]
        done = p.command("query", "--internal", "SELECT * FROM tidemark.refreshes")
        assert done.returncode == 1 and "--internal" in done.stderr


def rows_of(p: Project) -> list[tuple[object, ...]]:
    found = p.command("query", "SELECT * FROM totals", "--format", "json").stdout.splitlines()
    return sorted((tuple(json.loads(r).values()) for r in found), key=repr)


def test_executors_keep_none(database: str, tmp_path: Path) -> None:
    p = project(database, tmp_path, views=FEW, engine="spark")
    got = p.command("deploy")
    assert got.returncode == 1 and "has a target_lag" in got.stderr and "local_memory" in got.stderr, got.stderr
