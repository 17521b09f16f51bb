"""A mirror has the columns that views read, and its key: no others are copied, landed or compared."""

from __future__ import annotations

import re
from pathlib import Path

import duckdb
import psycopg
import pytest

from connectors.failpoints import Action, FailpointReached, Failpoints
from tests.project import Project

TABLES = (
    "CREATE TABLE t (id int PRIMARY KEY, a int, b int, note text, big text)",
    "ALTER TABLE t ALTER big SET STORAGE EXTERNAL",
    "CREATE TABLE u (id int PRIMARY KEY, a int, unread text)",
    "CREATE TABLE bag (a int, b int)",
    "ALTER TABLE bag REPLICA IDENTITY FULL",
    "INSERT INTO t SELECT g, g % 3, g, 'note ' || g, repeat(md5(g::text), 90) FROM generate_series(1, 40) g",
    "INSERT INTO u SELECT g, g % 5, 'x' FROM generate_series(1, 9) g",
    "INSERT INTO bag SELECT g % 4, g FROM generate_series(1, 20) g",
)
VIEWS = {
    "by_a": "SELECT a, count(*) AS n FROM t GROUP BY a",
    "joined": "SELECT u.id, t.a FROM u JOIN t ON t.id = u.a",
    "bags": "SELECT a, count(*) AS n FROM bag GROUP BY a",
}
CHANGES = (
    "UPDATE t SET note = 'other', big = repeat('y', 3000) WHERE id < 10",
    "UPDATE t SET a = a + 1 WHERE id % 4 = 0",
    "UPDATE t SET id = id + 100 WHERE id < 5",
    "DELETE FROM t WHERE id BETWEEN 20 AND 25",
    "INSERT INTO t VALUES (7000, 1, 2, NULL, NULL)",
    "DELETE FROM bag WHERE b = 3",
    "UPDATE bag SET b = b + 1",
    "UPDATE u SET unread = 'z'",
)
ENGINES = (("duckdb", "0"), ("spark", "2GB"), ("spark", "24KB"))


@pytest.fixture(params=ENGINES, ids=["duckdb", "local", "mixed"])
def project(database: str, tmp_path: Path, request: pytest.FixtureRequest) -> Project:
    engine, memory = request.param
    p = Project.create(tmp_path, database, VIEWS, engine=engine, local_memory=memory)
    p.source(*TABLES)
    p.deploy()
    return p


def columns(p: Project, table: str) -> list[str]:
    """What the mirror has, in the engine's own file."""
    on = next(iter(p.deployed.tables))
    file = "tidemark.duckdb" if on == "duckdb" else "delta/local.duckdb"
    with duckdb.connect(str(p.config.warehouse_path / file), read_only=True) as con:
        described = con.execute(f"DESCRIBE base.{table}").fetchall()
    return [r[0] for r in described if not r[0].startswith("_")]


def test_what_no_view_reads_is_not_kept(project: Project) -> None:
    assert columns(project, "t") == ["id", "a"]
    assert columns(project, "u") == ["id", "a"]
    assert columns(project, "bag") == ["a", "b"]  # its rows are told apart by nothing else
    for change in CHANGES:
        project.source(change)
    project.assert_equal()


def test_a_view_that_reads_more_copies_that_table_alone(project: Project) -> None:
    project.source(*CHANGES[:3])
    before = {t.name: t.files for t in project.deployed.catalog}
    project.write({"notes": "SELECT id, note, b FROM t WHERE note <> ''"})
    project.source("ALTER TABLE u ALTER unread TYPE int USING 1")
    project.deploy()
    assert columns(project, "t") == ["id", "a", "b", "note"]
    assert columns(project, "u") == ["id", "a"]
    assert {t.name: t.files for t in project.deployed.catalog}["bag"] == before["bag"]
    project.assert_equal()
    for change in CHANGES[3:-1]:
        project.source(change)
    project.source("INSERT INTO t VALUES (7001, 1, 2, 'n', NULL)", "UPDATE t SET big = NULL")
    project.assert_equal()
    (project.home / "views" / "notes.sql").unlink()
    project.deploy()
    project.source("DELETE FROM t WHERE id % 2 = 0")
    project.assert_equal()


@pytest.mark.parametrize("point", ["redeploy.caught_up", "redeploy.copied", "redeploy.built", "redeploy.saved"])
def test_a_deploy_that_ends_while_it_copies_more_columns_is_done_by_the_next(
    database: str, tmp_path: Path, point: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    p = Project.create(tmp_path, database, VIEWS)
    p.source(*TABLES)
    p.deploy()
    p.write({"notes": "SELECT id, note FROM t"})
    monkeypatch.setattr("connectors.failpoints.ACTIVE", Failpoints({point: (Action.RAISE, 1)}))
    with pytest.raises(FailpointReached):
        p.deploy()
    p.source(*CHANGES[:4])
    p.deploy()
    p.assert_equal()
    assert columns(p, "t") == ["id", "a", "note"]


def test_a_column_that_no_view_reads_may_be_dropped_and_come_back(project: Project) -> None:
    project.source("ALTER TABLE t DROP note", "INSERT INTO t VALUES (8000, 1)")
    project.catch_up()
    project.source("ALTER TABLE t ADD note int DEFAULT 5", "INSERT INTO t VALUES (8001, 1, NULL, NULL, 6)")
    project.assert_equal()
    project.write({"notes": "SELECT id, note FROM t"})
    project.deploy()
    project.source("UPDATE t SET note = 7 WHERE id = 8000")
    project.assert_equal()


def test_a_value_that_no_type_holds_stops_nothing_where_no_view_reads_it(database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, {"v": "SELECT id FROM t"})
    p.source("CREATE TABLE t (id int PRIMARY KEY, n numeric(38, 10), x int[])", "INSERT INTO t VALUES (1, 1, '{{1}}')")
    p.deploy()
    p.source("INSERT INTO t VALUES (2, 1, '{{1, 2}, {3, 4}}')")
    p.assert_equal()
    assert not p.deployed.refused.get("duckdb")


def test_a_deployment_of_before_has_all_columns(database: str, tmp_path: Path) -> None:
    """Of it nothing is said of columns: its mirrors have all."""
    from pipelines import deployment

    p = Project.create(tmp_path, database, VIEWS)
    p.source(*TABLES)
    p.write({"whole": "SELECT * FROM t", "also": "SELECT * FROM u"})
    p.deploy()
    d = p.deployed
    d.columns = {}
    deployment.save(p.config.warehouse_path, d)
    p.source(*CHANGES)
    p.deploy()
    p.assert_equal()


def test_status_tells_what_is_kept(database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, VIEWS)
    p.source(*TABLES)
    p.deploy()
    said = p.command("status", "--states").stdout
    assert re.search(r"mirror public\.t on duckdb: id, a \(2 of 5 columns, \d+\.\d MB\)", said), said
    assert "mirror public.bag on duckdb: a, b (2 of 2 columns, " in said
    assert "mirror" not in p.command("status").stdout


def test_what_is_fetched_of_large_mirrors_is_what_they_have(database: str, tmp_path: Path) -> None:
    """Rows as they were before a batch are what was fetched less the batch, in the columns that are read."""
    views = {
        "outer": "SELECT t.a, count(*) AS n, count(u.id) AS us FROM t LEFT JOIN u ON u.a = t.id GROUP BY t.a",
        "lonely": "SELECT t.id FROM t WHERE NOT EXISTS (SELECT FROM u WHERE u.a = t.id)",
    }
    p = Project.create(tmp_path, database, views)
    toml = tmp_path / "tidemark.toml"
    toml.write_text(toml.read_text() + "\n[duckdb]\nindex_rows = 0\n")
    p.source(*TABLES)
    p.deploy()
    for i in range(5):
        with psycopg.connect(p.dsn) as c:
            c.execute("UPDATE t SET a = a + 1, note = 'again' WHERE id %% 3 = %s", (i % 3,))
            c.execute("UPDATE u SET a = a + 1, unread = 'again' WHERE id %% 2 = %s", (i % 2,))
        p.assert_equal()
        assert not [v.error for v in p.deployed.views if v.error]
