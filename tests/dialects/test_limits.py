"""DuckDB may take a join's filter below ORDER BY … LIMIT, unless a window over all rows is between. MATERIALIZED steps
do not hold it back for long: in the text of a view DuckDB 1.5 forgets them when the file is opened again."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from compiler.catalog import read_schema
from compiler.parse import parse_view
from connectors.duckdb.session import connect
from dialects.duckdb import DUCKDB
from dialects.printer import Printer
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
def test_every_limit_is_below_a_window(sql: str) -> None:
    view = Compiled("limited_view", parse_view(f"CREATE MATERIALIZED VIEW limited_view AS {sql}"))
    compile_project([view], read_schema(SCHEMA))
    assert view.error is None, view.error
    view.engine = "duckdb"
    text = script(view)
    assert re.search(r"\bLIMIT \d", text)
    steps = dict(re.findall(r"(\w+) AS \(\n  SELECT\n(.*?)\n\)", text, re.S))
    limited = [name for name, body in steps.items() if re.search(r"^  LIMIT \d", body, re.M)]
    assert limited
    for name in limited:
        readers = [body for body in steps.values() if re.search(rf"FROM {name}\b", body)]
        assert readers and all("COUNT(*) OVER () AS _rows" in r for r in readers), name


def test_a_stored_view_keeps_its_limit(tmp_path: Path) -> None:
    """As DuckDB reads it from the file, over a table whose rows are told apart by no statistics."""
    view = Compiled(
        "limited_view",
        parse_view(
            "CREATE MATERIALIZED VIEW limited_view AS SELECT w.id, x.id AS v FROM w LEFT JOIN "
            "(SELECT * FROM v ORDER BY cost DESC, id LIMIT 15) x ON x.w = w.id"
        ),
        strategy="split",
    )
    compile_project([view], read_schema(SCHEMA))
    assert view.plan is not None
    path = tmp_path / "w.duckdb"
    with connect(path, False) as con:
        con.execute("CREATE SCHEMA base; CREATE SCHEMA state")
        con.execute("CREATE TABLE base.w AS SELECT i AS id FROM range(1, 6) r(i)")
        con.execute(
            "CREATE TABLE base.v AS SELECT i AS id, CASE WHEN i % 10 > 0 THEN i * 7 % 40 END AS w, i * 7919 % 1000 AS "
            "cost FROM range(1000) r(i)"
        )
        for s in view.plan.states:
            con.execute(Printer(DUCKDB).create_state(s))
            con.execute(Printer(DUCKDB).fill_state(s).sql)
        con.execute(f"CREATE VIEW limited_view AS {Printer(DUCKDB).view(view.plan)}")
    with connect(path, False) as con:
        ours = con.execute("SELECT * FROM limited_view ORDER BY ALL").fetchall()
        con.execute("SET disabled_optimizers = 'join_filter_pushdown'")
        limited = "(SELECT * FROM base.v ORDER BY cost DESC, id LIMIT 15) x"
        anew = con.execute(f"SELECT w.id, x.id FROM base.w LEFT JOIN {limited} ON x.w = w.id ORDER BY ALL").fetchall()
    assert ours == anew
