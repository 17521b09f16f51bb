"""What is lent to DuckDB is read, whatever views are called."""

from __future__ import annotations

from pathlib import Path

from tests.project import Project


def test_a_view_is_not_read_in_its_place(database: str, tmp_path: Path) -> None:
    names = ("staged", "lent_staged", "lent_fetched", "latest", "batch_t", "found")
    p = Project.create(tmp_path, database, {n: "SELECT id, v FROM t" for n in names})
    p.source("CREATE TABLE t (id int PRIMARY KEY, v text)", "INSERT INTO t VALUES (1, 'a'), (2, 'b')")
    p.deploy()
    p.source("INSERT INTO t VALUES (3, 'c')", "UPDATE t SET v = 'd' WHERE id = 1", "DELETE FROM t WHERE id = 2")
    p.assert_equal()
