"""Higher order on what it is made for: sums and counts over joins of several tables, of expressions over all of
them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from compiler.errors import CompilerBug
from compiler.ir import types
from compiler.ir.relation import Agg, Aggregate, Filter, Join, Project, Relation, Semi
from compiler.ir.scalar import TRUE, Call, Col, Lit, Scalar, negate
from compiler.ir.types import BOOL, INT8
from compiler.ir.zset import Database
from compiler.maintain.kept import Accumulated
from compiler.maintain.offer import Wanted
from compiler.maintain.strategy import factors, higher_order, parts
from tests.compiler.maintain.proof import follows
from tests.compiler.maintain.strategies import TABLES, Names, conditions, databases, predicates, queries, scan

SOME = settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
MANY = settings(SOME, max_examples=3000, database=None, phases=[Phase.generate])


def wide(c: Scalar) -> Scalar:
    return Call("cast", (c,), INT8)


@st.composite
def numbers(draw: st.DrawFn, r: Relation) -> Scalar:
    """A column, a product of two, a sum of two, which is no product, or a quotient, which may fail."""
    a, b = (wide(draw(st.sampled_from(r.schema))) for _ in range(2))
    match draw(st.sampled_from(["column", "product", "product", "sum", "quotient"])):
        case "product":
            return Call("*", (a, b), INT8)
        case "sum":
            return Call("+", (a, b), INT8)
        case "quotient":
            return Call("/", (a, Call("greatest", (b, Lit(1, INT8)), INT8)), INT8)
    return a


@st.composite
def sums_over_joins(draw: st.DrawFn) -> Relation:
    names = Names()
    whole: Relation = scan(draw(st.sampled_from(TABLES)), names)
    for _ in range(draw(st.integers(1, 3))):
        other = draw(queries(depth=1)) if draw(st.integers(0, 4)) == 0 else scan(draw(st.sampled_from(TABLES)), names)
        other = Project(other, tuple((names(), wide(c)) for c in other.schema))
        on = draw(conditions(whole, other)) if draw(st.integers(0, 5)) else TRUE
        match draw(st.sampled_from(["join"] * 5 + ["semi", "anti"])):
            case "join":
                whole = Join(whole, other, on)
            case "semi":
                whole = Semi(whole, other, on)
            case "anti":
                whole = Semi(whole, other, on, anti=True)
        if draw(st.integers(0, 3)) == 0:
            whole = Filter(whole, draw(predicates(whole)))
        if draw(st.integers(0, 4)) == 0:
            whole = Project(whole, tuple((names(), c) for c in draw(st.permutations(whole.schema))))
    keep = draw(predicates(whole)) if draw(st.booleans()) else None
    aggs = [
        (names(), Agg("count", (), INT8, keep)),
        (names(), Agg("sum", (draw(numbers(whole)),), types.numeric(38, 0))),
        (names(), Agg("sum", (draw(numbers(whole)),), types.numeric(38, 0), keep)),
    ]
    keys = draw(st.lists(st.sampled_from(whole.schema), max_size=2, unique=True))
    named = [(names(), c if draw(st.booleans()) else Call("coalesce", (wide(c), Lit(0, INT8)), INT8)) for c in keys]
    return Aggregate(whole, tuple(named), tuple(draw(st.permutations(aggs))))


def proof(q: Relation, db: Database, data: st.DataObject) -> None:
    follows(higher_order.offer, q, db, data)


@SOME
@given(q=sums_over_joins(), db=databases(), data=st.data())
def test_states_are_their_definitions_after_every_batch(q: Relation, db: Database, data: st.DataObject) -> None:
    proof(q, db, data)


def swap(module: Any, name: str, make: Callable[[Any], Any]) -> Callable[[pytest.MonkeyPatch], None]:
    return lambda m: m.setattr(module, name, make(getattr(module, name)))


MUTATIONS = {
    "all of the others as they were": swap(higher_order, "at", lambda f: lambda r, t: f(r, "before")),
    "groups of those after it as they were": swap(
        parts, "_apart", lambda f: lambda join, side, time: f(join, side, "before")
    ),
    "a sum is taken for a product": swap(
        factors,
        "_split",
        lambda f: lambda e, p, out: f(replace(e, fn="*") if isinstance(e, Call) and e.fn == "+" else e, p, out),
    ),
    "a filter of two parts is turned round": swap(
        factors, "conjuncts", lambda f: lambda e: [negate(c) for c in f(e)] if len(f(e)) > 1 else f(e)
    ),
    "conditions within a part are lost": swap(
        parts, "_groups", lambda f: lambda p, join, s, t: f(p, type(join)(join.atoms, [], join.exprs), s, t)
    ),
    "groups tell too little": swap(parts.Part, "take", lambda f: lambda self, e: None if self.keys else f(self, e)),
    "a term of one relation is forgotten": swap(
        Accumulated, "adding_up", lambda f: lambda self, r: f(self, r.inputs[0] if len(r.inputs) > 1 else r)
    ),
}


@pytest.mark.parametrize("name", MUTATIONS)
def test_what_is_made_wrong_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    MUTATIONS[name](monkeypatch)
    try:
        MANY(given(q=sums_over_joins(), db=databases(), data=st.data())(lambda q, db, data: proof(q, db, data)))()
    except (AssertionError, CompilerBug):
        return
    pytest.fail(name)


def test_a_join_is_read_as_groups() -> None:
    names = Names()
    r, s, t = (scan(x, names) for x in ("public.r", "public.s", "public.r"))
    on = [Call("=", (a, b), BOOL) for a, b in ((r.schema[0], s.schema[0]), (s.schema[1], t.schema[0]))]
    q = Aggregate(
        Join(Join(r, s, on[0]), t, on[1]),
        (("k", r.schema[1]),),
        (("x", Agg("sum", (Call("*", (wide(r.schema[0]), wide(t.schema[1])), INT8),), types.numeric(38, 0))),),
    )
    made = higher_order.offer(Wanted("v", q)).states
    kept = [(sorted({n.table for n in _scans(s)}), s.key) for s in made if isinstance(s, Accumulated)]
    assert [k for k in kept if len(k[1]) == 1], kept  # γ(r) by what s meets
    assert len(made[-1].terms) == 3 and isinstance(made[-1], Accumulated)


def _scans(s: Accumulated) -> list[Any]:
    from compiler.ir.relation import Scan, walk

    return [n for n in walk(s.definition) if isinstance(n, Scan)]


def test_columns_keep_their_names() -> None:
    names = Names()
    r, s = (scan(x, names) for x in TABLES)
    q = Aggregate(Join(r, s, Call("=", (r.schema[0], s.schema[0]), BOOL)), (("k", Col("c1", r.schema[0].type)),), ())
    for state in higher_order.offer(Wanted("v", q)).states:
        assert isinstance(state, Accumulated)
        for term in state.terms:
            assert term.query.names == state.definition.names
