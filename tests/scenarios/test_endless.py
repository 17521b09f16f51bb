"""Recursions that end only through a LIMIT, that nothing ends, and that the data keep from ending."""

from __future__ import annotations

from pathlib import Path

import pytest

from compiler.catalog import read_schema
from compiler.errors import UnsupportedSql
from compiler.ir.rounds import ROUNDS
from compiler.parse import parse_query
from compiler.view import compile_view
from dialects.duckdb import DUCKDB
from pipelines.running.run import run
from tests.project import Project

NUMBERS = "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT n FROM t"
SCHEMA = "CREATE TABLE e (id int PRIMARY KEY, a int, b int)"
LOAD = "INSERT INTO e SELECT i, i, i + 1 FROM generate_series(1, 6) i"
WALK = (
    "WITH RECURSIVE w(a, n) AS (SELECT a, 0 FROM e WHERE a = 1 UNION ALL SELECT e.b, w.n + 1 FROM w JOIN e ON e.a = "
    "w.a) SELECT a, n FROM w"
)
LIMITED = {
    "ten": f"{NUMBERS} LIMIT 10",
    "after_three": f"{NUMBERS} LIMIT 4 OFFSET 3",
    "downwards": "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n - 1 FROM t) SELECT n * 2 AS m FROM t LIMIT 5",
    "some_of_them": f"{NUMBERS} WHERE n % 3 = 0 LIMIT 4",
    "without_equals": f"{NUMBERS.replace(' ALL', '')} LIMIT 10",
    "doubled": "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t, (VALUES (0), (1)) v(x)) SELECT n FROM "
    "t LIMIT 1023",
    "counted": f"SELECT count(*) AS n, max(n) AS m FROM ({NUMBERS} LIMIT 1000) q",
    "from_rows": "WITH RECURSIVE t(k, n) AS (SELECT count(*), 0 FROM e UNION ALL SELECT k, n + 1 FROM t) SELECT k, n "
    "FROM t LIMIT 3",
    "around": f"{WALK} LIMIT 9",
}
ENGINES = ["duckdb", pytest.param("spark", marks=[pytest.mark.slow, pytest.mark.spark])]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_limit_ends_a_recursion(engine: str, database: str, tmp_path: Path) -> None:
    p = Project.create(
        tmp_path,
        database,
        LIMITED if engine == "duckdb" else {n: LIMITED[n] for n in ("ten", "from_rows", "around")},
        engine,
    )
    p.source(SCHEMA, LOAD)
    p.deploy()
    p.assert_equal()
    p.source("INSERT INTO e VALUES (7, 7, 1)")  # a circle
    p.assert_equal()
    p.source("DELETE FROM e WHERE id = 6")
    p.assert_equal()


@pytest.mark.parametrize(
    "sql",
    [
        NUMBERS,
        f"{NUMBERS} ORDER BY n LIMIT 3",
        NUMBERS.replace(" ALL", ""),
        "WITH RECURSIVE t(a, n) AS (SELECT a, 0 FROM e UNION SELECT a, n + 1 FROM t) SELECT a, n FROM t",
    ],
)
def test_what_nothing_ends_is_refused(sql: str) -> None:
    with pytest.raises(UnsupportedSql, match="nothing ends"):
        compile_view("v", parse_query(sql), read_schema(SCHEMA))


def test_a_recursion_that_the_data_keep_from_ending_is_set_aside(
    database: str, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    early = str(DUCKDB.functions["next_round"]).replace(str(ROUNDS), "500")
    monkeypatch.setitem(DUCKDB.functions, "next_round", early)  # type: ignore[arg-type]
    p = Project.create(tmp_path, database, {"walk": WALK, "edges": "SELECT a, b FROM e"})
    p.source(SCHEMA, LOAD)
    p.deploy()
    p.assert_equal()
    p.source("INSERT INTO e VALUES (7, 7, 1)")
    run(p.config, once=True)
    assert 'view "walk" is set aside' in caplog.text and "has not ended after" in caplog.text
    assert {v.name for v in p.deployed.views if v.error} == {"walk"}
