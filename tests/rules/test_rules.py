"""One page an operator: its equation, a view, and the SQL that maintains it, which is golden and executed.

`pytest tests/rules --update-golden` rewrites the SQL blocks of the pages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from compiler.catalog import read_schema
from compiler.parse import parse_view
from pipelines.asking.explain import script
from pipelines.project import Compiled, compile_project
from tests.project import Project
from tests.rules.deltas import delta

PAGES = sorted(Path(__file__).parent.glob("*.md"))
SCHEMA = """
CREATE TABLE r (id int PRIMARY KEY, k int, v int, x numeric(10,2), t text);
CREATE TABLE s (id int PRIMARY KEY, k int, w int);
CREATE TABLE bag (k int, v int);
ALTER TABLE bag REPLICA IDENTITY FULL;
"""
LOAD = """
INSERT INTO r SELECT i, CASE WHEN i % 5 > 0 THEN i % 4 END, CASE WHEN i % 7 > 0 THEN i % 9 END, i * 1.25, 't' || i % 3
FROM generate_series(1, 30) i;
INSERT INTO s SELECT i, CASE WHEN i % 6 > 0 THEN i % 5 END, i % 8 FROM generate_series(1, 20) i;
INSERT INTO bag SELECT i % 3, i % 4 FROM generate_series(1, 12) i;
"""
COMMITS = (
    "INSERT INTO r VALUES (101, 2, 50, 7.5, 'new'), (102, NULL, NULL, NULL, NULL); INSERT INTO s VALUES (101, 2, 9), "
    "(102, 7, 1)",
    "UPDATE r SET v = v + 1 WHERE k = 1; UPDATE s SET k = k + 1 WHERE id < 6; DELETE FROM bag WHERE k = 1",
    "DELETE FROM r WHERE k = 2; DELETE FROM s WHERE k = 3; INSERT INTO bag VALUES (NULL, NULL), (0, 0), (0, 0)",
    "DELETE FROM r; DELETE FROM s; DELETE FROM bag",
    "INSERT INTO r VALUES (1, 1, 1, 1, 'back'); INSERT INTO s VALUES (1, 1, 1); INSERT INTO bag VALUES (1, 1)",
)


def block(page: Path, kind: str) -> str:
    found = re.search(rf"```{kind}\n(.*?)```", page.read_text(), re.S)
    assert found, f"{page.name} has no {kind} block"
    return found[1].strip()


def strategy(page: Path) -> str:
    """The one that the page is about; most are about any."""
    found = re.search(r"^Strategy: `(\w+)`", page.read_text(), re.M)
    return found[1] if found else "first_order"


def statement(page: Path) -> str:
    return f"CREATE MATERIALIZED VIEW \"{page.stem}\" WITH (strategy = '{strategy(page)}') AS\n{block(page, 'sql')};\n"


def planned(page: Path) -> Compiled:
    view = Compiled(page.stem, parse_view(statement(page)), strategy=strategy(page))
    compile_project([view], read_schema(SCHEMA))
    assert view.error is None, view.error
    return view


def compiled(page: Path, engine: str) -> str:
    view = planned(page)
    view.engine = engine
    return script(view).strip()


def golden(page: Path, kind: str, got: str, request: pytest.FixtureRequest) -> None:
    """What the page has in a block of a kind is what is made now; `--update-golden` makes it so."""
    if request.config.getoption("--update-golden"):
        text = re.sub(rf"```{kind}\n.*?```", lambda _: f"```{kind}\n{got}\n```", page.read_text(), flags=re.S)
        page.write_text(text)
    assert block(page, kind) == got


@pytest.mark.parametrize("engine", ["duckdb", "spark"])
@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_page_shows_the_sql_that_is_generated(page: Path, engine: str, request: pytest.FixtureRequest) -> None:
    golden(page, engine, compiled(page, engine), request)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_page_shows_what_a_batch_changes(page: Path, request: pytest.FixtureRequest) -> None:
    plan = planned(page).plan
    assert plan is not None
    golden(page, "delta", delta(plan, read_schema(SCHEMA)), request)


@pytest.fixture(scope="module")
def deployed(server: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    import psycopg

    with psycopg.connect(server, autocommit=True) as c:
        c.execute("DROP DATABASE IF EXISTS rules WITH (FORCE)")
        c.execute("CREATE DATABASE rules")
    dsn = psycopg.conninfo.make_conninfo(server, dbname="rules")
    project = Project.create(tmp_path_factory.mktemp("rules"), dsn, {})
    for p in PAGES:
        (project.home / "views" / f"{p.stem}.sql").write_text(statement(p))
    project.source(SCHEMA, LOAD)
    project.deploy()
    yield project
    assert project.command("teardown", "--yes").returncode == 0
    with psycopg.connect(server, autocommit=True) as c:
        c.execute("DROP DATABASE rules WITH (FORCE)")


def test_every_page_is_right_after_every_commit(deployed: Project) -> None:
    for commit in COMMITS:
        deployed.source(commit)
        deployed.assert_equal()
