"""The meaning of a relation: evaluated in memory over Z-sets. Small and slow, and what every rule is tested against."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from fractions import Fraction
from functools import cmp_to_key
from itertools import product
from typing import Any

from compiler.ir.relation import (
    Agg,
    Aggregate,
    Filter,
    Fixpoint,
    Join,
    Keys,
    LeftJoin,
    Net,
    Order,
    Project,
    Recur,
    Relation,
    Scan,
    Semi,
    State,
    Temp,
    TopK,
    Union,
    Unnest,
    Values,
    Weigh,
    Window,
    WindowCall,
)
from compiler.ir.scalar import Scalar
from compiler.ir.value import value
from compiler.ir.zset import Database, Row, Weighted, ZSet, add, tally

# aggregates that take rows of both signs as they come; for others what is left of them counts
SIGNED_SAFE = frozenset(("count", "sum0", "min_in", "min_out", "max_in", "max_out"))


def evaluate(r: Relation, db: Database, recur: dict[str, ZSet] | None = None) -> ZSet:
    """The Z-set that a relation denotes."""
    return tally(_rows(r, db, recur or {}))


def _rows(r: Relation, db: Database, found: dict[str, ZSet]) -> Weighted:
    """Rows with weights, equal ones apart: `Keys` is over each of them. Only what groups, orders or counts partners
    adds them up."""

    def go(n: Relation) -> Weighted:
        return _rows(n, db, found)

    def net(n: Relation) -> ZSet:
        return evaluate(n, db, found)

    match r:
        case Scan():
            return list(db.at(r.table, r.at).items())
        case Recur():
            return list(found[r.name].items())
        case State():
            if r.at == "delta":
                raise TypeError(f"what a batch changes in state {r.name} is given by the steps of its program")
            return list(db.states[r.name].items())
        case Temp():
            return list(db.temps[r.name].items())
        case Values():
            return [(tuple(value(x, {}) for x in row), 1) for row in r.rows]
        case Project():
            return [(tuple(value(e, d) for _, e in r.exprs), w) for d, w in _dicts(r.input, go(r.input))]
        case Filter():
            return [(t, w) for t, w in go(r.input) if value(r.predicate, _dict(r.input, t)) is True]
        case Join():
            return [
                (a + b, v * w)
                for (a, v), (b, w) in product(go(r.left), go(r.right))
                if value(r.on, _dict(r, a + b)) is True
            ]
        case LeftJoin():
            return _left_join(r, go(r.left), net(r.right))
        case Semi():
            right, names = list(net(r.right)), r.left.names + r.right.names
            return [
                (a, w)
                for a, w in go(r.left)
                if any(value(r.on, dict(zip(names, a + b, strict=True))) is True for b in right) != r.anti
            ]
        case Union():
            return [x for p in r.parts for x in go(p)]
        case Weigh():
            return [(t, w * int(k)) for t, w in go(r.input) if (k := value(r.by, _dict(r.input, t)))]
        case Net():
            return list(net(r.input).items())
        case Keys():
            return [
                (key, 1)
                for key in dict.fromkeys(
                    tuple(value(e, d) for _, e in r.exprs) for d, _ in _dicts(r.input, go(r.input))
                )
            ]
        case Aggregate():
            signed = r.aggs and all(a.fn in SIGNED_SAFE and not a.distinct for _, a in r.aggs)
            return _aggregate(r, go(r.input) if signed else list(net(r.input).items()))
        case Window():
            return _window(r, net(r.input))
        case TopK():
            return _top(r, net(r.input))
        case Unnest():
            return _unnest(r, go(r.input))
        case Fixpoint():
            return _fixpoint(r, db, found)
    raise TypeError(f"no meaning for {type(r).__name__}")


def _dict(r: Relation, row: Row) -> dict[str, Any]:
    return dict(zip(r.names, row, strict=True))


def _dicts(r: Relation, rows: Weighted) -> list[tuple[dict[str, Any], int]]:
    return [(_dict(r, row), w) for row, w in rows]


def _left_join(r: LeftJoin, left: Weighted, right: ZSet) -> Weighted:
    out: Weighted = []
    for a, v in left:
        pairs = [(a + b, v * w) for b, w in right.items() if value(r.on, _dict(r, a + b)) is True]
        out += pairs or [(a + (None,) * len(r.right.names), v)]
    return out


def _aggregate(r: Aggregate, weighted: Weighted) -> Weighted:
    groups: dict[Row, list[tuple[dict[str, Any], int]]] = defaultdict(list)
    for d, w in _dicts(r.input, weighted):
        groups[tuple(value(e, d) for _, e in r.keys)].append((d, w))
    if not r.keys and r.aggs:
        groups.setdefault((), [])
    return [
        (key + tuple(_agg(a, rows) for _, a in r.aggs), 1)
        for key, rows in groups.items()
        if r.aggs or sum(w for _, w in rows) != 0
    ]


def _agg(a: Agg, rows: list[tuple[dict[str, Any], int]]) -> Any:
    kept = [(d, w) for d, w in rows if a.filter is None or value(a.filter, d) is True]
    if a.fn == "count" and not a.args:
        return sum(w for _, w in kept)
    xs = [(v, w) for d, w in kept if (v := value(a.args[0], d)) is not None]
    match a.fn:
        case "count":
            return sum(w for _, w in xs)
        case "sum" | "sum0":
            return sum(v * w for v, w in xs) if xs or a.fn == "sum0" else None
        case "min":
            return min((v for v, _ in xs), default=None)
        case "max":
            return max((v for v, _ in xs), default=None)
        case "min_in" | "max_in" | "min_out" | "max_out":
            frame = [v for v, w in xs if (w > 0) == a.fn.endswith("_in")]
            return (min if a.fn.startswith("min") else max)(frame, default=None)
        case "avg":
            n = sum(w for _, w in xs)
            return Fraction(sum(v * w for v, w in xs)) / n if n else None
        case "bool_and" | "bool_or":
            return (all if a.fn == "bool_and" else any)(v for v, _ in xs) if xs else None
        case "array_agg":
            listed = sorted((d for d, w in kept for _ in range(w)), key=_compare(a.order))
            return tuple(value(a.args[0], d) for d in listed) or None
    raise TypeError(f"no meaning for aggregate {a.fn}")


def _compare(orders: tuple[Order, ...]) -> Callable[[dict[str, Any]], Any]:
    def cmp(a: dict[str, Any], b: dict[str, Any]) -> int:
        for o in orders:
            x, y = value(o.expr, a), value(o.expr, b)
            if x == y:
                continue
            if x is None or y is None:
                return (-1 if o.nulls_first else 1) * (1 if x is None else -1)
            return (-1 if x < y else 1) * (-1 if o.desc else 1)
        return 0

    return cmp_to_key(cmp)


def _partitions(r: Window | TopK, z: ZSet) -> list[list[dict[str, Any]]]:
    """Rows of each partition, each as often as its weight."""
    out: dict[Row, list[dict[str, Any]]] = defaultdict(list)
    for row, w in z.items():
        d = _dict(r.input, row)
        out[tuple(value(p, d) for p in r.partition)] += [d] * w
    return list(out.values())


def _every_column(r: Relation, orders: tuple[Order, ...]) -> tuple[Order, ...]:
    return orders + tuple(Order(c) for c in r.schema)


def _window(r: Window, z: ZSet) -> Weighted:
    out: Weighted = []
    for rows in _partitions(r, z):
        extra = [_called(r, c, rows) for _, c in r.calls]
        out += [(tuple(d.values()) + x, 1) for d, x in zip(rows, zip(*extra, strict=True), strict=True)]
    return out


def _called(r: Window, c: WindowCall, rows: list[dict[str, Any]]) -> list[Any]:
    """What a window function gives for each row of a partition; ties go by all columns."""
    place = sorted(range(len(rows)), key=lambda i: _compare(_every_column(r.input, c.order))(rows[i]))
    ordered = [rows[i] for i in place]
    out: list[Any] = [None] * len(rows)
    for at, i in enumerate(place):
        if c.fn == "row_number":
            out[i] = at + 1
        else:
            out[i] = _agg(Agg(c.fn, c.args, c.type, c.filter), [(d, 1) for d in ordered[_framed(c, at, ordered)]])
    return out


def _framed(c: WindowCall, at: int, ordered: list[dict[str, Any]]) -> slice:
    """The rows of a frame: ROWS, or without one those up to the last peer."""
    if c.frame is None:
        key = _compare(c.order)
        return slice(0, max(i + 1 for i, d in enumerate(ordered) if key(d) == key(ordered[at])))
    unit, start, end, exclude = c.frame
    if unit != "rows" or exclude:
        raise TypeError(f"no meaning for a frame of {unit} {exclude}")
    return slice(max(_bound(start, at, len(ordered)), 0), max(_bound(end, at, len(ordered)) + 1, 0))


def _bound(bound: tuple[str, Scalar | None], at: int, rows: int) -> int:
    way, by = bound
    n = value(by, {}) if by is not None else 0
    return {
        "unbounded preceding": 0,
        "preceding": at - n,
        "current row": at,
        "following": at + n,
        "unbounded following": rows,
    }[way]


def _top(r: TopK, z: ZSet) -> Weighted:
    out: Weighted = []
    for rows in _partitions(r, z):
        rows.sort(key=_compare(_every_column(r.input, r.order)))
        end = None if r.limit is None else r.skip + r.limit
        out += [(tuple(d.values()), 1) for d in rows[r.skip : end]]
    return out


def _unnest(r: Unnest, rows: Weighted) -> Weighted:
    out: Weighted = []
    for row, w in rows:
        d = _dict(r.input, row)
        items = ITEMS[r.fn](*(value(a, d) for a in r.args))
        number = (lambda i: (i + 1,)) if r.ordinality else (lambda i: ())
        found = [(*row, x, *number(i)) for i, x in enumerate(items)]
        out += [(t, w) for t in found] or ([(row + (None,) * len(r.schema[len(row) :]), w)] if r.outer else [])
    return out


ITEMS: dict[str, Callable[..., Any]] = {
    "unnest": lambda a: a or (),
    "series": lambda a, b, by: () if None in (a, b, by) else range(a, b + (1 if by > 0 else -1), by),
}
ROUNDS = 50  # of a recursion, after which it is taken for one that does not end


def _fixpoint(r: Fixpoint, db: Database, found: dict[str, ZSet]) -> Weighted:
    last = evaluate(r.base, db, found)
    if r.distinct:
        last = dict.fromkeys(last, 1)
    out = last
    for _ in range(ROUNDS):
        if not last:
            return list(out.items())
        last = evaluate(r.step, db, {**found, r.name: last})
        if r.distinct:
            last = {row: 1 for row in last if row not in out}
        out = add(out, last)
    raise TypeError(f"the recursion {r.name} does not end")
