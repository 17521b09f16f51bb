"""Composite values are carried as text: rows are brought together by them only where equal ones are written alike."""

from __future__ import annotations

from pathlib import Path

import pytest

from compiler.errors import TidemarkError
from tests.project import Project

SCHEMA = (
    "CREATE TYPE place AS (x int, y numeric(8,2), of text)",
    "CREATE DOMAIN amount AS numeric",
    "CREATE TYPE money_of AS (a amount, note text)",
    "CREATE TYPE nested AS (id int, m money_of[])",
    "CREATE TABLE t (id int PRIMARY KEY, p place, m money_of, n nested)",
    "INSERT INTO t VALUES (1, '(1,2.50,a)', '(1.0,x)', NULL), "
    "(2, '(1,2.5,a)', '(1.00,x)', NULL), (3, NULL, NULL, NULL)",
)


def test_those_that_are_written_in_one_way_are_grouped(database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, {"v": "SELECT p, count(*) AS n FROM t GROUP BY p", "w": "SELECT m FROM t"})
    p.source(*SCHEMA)
    p.deploy()
    p.assert_equal()
    p.source("UPDATE t SET p = '(1,2.500,a)' WHERE id = 3", "DELETE FROM t WHERE id = 1")
    p.assert_equal()


@pytest.mark.parametrize(
    "query",
    [
        "SELECT m, count(*) AS n FROM t GROUP BY m",
        "SELECT DISTINCT m FROM t",
        "SELECT m FROM t UNION SELECT m FROM t",
        "SELECT count(DISTINCT m) AS n FROM t",
        "SELECT id, count(*) OVER (PARTITION BY n) AS c FROM t",
    ],
)
def test_others_are_not(query: str, database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, {"v": query})
    p.source(*SCHEMA)
    with pytest.raises(TidemarkError, match="is not supported"):
        p.deploy()
