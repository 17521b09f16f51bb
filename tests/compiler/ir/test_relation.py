"""What every node has in common, on random queries: inputs and scalars are told once, and it is made anew of them."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings

from compiler.ir.parts import scalars, with_scalars
from compiler.ir.relation import Relation, transform, walk
from compiler.ir.scalar import Col, columns
from tests.compiler.maintain.strategies import MORE, queries

SOME = settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))


@SOME
@given(q=queries(more=MORE))
def test_a_node_is_made_of_its_inputs_and_scalars(q: Relation) -> None:
    for n in walk(q):
        assert n.rebuild(n.inputs) == n and with_scalars(n, lambda e: e) == n
    assert transform(q, lambda n: n) == q


@SOME
@given(q=queries(more=MORE))
def test_what_a_node_reads_is_what_its_inputs_have(q: Relation) -> None:
    for n in walk(q):
        there = {c.name for i in n.inputs for c in i.schema}
        for e in scalars(n) if n.inputs else ():
            assert columns(e) <= there, n


@SOME
@given(q=queries(more=MORE))
def test_mapped_scalars_are_the_ones_that_are_found(q: Relation) -> None:
    for n in walk(q):
        seen: list[object] = []
        with_scalars(n, lambda e, seen=seen: seen.append(e) or e)  # type: ignore[misc]
        assert seen == list(scalars(n))
        assert all(isinstance(c, Col) for c in n.schema)
