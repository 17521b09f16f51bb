"""States that are too large for the driver's file: a base beside it, a tail in it, and the same answers."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from compiler.maintain.program import Does, Statement
from connectors.duckdb.elsewhere import rounds
from connectors.failpoints import Action, FailpointReached, Failpoints
from connectors.postgres.connection import current_lsn
from connectors.spark.driver import Driver
from connectors.spark.local import bases, states
from connectors.spark.local.engine import LocalEngine
from connectors.spark.local.fetching import SparkReader
from pipelines.applying.capture import Capture
from pipelines.applying.catching_up import limits
from pipelines.warehouse import Warehouse
from tests.project import Project

pytestmark = pytest.mark.filterwarnings(  # pyspark leaves its sockets open
    "ignore::pytest.PytestUnraisableExceptionWarning"
)
VIEWS = {
    "totals": "SELECT a, u, count(*) AS n, sum(price) AS s, avg(price) AS mean FROM t GROUP BY a, u",
    "extrema": "SELECT a, min(at) AS first, max(note) AS last FROM t GROUP BY a",
    "listed": "SELECT a, string_agg(note, ',' ORDER BY id) AS notes FROM t GROUP BY a",
    "joined": "SELECT t.id, t.note, t.raw, t.days, l.label, l.at FROM t LEFT JOIN l ON l.n = t.a",
    "notes": "SELECT DISTINCT note FROM t",
    "counted": "SELECT n, count(*) AS groups FROM (SELECT a, count(*) AS n FROM t GROUP BY a) x GROUP BY n",
    "spans": "SELECT span, count(*) AS n FROM l GROUP BY span",
    "alone": "SELECT id FROM t WHERE NOT EXISTS (SELECT FROM l WHERE l.n = t.a)",
    "all of it": "SELECT count(*) AS n, sum(price) AS s FROM t",
    "ranked": "SELECT a, id, rank() OVER (PARTITION BY a ORDER BY price DESC) AS r FROM t",
}
SCHEMA = (
    "CREATE TABLE t (id int PRIMARY KEY, a int, u uuid, price numeric(12,2), note text, at timestamptz, raw bytea, "
    "days date[])",
    "CREATE TABLE l (n int PRIMARY KEY, label text, span interval, at time)",
    "INSERT INTO t SELECT g, nullif(g % 17, 3), md5((g % 3)::text)::uuid, g * 1.25, 'note ' || g % 40, "
    "'2024-01-01'::timestamptz + g * interval '1 hour', decode(md5(g::text), 'hex'), "
    "ARRAY[date '2024-01-01' + g, NULL] FROM generate_series(1, 300) g",
    "INSERT INTO l SELECT g, 'l' || g % 5, g % 3 * interval '1 day', time '10:00:00.000001' + g * interval '1 min' "
    "FROM generate_series(1, 12) g",
)
LOCAL = {"spans"}  # views of which states stay: their keys have values of several forms, or they are one row


def change(chance: random.Random) -> str:
    low = chance.randrange(320)
    some = f"id BETWEEN {low} AND {low + chance.choice((0, 3, 30))}"
    return chance.choice(
        (
            f"UPDATE t SET price = price + 1, a = nullif((a + 1) % 17, 3) WHERE {some}",
            f"DELETE FROM t WHERE {some}",
            f"INSERT INTO t SELECT g, g % 19, md5((g % 3)::text)::uuid, g, 'note ' || g % 45, now(), NULL, NULL "
            f"FROM generate_series({low}, {low + 20}) g ON CONFLICT DO NOTHING",
            f"UPDATE l SET label = label || 'x' WHERE n = {chance.randrange(14)}",
            f"DELETE FROM l WHERE n = {chance.randrange(14)}",
            f"INSERT INTO l VALUES ({chance.randrange(19)}, NULL, '24:00', NULL) ON CONFLICT DO NOTHING",
            f"UPDATE t SET note = NULL WHERE {some}",
            f"UPDATE t SET id = id + 1000 WHERE id = {low}",
        )
    )


@pytest.fixture
def project(database: str, tmp_path: Path) -> Project:
    p = Project.create(tmp_path, database, VIEWS, engine="spark", local_memory="0")
    p.source(*SCHEMA)
    p.deploy()
    assert p.deployed.location == "local" and p.deployed.dist == ["public.l", "public.t"]
    return p


def now(p: Project) -> int:
    return current_lsn(p.dsn)


def engine(w: Warehouse) -> LocalEngine:
    found = w.engine("spark")
    assert isinstance(found, LocalEngine)
    return found


@pytest.fixture
def small_tails(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Bases are written anew all the time."""
    monkeypatch.setattr(states, "TAIL_ROWS", 5)
    monkeypatch.setattr(states, "TAIL_SHARE", 0.1)
    yield


def dist(p: Project) -> set[str]:
    w = Warehouse(p.config, p.deployed)
    try:
        return set(engine(w).dist_states.names)
    finally:
        w.close()


def test_what_has_a_key_is_dist(project: Project) -> None:
    there, w = dist(project), Warehouse(project.config, project.deployed)
    try:
        for view in VIEWS:
            kept = {s.name for s in w.view(view)[1].states if states.may_leave(s)}
            assert kept <= there and bool(kept) is (view not in {"spans", "all of it"}), view
            for name in kept:
                rows, size = engine(w).size(name)
                assert rows >= 0 and size > 0
    finally:
        w.close()


@pytest.mark.parametrize("seed", range(3))
def test_views_are_equal_after_random_changes(project: Project, small_tails: None, seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(6):
        project.source(*(change(chance) for _ in range(chance.randint(1, 4))))
        project.assert_equal()
    project.source("TRUNCATE t")
    project.assert_equal()
    project.source(*(change(chance) for _ in range(5)))
    project.assert_equal()


def test_long_tails(project: Project) -> None:
    """None is written anew: keys come, go and come again in the tail alone."""
    chance = random.Random(7)
    for _ in range(6):
        project.source(*(change(chance) for _ in range(3)))
        project.assert_equal()


def test_a_batch_that_is_undone(project: Project, small_tails: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """In one process: what bases and tails were to become is forgotten, also where a state was filled anew."""
    w = Warehouse(project.config, project.deployed)
    capture = Capture(w, limits(project.config))
    chance = random.Random(3)
    try:
        for fails in (True, False) * 4:
            project.source("UPDATE t SET a = a + 1 WHERE id % 7 = 0", *(change(chance) for _ in range(3)))
            if fails:
                failing = Failpoints({"duckdb.frontier": (Action.RAISE, 1)})
                monkeypatch.setattr("connectors.failpoints.ACTIVE", failing)
                with pytest.raises(FailpointReached):
                    capture.catch_up(now(project))
            monkeypatch.setattr("connectors.failpoints.ACTIVE", Failpoints({}))
            if not fails:
                capture.catch_up(now(project))
    finally:
        capture.close()
        w.close()
    project.assert_equal()


def test_a_lost_file_is_made_again(project: Project, small_tails: None) -> None:
    chance = random.Random(5)
    project.source(*(change(chance) for _ in range(5)))
    project.catch_up()
    for f in (project.config.warehouse_path / "delta").glob("local.duckdb*"):
        f.unlink()
    project.source(*(change(chance) for _ in range(5)))
    project.assert_equal()
    assert dist(project)


def test_states_that_grow_leave_the_file(database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, VIEWS, engine="spark", local_memory="100KB")
    p.source(*SCHEMA)
    p.deploy()
    assert not dist(p)
    p.source(
        "INSERT INTO t SELECT g, g % 1900, md5((g % 3)::text)::uuid, g, 'note ' || g, now(), NULL, NULL "
        "FROM generate_series(2000, 4000) g"
    )
    p.catch_up()
    assert dist(p)
    p.source("UPDATE t SET a = a + 1 WHERE id % 3 = 0", "DELETE FROM l WHERE n < 5")
    p.assert_equal()


def test_spark_brings_rows(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    reader = SparkReader(Driver("local[2]", "", {}), project.home / "fetched")
    monkeypatch.setattr("pipelines.engines._reader", lambda config: reader)
    chance = random.Random(11)
    for _ in range(3):
        project.source(*(change(chance) for _ in range(3)))
        project.assert_equal()
    assert reader.jobs


def test_a_state_that_overflows_stops_its_view_alone(database: str, tmp_path: Path) -> None:
    views = {"much": "SELECT k, sum(v) AS s FROM big GROUP BY k", "many": "SELECT k, count(*) AS n FROM big GROUP BY k"}
    p = Project.create(tmp_path, database, views, engine="spark", local_memory="0")
    p.source(
        "CREATE TABLE big (id int PRIMARY KEY, k int, v numeric(38,0))", f"INSERT INTO big VALUES (1, 1, {'9' * 38})"
    )
    p.deploy()
    p.source(f"INSERT INTO big VALUES (2, 1, {'9' * 38})")
    p.catch_up()
    p.source("INSERT INTO big VALUES (3, 2, 1)")
    p.catch_up()
    assert {v.name: bool(v.error) for v in p.deployed.views} == {"much": True, "many": False}
    assert [r.equal for r in p.verify() if r.view == "many"] == [True]


def test_changes_come_together_where_nothing_reads_what_another_writes() -> None:
    def does(what: Does, target: str, *read: str) -> Statement:
        return Statement(what, target, "", tuple(f"state.{r}" for r in read), f"state.{target}", "")

    order = [
        does(Does.MERGE, "a", "a"),
        does(Does.MERGE, "here", "here"),
        does(Does.MERGE, "b", "b", "tail"),
        does(Does.CLEAR, "tail"),
        does(Does.MERGE, "c", "c", "a"),
    ]
    found = [[s.target for s in some] for some in rounds(order, frozenset(), frozenset("abc"))]
    assert found == [["here"], ["a", "b"], ["tail"], ["c"]]


def test_who_reads_finds_the_files_wherever_the_folder_is(project: Project) -> None:
    def reads() -> None:
        for words in (("query", "SELECT count(*) FROM joined"), ("status", "--states"), ("export", "--to", "out")):
            told = project.command(*words)
            assert told.returncode == 0, (words, told.stderr)

    assert project.command("deploy", "--resync").returncode == 0  # it was made in another folder
    reads()
    project.home = project.home.rename(project.home.with_name("moved"))
    told = project.command("query", "SELECT count(*) FROM joined")
    assert told.returncode == 1 and "the warehouse was moved" in told.stderr and "run --once" in told.stderr
    project.catch_up()
    reads()
    with duckdb.connect(str(project.config.warehouse_path / "delta" / "local.duckdb"), read_only=True) as con:
        assert con.execute("SELECT count(*) FROM joined").fetchall() == [(300,)]  # whoever opens the file
    project.source("UPDATE t SET price = 0")
    project.assert_equal()


def test_states_whose_files_are_lost_are_filled_again(project: Project) -> None:
    bases = sorted((project.config.warehouse_path / "delta" / "state").glob("*/*.parquet"))
    bases[0].unlink()
    bases[1].write_bytes(bases[1].read_bytes()[:100])
    project.source("UPDATE t SET price = 0 WHERE id < 50")
    assert project.command("deploy").returncode == 0
    project.assert_equal()
    assert not any(v.error for v in project.deployed.views)


def test_new_tables_are_dist_where_old_ones_take_all_room(database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, {"alone": VIEWS["notes"]}, engine="spark", local_memory="2GB")
    p.source(*SCHEMA)
    p.deploy()
    text = (p.home / "tidemark.toml").read_text()
    (p.home / "tidemark.toml").write_text(text.replace("2GB", "0"))
    p.write({"joined": VIEWS["joined"]})
    p.deploy()
    assert p.deployed.location == "local" and p.deployed.dist == ["public.l"]
    p.source("DELETE FROM l WHERE n < 4", "UPDATE t SET a = 7 WHERE id < 9")
    p.assert_equal()


def test_upkeep_that_fails_stops_nothing(project: Project, small_tails: None, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> Path:
        raise duckdb.OutOfMemoryException("no room")

    monkeypatch.setattr(states.DistStates, "_renew", full)
    project.source("UPDATE t SET price = price + 1")
    project.catch_up()
    project.assert_equal()


def test_files_go_when_nobody_can_need_them(
    project: Project, small_tails: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def files() -> int:
        return len(list((project.config.warehouse_path / "delta" / "state").glob("*/*.parquet")))

    first = files()
    project.source("UPDATE t SET price = price + 1")
    project.catch_up()
    assert files() > first
    monkeypatch.setattr(bases, "GRACE", -1.0)
    project.source("UPDATE t SET price = price + 1 WHERE id = 1")
    project.catch_up()
    assert files() == first
    project.assert_equal()
