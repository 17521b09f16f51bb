"""Views that may lag: they are as of the time at which they were finished, whatever their states have taken since; who
waits finds them finished, and none lags longer than it may."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest

from compiler.ir.relation import State, walk
from compiler.maintain.cohort import Cohort
from compiler.maintain.pace.paces import Paces, Work
from compiler.maintain.paced import logs, paths
from connectors.failpoints import Action, FailpointReached, Failpoints
from connectors.postgres.connection import current_lsn
from pipelines.applying.capture import Capture
from pipelines.applying.catching_up import limits
from pipelines.pacing import turns
from pipelines.pacing.finishing import finish
from pipelines.pacing.planning import Planned, better_anew
from pipelines.warehouse import Warehouse
from tests.pipelines.lagging import COMMITS, SCHEMA, VIEWS, assert_any_order, project, rows, take_in
from tests.pipelines.running import running, until
from tests.project import Project


@pytest.mark.parametrize("seed", range(3))
def test_states_take_what_waits_in_any_order(database: str, tmp_path: Path, seed: int) -> None:
    p = project(database, tmp_path)
    assert {v.strategy for v in p.deploy().views} == {"paces"}
    assert_any_order(p, COMMITS, random.Random(seed))


def test_who_waits_finds_them_finished(database: str, tmp_path: Path) -> None:
    p = project(database, tmp_path)
    p.deploy()
    p.source(COMMITS[0])
    take_in(p)
    told = json.loads(p.command("status", "--json").stdout)["views"]
    assert all(v["waiting"] for v in told if v["view"] == "totals")
    assert p.command("query", "SELECT sum(n) AS n FROM totals", "--format", "csv").stdout.split() == ["n", "60"]
    assert p.command("query", "--wait", "SELECT sum(n) AS n FROM totals", "--format", "csv").stdout.split() == [
        "n",
        "63",
    ]
    told = json.loads(p.command("status", "--json").stdout)["views"]
    assert not any(v["waiting"] for v in told)


@pytest.mark.parametrize("where", ["duckdb.taking", "duckdb.taken"])
def test_a_view_is_finished_or_is_not(
    database: str, tmp_path: Path, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    p = project(database, tmp_path)
    p.deploy()
    p.source(*COMMITS[:3])
    take_in(p)
    before = rows(p, "best")
    w = Warehouse(p.config, p.deployed)
    monkeypatch.setattr("connectors.failpoints.ACTIVE", Failpoints({where: (Action.RAISE, 1)}))
    with pytest.raises(FailpointReached):
        finish(w, ["best"])
    w.close()
    assert (rows(p, "best") == before) is (where == "duckdb.taking")
    p.assert_equal()


def test_none_lags_longer_than_it_may(database: str, tmp_path: Path) -> None:
    p = project(database, tmp_path, lag="3 s", views={"totals": VIEWS["totals"], "best": VIEWS["best"]})
    p.deploy()
    with running(p):
        p.source(COMMITS[0])
        sql = "SELECT sum(n) AS n FROM totals"
        until(lambda: p.command("query", sql, "--format", "csv").stdout.split() == ["n", "63"], "finished", 30)
        p.source(COMMITS[3])
        assert p.command("query", "--wait", sql, "--format", "csv").stdout.split() != ["n", "63"]
        p.assert_equal()
    told = p.command(
        "query", "SELECT why FROM tidemark.refreshes WHERE view = 'totals'", "--format", "csv"
    ).stdout.split()
    assert told[1] == "lag"


def test_paths_are_taken_at_their_paces(database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Planned are 400 rows of changes, the inner sum four times and the view twice in them."""
    p = project(database, tmp_path, views={"best": VIEWS["best"]})
    p.deploy()
    for name in ("LOOK", "FEW", "SOON", "SHARE"):
        monkeypatch.setattr(turns, name, 0.0)
    w = Warehouse(p.config, p.deployed)
    plan = w.view("best")[1]
    seen = {n.name for n in walk(plan.top) if isinstance(n, State)}
    inner = {x: 4 for x in paths(plan.states) if x.state not in seen}
    paces = Paces(2, inner, Work(1.0, 1.0), None)
    monkeypatch.setattr(turns, "planned", lambda *_: Planned(paces, {"public.t": 400.0}, 1.0, False))
    capture, pacing = Capture(w, limits(p.config)), turns.Pacing(w)
    told = []
    for i in range(1, 9):  # 50 rows each, as they were and as they are
        p.source(f"UPDATE t SET x = x + {i} WHERE id <= 25")
        capture.catch_up(current_lsn(p.dsn))
        pacing.turn()
        engine = w.engine("duckdb").paced
        told.append((len(engine.refreshes()), sum(m.times for m in engine.measured() if len(m.paths) == 1)))
    capture.close()
    w.close()
    finished = [n for n, _ in told]
    assert finished == [0, 0, 0, 1, 1, 1, 1, 2], told
    assert told[1][1] > told[0][1] == 0, told
    p.assert_equal()
    explained = p.command("explain", "best").stdout
    assert "paces: it may lag 3600 s" in explained and "finished" in explained


def test_nothing_is_noted_while_a_batch_is_at_work(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker may have the engine's connection: what is told of a view waits until it rests."""
    p = project(database, tmp_path, views={"totals": VIEWS["totals"]})
    p.deploy()
    for name in ("LOOK", "FEW", "SOON", "SHARE"):
        monkeypatch.setattr(turns, name, 0.0)
    w = Warehouse(p.config, p.deployed)
    rested: list[str] = []
    capture, pacing, on = Capture(w, limits(p.config)), turns.Pacing(w, rested.append), w.engine("duckdb").paced
    told = []

    def watched(of: str, write: Callable[..., None]) -> Callable[..., None]:
        def told_and_written(*args: object) -> None:
            told.append((of, bool(rested)))
            write(*args)

        return told_and_written

    for name in ("note", "complete"):
        monkeypatch.setattr(on, name, watched(name, getattr(on, name)))
    pacing.turn()
    for i in range(3):
        p.source(f"UPDATE t SET x = x + {i + 1}")
        capture.catch_up(current_lsn(p.dsn))
        rested.clear()
        pacing.turn()
    capture.close()
    w.close()
    assert {of for of, _ in told} == {"note", "complete"} and all(at_rest for _, at_rest in told), told


def test_where_that_is_less_work_states_are_filled_anew(database: str, tmp_path: Path) -> None:
    """Each change moves the average that all rows are compared with, and more waits than there is."""
    p = project(database, tmp_path, views={v: VIEWS[v] for v in ("above_average", "met")})
    p.source("INSERT INTO t SELECT i, i % 50, i, 'n' FROM generate_series(1001, 40000) i")
    p.deploy()
    told = []
    for _ in range(3):
        p.source("UPDATE t SET x = x + 1", "UPDATE t SET x = x + 1 WHERE g < 40")
        take_in(p)
        w = Warehouse(p.config, p.deployed)
        on, each = w.engine("duckdb"), [Cohort((w.view(v)[1],)) for v in ("above_average", "met")]
        told.append([better_anew(on, x, on.paced.waiting(logs(x.states))) for x in each])
        w.close()
        p.assert_equal()
    assert any(told[-1]), told


def test_a_view_gets_a_lag_and_loses_it(database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, VIEWS)
    p.source(*SCHEMA)
    p.deploy()
    p.source(COMMITS[0])
    p.write(VIEWS, "target_lag = '1 min'")
    p.deploy()
    p.source(COMMITS[1])
    p.assert_equal()
    p.source(COMMITS[3])
    take_in(p)
    p.write(VIEWS)
    p.deploy()
    p.assert_equal()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("target_lag = 'soon'", "target_lag = 'soon'"),
        ("target_lag = '-1 s'", "lags for some time"),
        ("final_work = 0.5", "no target_lag"),
        ("target_lag = '1 h', final_work = 2", "above 0, up to 1"),
        ("strategy = 'paces'", "says no target_lag"),
        ("strategy = 'split', target_lag = '1 h'", "strategy = 'split'"),
        ("strategy = 'first_order', target_lag = '1 h'", "strategy = 'first_order'"),
    ],
)
def test_what_cannot_be_meant_is_refused(database: str, tmp_path: Path, options: str, said: str) -> None:
    p = Project.create(tmp_path, database, {})
    p.source(*SCHEMA[:1])
    (tmp_path / "views" / "v.sql").write_text(f"CREATE MATERIALIZED VIEW v WITH ({options}) AS SELECT id FROM t;\n")
    got = p.command("deploy")
    assert got.returncode == 1 and said in got.stderr, got.stderr


def test_a_view_that_changes_is_filled_from_one_time(database: str, tmp_path: Path) -> None:
    """Its states may be behind, and to different points: none is kept for what the view is now."""
    text = "SELECT t.id, x.s FROM t JOIN (SELECT g, sum(x) AS s FROM t GROUP BY g) x ON x.g = t.g"
    p = project(database, tmp_path, views={"sums": text})
    p.deploy()
    p.source("INSERT INTO t VALUES (101, 2, 50.5, 'x')", "UPDATE t SET x = x + 1 WHERE id < 30")
    take_in(p)
    p.write({"sums": text.replace("x.s", "x.s, t.note")}, "target_lag = '1 h'")
    p.deploy()
    with psycopg.connect(database) as c:
        sums = dict(c.execute("SELECT g, sum(x) FROM t GROUP BY g").fetchall())
        expected = c.execute("SELECT id, g, note FROM t").fetchall()
    assert rows(p, "sums") == sorted([(i, sums[g], note) for i, g, note in expected], key=repr)


def test_what_tells_of_refreshes_is_read_on_any_connection(database: str, tmp_path: Path) -> None:
    p = project(database, tmp_path, views={"totals": VIEWS["totals"]})
    p.write({"eager": VIEWS["whole"]})
    p.deploy()
    p.source(COMMITS[0])
    p.catch_up()
    told = "SELECT view, rows FROM tidemark.refreshes"
    for sql in (
        told,
        f"SELECT r.* FROM ({told}) r, (SELECT count(*) FROM eager) e",
        f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3) {told} WHERE (SELECT max(i) FROM "
        "n) = 3",
    ):
        done = p.command("query", sql, "--format", "csv")
        assert (done.returncode, done.stdout) == (0, "view,rows\ntotals,3\n"), (sql, done.stdout, done.stderr)
    p.write({"Refreshes": VIEWS["totals"]})
    refused = p.command("deploy")
    assert refused.returncode == 1 and 'a view cannot be called "Refreshes"' in refused.stderr, refused.stderr
