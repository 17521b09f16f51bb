"""Where conditions of joins stand: an engine must not be led to a product of tables."""

from __future__ import annotations

import re

import duckdb
import pytest

from compiler.catalog import read_schema
from compiler.maintain.choose import Maintenance, maintenance_of
from compiler.maintain.differentiate import program
from compiler.maintain.plan import states_of
from compiler.parse import parse_query
from compiler.view import compile_view
from dialects.dialect import Dialect
from dialects.duckdb import DUCKDB
from dialects.printer import Printer
from dialects.spark import SPARK

CATALOG = read_schema("""CREATE TABLE customer (id int PRIMARY KEY, address int, household int, name text);
    CREATE TABLE address (id int PRIMARY KEY, state text, city text); CREATE TABLE household (id int PRIMARY KEY, size
      int, kind text);
    CREATE TABLE orders (id int PRIMARY KEY, customer int, household int, n int)""")
LOST = """SELECT state, size, min(name) AS first, max(n) AS most FROM customer c JOIN address a ON a.id = c.address
    JOIN household h ON h.id = c.household JOIN orders o ON o.customer = c.id GROUP BY state, size"""
UNEQUAL = """SELECT o.id, h.kind AS a, g.kind AS b FROM orders o JOIN household h ON h.id = o.household JOIN customer
  c ON c.id = o.customer
    JOIN household g ON g.id = c.household WHERE h.kind <> g.kind AND h.size < g.size"""


AVERAGE = (
    "SELECT o.id FROM orders o JOIN customer c ON c.id = o.customer WHERE o.n * 2 < c.household + 1 AND o.n < c.address"
)
OWN = "SELECT o.id, o.n >= ALL (SELECT x.n FROM orders x WHERE x.customer = o.customer) AS top FROM orders o"


def printed(query: str, dialect: Dialect) -> str:
    plan = compile_view("v", parse_query(query), CATALOG)
    return "\n".join(s.sql for s in Printer(dialect).statements(program([plan], frozenset(plan.tables))))


@pytest.mark.parametrize("dialect", [DUCKDB, SPARK], ids=["duckdb", "spark"])
def test_tables_that_are_restricted_by_keys_are_still_joined_by_their_conditions(dialect: Dialect) -> None:
    """Group keys of two tables restrict both; joining them by WHERE, behind semi joins, took their product in
    DuckDB."""
    text = printed(LOST, dialect)
    assert "SEMI JOIN keys" in text and "CROSS JOIN" not in text, text


def test_tables_are_not_joined_by_being_unequal() -> None:
    """DuckDB joins by <> like by any comparison, and sooner where it misjudges sizes: 19,000 rows by themselves made
    300 million."""
    unequal = re.compile(r"\(\s*\S*kind\S* <> \S*kind\S*\s*\) IS TRUE")
    assert unequal.search(printed(UNEQUAL, DUCKDB)), printed(UNEQUAL, DUCKDB)
    assert "IS TRUE" not in printed(UNEQUAL, SPARK)


def test_what_is_computed_is_compared_after_the_join() -> None:
    """In the join's condition DuckDB computes both sides for all rows of the larger table, before it looks for their
    keys."""
    text = " ".join(printed(AVERAGE, DUCKDB).split())
    assert re.search(r"n \* 2\s*\) < \(\s*\S+household \+ 1\s*\)\s*\) IS TRUE", text), text
    assert re.search(r"AND \S+n < \S+address", text), text


def test_numbers_written_out_are_bound_once() -> None:
    """Macros repeat their arguments: one in another, and again in another, took a second to bind."""
    con = duckdb.connect()
    con.execute("CREATE SCHEMA pg")
    for s in Printer(DUCKDB).setup():
        con.execute(s)
    row = con.execute(
        "SELECT pg.exact(CAST(pg.exact(x) AS DOUBLE)), pg.exact(NULL) FROM (VALUES (0.1::DOUBLE)) t (x)"
    ).fetchone()
    plan = con.execute(
        "EXPLAIN SELECT pg.exact(CAST(pg.exact(CAST(pg.exact(x) AS DOUBLE)) AS DOUBLE)) FROM (VALUES (0.1::DOUBLE)) t "
        "(x)"
    ).fetchall()
    assert row == ("0.1", None) and len(plan[0][1]) < 20_000


def test_what_a_subquery_compares_is_joined_by_what_it_equates() -> None:
    """Bindings of the comparison alone were joined with every row: 63 million rows of state for 15,000 of the table."""
    plan = compile_view("v", parse_query(OWN), CATALOG)
    text = printed(OWN, DUCKDB) + "".join(Printer(DUCKDB).fill_state(s).sql for s in states_of([plan]))
    assert "CROSS JOIN" not in text and "ON TRUE" not in text, text


@pytest.mark.parametrize(
    ("condition", "maintenance"),
    [
        ("o.n > 3", Maintenance.INCREMENTAL),
        ("o.id IS NOT NULL", Maintenance.INCREMENTAL),
        ("o.n + 1 = c.household", Maintenance.INCREMENTAL),
        ("o.n IS NULL", Maintenance.KEYED),
        ("o.n > 3 OR c.name = 'a'", Maintenance.KEYED),
        ("coalesce(o.n, 0) > 3", Maintenance.KEYED),
    ],
)
def test_a_left_join_whose_unmatched_rows_are_dropped_is_an_inner_one(condition: str, maintenance: Maintenance) -> None:
    plan = compile_view(
        "v",
        parse_query(f"SELECT c.id, o.n FROM customer c LEFT JOIN orders o ON o.customer = c.id WHERE {condition}"),
        CATALOG,
    )
    assert maintenance_of(plan) is maintenance
