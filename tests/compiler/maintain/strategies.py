"""Random relations and batches over tiny domains: keys collide, groups empty and refill, NULLs are everywhere."""

from __future__ import annotations

from hypothesis import strategies as st

from compiler.ir import types
from compiler.ir.relation import (
    Agg,
    Aggregate,
    Filter,
    Fixpoint,
    Frame,
    Join,
    LeftJoin,
    Order,
    Project,
    Recur,
    Relation,
    Scan,
    Semi,
    TopK,
    Union,
    Unnest,
    Values,
    Weigh,
    Window,
    WindowCall,
)
from compiler.ir.scalar import Call, Col, Lit, Scalar, conj
from compiler.ir.types import BOOL, FLOAT8, INT4, INT8
from compiler.ir.zset import Database, ZSet

TABLES = ("public.r", "public.s")
COLUMNS = ("a", "b")
SOME = ("unnest", "averages", "lists", "recursion")  # fewer: what is wrong in one place is found sooner
MORE = (*SOME, "except", "intersect", "values", "floats", "framed", "listed")
BINARY = ("join", "left", "semi", "anti", "union", "except", "intersect")
VALUES = st.sampled_from([None, -1, 0, 1, 2])
ROW = ("current row", None)
FRAMES: list[Frame] = [
    None,
    ("rows", ("unbounded preceding", None), ROW, ""),
    ("rows", ("preceding", Lit(1, INT8)), ("following", Lit(1, INT8)), ""),
    ("rows", ROW, ("unbounded following", None), ""),
]


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
    y = Call("cast", (Col(other.name, other.type),), INT8)
    match draw(st.sampled_from(["col", "plus", "case", "coalesce"])):
        case "plus":
            return Call("+", (x, y), INT8)
        case "case":
            return Call("case", (Call("is_null", (x,), BOOL), y, x), INT8)
        case "coalesce":
            return Call("coalesce", (x, Lit(0, INT8)), INT8)
    return x


@st.composite
def predicates(draw: st.DrawFn, r: Relation) -> Scalar:
    op = draw(st.sampled_from(["=", "<>", "<", ">="]))
    one = Call(op, (draw(scalars(r)), Lit(draw(st.integers(-1, 2)), INT8)), BOOL)
    match draw(st.sampled_from(["plain", "not", "null", "or"])):
        case "not":
            return Call("not", (one,), BOOL)
        case "null":
            return Call("is_null", (draw(scalars(r)),), BOOL)
        case "or":
            return Call("or", (one, Call("is_null", (draw(scalars(r)),), BOOL)), BOOL)
    return one


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
    match kind:
        case "filter":
            return Filter(q, draw(predicates(q)))
        case "project":
            return Project(q, ((names(), draw(scalars(q))), (names(), draw(scalars(q)))))
        case "group":
            x = draw(scalars(q))
            aggs = (
                (names(), Agg("count", (), INT8)),
                (names(), Agg("sum", (x,), types.numeric(38, 0))),
                (names(), Agg(draw(st.sampled_from(["min", "max"])), (x,), INT8)),
            )
            return Aggregate(q, ((names(), some),), aggs)
        case "total":
            return Aggregate(
                q,
                (),
                ((names(), Agg("count", (), INT8, draw(predicates(q)))), (names(), Agg("max", (some,), some.type))),
            )
        case "distinct":
            return Aggregate(q, tuple((names(), c) for c in q.schema), ())
        case "window":
            order = tuple(Order(c, draw(st.booleans()), draw(st.booleans())) for c in q.schema[:1])
            fn = draw(st.sampled_from(["row_number", "count"]))
            call = WindowCall(fn, (), INT8, order if fn == "row_number" else ())
            return Window(q, (some,), ((names(), call),))
        case "framed":
            return Window(q, (some,), ((names(), draw(framed(q, kind))),))
        case "listed":
            call, item = draw(framed(q, kind)), Col(names(), INT8)
            items = Col(names(), call.type)
            made = Unnest(Window(q, (some,), ((items.name, call),)), "unnest", (items,), (item,))
            return Project(made, (*((names(), c) for c in q.schema), (names(), item)))
        case "floats":
            x = Call("cast", (draw(scalars(q)),), FLOAT8)
            return Aggregate(q, ((names(), some),), ((names(), Agg("sum", (x,), FLOAT8)),))
        case "values":
            n = len(q.names)
            rows = draw(st.lists(st.tuples(*[VALUES] * n), max_size=2))
            cols = tuple(Col(names(), INT8) for _ in range(n))
            made = Values(cols, tuple(tuple(Lit(x, INT8) for x in row) for row in rows))
            return binary(draw, *draw(st.permutations([q, made])), draw(st.sampled_from(BINARY)), names)
        case "averages":
            aggs = (
                (names(), Agg("avg", (Call("cast", (some,), types.numeric(38, 0)),), types.numeric(38, 6))),
                (names(), Agg("bool_or", (draw(predicates(q)),), BOOL)),
            )
            return Aggregate(q, ((names(), draw(scalars(q))),), aggs)
        case "lists":
            x = Call("cast", (some,), INT8)
            key, items = Col(names(), INT8), Col(names(), types.array(INT8))
            listed = Agg("array_agg", (x,), items.type, order=(Order(x),))
            made = Aggregate(q, ((key.name, Call("cast", (draw(scalars(q)),), INT8)),), ((items.name, listed),))
            item = Col(names(), INT8)
            return Project(
                Unnest(made, "unnest", (items,), (item,), None, draw(st.booleans())), ((names(), key), (names(), item))
            )
        case "unnest":
            y = Call("cast", (draw(st.sampled_from(q.schema)),), INT8)
            items = Call("array", (Call("cast", (some,), INT8), y), types.array(INT8))
            return Unnest(
                q,
                "unnest",
                (items,),
                (Col(names(), INT8),),
                names() if draw(st.booleans()) else None,
                draw(st.booleans()),
            )
        case "top":
            return TopK(
                q,
                (some,) if draw(st.booleans()) else (),
                (Order(q.schema[-1], draw(st.booleans())),),
                draw(st.integers(1, 2)),
            )
    x = Call("cast", (some,), INT8)
    return Weigh(q, Call("greatest", (Call("coalesce", (x, Lit(0, INT8)), INT8), Lit(0, INT8)), INT8))


@st.composite
def framed(draw: st.DrawFn, q: Relation, kind: str) -> WindowCall:
    """A list over a window, or a sum, maybe of floating point, each over a frame of its rows."""
    x, order = draw(st.sampled_from(q.schema)), (Order(draw(st.sampled_from(q.schema)), draw(st.booleans())),)
    frame = draw(st.sampled_from(FRAMES))
    if kind == "listed":
        return WindowCall("array_agg", (Call("cast", (x,), INT8),), types.array(INT8), order, frame)
    of = draw(st.sampled_from([FLOAT8, types.numeric(38, 0)]))
    return WindowCall("sum", (Call("cast", (x,), of),), of, order, frame)


def counted(draw: st.DrawFn, l: Relation, r: Relation, kind: str, names: Names) -> Relation:
    """EXCEPT and INTERSECT, with ALL or without: each row counted on both sides, then weighed or kept by that."""
    n = min(len(l.names), len(r.names))
    columns, side = [names() for _ in range(n)], Col(names(), INT4)
    sides = (
        Project(
            x, (*((c, Call("cast", (e,), INT8)) for c, e in zip(columns, x.schema[:n], strict=True)), (side.name, i))
        )
        for x, i in ((l, Lit(1, INT4)), (r, Lit(2, INT4)))
    )
    a, b = Col(names(), INT8), Col(names(), INT8)
    counts = Aggregate(
        Union(tuple(sides)),
        tuple((names(), Col(c, INT8)) for c in columns),
        tuple((c.name, Agg("count", (), INT8, Call("=", (side, Lit(i, INT4)), BOOL))) for c, i in ((a, 1), (b, 2))),
    )
    zero = Lit(0, INT8)
    if draw(st.booleans()):
        there = Call("=" if kind == "except" else ">", (b, zero), BOOL)
        made: Relation = Filter(counts, conj([Call(">", (a, zero), BOOL), there]))
    elif kind == "except":
        made = Weigh(counts, Call("greatest", (Call("-", (a, b), INT8), zero), INT8))
    else:
        made = Weigh(counts, Call("least", (a, b), INT8))
    return Project(made, tuple((names(), c) for c in counts.schema[:n]))


def binary(draw: st.DrawFn, l: Relation, r: Relation, kind: str, names: Names) -> Relation:
    match kind:
        case "join":
            return Join(l, r, draw(conditions(l, r)))
        case "left":
            return LeftJoin(l, r, draw(conditions(l, r)))
        case "semi":
            return Semi(l, r, draw(conditions(l, r)))
        case "anti":
            return Semi(l, r, draw(conditions(l, r)), anti=True)
        case "except" | "intersect":
            return counted(draw, l, r, kind, names)
    n = min(len(l.names), len(r.names))
    return Union(
        tuple(
            Project(x, tuple((names(), Call("cast", (c,), types.numeric(38, 0))) for c in x.schema[:n])) for x in (l, r)
        )
    )


def reachable(draw: st.DrawFn, q: Relation, names: Names) -> Relation:
    """Values that are reached from those of q by the rows of a table, as edges: by UNION, or by UNION ALL up to a
    number of rounds."""
    at, steps = Col(names(), INT4), Col(names(), INT8)
    distinct = draw(st.booleans())
    start = Project(q, ((at.name, Call("cast", (draw(st.sampled_from(q.schema)),), INT4)), (steps.name, Lit(0, INT8))))
    edges = scan(draw(st.sampled_from(TABLES)), names)
    before = Recur(names(), (at, steps))
    met = Join(before, edges, Call("=", (at, edges.schema[0]), BOOL))
    if distinct:
        next_steps: Scalar = Lit(0, INT8)
    else:
        met, next_steps = (
            Join(Filter(before, Call("<", (steps, Lit(2, INT8)), BOOL)), edges, met.on),
            Call("+", (steps, Lit(1, INT8)), INT8),
        )
    return Fixpoint(before.name, start, Project(met, ((at.name, edges.schema[1]), (steps.name, next_steps))), distinct)


@st.composite
def queries(draw: st.DrawFn, depth: int = 3, more: tuple[str, ...] = ()) -> Relation:
    """A random relation of up to `depth` operators above the scans; `more` kinds than those with a delta rule of
    their own: those of MORE."""
    names = Names()

    def build(d: int) -> Relation:
        if d == 0:
            return scan(draw(st.sampled_from(TABLES)), names)
        kind = draw(
            st.sampled_from(
                [
                    "filter",
                    "project",
                    "group",
                    "total",
                    "distinct",
                    "window",
                    "top",
                    "weigh",
                    "join",
                    "left",
                    "semi",
                    "anti",
                    "union",
                    *more,
                ]
            )
        )
        match kind:
            case "recursion":
                return reachable(draw, build(d - 1), names)
            case "join" | "left" | "semi" | "anti" | "union" | "except" | "intersect":
                l, r = build(d - 1), build(draw(st.integers(0, d - 1)))
                return binary(draw, l, r, kind, names)
        return unary(draw, build(d - 1), kind, names)

    return build(draw(st.integers(1, depth)))


@st.composite
def zsets(draw: st.DrawFn) -> ZSet:
    rows = draw(st.lists(st.tuples(VALUES, VALUES), max_size=5))
    out: ZSet = {}
    for r in rows:
        out[r] = out.get(r, 0) + 1
    return out


@st.composite
def batches(draw: st.DrawFn, before: dict[str, ZSet]) -> dict[str, ZSet]:
    """A batch over tables: deletes take rows that are there, updates move a row, inserts may repeat one. Some only
    update."""
    delta: dict[str, ZSet] = {}
    for t in TABLES:
        updates = draw(st.booleans())
        change: ZSet = {}
        for row, w in before[t].items():
            gone = draw(st.integers(0, w))
            if gone:
                change[row] = change.get(row, 0) - gone
                if updates or draw(st.booleans()):
                    moved = (row[0], draw(VALUES))
                    change[moved] = change.get(moved, 0) + gone
        for row in draw(st.lists(st.tuples(VALUES, VALUES), max_size=0 if updates else 3)):
            change[row] = change.get(row, 0) + 1
        delta[t] = {r: w for r, w in change.items() if w}
    return delta


@st.composite
def databases(draw: st.DrawFn) -> Database:
    """Tables and a batch."""
    before = {t: draw(zsets()) for t in TABLES}
    return Database(before, draw(batches(before)))
