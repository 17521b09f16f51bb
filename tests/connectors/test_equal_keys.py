"""Keys that are equal and written in two ways are one: an UPDATE from one to the other changes one row."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.project import Project

FORMS = {
    "interval": ("1 day", "24:00:00", "1 day 00:00:00"),
    "bpchar": ("a", "a  ", "a "),
    "numeric": ("1", "1.0", "1.00"),
    "float8": ("0", "-0", "0.0"),
    "interval[]": ("{1 day}", "{24:00:00}", "{1 day 00:00:00}"),
}


@pytest.mark.parametrize("kind", FORMS)
def test_one_row_stays_one(kind: str, database: str, tmp_path: Path) -> None:
    views = {
        "total": "SELECT count(*) AS n, sum(x) AS s FROM t",
        "joined": "SELECT t.x, o.y FROM t JOIN o ON o.x = t.x",
    }
    p = Project.create(tmp_path, database, views)
    first, *others = FORMS[kind]
    p.source(
        f"CREATE TABLE t (k {kind} PRIMARY KEY, x int)",
        "CREATE TABLE o (x int PRIMARY KEY, y int)",
        f"INSERT INTO t VALUES ('{first}', 5)",
        "INSERT INTO o VALUES (5, 50), (6, 60), (7, 70)",
    )
    p.deploy()
    for n, other in enumerate(others, 6):
        p.source(f"UPDATE t SET k = '{other}', x = {n}")
        p.assert_equal()
    p.source(f"UPDATE t SET k = '{first}'", "DELETE FROM t", f"INSERT INTO t VALUES ('{others[0]}', 7)")
    p.assert_equal()
