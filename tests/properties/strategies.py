"""Random relations and batches over tiny domains: keys collide, groups empty and refill, NULLs are everywhere."""

from __future__ import annotations

from hypothesis import strategies as st

from compiler.ir import types
from compiler.ir.evaluate import Database, ZSet
from compiler.ir.relation import (
    Agg,
    Aggregate,
    Filter,
    Join,
    LeftJoin,
    Order,
    Project,
    Relation,
    Scan,
    Semi,
    TopK,
    Union,
    Weigh,
    Window,
    WindowCall,
)
from compiler.ir.scalar import Call, Col, Lit, Scalar, conj
from compiler.ir.types import BOOL, INT4, INT8

TABLES = ("public.r", "public.s")
COLUMNS = ("a", "b")
VALUES = st.sampled_from([None, -1, 0, 1, 2])


class Names:
    """Fresh column names, so that every relation has columns of its own."""

    def __init__(self) -> None:
        self.n = 0

    def __call__(self) -> str:
        self.n += 1
        return f"c{self.n}"


def scan(table: str, names: Names) -> Relation:
    base = Scan(table, tuple(Col(c, INT4) for c in COLUMNS))
    return Project(base, tuple((names(), c) for c in base.cols))


@st.composite
def scalars(draw: st.DrawFn, r: Relation) -> Scalar:
    c = draw(st.sampled_from(r.schema))
    x: Scalar = Call("cast", (Col(c.name, c.type),), INT8)
    other = draw(st.sampled_from(r.schema))
    kind = draw(st.sampled_from(["col", "plus", "case", "coalesce"]))
    y = Call("cast", (Col(other.name, other.type),), INT8)
    if kind == "plus":
        return Call("+", (x, y), INT8)
    if kind == "case":
        return Call("case", (Call("is_null", (x,), BOOL), y, x), INT8)
    return Call("coalesce", (x, Lit(0, INT8)), INT8) if kind == "coalesce" else x


@st.composite
def predicates(draw: st.DrawFn, r: Relation) -> Scalar:
    op = draw(st.sampled_from(["=", "<>", "<", ">="]))
    one = Call(op, (draw(scalars(r)), Lit(draw(st.integers(-1, 2)), INT8)), BOOL)
    kind = draw(st.sampled_from(["plain", "not", "null", "or"]))
    if kind == "not":
        return Call("not", (one,), BOOL)
    if kind == "null":
        return Call("is_null", (draw(scalars(r)),), BOOL)
    return Call("or", (one, Call("is_null", (draw(scalars(r)),), BOOL)), BOOL) if kind == "or" else one


@st.composite
def conditions(draw: st.DrawFn, l: Relation, r: Relation) -> Scalar:
    a, b = draw(st.sampled_from(l.schema)), draw(st.sampled_from(r.schema))
    first = Call(draw(st.sampled_from(["=", "=", "same", "<"])), (a, b), BOOL)
    if draw(st.booleans()):
        c, d = draw(st.sampled_from(l.schema)), draw(st.sampled_from(r.schema))
        return conj([first, Call("<>", (c, d), BOOL)])
    return first


def unary(draw: st.DrawFn, q: Relation, kind: str, names: Names) -> Relation:
    some = draw(st.sampled_from(q.schema))
    if kind == "filter":
        return Filter(q, draw(predicates(q)))
    if kind == "project":
        return Project(q, ((names(), draw(scalars(q))), (names(), draw(scalars(q)))))
    if kind == "group":
        x = draw(scalars(q))
        aggs = ((names(), Agg("count", (), INT8)), (names(), Agg("sum", (x,), types.numeric(38, 0))),
                (names(), Agg(draw(st.sampled_from(["min", "max"])), (x,), INT8)))
        return Aggregate(q, ((names(), some),), aggs)
    if kind == "total":
        return Aggregate(q, (), ((names(), Agg("count", (), INT8, draw(predicates(q)))), (names(), Agg("max", (some,), some.type))))
    if kind == "distinct":
        return Aggregate(q, tuple((names(), c) for c in q.schema), ())
    if kind == "window":
        order = tuple(Order(c, draw(st.booleans()), draw(st.booleans())) for c in q.schema[:1])
        fn = draw(st.sampled_from(["row_number", "count"]))
        call = WindowCall(fn, (), INT8, order if fn == "row_number" else ())
        return Window(q, (some,), ((names(), call),))
    if kind == "top":
        return TopK(q, (some,) if draw(st.booleans()) else (), (Order(q.schema[-1], draw(st.booleans())),), draw(st.integers(1, 2)))
    x = Call("cast", (some,), INT8)
    return Weigh(q, Call("greatest", (Call("coalesce", (x, Lit(0, INT8)), INT8), Lit(0, INT8)), INT8))


@st.composite
def queries(draw: st.DrawFn, depth: int = 3) -> Relation:
    """A random relation of up to `depth` operators above the scans."""
    names = Names()

    def build(d: int) -> Relation:
        if d == 0:
            return scan(draw(st.sampled_from(TABLES)), names)
        kind = draw(st.sampled_from(["filter", "project", "group", "total", "distinct", "window", "top", "weigh", "join", "left",
                                     "semi", "anti", "union"]))
        if kind not in ("join", "left", "semi", "anti", "union"):
            return unary(draw, build(d - 1), kind, names)
        l, r = build(d - 1), build(draw(st.integers(0, d - 1)))
        if kind == "union":
            n = min(len(l.names), len(r.names))
            cut = [Project(x, tuple((names(), Call("cast", (c,), types.numeric(38, 0))) for c in x.schema[:n])) for x in (l, r)]
            return Union(tuple(cut))
        on = draw(conditions(l, r))
        return Join(l, r, on) if kind == "join" else LeftJoin(l, r, on) if kind == "left" else Semi(l, r, on, kind == "anti")

    return build(draw(st.integers(1, depth)))


@st.composite
def zsets(draw: st.DrawFn) -> ZSet:
    rows = draw(st.lists(st.tuples(VALUES, VALUES), max_size=5))
    out: ZSet = {}
    for r in rows:
        out[r] = out.get(r, 0) + 1
    return out


@st.composite
def databases(draw: st.DrawFn) -> Database:
    """Tables and a batch: deletes take rows that are there, updates move a row, inserts may repeat one."""
    before = {t: draw(zsets()) for t in TABLES}
    delta: dict[str, ZSet] = {}
    for t in TABLES:
        change: ZSet = {}
        for row, w in before[t].items():
            gone = draw(st.integers(0, w))
            if gone:
                change[row] = -gone
                if draw(st.booleans()):
                    moved = (row[0], draw(VALUES))
                    change[moved] = change.get(moved, 0) + gone
        for row in draw(st.lists(st.tuples(VALUES, VALUES), max_size=3)):
            change[row] = change.get(row, 0) + 1
        delta[t] = {r: w for r, w in change.items() if w}
    return Database(before, delta)
