"""Normalizing changes no answer: on random queries over random rows, all of it, and each pass of it."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, note, settings

from compiler.ir import notation
from compiler.ir.evaluate import evaluate
from compiler.ir.relation import Relation
from compiler.ir.verify import Pass
from compiler.ir.zset import Database
from compiler.normalize import NORMALIZE, normalize
from tests.compiler.maintain.strategies import MORE, databases, queries

SOME = settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))


@SOME
@given(q=queries(more=MORE), db=databases())
def test_the_answer_is_the_same(q: Relation, db: Database) -> None:
    got = normalize(q)
    note(f"{notation.tree(q)}\n{notation.tree(got)}")
    assert evaluate(got, db) == evaluate(q, db)
    assert got.names == q.names


@pytest.mark.parametrize("step", dict.fromkeys(p for p, _ in NORMALIZE), ids=lambda p: p.__name__)
@settings(SOME, max_examples=60)
@given(q=queries(more=MORE), db=databases())
def test_each_pass_keeps_it(step: Pass, q: Relation, db: Database) -> None:
    assert evaluate(step(q), db) == evaluate(q, db)
