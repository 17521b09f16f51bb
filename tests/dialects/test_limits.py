"""DuckDB may take a join's filter below ORDER BY … LIMIT, unless that is a materialized step."""

from __future__ import annotations

import re

import pytest

from compiler.catalog import read_schema
from compiler.parse import parse_view
from pipelines.asking.explain import script
from pipelines.project import Compiled, compile_project

SCHEMA = "CREATE TABLE w (id int PRIMARY KEY); CREATE TABLE v (id int PRIMARY KEY, w int, cost int);"


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT w.id, x.id AS v FROM w LEFT JOIN (SELECT * FROM v ORDER BY cost DESC, id LIMIT 15) x ON x.w = w.id",
        "SELECT id FROM w WHERE id IN (SELECT w FROM v ORDER BY cost, id LIMIT 3 OFFSET 2)",
        "SELECT w.id, (SELECT max(cost) FROM (SELECT * FROM v ORDER BY id LIMIT 9) x WHERE x.w = w.id) AS m FROM w",
        "SELECT id, w FROM v ORDER BY cost, id LIMIT 4",
    ],
)
def test_every_limit_is_a_materialized_step(sql: str) -> None:
    view = Compiled("limited_view", parse_view(f"CREATE MATERIALIZED VIEW limited_view AS {sql}"))
    compile_project([view], read_schema(SCHEMA))
    assert view.error is None, view.error
    view.engine = "duckdb"
    text = script(view)
    assert re.search(r"\bLIMIT \d", text)
    limited = [step for step in re.split(r"\n\)", text) if re.search(r"\bLIMIT \d", step)]
    assert len(limited) == len(re.findall(r"\bLIMIT \d", text))
    for step in limited:
        assert re.search(r"\w+ AS MATERIALIZED \((?:(?! AS (?:MATERIALIZED )?\().)*\n  LIMIT \d", step, re.S), step
