"""Views that may lag and share states: they are finished together, as often as one of them has to be; and one that
comes to the others, or changes, finds what it shares at one LSN."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from compiler.maintain.paced import paths
from connectors.failpoints import Action, FailpointReached, Failpoints
from pipelines.pacing.finishing import finish
from pipelines.warehouse import Warehouse
from tests.pipelines.lagging import COMMITS, VIEWS, project, rows, take_in
from tests.pipelines.running import running, until
from tests.project import Project

SUMS = "SELECT g, sum(x) AS s FROM t GROUP BY g"  # an inner state of both
BEST = f"SELECT max(s) AS s FROM ({SUMS}) a"
SPREAD = f"SELECT s::int % 10 AS digit, count(*) AS n FROM ({SUMS}) a GROUP BY 1"
TOTALS = "SELECT g, s, s * 2 AS twice FROM (SELECT g, sum(x) AS s FROM t GROUP BY g) a"  # shows it
EVERY = {"best": BEST, "spread": SPREAD, "sums": TOTALS}


def take_inner(p: Project) -> int:
    """All paths into states that no reader sees; gives how many."""
    w = Warehouse(p.config, p.deployed)
    try:
        n = 0
        for engine in w.used_engines():
            for c in w.cohorts(engine):
                inner = [x for x in paths(c.states) if x.state not in c.shown]
                on = w.engine(engine)
                on.paced.take([w.maintaining.taking(on, c, x.state, [x.source]) for x in inner])
                n += len(inner)
        return n
    finally:
        w.close()


def finish_one(p: Project, view: str) -> None:
    w = Warehouse(p.config, p.deployed)
    try:
        finish(w, [view])
    finally:
        w.close()


def together(p: Project) -> list[tuple[str, ...]]:
    w = Warehouse(p.config, p.deployed)
    try:
        return [c.views for c in w.cohorts("duckdb")]
    finally:
        w.close()


def test_they_share_a_state_and_are_finished_together(database: str, tmp_path: Path) -> None:
    p = project(database, tmp_path, views={"best": BEST, "spread": SPREAD, "keyless": VIEWS["keyless"]})
    p.deploy()
    assert together(p) == [("best", "spread"), ("keyless",)]
    before = {v: rows(p, v) for v in ("best", "spread", "keyless")}
    p.source(*COMMITS[:2])
    take_in(p)
    assert take_inner(p) == 1
    assert {v: rows(p, v) for v in before} == before
    finish_one(p, "best")
    assert all(rows(p, v) != before[v] for v in ("best", "spread")) and rows(p, "keyless") == before["keyless"]
    told = json.loads(p.command("status", "--states", "--json").stdout)["states"]
    assert sorted(s["views"] for s in told if len(s["views"]) > 1) == [["best", "spread"]], told
    assert "shares states with spread" in p.command("explain", "best").stdout
    p.assert_equal()


def test_what_one_shows_is_taken_with_the_others_alone(database: str, tmp_path: Path) -> None:
    """Of a state below one view that is what readers of another see, nothing is taken in between."""
    p = project(database, tmp_path, views=EVERY)
    p.deploy()
    before = {v: rows(p, v) for v in EVERY}
    p.source(*COMMITS[:2])
    take_in(p)
    assert take_inner(p) == 0
    assert {v: rows(p, v) for v in EVERY} == before
    finish_one(p, "spread")
    assert all(rows(p, v) != before[v] for v in EVERY)
    p.assert_equal()


def test_the_first_that_has_to_be_finishes_all(database: str, tmp_path: Path) -> None:
    p = project(database, tmp_path, views={"best": BEST})
    p.write({"spread": SPREAD}, "target_lag = '2 s'")
    p.deploy()
    with running(p):
        p.source("UPDATE t SET x = x + 1000 WHERE id = 1")
        sql = "SELECT (s > 1000)::int AS more FROM best"
        until(lambda: p.command("query", sql, "--format", "csv").stdout.split() == ["more", "1"], "finished", 30)
        p.assert_equal()


@pytest.mark.parametrize("engine", ["duckdb", pytest.param("spark", marks=pytest.mark.spark)])
def test_one_that_comes_finds_what_it_shares_at_one_lsn(database: str, tmp_path: Path, engine: str) -> None:
    p = project(database, tmp_path, views={"best": BEST}, engine=engine, local_memory="2GB")
    p.deploy()
    for v, text, commit in (("spread", SPREAD, COMMITS[0]), ("sums", TOTALS, COMMITS[1])):
        p.source(commit)
        take_in(p)
        take_inner(p)
        p.source(COMMITS[3])
        take_in(p)
        p.write({v: text}, "target_lag = '1 h'")
        p.deploy()
        found = {v: rows(p, v) for v in p.maintenance}
        finish_one(p, "best")
        assert found == {v: rows(p, v) for v in found}, "nothing waited once it was deployed"
        p.assert_equal()


def test_one_that_changes_shows_what_it_has_at_one_lsn(database: str, tmp_path: Path) -> None:
    """No state is new: readers see one now that was an inner one, ahead of the rest."""
    joined = f"SELECT t.id, x.s FROM t JOIN ({SUMS}) x ON x.g = t.g"
    p = project(database, tmp_path, views={"best": BEST, "joined": joined})
    p.deploy()
    p.source(*COMMITS[:2])
    take_in(p)
    take_inner(p)
    p.write({"joined": joined.replace("x.s", "x.s + 1 AS s"), "best": TOTALS}, "target_lag = '1 h'")
    p.deploy()
    found = {v: rows(p, v) for v in ("best", "joined")}
    finish_one(p, "joined")
    assert found == {v: rows(p, v) for v in found}
    p.assert_equal()


@pytest.mark.parametrize("where", ["duckdb.taking", "duckdb.taken", "resync.filled"])
def test_a_deploy_that_fails_leaves_them_as_they_are(
    database: str, tmp_path: Path, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    p = project(database, tmp_path, views={"best": BEST, "spread": SPREAD})
    p.deploy()
    p.source(*COMMITS[:2])
    take_in(p)
    p.write({"sums": TOTALS, "joined": VIEWS["joined"]}, "target_lag = '1 h'")
    monkeypatch.setattr("connectors.failpoints.ACTIVE", Failpoints({where: (Action.RAISE, 1)}))
    with pytest.raises(FailpointReached):
        p.deploy()
    monkeypatch.undo()
    p.source(COMMITS[3])
    p.catch_up()
    p.assert_equal()
    p.deploy()
    p.assert_equal()


def test_one_is_dropped_and_the_others_stay(database: str, tmp_path: Path) -> None:
    p = project(database, tmp_path, views=EVERY)
    p.deploy()
    p.source(*COMMITS[:2])
    take_in(p)
    (tmp_path / "views" / "sums.sql").unlink()
    p.deploy()
    assert take_inner(p) == 1
    p.source(COMMITS[3])
    p.assert_equal()


def test_one_that_is_set_aside_comes_back_at_one_lsn(database: str, tmp_path: Path) -> None:
    p = project(database, tmp_path, views={"best": BEST, "per": f"SELECT g, 100 / (s - 500) AS r FROM ({SUMS}) a"})
    p.deploy()
    p.source("INSERT INTO t VALUES (500, 500, 500, 'zero')", COMMITS[0])
    p.catch_up()
    take_in(p)
    finish_one(p, "best")
    p.source("DELETE FROM t WHERE id = 500", COMMITS[3])
    p.catch_up()
    p.catch_up()
    assert not any(v.error for v in p.deployed.views)
    p.assert_equal()
