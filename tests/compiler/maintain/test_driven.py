"""Joins of a program begin with what the batch bounds."""

from __future__ import annotations

from compiler.catalog import read_schema
from compiler.ir import notation
from compiler.ir.relation import Join, Relation, Semi, State, walk
from compiler.maintain.differentiate import program
from compiler.maintain.fetch import fetched
from compiler.maintain.little import driving
from compiler.parse import parse_query
from compiler.view import compile_view
from dialects.duckdb import DUCKDB
from dialects.printer import Printer

SCHEMA = (
    "CREATE TABLE part (id int PRIMARY KEY, brand text, box text);"
    "CREATE TABLE line (id int PRIMARY KEY, part int, quantity numeric(15,2), price numeric(15,2));"
)
QUERY = """
SELECT box, sum(price) AS price FROM part JOIN line l ON l.part = part.id
WHERE brand = 'x' AND quantity < (SELECT 0.2 * avg(i.quantity) FROM line i WHERE i.part = part.id) GROUP BY box"""


def changed(*large: str) -> tuple[list[Relation], str]:
    """What a batch of lines changes the last state by, and the text of that."""
    plan = compile_view("v", parse_query(QUERY), read_schema(SCHEMA))
    p = fetched(program([plan], frozenset(["public.line"])), lambda t: t in large)
    top = next(c for c in p.changes if "box" in c.state.name)
    text = next(s.sql for s in Printer(DUCKDB).prepare(p).statements if s.target == top.state.name)
    return list(walk(top.source)), text


def test_what_is_large_is_met_last() -> None:
    met = [n for n in changed("public.line")[0] if isinstance(n, Join) and "fetched_line" in notation.tree(n.right)]
    assert met
    for n in met:
        assert driving(n.left) and "part⁺" in notation.tree(n.left) and "new_line" in notation.tree(n.left)


def test_a_quotient_is_computed_once_for_each_group() -> None:
    _, text = changed("public.line")
    step, rest = text.split("picked AS (")[1].split("both_4 AS (")
    assert "pg.divide" in step
    last = rest.split("UNION ALL")[1]
    assert "picked.avg_u2" in last and "pg.divide" not in last


def test_of_a_state_after_the_batch_the_groups_that_are_read_are_put_together() -> None:
    nodes, _ = changed("public.line")
    others = [n for n in nodes if isinstance(n, Semi) and n.anti and any(isinstance(x, State) for x in walk(n.left))]
    assert others
    for n in others:
        assert any(isinstance(x, Semi) and not x.anti for x in walk(n.left)), notation.tree(n)


def test_where_nothing_is_large_joins_stay_as_they_are() -> None:
    nodes, text = changed()
    assert any(isinstance(n, Join) and isinstance(n.left, Join) for n in nodes)
    assert "picked" not in text


def test_a_weight_that_is_one_multiplies_as_one_digit() -> None:
    """By a number of 64 bits DuckDB multiplies numerics in 128, and looks for overflows."""
    _, text = changed("public.line")
    assert "both_4.price * CAST(both_4._weight AS DECIMAL(1, 0))" in text


def test_a_weight_that_may_be_any_multiplies_as_it_is() -> None:
    """Rows of a table without a key come as often as there are."""
    plan = compile_view("v", parse_query("SELECT sum(x) AS x FROM t"), read_schema("CREATE TABLE t (x numeric(5,2))"))
    texts = [s.sql for s in Printer(DUCKDB).prepare(program([plan], frozenset(["public.t"]))).statements]
    assert any("t.x * t._weight" in x for x in texts) and not any("DECIMAL(1, 0)" in x for x in texts)
