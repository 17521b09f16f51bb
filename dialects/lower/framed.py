"""Window functions over frames that an engine has no words for: each row joined with the rows of its frame, and
aggregated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from compiler.errors import UnsupportedSql
from compiler.formats.intervals import parse_interval
from compiler.functions.aggregates import ORDERED, of_nothing
from compiler.ir import types
from compiler.ir.relation import Agg, Aggregate, Join, LeftJoin, Order, Project, Relation, Window, WindowCall
from compiler.ir.scalar import TRUE, Call, Col, Lit, Scalar, case, cast, columns, conj, is_null, null, same, substitute
from compiler.ir.types import BOOL, INT4, INT8, INTERVAL, TIMESTAMP

There = Callable[[Scalar], Scalar]
Bound = tuple[str, Scalar | None]
SIGNS = {"preceding": "-", "following": "+"}

PICKED = frozenset(("first_value", "last_value", "nth_value", "nth_by", "lag", "lead"))


def by_joins(r: Window, calls: tuple[tuple[str, WindowCall], ...]) -> Relation:
    """The rows of `r.input` with the columns of `calls`: O(n²) in a partition's rows, right for every frame."""
    out = r.input
    for name, c in calls:
        out = _one(out, r.partition, name, c)
    return out


def _one(base: Relation, partition: tuple[Scalar, ...], name: str, c: WindowCall) -> Relation:
    place, peers = Col(f"{name}_place", INT8), Col(f"{name}_peers", INT8)
    ordered = {o.expr for o in c.order}
    every = (*c.order, *(Order(x) for x in base.schema if x not in ordered))
    ranked = [(place.name, WindowCall("row_number", (), INT8, every))]
    if c.order:
        ranked.append((peers.name, WindowCall("dense_rank", (), INT8, c.order)))
    parts = [(f"{name}_part_{i}", p) for i, p in enumerate(partition)]
    rows: Relation = Project(
        Window(base, partition, tuple(ranked)),
        (
            *((x.name, x) for x in base.schema),
            (place.name, place),
            (peers.name, peers if c.order else Lit(1, INT8)),
            *parts,
        ),
    )
    right: dict[str, Scalar] = {x.name: Col(f"{x.name}_framed", x.type) for x in rows.schema}
    framed = Project(rows, tuple((f"{x.name}_framed", x) for x in rows.schema))

    def there(e: Scalar) -> Scalar:
        return substitute(e, right)

    keys = [Col(n, p.type) for n, p in parts]
    cut = [_distant(c, place, there(place))] if c.fn in ("lag", "lead") else _within(c, place, peers, there)
    pairs = Join(rows, framed, conj([*(same(k, there(k)) for k in keys), *cut]))
    own = {k.name: Col(f"{k.name}_of", k.type) for k in (*keys, place)}
    grouped = Aggregate(
        pairs, tuple((own[k.name].name, k) for k in (*keys, place)), ((f"{name}_got", _aggregate(c, there, place)),)
    )
    joined = LeftJoin(rows, grouped, conj([same(k, own[k.name]) for k in (*keys, place)]))
    value = _value(c, joined.col(f"{name}_got"), own[place.name])
    return Project(joined, (*((x.name, x) for x in base.schema), (name, value)))


def _aggregate(c: WindowCall, there: There, place: Col) -> Agg:
    by = Order(there(c.args[2] if c.fn == "nth_by" else place), c.fn == "last_value", False)
    if c.fn in PICKED:
        return Agg("array_agg", (there(c.args[0]),), types.array(c.args[0].type), None, False, (by,))
    args = tuple(map(there, c.args))
    return Agg(
        c.fn, args, c.type, there(c.filter) if c.filter is not None else None, False, (by,) if c.fn in ORDERED else ()
    )


def _value(c: WindowCall, got: Col, met: Col) -> Scalar:
    """From what the frame's rows gave; where there were none, `met` is NULL."""
    if of_nothing(c.fn) == 0:
        return Call("coalesce", (got, Lit(0, INT8)), c.type)
    if c.fn not in PICKED:
        return got
    nth = cast(c.args[1], INT4) if c.fn in ("nth_value", "nth_by") else Lit(1, INT4)
    value: Scalar = Call("array_get", (got, nth), c.type)
    if c.fn in ("lag", "lead") and len(c.args) > 2:
        return case([(is_null(met), case([(is_null(c.args[1]), null(c.type))], c.args[2], c.type))], value, c.type)
    return value


def _distant(c: WindowCall, here: Col, there: Scalar) -> Scalar:
    steps = c.args[1] if len(c.args) > 1 else Lit(1, INT8)
    return Call("=", (there, Call("-" if c.fn == "lag" else "+", (here, cast(steps, INT8)), INT8)), BOOL)


def _within(c: WindowCall, place: Col, peers: Col, there: There) -> list[Scalar]:
    """Whether the row `there` is in this row's frame."""
    unit, start, end, exclude = c.frame or ("range", ("unbounded preceding", None), ("current row", None), "")
    by = place if unit == "rows" else peers
    out = [_bound(b, after, unit, by, c, there) for b, after in ((start, True), (end, False))]
    if exclude == "current row":
        out.append(Call("<>", (place, there(place)), BOOL))
    elif exclude == "group":
        out.append(Call("<>", (peers, there(peers)), BOOL))
    elif exclude == "ties":
        out.append(Call("or", (Call("<>", (peers, there(peers)), BOOL), Call("=", (place, there(place)), BOOL)), BOOL))
    return [x for x in out if x != TRUE]


def _bound(b: tuple[str, Scalar | None], after: bool, unit: str, by: Col, c: WindowCall, there: There) -> Scalar:
    """The row `there` is at or after the start (`after`), at or before the end."""
    edge, offset = b
    op = ">=" if after else "<="
    if edge.startswith("unbounded"):
        return TRUE
    if offset is None:
        return Call(op, (there(by), by), BOOL)
    sign = SIGNS[edge]
    if unit != "range":
        return Call(op, (there(by), Call(sign, (by, cast(offset, INT8)), INT8)), BOOL)
    order = c.order[0]
    if order.desc:
        op, sign = "<=" if after else ">=", "-" if sign == "+" else "+"
    if order.expr.type.name == "time":
        raise UnsupportedSql(
            "a RANGE frame at a distance of times of day is not supported here", code="unsupported_syntax"
        )
    key = _room(order.expr)
    far = Call(sign, (key, offset), key.type)
    strictly = Call(">" if after else "<", (there(by), by), BOOL)
    return case(
        [
            (is_null(order.expr), Call(">=" if after else "<=", (there(by), by), BOOL)),
            (is_null(there(order.expr)), strictly),
        ],
        Call(op, (there(key), far), BOOL),
        BOOL,
    )


def _room(key: Scalar) -> Scalar:
    """The key in a type that its sum with an offset fits."""
    if key.type.name == "date":
        return cast(key, TIMESTAMP)
    if types.is_integer(key.type):
        return cast(key, types.numeric(20, 0))
    if types.is_numeric(key.type):
        whole, scale = types.digits(key.type)
        return cast(key, types.numeric(min(whole + scale + 1, 38), scale))
    return cast(key, types.FLOAT8) if types.is_float(key.type) else key


def widened(c: WindowCall) -> WindowCall:
    """RANGE over integers, in a type that a key and its distance fit together."""
    if (
        c.frame is None
        or c.frame[0] != "range"
        or not any(b for _, b in c.frame[1:3])
        or not types.is_integer(c.order[0].expr.type)
    ):
        return c
    unit, start, end, exclude = c.frame
    bounds = [
        (
            k,
            Lit(b.value, INT8)
            if isinstance(b, Lit) and types.is_integer(b.type)
            else b
            if b is None
            else cast(b, INT8),
        )
        for k, b in (start, end)
    ]
    wide = types.numeric(20, 0) if c.order[0].expr.type == INT8 else INT8
    return replace(
        c, order=(replace(c.order[0], expr=cast(c.order[0].expr, wide)),), frame=(unit, bounds[0], bounds[1], exclude)
    )


def forward(r: Window) -> Window:
    """Frames of Postgres only move forward: where a month less is an earlier time of day (March 28, 17:00 and March
    29, 3:00 both go to February 28), the bound stays at the farthest so far."""
    bounds: list[tuple[str, WindowCall]] = []
    calls = []
    for name, c in r.calls:
        if c.frame is not None and c.frame[0] == "range" and any(_by_months(c, b) for b in c.frame[1:3]):
            unit, start, end, exclude = c.frame
            kept = [
                _kept(f"{name}_{side}", c, b, bounds) if _by_months(c, b) else b
                for side, b in (("from", start), ("to", end))
            ]
            c = replace(c, frame=(unit, kept[0], kept[1], exclude))
        calls.append((name, c))
    return replace(r, input=Window(r.input, r.partition, tuple(bounds)), calls=tuple(calls)) if bounds else r


def _by_months(c: WindowCall, bound: Bound) -> bool:
    by = bound[1]
    if by is None or columns(by) or c.order[0].expr.type.name not in ("timestamp", "timestamptz"):
        return False
    return not isinstance(by, Lit) or parse_interval(str(by.value))[0] != 0


def _kept(name: str, c: WindowCall, bound: Bound, bounds: list[tuple[str, WindowCall]]) -> Bound:
    """The bound at a distance of its own for each row, from the farthest bound of the rows before it, which joins
    `bounds`."""
    (side, by), (key, desc) = bound, (c.order[0].expr, c.order[0].desc)
    assert by is not None
    back = (side == "preceding") is not desc
    far = Call("-" if back else "+", (key, by), key.type)
    running = ("rows", ("unbounded preceding", None), ("current row", None), "")
    bounds.append((name, WindowCall("min" if desc else "max", (far,), key.type, c.order, running)))
    at = Col(name, key.type)
    distance = Call("-", (key, at) if back else (at, key), INTERVAL)
    return side, Call("coalesce", (distance, Lit("00:00:00", INTERVAL)), INTERVAL)


def unfiltered(c: WindowCall) -> WindowCall:
    """FILTER as CASE, for aggregates that leave NULLs out."""
    if c.filter is None or c.fn == "array_agg":
        return c
    first = c.args[0] if c.args else Lit(1, INT4)
    return replace(c, args=(case([(c.filter, first)], null(first.type), first.type), *c.args[1:]), filter=None)
