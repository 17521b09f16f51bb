"""Views that read the same mirrors by keys share what is fetched, also where each reads other columns of it."""

from __future__ import annotations

import itertools
from pathlib import Path

from tests.project import Project

VIEWS = {
    "v1": "SELECT a.id, c.id AS cid FROM a LEFT JOIN b ON a.k = b.k JOIN c ON c.k = a.k",
    "v2": "SELECT a.id, b.id AS b, c.z FROM a FULL JOIN b ON a.k = b.k JOIN c ON c.k = b.k",
    "v3": "SELECT a.id, c.z FROM a LEFT JOIN b ON a.k = b.k LEFT JOIN c ON c.k = a.k",
    "v4": "SELECT k, count(*) AS n, sum(c.z) AS z FROM a FULL JOIN b USING (k) LEFT JOIN c USING (k) GROUP BY k",
    "v5": "SELECT k, count(c.z) AS n FROM a FULL JOIN b USING (k) FULL JOIN c USING (k) GROUP BY k",
}


def test_they_agree_on_what_is_stored(database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, VIEWS)
    toml = tmp_path / "tidemark.toml"
    toml.write_text(toml.read_text() + "[duckdb]\nindex_rows = 0\n")
    p.source(
        *(f"CREATE TABLE {t} (id int PRIMARY KEY, k int{', z int' if t == 'c' else ''})" for t in "abc"),
        *(
            f"INSERT INTO {t} SELECT i, i % {n}{', i' if t == 'c' else ''} FROM generate_series(1, 30) i"
            for t, n in (("a", 7), ("b", 5), ("c", 9))
        ),
    )
    p.deploy()
    p.assert_equal()
    for t, i in itertools.product("cab", range(1, 3)):
        p.source(f"UPDATE {t} SET k = k + {i} WHERE id % 3 = {i}; DELETE FROM {t} WHERE id = {10 * i}")
        p.assert_equal()
    p.source("UPDATE c SET z = z + 1 WHERE id = 1; UPDATE a SET k = 3 WHERE id = 2; INSERT INTO b VALUES (99, 3)")
    p.assert_equal()
