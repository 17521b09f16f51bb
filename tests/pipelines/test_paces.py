"""Views that may lag: they are as of the time at which they were finished, whatever their states have taken since; who
waits finds them finished, and none lags longer than it may."""

from __future__ import annotations

import json
import random
from pathlib import Path

import duckdb
import psycopg
import pytest

from compiler.ir.relation import State, walk
from compiler.maintain.pace.paces import Paces, Work
from compiler.maintain.paced import logs, paths
from connectors.failpoints import Action, FailpointReached, Failpoints
from connectors.postgres.connection import current_lsn
from pipelines.applying.capture import Capture
from pipelines.applying.catching_up import limits
from pipelines.pacing import turns
from pipelines.pacing.finishing import finish
from pipelines.pacing.planning import Planned, better_anew, filling
from pipelines.warehouse import Warehouse
from tests.pipelines.running import running, until
from tests.project import Project

SCHEMA = (
    "CREATE TABLE t (id int PRIMARY KEY, g int, x numeric(10,2), note text)",
    "CREATE TABLE u (id int PRIMARY KEY, g int, y numeric(10,4))",
    "CREATE TABLE w (g int, z float8)",
    "ALTER TABLE w REPLICA IDENTITY FULL",
    "INSERT INTO t SELECT i, i % 5, i * 1.5, 'n' || i FROM generate_series(1, 60) i",
    "INSERT INTO u SELECT i, i % 7, i * 0.25 FROM generate_series(1, 40) i",
    "INSERT INTO w SELECT i % 3, i * 0.5 FROM generate_series(1, 20) i",
)
VIEWS = {
    "totals": "SELECT g, count(*) AS n, sum(x) AS s FROM t GROUP BY g",
    "whole": "SELECT count(*) AS n, sum(x) AS s, max(x) AS m FROM t WHERE g > 1",
    "joined": "SELECT t.g, sum(t.x * u.y) AS s FROM t JOIN u ON u.g = t.g GROUP BY t.g",
    "above_average": "SELECT id, x FROM t WHERE x > (SELECT avg(x) FROM t)",
    "best": "SELECT g, s FROM (SELECT g, sum(x) AS s FROM t GROUP BY g) a "
    "WHERE s = (SELECT max(s) FROM (SELECT g, sum(x) AS s FROM t GROUP BY g) b)",
    "above": "SELECT n, count(*) AS groups FROM (SELECT g, count(*) AS n FROM t GROUP BY g) x GROUP BY n",
    "met": "SELECT u.id, x.s FROM u LEFT JOIN (SELECT g, sum(x) AS s FROM t GROUP BY g) x ON x.g = u.g",
    "most": "SELECT g, max(x) AS most, string_agg(note, ',' ORDER BY id) AS notes FROM t GROUP BY g "
    "ORDER BY most DESC LIMIT 3",
    "ranked": "SELECT id, rank() OVER (PARTITION BY g ORDER BY x DESC) AS r FROM t",
    "ranks": "SELECT g, max(z) AS z FROM (SELECT t.g, rank() OVER (PARTITION BY t.g % 2 ORDER BY y.a, t.id) AS z "
    "FROM t JOIN (SELECT id, avg(x::float8 / 3) OVER (PARTITION BY g) AS a FROM t) y USING (id)) q GROUP BY g",
    "keyless": "SELECT w.g, count(*) AS n, sum(z) AS s FROM w LEFT JOIN u ON u.g = w.g GROUP BY w.g",
    "met_by": "SELECT id FROM t WHERE EXISTS (SELECT 1 FROM w WHERE w.g = t.id)",
    "tri": "SELECT k.id, (WITH RECURSIVE f(n, s) AS (SELECT 1, 0 UNION ALL SELECT n + 1, s + n FROM f WHERE n <= k.g) "
    "SELECT max(s) FROM f) AS tri FROM t k",
    "absent": "SELECT g FROM w WHERE NOT EXISTS (SELECT 1 FROM t WHERE t.g = w.g) EXCEPT ALL SELECT g FROM u",
}
COMMITS = (
    "INSERT INTO t VALUES (101, 2, 5.5, 'x'), (102, NULL, NULL, NULL), (103, 77, 1, ''); INSERT INTO w VALUES (9, 1)",
    "UPDATE t SET g = g + 1 WHERE id % 3 = 0; UPDATE u SET y = y + 1.0001 WHERE g = 2",
    "UPDATE t SET note = note || '!' WHERE id < 20; DELETE FROM w WHERE z > 8",
    "DELETE FROM t WHERE g = 2; DELETE FROM u WHERE id < 9; UPDATE w SET z = z + 1 WHERE g = 1",
    "DELETE FROM t; INSERT INTO t VALUES (1, 1, 1, 'a'), (2, 1, 1, 'b')",
    "TRUNCATE u",
    "INSERT INTO u VALUES (1, 1, 1.5), (2, 1, NULL); UPDATE t SET x = x + 1, g = 3 WHERE id = 2",
)


def project(database: str, home: Path, lag: str = "1 h", views: dict[str, str] = VIEWS) -> Project:
    p = Project.create(home, database, {})
    p.write(views, f"target_lag = '{lag}'")
    p.source(*SCHEMA)
    return p


def take_in(p: Project) -> None:
    """Apply what was committed, and finish nothing."""
    w = Warehouse(p.config, p.deployed)
    try:
        capture = Capture(w, limits(p.config))
        try:
            capture.catch_up(current_lsn(p.dsn))
        finally:
            capture.close()
    finally:
        w.close()


def rows(p: Project, view: str) -> list[tuple[object, ...]]:
    with duckdb.connect(str(p.config.warehouse_path / "tidemark.duckdb"), read_only=True) as c:
        return sorted(c.execute(f'SELECT * FROM "{view}"').fetchall(), key=repr)


def some_paths(p: Project, chance: random.Random) -> None:
    """States take what waits of some of their inputs; not those that readers see."""
    w = Warehouse(p.config, p.deployed)
    try:
        for v in VIEWS:
            plan = w.view(v)[1]
            seen = {n.name for n in walk(plan.top) if isinstance(n, State)}
            inner = [x for x in paths(plan.states) if x.state not in seen]
            for x in chance.sample(inner, chance.randint(0, len(inner))):
                w.engine("duckdb").paced.take([w.taking(v, x.state, [x.source])])
    finally:
        w.close()


@pytest.mark.parametrize("seed", range(3))
def test_states_take_what_waits_in_any_order(database: str, tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    p = project(database, tmp_path)
    assert {v.strategy for v in p.deploy().views} == {"paces"}
    for commit in COMMITS:
        before = {v: rows(p, v) for v in VIEWS}
        p.source(commit)
        take_in(p)
        some_paths(p, chance)
        assert {v: rows(p, v) for v in VIEWS} == before
        if chance.random() < 0.5:
            p.assert_equal()
    p.assert_equal()


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
    monkeypatch.setattr(turns, "planned", lambda *_: Planned(paces, {"public.t": 400.0}, 1.0))
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
        on, plans = w.engine("duckdb"), [w.view(v)[1] for v in ("above_average", "met")]
        told.append([better_anew(on, x, on.paced.waiting(logs(x.states)), filling(on, x)) for x in plans])
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
        ("engine = 'spark', target_lag = '1 h'", "is on Spark"),
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
