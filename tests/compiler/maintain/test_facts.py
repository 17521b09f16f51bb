"""Facts of nodes: what strategies decide by."""

from __future__ import annotations

import pytest

from compiler.catalog import read_schema
from compiler.functions.aggregates import AGGREGATES, Algebra
from compiler.ir.relation import Aggregate, Window, walk
from compiler.maintain.facts import Facts
from compiler.maintain.kept import Accumulated
from compiler.maintain.strategy.accumulators import FINAL
from compiler.parse import parse_view
from compiler.view import compile_view

SCHEMA = "CREATE TABLE t (id int PRIMARY KEY, g int, n numeric(10, 2), f double precision, v text)"


def states(query: str) -> list[Facts]:
    view = parse_view(f"CREATE MATERIALIZED VIEW q AS {query}")
    return [Facts(s.definition) for s in compile_view("q", view.query, read_schema(SCHEMA), {}).states]


@pytest.mark.parametrize(
    ("calls", "algebra"),
    [
        ("count(*), sum(n), avg(g)", Algebra.GROUP),
        ("sum(n), max(f)", Algebra.SEMILATTICE),
        ("sum(n) AS a, sum(f) AS b", Algebra.HOLISTIC),
        ("string_agg(v, ',')", Algebra.HOLISTIC),
        ("stddev(n), bool_and(g > 1), bit_or(g)", Algebra.GROUP),
    ],
)
def test_an_aggregates_algebra_is_the_weakest_of_its_functions(calls: str, algebra: Algebra) -> None:
    (aggregated,) = [f for f in states(f"SELECT g, {calls} FROM t GROUP BY g") if isinstance(f.node, Aggregate)]
    assert aggregated.algebra is algebra
    assert aggregated.accumulated is (algebra is not Algebra.HOLISTIC)


def test_whatever_can_be_taken_away_has_accumulators() -> None:
    kept_as_they_are = {"min", "max"}
    group = {r.core for r in AGGREGATES.values() if r.algebra is Algebra.GROUP}
    extrema = {r.core for r in AGGREGATES.values() if r.algebra is Algebra.SEMILATTICE}
    assert (group, extrema) == (FINAL.keys(), kept_as_they_are)


def test_columns_keys_and_linearity() -> None:
    (facts,) = states("SELECT id, n * 2 AS twice FROM t WHERE g > 3")
    assert facts.tables == {"public.t"} and facts.columns_used == {"public.t": {"id", "n", "g"}}
    assert facts.linearity == "linear" and [c.name.split("_")[0] for c in facts.key or ()] == ["id"]


def test_a_sum_of_floating_point_over_a_window_is_not_repeatable() -> None:
    found = [
        Facts(n).repeatable
        for q in ("sum(f)", "count(*)")
        for f in states(f"SELECT id, {q} OVER (PARTITION BY g ORDER BY id) AS s FROM t")
        for n in walk(f.node)
        if isinstance(n, Window)
    ]
    assert found == [False, True]


def test_groups_of_accumulators_are_accumulated() -> None:
    view = parse_view("CREATE MATERIALIZED VIEW q AS SELECT g, avg(n) AS a FROM t GROUP BY g")
    (s,) = compile_view("q", view.query, read_schema(SCHEMA), {}).states
    assert isinstance(s, Accumulated) and Facts(s.definition).accumulated
