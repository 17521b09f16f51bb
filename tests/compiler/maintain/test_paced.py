"""Paced views, on random queries: whatever batches come and whatever is taken in whatever order, a state is its
definition over what it has taken of its inputs, and when nothing waits the view is the query."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from compiler.catalog import read_schema
from compiler.delta.times import before
from compiler.ir import notation
from compiler.ir.evaluate import evaluate
from compiler.ir.relation import Fixpoint, Relation, Scan, walk
from compiler.ir.scalar import Col
from compiler.ir.zset import Database, ZSet, add, scaled
from compiler.maintain.differentiate import program
from compiler.maintain.fetch import fetched
from compiler.maintain.flush import flush, standing_for
from compiler.maintain.kept import Kept, Log, own
from compiler.maintain.lag import Lag
from compiler.maintain.meaning import filled, landed, run
from compiler.maintain.offer import Wanted
from compiler.maintain.paced import logs, paced, paths, whole
from compiler.maintain.plan import ViewPlan, states_of
from compiler.maintain.program import Program
from compiler.maintain.strategy import first_order
from compiler.parse import parse_query
from compiler.simplify.prune import prune
from compiler.view import compile_view
from tests.compiler.maintain.strategies import MORE, TABLES, batches, databases, queries

SOME = settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))


def taken(s: Kept, db: Database) -> ZSet:
    """A state's definition over what it has taken of its inputs."""
    assert not isinstance(s, Log)
    tables = Program(waiting={w.source: standing_for(w) for w in s.waits if w.scan is not None})
    states = dict(db.states)
    for w in s.waits:
        if w.scan is None:
            states[w.source] = add(db.states[w.source], scaled(db.states[w.log.name], -1))
    world = replace(landed(tables, db), states=states)
    return add(evaluate(prune(before(s.definition)), world))


def flushed(states: list[Kept], name: str, sources: frozenset[str], db: Database) -> Database:
    p = flush(states, name, sources)
    found, by_keys = run(p, db, True), fetched(p, lambda t: True)
    for table, read in by_keys.columns("delta", "before").items():
        held = {n for n, e in p.waiting[table].exprs if isinstance(e, Col)}
        assert read <= held, "columns are read that nothing waits with"
    assert run(p, db, False) == run(by_keys, db, False) == run(p, db, True, less=True) == found
    at_rest = frozenset(w.source for s in own(states) if s.name == name for w in s.waits if not db.states[w.log.name])
    if sources - at_rest:  # or there is nothing to be done
        less = flush(states, name, sources, at_rest)
        assert not at_rest & {*less.waiting}
        assert run(less, db, True) == run(fetched(less, lambda t: True), db, True) == found
    return Database(db.before, states=found)


@SOME
@given(q=queries(more=MORE), db=databases(), data=st.data())
def test_a_state_is_its_definition_over_what_it_has_taken(q: Relation, db: Database, data: st.DataObject) -> None:
    follows_paces(q, db, data)


def follows_paces(q: Relation, db: Database, data: st.DataObject) -> None:
    """A paced view; or two that share states: a part of the query is a view, too."""
    closed = not any(isinstance(n, Fixpoint) for n in walk(q))  # a part of a recursion may read the rest of it
    parts = [n for n in walk(q) if not isinstance(n, Scan)] if closed else []
    follow_paces([q, data.draw(st.sampled_from(parts))] if parts and data.draw(st.booleans()) else [q], db, data)


def follow_paces(queries: list[Relation], db: Database, data: st.DataObject) -> None:
    """Plays batches on paced views, and lets their states take what waits of some of their inputs."""
    plans = []
    for i, q in enumerate(queries):
        got = first_order.offer(Wanted(f"v{i}", q))
        plans.append(ViewPlan(f"v{i}", *paced(got.states, got.top), [], frozenset(TABLES)))
    states = states_of(plans)
    note("\n".join([*map(notation.tree, queries), *(f"state {s.name}\n{notation.tree(s.definition)}" for s in states)]))
    kept = [s for s in states if not isinstance(s, Log)]
    waiting = [s for s in kept if s.waits]
    delta = db.delta
    db = Database(db.before)
    db.states = filled(states, db)
    for _ in range(data.draw(st.integers(1, 6))):
        if not waiting or data.draw(st.booleans()):
            p = program(plans, frozenset(t for t in TABLES if delta.get(t)))
            assert all(isinstance(c.state, Log) for c in p.changes) and not p.steps
            states_after = run(p, Database(db.before, delta, db.states), True)
            db = Database({t: add(db.before[t], delta.get(t, {})) for t in TABLES}, states=states_after)
            delta = data.draw(batches(db.before))
        else:
            s = data.draw(st.sampled_from(waiting))
            some = sorted(w.source for w in s.waits)
            db = flushed(states, s.name, frozenset(data.draw(st.sets(st.sampled_from(some), min_size=1))), db)
        for s in kept:
            assert db.states[s.name] == taken(s, db), s.name
    for s in kept:
        db = flushed(states, s.name, frozenset(p.source for p in paths(states) if p.state == s.name), db)
    assert not any(db.states[log] for log in logs(states))
    assert {s.name: db.states[s.name] for s in kept} == {
        n: rows for n, rows in filled(states, db).items() if any(n == s.name for s in kept)
    }
    for plan, q in zip(plans, queries, strict=True):
        assert evaluate(plan.top, db) == evaluate(q, db)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT t.id, u.y FROM t LEFT JOIN u ON u.g = t.g",
        "SELECT id FROM t WHERE NOT EXISTS (SELECT FROM u WHERE u.g = t.g)",
        "SELECT t.g, max(u.y) AS m FROM t JOIN u ON u.g = t.g GROUP BY t.g",
        "SELECT id, rank() OVER (PARTITION BY g ORDER BY y) AS r FROM u",
    ],
)
def test_what_waits_is_compared_by_the_columns_that_it_has(query: str) -> None:
    """Of a table with a key no other columns wait than are read: in others old and new rows would not cancel."""
    catalog = read_schema(
        "CREATE TABLE t (id int PRIMARY KEY, g int, note text);"
        "CREATE TABLE u (id int PRIMARY KEY, g int, y int, note text);"
    )
    plan = compile_view("v", parse_query(query), catalog, strategy="paces", lag=Lag(3600.0, 0.1))
    for state, sources in whole(plan.states):
        p = flush(plan.states, state, sources)
        for table, read in fetched(p, lambda t: True).columns("delta", "before").items():
            held = {n for n, e in p.waiting[table].exprs if isinstance(e, Col)}
            assert read <= held, (state, table, read - held)
