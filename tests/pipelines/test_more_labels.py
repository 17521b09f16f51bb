"""Enums that are given more labels after they were deployed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.project import Project

SCHEMA = (
    "CREATE TYPE mood AS ENUM ('sad', 'ok')",
    "CREATE DOMAIN feeling AS mood",
    "CREATE TABLE t (id int PRIMARY KEY, mood mood, moods mood[], feeling feeling)",
    "INSERT INTO t SELECT i, 'ok', '{sad}', 'sad' FROM generate_series(1, 6) i",
)
GLAD = ("ALTER TYPE mood ADD VALUE 'glad'", "INSERT INTO t VALUES (10, 'glad', '{glad,ok}', 'glad')")


def project(home: Path, dsn: str, views: dict[str, str]) -> Project:
    p = Project.create(home, dsn, views)
    p.source(*SCHEMA)
    p.deploy()
    return p


def stopped(p: Project) -> set[str]:
    return {v.name for v in p.deployed.views if v.error}


def test_a_label_that_took_the_name_of_another_is_not_more(database: str, tmp_path: Path) -> None:
    p = project(tmp_path, database, {"m": "SELECT mood, count(*) AS n FROM t GROUP BY mood"})
    p.source("ALTER TYPE mood RENAME VALUE 'ok' TO 'fine'", "ALTER TYPE mood ADD VALUE 'ok'")
    p.catch_up()
    assert stopped(p) == {"m"}
    p.deploy()
    p.assert_equal()


def test_columns_that_nobody_reads_have_them_too(database: str, tmp_path: Path) -> None:
    views = {
        "named": "SELECT count(*) AS n FROM t WHERE 'ok'::mood < mood",
        "plain": "SELECT coalesce(mood, 'ok'::mood) AS m, count(*) AS n FROM t GROUP BY 1",
        "either": "SELECT CASE WHEN id > 3 THEN mood ELSE 'sad'::mood END AS m, count(*) AS n FROM t GROUP BY 1",
    }
    p = project(tmp_path, database, views)
    p.source(*GLAD)
    p.catch_up()
    assert stopped(p) == {"named"}
    p.deploy()
    p.assert_equal()
    assert stopped(p) == set()


def test_arrays_and_domains_go_on(database: str, tmp_path: Path) -> None:
    views = {
        "arrays": "SELECT id, moods, moods[1] AS first FROM t",
        "domains": "SELECT feeling, count(*) AS n FROM t GROUP BY feeling",
        "distinct": "SELECT DISTINCT mood FROM t",
        "joined": "SELECT a.id, b.id AS other FROM t a JOIN t b ON a.mood = b.mood",
    }
    p = project(tmp_path, database, views)
    p.source(*GLAD, "ALTER TYPE mood ADD VALUE 'bad' BEFORE 'sad'", "INSERT INTO t VALUES (11, 'bad', '{bad}', 'bad')")
    p.catch_up()
    assert stopped(p) == set()
    p.assert_equal()
    p.source("DELETE FROM t WHERE id = 10", "UPDATE t SET mood = 'bad' WHERE id = 3")
    p.assert_equal()


KILLED = """
import os
from connectors.duckdb.states import States
States.create_view = lambda *_: os._exit(9)
from pipelines.cli import main
main()
"""


@pytest.mark.parametrize("view", ["SELECT mood, mood > 'sad' AS good, count(*) AS n FROM t GROUP BY mood"])
def test_a_kill_before_views_are_read_with_them(view: str, database: str, tmp_path: Path) -> None:
    p = project(tmp_path, database, {"good": view, "rest": "SELECT id FROM t"})
    p.source(*GLAD)
    done = subprocess.run([sys.executable, "-c", KILLED, "run", "--once"], cwd=p.home, env=dict(os.environ))
    assert done.returncode == 9
    p.catch_up()
    p.assert_equal()
    assert stopped(p) == set()
