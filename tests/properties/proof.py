"""What a strategy has to prove: after each batch every state is its definition over the tables after it, and the
view is the query."""

from __future__ import annotations

from hypothesis import note
from hypothesis import strategies as st

from compiler.ir import notation
from compiler.ir.evaluate import evaluate
from compiler.ir.relation import Relation
from compiler.ir.zset import Database, add
from compiler.maintain.differentiate import program
from compiler.maintain.fetch import fetched
from compiler.maintain.meaning import filled, run
from compiler.maintain.plan import ViewPlan
from compiler.maintain.strategy import Strategy
from tests.properties.strategies import TABLES, batches


def follows(strategy: Strategy, q: Relation, db: Database, data: st.DataObject) -> None:
    """Plays up to three batches on a view; AssertionError where a state or the view is not what it should be."""
    got = strategy("v", q)
    plan = ViewPlan("v", got.states, got.top, [], frozenset(TABLES))
    note("\n".join([notation.tree(q), *(f"state {s.name}\n{notation.tree(s.definition)}" for s in plan.states)]))
    db = Database(db.before, db.delta)
    for _ in range(data.draw(st.integers(1, 3))):
        db.states = filled(plan.states, db)
        before = Database(db.before, states=db.states)
        assert evaluate(plan.top, before) == evaluate(q, before)
        changed = frozenset(t for t in TABLES if db.delta.get(t))
        after = Database({t: add(db.before[t], db.delta.get(t, {})) for t in TABLES})
        expected = filled(plan.states, after)
        p = program([plan], changed)
        for way, made, at_once in (
            ("all changes computed first", p, True),
            ("one by one", p, False),
            ("with fetches", fetched(p, lambda t: True), False),
            ("with fetches of some mirrors", fetched(p, lambda t: t != min(TABLES)), False),
        ):
            assert run(made, db, at_once) == expected, way
        after.delta = data.draw(batches(after.before))
        db = after
