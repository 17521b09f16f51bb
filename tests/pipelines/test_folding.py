"""Accumulators that wait: readers see them, batches and idle moments fold them, a view that changes its strategy loses
none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from connectors.failpoints import Action, FailpointReached, Failpoints
from pipelines import folding
from pipelines.warehouse import Warehouse
from tests.pipelines.running import running, until
from tests.project import Project

SCHEMA = (
    "CREATE TABLE t (id int PRIMARY KEY, g int, x numeric(10,2))",
    "CREATE TABLE u (id int PRIMARY KEY, g int, y numeric(10,4))",
    "INSERT INTO t SELECT i, i % 5, i * 1.5 FROM generate_series(1, 60) i",
    "INSERT INTO u SELECT i, i % 7, i * 0.25 FROM generate_series(1, 40) i",
)
VIEWS = {
    "totals": "SELECT g, count(*) AS n, sum(x) AS s FROM t GROUP BY g",
    "whole": "SELECT count(*) AS n, sum(x) AS s FROM t WHERE g > 1",
    "joined": "SELECT t.g, sum(t.x * u.y) AS s FROM t JOIN u ON u.g = t.g GROUP BY t.g",
    "above": "SELECT n, count(*) AS groups FROM (SELECT g, count(*) AS n FROM t GROUP BY g) x GROUP BY n",
    "met": "SELECT u.id, x.s FROM u LEFT JOIN (SELECT g, sum(x) AS s FROM t GROUP BY g) x ON x.g = u.g",
    "most": "SELECT g, max(x) AS most FROM t GROUP BY g ORDER BY most DESC LIMIT 3",
}
COMMITS = (
    "INSERT INTO t VALUES (101, 2, 5.5), (102, NULL, NULL), (103, 77, 1)",
    "UPDATE t SET g = g + 1 WHERE id % 3 = 0; UPDATE u SET y = y + 1.0001 WHERE g = 2",
    "DELETE FROM t WHERE g = 2; DELETE FROM u WHERE id < 9",
    "DELETE FROM t; INSERT INTO t VALUES (1, 1, 1)",
    "DELETE FROM u",
    "INSERT INTO u VALUES (1, 1, 1.5), (2, 1, NULL)",
)


def project(database: str, home: Path, strategy: str = "split", engine: str = "duckdb") -> Project:
    p = Project.create(home, database, VIEWS, engine, strategy=strategy)
    p.source(*SCHEMA)
    return p


def waiting(p: Project, engine: str = "duckdb") -> dict[str, int]:
    """Rows in each tail."""
    w = Warehouse(p.config, p.deployed, read_only=True)
    try:
        on = w.engine(engine)
        return {s: on.size(s)[0] for s in sorted(on.states()) if s.endswith("_tail")}
    finally:
        w.close()


def held(p: Project, view: str) -> int:
    """Rows in the tails of a view, as `explain` tells."""
    told = p.command("explain", view, "--format", "json")
    assert told.returncode == 0, told.stderr
    tails = [s["rows"] for s in json.loads(told.stdout)["states"] if s["kind"] == "tail"]
    assert tails and None not in tails
    return sum(tails)


@pytest.mark.parametrize("least", [0, 20_000])
def test_what_waits_is_read_and_folded(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, least: int
) -> None:
    monkeypatch.setattr(folding, "LEAST", least)
    monkeypatch.setattr(folding, "LOOK", 1)
    p = project(database, tmp_path)
    assert {v.strategy for v in p.deploy().views} == {"split"}
    for commit in COMMITS:
        p.source(commit)
        p.assert_equal()
    tails = waiting(p)
    assert len(tails) == 7 and (least == 0 or any(tails.values())), tails


def test_an_idle_moment_folds(database: str, tmp_path: Path) -> None:
    p = project(database, tmp_path)
    p.deploy()
    p.source(*COMMITS[:3])
    p.catch_up()
    assert any(waiting(p).values())
    w = Warehouse(p.config, p.deployed)
    w.fold("duckdb")
    w.close()
    assert not any(waiting(p).values())
    p.assert_equal()


@pytest.mark.parametrize("where", ["duckdb.folding", "duckdb.folded"])
def test_a_fold_happens_or_does_not(database: str, tmp_path: Path, where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    p = project(database, tmp_path)
    p.deploy()
    p.source(*COMMITS[:2])
    p.catch_up()
    before = waiting(p)
    w = Warehouse(p.config, p.deployed)
    monkeypatch.setattr("connectors.failpoints.ACTIVE", Failpoints({where: (Action.RAISE, 1)}))
    with pytest.raises(FailpointReached):
        w.fold("duckdb")
    w.close()
    assert waiting(p) == (before if where == "duckdb.folding" else dict.fromkeys(before, 0))
    p.assert_equal()


@pytest.mark.parametrize("after", ["first_order", "higher_order", "recompute"])
def test_a_view_changes_its_strategy(database: str, tmp_path: Path, after: str) -> None:
    p = project(database, tmp_path)
    p.deploy()
    p.source(*COMMITS[:2])
    p.catch_up()
    toml = tmp_path / "tidemark.toml"
    toml.write_text(toml.read_text().replace("split", after))
    p.deploy()
    p.assert_equal()
    p.source(COMMITS[2])
    p.assert_equal()
    toml.write_text(toml.read_text().replace(after, "split"))
    p.deploy()
    p.source(*COMMITS[3:])
    p.assert_equal()


def test_a_run_folds_when_nothing_arrives(database: str, tmp_path: Path) -> None:
    p = project(database, tmp_path)
    p.deploy()
    with running(p) as process:
        p.source(COMMITS[0])
        assert p.command("query", "--wait", "SELECT count(*) FROM totals").returncode == 0
        until(lambda: not held(p, "totals"), "folded")
        process.terminate()
        process.wait(30)
    assert not any(waiting(p).values())
    p.assert_equal()
