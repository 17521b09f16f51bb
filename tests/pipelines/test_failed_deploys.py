"""A deploy beside a pipeline that fails leaves what was there: views that go on, or say why not, and heal."""

from __future__ import annotations

import json
from contextlib import nullcontext
from pathlib import Path

import duckdb
import psycopg
import pytest

from connectors.engine import EngineFailure
from connectors.failpoints import Action, FailpointReached, Failpoints
from pipelines.asking.client import connect_running
from pipelines.deploying import deploy as deploying
from pipelines.deploying.arriving import arriving
from pipelines.deploying.order import Order
from tests.pipelines.running import running, until
from tests.project import Project

SCHEMA = (
    "CREATE TABLE t (id int PRIMARY KEY, a int, b int, c int, d int, w text)",
    "CREATE TABLE later (id int PRIMARY KEY, note text)",
    "INSERT INTO t SELECT i, i % 5, i % 7, i % 3, i, 'w' FROM generate_series(1, 100) i",
    "INSERT INTO later SELECT i, 'n' FROM generate_series(1, 10) i",
)
VIEWS = {f"v{c}": f"SELECT {c}, count(*) AS n FROM t GROUP BY {c}" for c in "abc"}
BAD = {"bad": "SELECT sum(CAST(w AS int)) AS s FROM t"}  # it cannot be filled, and reads what is not kept


def project(database: str, home: Path, more: dict[str, str] | None = None, **how: str) -> Project:
    p = Project.create(home, database, VIEWS | (more or {}), **how)
    p.source(*SCHEMA)
    p.deploy()
    return p


def aside(p: Project) -> dict[str, str]:
    return {v.name: v.error for v in p.deployed.views if v.error}


def failed(p: Project) -> str:
    done = p.command("deploy")
    assert done.returncode == 1, done.stdout + done.stderr
    return done.stderr


def test_deploys_take_none_of_the_memory(database: str, tmp_path: Path) -> None:
    p = project(database, tmp_path)

    def limit() -> str:
        return p.command("query", "--internal", "SELECT current_setting('memory_limit') AS m").stdout

    with running(p):
        before = limit()
        for _ in range(3):
            assert p.command("deploy").returncode == 0
        assert limit() == before


def test_a_view_that_was_to_go_is_kept_where_the_deploy_fails(database: str, tmp_path: Path) -> None:
    p = project(database, tmp_path)
    with running(p):
        (p.home / "views" / "vb.sql").unlink()
        p.write(BAD)
        assert "INT32" in failed(p)
        p.source("UPDATE t SET b = 77")
        assert "77" in p.command("query", "--wait", "SELECT * FROM vb").stdout
        assert not aside(p)
        (p.home / "views" / "bad.sql").unlink()
        assert p.command("verify").returncode == 0
    p.assert_equal()


def test_a_view_that_would_be_another_one(database: str, tmp_path: Path) -> None:
    """Its table was copied with a column more; its own states are those of the table without."""
    p = project(
        database, tmp_path, {"every": "SELECT x.a, count(*) AS n FROM (SELECT DISTINCT * FROM t) x GROUP BY x.a"}
    )
    with running(p) as process:
        p.source("ALTER TABLE t ADD e int DEFAULT 4")
        p.write(BAD)
        assert "INT32" in failed(p)
        p.source("UPDATE t SET c = 7 WHERE id = 1")
        done = p.command("query", "--wait", "SELECT * FROM vc")
        assert process.poll() is None and done.returncode == 0, done.stderr
        shown = json.loads(p.command("status", "--json").stdout)["views"]
        told = {v["view"]: v.get("error") or v.get("set_aside") for v in shown}
        assert all(told[name] for name in aside(p)), told
        (p.home / "views" / "bad.sql").unlink()
        assert p.command("deploy").returncode == 0
        assert not aside(p)
    p.assert_equal()


def test_a_view_whose_column_went_is_no_hindrance(database: str, tmp_path: Path) -> None:
    p = project(database, tmp_path)
    with running(p) as process:
        p.source("ALTER TABLE t DROP a", "INSERT INTO t VALUES (1000, 1, 1, 1, 'w')")
        until(lambda: bool(aside(p)), "it is noticed", 30)
        (p.home / "views" / "va.sql").unlink()
        p.write(BAD)
        assert "INT32" in failed(p)
        assert p.command("query", "--wait", "SELECT * FROM vc").returncode == 0
        assert process.poll() is None
    p.catch_up()
    (p.home / "views" / "bad.sql").unlink()
    p.deploy()
    p.assert_equal()


@pytest.mark.parametrize("point", ["redeploy.copied", "redeploy.built"])
def test_one_that_is_killed_after_a_column_went(
    point: str, database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    p = project(database, tmp_path)
    p.source("ALTER TABLE t DROP a")
    p.catch_up()
    (p.home / "views" / "va.sql").unlink()
    p.write({"vd": "SELECT d, count(*) AS n FROM t GROUP BY d"})
    monkeypatch.setattr("connectors.failpoints.ACTIVE", Failpoints({point: (Action.RAISE, 1)}))
    with pytest.raises(FailpointReached):
        p.deploy()
    p.deploy()
    p.assert_equal()


def test_a_mirror_without_a_column_that_went_is_repaired(database: str, tmp_path: Path) -> None:
    p = project(database, tmp_path)
    p.source("ALTER TABLE t DROP a")
    p.catch_up()
    with duckdb.connect(str(p.config.warehouse_path / "tidemark.duckdb")) as c:
        c.execute("DELETE FROM base.t WHERE id = 7")
    done = p.command("verify", "--repair")
    assert "public.t" in done.stdout and not done.stderr, done.stdout + done.stderr
    p.source("UPDATE t SET b = 5 WHERE id = 9")
    p.catch_up()
    again = p.command("verify")
    assert "DIFFERS" not in again.stdout and {*aside(p)} == {"va"}, again.stdout


def published(p: Project) -> set[str]:
    with psycopg.connect(p.dsn) as c:
        return {t for (t,) in c.execute("SELECT tablename::text FROM pg_publication_tables").fetchall()}


def test_what_is_not_deployed_leaves_the_publication(database: str, tmp_path: Path) -> None:
    p = project(database, tmp_path)
    p.write(
        {"bad": "SELECT sum(id) AS s FROM later WHERE nothing", "odd": "SELECT sum(CAST(note AS int)) AS s FROM later"}
    )
    (p.home / "views" / "bad.sql").unlink()
    with running(p):
        failed(p)
        assert published(p) == {"t"} or "later" in {t.name for t in p.deployed.catalog}
        (p.home / "views" / "odd.sql").unlink()
        assert p.command("deploy").returncode == 0
        assert published(p) == {"t"}


@pytest.mark.spark
def test_a_table_that_outgrows_the_driver_while_it_is_copied(database: str, tmp_path: Path) -> None:
    p = project(database, tmp_path, engine="spark", local_memory="200KB")
    p.source("CREATE TABLE g (id int PRIMARY KEY, x text)", "INSERT INTO g VALUES (1, 'a')")
    with running(p, batch=90):
        p.write({"vg": "SELECT x, count(*) AS n FROM g GROUP BY x"})
        catalog, views = deploying.compiled(p.config)
        with arriving(Order(p.config, catalog, views)):
            p.source("INSERT INTO g SELECT i, repeat('x', 100) FROM generate_series(2, 5000) i")
            asked = connect_running(p.config.warehouse_path)
            assert asked is not None
            with asked:
                assert [v["error"] for v in asked.deploy(False)["views"] if v["name"] == "vg"] == [None]
        p.source("UPDATE g SET x = 'b' WHERE id = 1")
        assert p.command("verify").returncode == 0
    p.assert_equal()


def test_what_was_mended_in_the_source_is_filled_without_a_pipeline(database: str, tmp_path: Path) -> None:
    p = project(database, tmp_path, {"words": "SELECT w, count(*) AS n FROM t GROUP BY w"})
    p.write(BAD)
    with pytest.raises(EngineFailure):
        p.deploy()
    p.source("UPDATE t SET w = id")
    p.deploy()  # the mirror has the old words yet
    assert not aside(p) and {v.name for v in p.deployed.views} == {*VIEWS, "words", "bad"}
    p.source("UPDATE t SET w = id + 1 WHERE id > 50")
    p.catch_up()
    p.assert_equal()


ALTERED = {
    "a column more": ("star", "SELECT * FROM t", "ALTER TABLE t ADD COLUMN q int"),
    "ties by another row": (
        "ties",
        "SELECT id, row_number() OVER (PARTITION BY a ORDER BY b) AS n FROM t",
        "ALTER TABLE t ADD COLUMN q int",
    ),
    "another name": ("named", "SELECT d, count(*) AS n FROM t GROUP BY d", "ALTER TABLE t RENAME COLUMN d TO e"),
}


@pytest.mark.parametrize("beside", [False, True])
@pytest.mark.parametrize("case", ALTERED)
def test_a_view_that_is_another_over_what_was_copied_is_set_aside_alone(
    case: str, beside: bool, database: str, tmp_path: Path
) -> None:
    name, query, alter = ALTERED[case]
    p = project(database, tmp_path, {name: query})
    p.source(alter)
    p.write(BAD | {"more": f"SELECT id, {'e' if 'RENAME' in alter else 'q'} FROM t"})
    if "RENAME" in alter:
        p.write({name: "SELECT e, count(*) AS n FROM t GROUP BY e"})
    with running(p) if beside else nullcontext():
        assert p.command("deploy").returncode == 1
        told = p.command("status")
        assert told.returncode == 0, told.stdout + told.stderr
        p.source("UPDATE t SET a = a + 1 WHERE id < 10")
        verified = p.command("verify").stdout
        assert all(f"{v}: equal" in verified for v in VIEWS), verified
        wrong = {v: e for v, e in aside(p).items() if v not in (name,) or "another version" in e}
        assert not wrong and "the deploy that was to follow that failed" in aside(p).get(name, "that failed"), aside(p)
        (p.home / "views" / "bad.sql").unlink()
        done = p.command("deploy")
        assert done.returncode == 0, done.stdout + done.stderr
        verified = p.command("verify").stdout
    assert not aside(p) and all(f"{v}: equal" in verified for v in (*VIEWS, "more")), verified
    assert f"{name}: equal" in verified or "ties: differs by ties" in verified, verified


def test_a_deploy_that_failed_leaves_no_mark_of_a_table_that_came_with_it(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    p = project(database, tmp_path, {"short": "SELECT sum(d::smallint) AS s FROM t"})
    p.write({"later": "SELECT note, count(*) AS n FROM later GROUP BY note"})
    p.source("UPDATE t SET d = 100000 WHERE id = 1")  # which is noted while it catches up
    with monkeypatch.context() as m:
        m.setattr("connectors.failpoints.ACTIVE", Failpoints({"redeploy.caught_up": (Action.RAISE, 1)}))
        with pytest.raises(FailpointReached):
            p.deploy()
    p.source("UPDATE t SET d = 1 WHERE id = 1")
    p.deploy()
    p.source("INSERT INTO later VALUES (99, 'more')")
    p.catch_up()
    assert not aside(p)
    p.assert_equal()
