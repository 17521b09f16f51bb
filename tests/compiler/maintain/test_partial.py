"""Partial views, on random queries: what is kept is the definition for the keys that were asked for, whatever batches,
askers and evictions come in whatever order; and what a reader of these keys sees is the query."""

from __future__ import annotations

from hypothesis import HealthCheck, assume, given, note, settings
from hypothesis import strategies as st

from compiler.errors import TidemarkError
from compiler.ir import notation
from compiler.ir.evaluate import evaluate
from compiler.ir.relation import Agg, Aggregate, LeftJoin, Project, Relation, Scan, Semi
from compiler.ir.scalar import Col, conj, same
from compiler.ir.types import INT4, INT8
from compiler.ir.zset import Database, ZSet, add
from compiler.maintain.asked import Asked
from compiler.maintain.differentiate import program
from compiler.maintain.fetch import fetched
from compiler.maintain.kept import Log
from compiler.maintain.meaning import filled, run
from compiler.maintain.offer import Wanted
from compiler.maintain.plan import ViewPlan
from compiler.maintain.strategy import partial
from tests.compiler.maintain.strategies import MORE, TABLES, batches, databases, queries

SOME = settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
KEYS = st.sampled_from([-2, -1, 0, 1, 2, 3])


def asked_rows(q: Relation, asked: Asked, columns: tuple[Col, ...], db: Database) -> ZSet:
    """The query's rows with the keys that are asked for."""
    keys = asked.read()
    on = conj([same(c, k) for c, k in zip(columns, keys.schema, strict=True)])
    return evaluate(Semi(q, keys, on), db)


@st.composite
def moves(draw: st.DrawFn, keys: ZSet, n: int) -> tuple[ZSet, bool]:
    """Keys that arrive, or that leave."""
    leaving = bool(keys) and draw(st.booleans())
    if leaving:
        gone = draw(st.sets(st.sampled_from(sorted(keys)), min_size=1))
        return dict.fromkeys(gone, -1), True
    new = draw(st.sets(st.tuples(*[KEYS] * n), min_size=1, max_size=3))
    return {k: 1 for k in new if k not in keys}, False


@SOME
@given(q=queries(more=MORE), db=databases(), data=st.data())
def test_what_is_kept_is_the_query_for_the_keys_that_were_asked_for(
    q: Relation, db: Database, data: st.DataObject
) -> None:
    follows_keys(q, db, data)


def follows_keys(q: Relation, db: Database, data: st.DataObject) -> None:
    """Plays batches, and keys that arrive and leave, on a partial view."""
    columns = tuple(data.draw(st.lists(st.sampled_from(q.schema), min_size=1, max_size=2, unique=True)))
    names = tuple(f"k{i}" for i in range(len(columns)))
    try:
        got = partial.offer(Wanted("v", q, tuple(zip(names, columns, strict=True)), names))
    except TidemarkError:
        assume(False)
    asked = got.asked
    assert asked is not None
    plan = ViewPlan("v", got.states, got.top, [], frozenset(TABLES), asked=asked, whole=q)
    note("\n".join([notation.tree(q), *(f"state {s.name}\n{notation.tree(s.definition)}" for s in plan.states)]))
    db = Database({**db.before, asked.name: {}}, db.delta)
    db.states = filled(plan.states, db)
    for _ in range(data.draw(st.integers(1, 6))):
        leaving = False
        if data.draw(st.booleans()):
            delta, leaving = data.draw(moves(db.before[asked.name], len(columns)))
            db.delta = {asked.name: delta} if delta else {}
        changed = frozenset(t for t, rows in db.delta.items() if rows)
        after = Database({t: add(db.before[t], db.delta.get(t, {})) for t in db.before})
        expected = filled(plan.states, after)
        p = program([plan], changed, leaving=leaving)
        for way, made, at_once in (
            ("all changes computed first", p, True),
            ("one by one", p, False),
            ("with fetches", fetched(p, lambda t: True), False),
            ("with fetches of what is not asked for", fetched(p, lambda t: t != asked.name), False),
        ):
            after.states = run(made, db, at_once)
            assert after.states == expected, way
        assert evaluate(plan.top, after) == asked_rows(q, asked, columns, after)
        after.delta = data.draw(batches({t: after.before[t] for t in TABLES}))
        db = after


def test_a_change_to_keys_that_are_not_there_meets_the_keys_first() -> None:
    """All that a batch stores before it looks into a mirror has met the table of keys."""
    q = Aggregate(
        Scan("public.r", (Col("a", INT4), Col("b", INT4))), (("k", Col("a", INT4)),), (("n", Agg("count", (), INT8)),)
    )
    got = partial.offer(Wanted("v", q, (("k", Col("k", INT4)),), ("k",)))
    asked = got.asked
    assert asked is not None
    plan = ViewPlan("v", got.states, got.top, [], frozenset(["public.r"]), asked=asked, whole=q)
    rows, waiting = [], {"public.r": 3}
    db = Database({"public.r": {}, asked.name: {(1,): 1}}, {"public.r": {(2, 0): waiting["public.r"]}})
    db.states = filled(plan.states, db)
    for s in program([plan], frozenset(["public.r"])).steps:
        rows.append(evaluate(s.relation, db))
    (change,) = program([plan], frozenset(["public.r"])).changes
    assert not any(rows) and not evaluate(change.source, db)


def test_a_part_of_the_key_holds_no_state() -> None:
    """A state of which only a part of the key tells rows apart has them once, whichever keys arrive: it is whole."""
    r = Scan("public.r", (Col("a", INT4), Col("b", INT4)))
    s = Scan("public.s", (Col("a", INT4), Col("b", INT4)))
    left = Project(r, (("c1", Col("a", INT4)), ("c2", Col("b", INT4))))
    right = Aggregate(
        Project(s, (("c3", Col("a", INT4)),)), (("c4", Col("c3", INT4)),), (("n", Agg("count", (), INT8)),)
    )
    q = LeftJoin(left, right, same(Col("c1", INT4), Col("c4", INT4)))
    got = partial.offer(Wanted("v", q, (("x", Col("c1", INT4)), ("y", Col("c2", INT4))), ("x", "y")))
    held = {s.name: s.held is not None for s in got.states if not isinstance(s, Log)}
    assert sorted(held.values()) == [False, True], held
    assert any("kept for every key" in n for n in got.notes)
