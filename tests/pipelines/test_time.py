"""Views that read the time: rows enter and leave as it passes, also when nothing is written."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from compiler.catalog import read_schema
from compiler.parse import parse_query
from compiler.temporal import timed
from compiler.view import compile_view
from pipelines.asking.ask import ask
from pipelines.project import compile_project, read_views
from tests.project import Project

VIEWS = {
    "soon": "SELECT id FROM e WHERE at > now() AND at <= now() + interval '2 seconds'",
    "past": "SELECT kind, count(*) AS n, sum(amount) AS total FROM e WHERE at < now() GROUP BY kind",
    "age": "SELECT id, current_date - day AS days, CASE WHEN at > current_timestamp THEN 'ahead' ELSE 'behind' END AS "
    "side FROM e",
    "joined": "SELECT k.label, max(e.amount) AS top FROM e JOIN k ON k.kind = e.kind WHERE e.at > now() - interval '1 "
    "hour' GROUP BY k.label",
    "none_ahead": "SELECT k.label FROM k WHERE NOT EXISTS (SELECT 1 FROM e WHERE e.kind = k.kind AND e.at > now())",
    "recent": "SELECT id, rank() OVER (PARTITION BY kind ORDER BY amount) AS r FROM e WHERE day >= current_date - 7",
    "latest": "SELECT DISTINCT ON (kind) kind, id, now() - at AS age, amount FROM e ORDER BY kind, at DESC, id",
    "oldest": "SELECT id, now() - at AS age, current_date - day AS days FROM e ORDER BY at, id LIMIT 3",
    "on_a_view": "SELECT count(*) AS n FROM past WHERE n > 1",
    "local": "SELECT id FROM e WHERE at::timestamp < localtimestamp UNION ALL SELECT id FROM e WHERE at > now() + "
    "interval '10 years'",
}


@pytest.fixture
def project(database: str, tmp_path: Path) -> Project:
    p = Project.create(tmp_path, database, VIEWS)
    p.source(
        "CREATE TABLE e (id int PRIMARY KEY, kind int, amount numeric(10,2), at timestamptz, day date)",
        "CREATE TABLE k (kind int PRIMARY KEY, label text)",
        "INSERT INTO k VALUES (1, 'one'), (2, 'two'), (3, NULL)",
        "INSERT INTO e SELECT i, i % 3, i * 1.5, now() + (i - 10) * interval '20 minutes', current_date - i FROM "
        "generate_series(1, 20) i",
    )
    p.deploy()
    return p


@pytest.mark.parametrize("view", ["latest", "oldest"])
def test_the_time_is_read_of_the_rows_that_a_limit_leaves(view: str) -> None:
    schema = read_schema(
        "CREATE TABLE e (id int PRIMARY KEY, kind int, amount numeric(10,2), at timestamptz, day date)"
    )
    plan = compile_view(view, parse_query(VIEWS[view]), schema)
    assert not plan.hangs_on_ties
    assert {type(n).__name__ for n in timed(plan.top)} == {"Project"}


def test_they_are_the_sources_after_every_commit(project: Project) -> None:
    project.assert_equal()
    project.source(
        "UPDATE e SET at = now() - interval '3 hours' WHERE id > 15",
        "INSERT INTO e VALUES (99, 2, 7, now() + interval '1 day', current_date)",
    )
    project.assert_equal()
    project.source("DELETE FROM e WHERE kind = 1", "DELETE FROM k WHERE kind = 2")
    project.assert_equal()


def test_rows_leave_when_nothing_is_written(project: Project) -> None:
    project.source("INSERT INTO e VALUES (50, 1, 1, now() + interval '1 second', current_date)")
    project.catch_up()
    seen = []
    end = time.monotonic() + 5
    while time.monotonic() < end and (not seen or seen[-1]):
        seen.append([r["id"] for r in ask(project.config, "SELECT id FROM soon", False).to_pylist()])
        time.sleep(0.1)
    assert seen[0] in ([50], []) and seen[-1] == []
    project.assert_equal()


def test_what_is_kept_is_maintained_by_deltas(project: Project) -> None:
    from connectors.postgres.catalog import load_catalog
    from connectors.postgres.connection import connect

    with connect(project.dsn) as c:
        views = compile_project(read_views(project.config.views_path), load_catalog(c))
    assert {v.name: v.maintenance for v in views} == {**dict.fromkeys(VIEWS, "incremental"), "latest": "keyed"}
    assert all("reads the time" in n for v in views for n in v.notes)
