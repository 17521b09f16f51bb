"""Δq is what q was after, minus what it was before: on random queries and batches, in memory."""

from __future__ import annotations

from hypothesis import HealthCheck, given, note, settings

from compiler.delta.rules import Deltas
from compiler.delta.times import after, before
from compiler.ir import notation
from compiler.ir.evaluate import evaluate
from compiler.ir.relation import Relation
from compiler.ir.zset import Database, add, scaled
from compiler.simplify.filters import push_filters
from compiler.simplify.products import connect_joins
from compiler.simplify.projects import fuse_projects
from compiler.simplify.prune import prune
from tests.compiler.maintain.strategies import TABLES, databases, queries

SLOW = settings(max_examples=250, deadline=None, suppress_health_check=list(HealthCheck))


@SLOW
@given(queries(), databases())
def test_delta_is_after_minus_before(q: Relation, db: Database) -> None:
    note(notation.tree(q))
    delta = Deltas(frozenset(TABLES)).delta(q)
    note(notation.tree(delta))
    assert evaluate(delta, db) == add(evaluate(after(q), db), scaled(evaluate(before(q), db), -1))


@SLOW
@given(queries(), databases())
def test_tables_that_did_not_change_have_no_terms(q: Relation, db: Database) -> None:
    db.delta.pop("public.s")
    delta = Deltas(frozenset({"public.r"})).delta(q)
    assert evaluate(delta, db) == add(evaluate(after(q), db), scaled(evaluate(before(q), db), -1))


@SLOW
@given(queries(), databases())
def test_passes_preserve_meaning(q: Relation, db: Database) -> None:
    expected = evaluate(after(q), db)
    for step in (push_filters, connect_joins, fuse_projects, prune):
        assert evaluate(after(step(q)), db) == expected, step.__name__
