"""Groups of a pattern that have no part in a match are NULL, where what they match is never empty."""

from __future__ import annotations

from pathlib import Path

import pytest

from compiler.errors import TidemarkError
from tests.project import Project

URLS = (
    "https://a.example/path?q=1#f",
    "http://b.example",
    "ftp://c",
    "http://d.example/",
    "x",
    "",
    "a,b",
    "a",
    "yz",
    "x-y",
    "12px",
    "12",
)
PATTERNS = {
    "url": r"^(https?)://([^/?#]+)(/[^?#]*)?(\?[^#]*)?",
    "either": r"^(a)|(y)(z)",
    "nested": r"^(\w(,(\w))?)$",
    "behind": r"^(\d+)(?:(p)x)?",
    "classes": r"^([)(x])?([-,])?",
}


@pytest.mark.parametrize("engine", ["duckdb", pytest.param("spark", marks=pytest.mark.spark)])
def test_they_are_null(engine: str, database: str, tmp_path: Path) -> None:
    p = Project.create(
        tmp_path,
        database,
        {
            n: f"SELECT id, regexp_match(u, '{x}') AS m, (regexp_match(u, '{x}'))[2] AS second, "
            f"(regexp_match(u, '{x}', 'i'))[3] IS NULL AS third FROM t"
            for n, x in PATTERNS.items()
        },
        engine,
    )
    p.source("CREATE TABLE t (id int PRIMARY KEY, u text)")
    with_urls = ", ".join(f"({i}, '{u}')" for i, u in enumerate(URLS))
    p.source(f"INSERT INTO t VALUES {with_urls}, (99, NULL)")
    p.deploy()
    p.assert_equal()
    p.source("UPDATE t SET u = 'HTTPS://' || u WHERE id % 2 = 1", "DELETE FROM t WHERE id = 4")
    p.catch_up()
    p.assert_equal()


@pytest.mark.parametrize("pattern", [r"(a*)?b", r"((a)|b)*", r"((a)|b)+c", r"(x*)|(y)"])
def test_others_are_refused(pattern: str, database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, {"v": f"SELECT id, regexp_match(u, '{pattern}') AS m FROM t"})
    p.source("CREATE TABLE t (id int PRIMARY KEY, u text)")
    with pytest.raises(TidemarkError, match="groups that may match nothing"):
        p.deploy()
