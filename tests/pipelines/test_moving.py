"""Views that go to another engine: their tables are taken from the one that has them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.connectors.test_capture_types import ALL
from tests.pipelines.running import running
from tests.project import Project

pytestmark = pytest.mark.spark
MOOD = "CREATE TYPE mood AS ENUM ('sad', 'ok', 'it''s, \"fine\"')"
BODY = ", ".join(f"c{i} {t}" for i, t in enumerate(ALL))
VIEWS = {
    "every_one": "SELECT * FROM every",
    "bags": "SELECT * FROM bag",
    "counted": "SELECT b.x, count(*) AS n, max(e.id) AS m FROM bag b LEFT JOIN every e ON e.id = b.x GROUP BY b.x",
}
ROWS = max(map(len, ALL.values()))
CHANGES = (
    "UPDATE every SET id = id + 1000 WHERE id % 2 = 0",
    "DELETE FROM every WHERE id = 3",
    "INSERT INTO bag VALUES (1, 'y'), (NULL, NULL)",
    "DELETE FROM bag WHERE ctid IN (SELECT ctid FROM bag WHERE x = 2 LIMIT 2)",
)


def project(home: Path, dsn: str, memory: str) -> Project:
    p = Project.create(home, dsn, VIEWS, local_memory=memory)
    values = [", ".join(vs[i % len(vs)] for vs in ALL.values()) for i in range(ROWS)]
    p.source(
        MOOD,
        f"CREATE TABLE every (id int PRIMARY KEY, {BODY})",
        "CREATE TABLE bag (x int, y text)",
        "ALTER TABLE bag REPLICA IDENTITY FULL",
        *(f"INSERT INTO every VALUES ({i}, {v})" for i, v in enumerate(values)),
        "INSERT INTO bag SELECT i % 5, 'y' FROM generate_series(1, 40) i",
    )
    p.deploy()
    return p


def moved(p: Project, engine: str, *others: str) -> None:
    """The views on another engine, from now on; `others` stay."""
    for name in VIEWS:
        where = "duckdb" if name in others else engine
        text = f"CREATE MATERIALIZED VIEW {name} WITH (engine = '{where}') AS {VIEWS[name]}"
        (p.home / "views" / f"{name}.sql").write_text(text)


@pytest.mark.parametrize("memory", ["1GB", "1KB", "none"])
def test_nothing_is_read_from_the_source(
    memory: str, database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    p = project(tmp_path, database, memory)
    p.source(*CHANGES)
    moved(p, "spark")
    monkeypatch.setenv("TIDEMARK_FAILPOINTS", "snapshot.exported=raise")
    done = p.command("deploy")
    assert done.returncode == 0, done.stderr
    assert p.deployed.tables == {"spark": ["public.bag", "public.every"]}
    p.source(*CHANGES)
    p.assert_equal()
    if memory == "1GB":
        moved(p, "duckdb")
        done = p.command("deploy")
        assert done.returncode == 0, done.stderr
        p.source(*CHANGES)
        p.assert_equal()


def test_beside_a_pipeline(database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    p = project(tmp_path, database, "1GB")
    monkeypatch.setenv("TIDEMARK_FAILPOINTS", "snapshot.exported=raise")
    with running(p, batch=60):
        p.source(*CHANGES)
        moved(p, "spark", "counted")  # of which the tables stay on DuckDB, too
        done = p.command("deploy")
        assert done.returncode == 0, done.stderr
        p.source(*CHANGES)
        done = p.command("verify")
        assert done.returncode == 0, done.stdout
    p.assert_equal()


def test_a_column_that_nobody_has_is_read(database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    p = Project.create(tmp_path, database, {"few": "SELECT x FROM bag"})
    p.source("CREATE TABLE bag (id int PRIMARY KEY, x int, y text)", "INSERT INTO bag VALUES (1, 2, 'y')")
    p.deploy()
    more = "CREATE MATERIALIZED VIEW few WITH (engine = 'spark') AS SELECT x, y FROM bag"
    (p.home / "views" / "few.sql").write_text(more)
    monkeypatch.setenv("TIDEMARK_FAILPOINTS", "snapshot.exported=raise")
    assert p.command("deploy").returncode == 1
    monkeypatch.delenv("TIDEMARK_FAILPOINTS")
    p.assert_equal()
    p.deploy()
    p.assert_equal()
