"""What a strategy has to prove: after each batch every state is its definition over the tables after it, and the
view is the query."""

from __future__ import annotations

from hypothesis import note
from hypothesis import strategies as st

from compiler.ir import notation
from compiler.ir.evaluate import evaluate
from compiler.ir.relation import Relation, Scan
from compiler.ir.zset import Database, ZSet, add
from compiler.maintain.differentiate import Same, program
from compiler.maintain.fetch import fetched
from compiler.maintain.kept import lagging
from compiler.maintain.meaning import filled, present, run
from compiler.maintain.offer import Wanted
from compiler.maintain.plan import ViewPlan
from compiler.maintain.program import Program
from compiler.maintain.strategy import Strategy
from compiler.simplify.prune import columns_read, leaves_read
from tests.compiler.maintain.strategies import COLUMNS, TABLES, batches


def same(db: Database, changed: frozenset[str]) -> Same:
    """Of each table, columns in which the batch changes nothing."""
    out = set()
    for t in changed:
        columns: tuple[int, ...] = ()
        for i in range(len(COLUMNS)):
            left: ZSet = {}
            for row, w in db.delta[t].items():
                left = add(left, {tuple(row[c] for c in (*columns, i)): w})
            columns += (i,) if not left else ()
        if columns:
            out.add((t, frozenset(COLUMNS[c] for c in columns)))
    return frozenset(out)


def unkept(plan: ViewPlan, p: Program) -> set[tuple[str, str]]:
    """Columns of tables with a key that a program reads and its mirrors do not have: they have what the states'
    definitions and the top read, and the key."""
    kept: dict[str, set[str]] = {}
    for r in (*(s.definition for s in plan.states), plan.top):
        for table, names in columns_read(r).items():
            kept.setdefault(table, set()).update(names)
    return {
        (leaf.table, name)
        for r in (*(s.relation for s in p.steps), *(c.source for c in p.changes))
        for leaf, names in leaves_read(r).items()
        if isinstance(leaf, Scan) and leaf.key
        for name in names - kept.get(leaf.table, set()) - {*leaf.key}
    }


def follows(strategy: Strategy, q: Relation, db: Database, data: st.DataObject) -> None:
    """Plays up to three batches on a view; AssertionError where a state or the view is not what it should be."""
    got = strategy(Wanted("v", q))
    plan = ViewPlan("v", got.states, got.top, [], frozenset(TABLES))
    note("\n".join([notation.tree(q), *(f"state {s.name}\n{notation.tree(s.definition)}" for s in plan.states)]))
    db = Database(db.before, db.delta)
    db.states = filled(plan.states, db)
    tails = [s.name for s in lagging(plan.states)]
    for _ in range(data.draw(st.integers(1, 3))):
        before = Database(db.before, states=db.states)
        assert evaluate(plan.top, before) == evaluate(q, before)
        changed = frozenset(t for t in TABLES if db.delta.get(t))
        after = Database({t: add(db.before[t], db.delta.get(t, {})) for t in TABLES})
        expected = present(plan.states, filled(plan.states, after))
        folded = frozenset(data.draw(st.sets(st.sampled_from(tails)))) if tails else frozenset[str]()
        p = program([plan], changed, folded)
        for way, made, at_once in (
            ("without what is as it was", program([plan], changed, folded, same(db, changed)), True),
            ("all changes computed first", p, True),
            ("one by one", p, False),
            ("with fetches", fetched(p, lambda t: True), False),
            ("with fetches of some mirrors", fetched(p, lambda t: t != min(TABLES)), False),
        ):
            assert not unkept(plan, made), f"{way}: columns that no mirror has"
            after.states = run(made, db, at_once)
            assert run(made, db, at_once, less=True) == after.states, f"{way}, without what is void"
            assert present(plan.states, after.states) == expected, way
            assert not any(after.states[f"{name}_tail"] for name in folded)
        after.delta = data.draw(batches(after.before))
        db = after
