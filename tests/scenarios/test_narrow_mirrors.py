"""Each view alone, over mirrors with no columns but those that it reads: its states can be filled from them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import duckdb
import pytest

from compiler.catalog import Catalog, read_schema
from compiler.errors import TidemarkError
from compiler.maintain.plan import ViewPlan
from compiler.parse import parse_query
from compiler.view import compile_view
from connectors.duckdb import mirror
from dialects.duckdb import DUCKDB
from dialects.printer import Printer
from pipelines.refused import qualified, to_keep
from tests.scenarios.playing import views

HERE = Path(__file__).parent
CASES = sorted(p.parent for p in HERE.rglob("views.sql"))
PRINTER = Printer(DUCKDB)
WAYS = ("first_order", "higher_order", "split", "recompute")
SCHEMA = """
CREATE TABLE a (id int PRIMARY KEY, k int, x text, y int);
CREATE TABLE b (id int PRIMARY KEY, k int, q int, r text);
"""
SHAPES = (
    "SELECT a.id, b.id AS bid FROM a FULL JOIN b ON a.id = b.id",
    "SELECT id FROM a FULL JOIN b USING (id)",
    "SELECT a.id FROM a FULL JOIN b ON a.id < b.id",
    "SELECT count(*) AS n, sum(a.y) AS s FROM a FULL JOIN b ON a.k = b.k AND b.q > 0",
    "WITH c AS (SELECT * FROM a) SELECT c.id, b.q FROM c FULL JOIN b ON b.id = c.id",
    "SELECT id FROM (SELECT id, k, x FROM a UNION ALL SELECT id, k, r FROM b) z",
    "SELECT k, count(*) AS n FROM (SELECT * FROM a UNION ALL SELECT id, q, r, q FROM b) z GROUP BY k",
    "SELECT max(id) AS m FROM (SELECT * FROM a WHERE k > 1 UNION ALL SELECT * FROM a WHERE k < 1) z",
    "SELECT z.id, b.q FROM (SELECT * FROM a UNION ALL SELECT * FROM a) z LEFT JOIN b ON b.id = z.id",
    "SELECT id FROM (SELECT *, row_number() OVER (PARTITION BY k ORDER BY id) AS n FROM a) z",
    "SELECT z.id FROM (SELECT DISTINCT ON (k) * FROM a ORDER BY k, id) z JOIN b USING (id)",
    "SELECT z.id FROM (SELECT * FROM a ORDER BY k, id LIMIT 3) z JOIN b USING (id)",
    "SELECT s.id FROM a CROSS JOIN LATERAL (SELECT * FROM b WHERE b.k = a.k) s",
    "SELECT k, count(*) AS n FROM (SELECT * FROM a) z GROUP BY ROLLUP (k, y)",
    "WITH RECURSIVE w AS (SELECT id, k, x FROM a UNION ALL SELECT b.id, b.k, b.r FROM b JOIN w ON w.id = b.k) "
    "SELECT id FROM w",
)


def filled(plan: ViewPlan, catalog: Catalog) -> None:
    con = duckdb.connect()
    for name in mirror.SCHEMAS:
        con.execute(f"CREATE SCHEMA IF NOT EXISTS {name}")
    for s in PRINTER.setup():
        con.execute(s)
    for t in catalog.tables.values():
        if qualified(t) in plan.tables:
            kept = to_keep(t, [plan])
            for s in mirror.create(replace(t, columns=tuple(c for c in t.columns if c.name in kept))):
                con.execute(s)
    for kept_state in plan.states:
        con.execute(PRINTER.create_state(kept_state))
        con.execute(PRINTER.fill_state(kept_state).sql)
    con.close()


@pytest.mark.parametrize("strategy", WAYS)
@pytest.mark.parametrize("query", SHAPES)
def test_shapes(query: str, strategy: str) -> None:
    catalog = read_schema(SCHEMA)
    filled(compile_view("v", parse_query(query), catalog, strategy=strategy), catalog)


@pytest.mark.parametrize("case", CASES, ids=[p.name for p in CASES])
def test_views_of_the_cases(case: Path) -> None:
    catalog = read_schema((case / "schema.sql").read_text())
    texts = {n: parse_query(q) for n, q in views(case).items()}
    done = 0
    for name, query in texts.items():
        try:
            plan = compile_view(name, query, catalog, texts)
        except TidemarkError:
            continue  # what is refused is others' to test
        filled(plan, catalog)
        done += 1
    assert done
