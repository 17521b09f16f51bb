"""One order for rows that tie: the key of their table, then the whole row, so that an answer that hangs on ties is a
function of the rows.

Every engine orders rows that tie by their columns, from the first to the last. Where a key is known and does not
come first, it is put into the order here. Functions that take a row of a frame made of peers, whose order cannot be
lengthened without changing the frame, take it by its place in the whole order, which is their last argument.
"""

from __future__ import annotations

from dataclasses import replace

from compiler.functions.aggregates import ORDERED
from compiler.ir.naming import fresh
from compiler.ir.relation import Agg, Aggregate, Order, Project, Relation, TopK, Window, WindowCall, transform
from compiler.ir.scalar import Call, Col, Lit, Scalar, case
from compiler.ir.types import BOOL, INT8
from compiler.normalize.keys import key_of, settles, total

NUMBERED = frozenset(("row_number", "ntile", "lag", "lead"))
PICKED = frozenset(("first_value", "last_value", "nth_value"))
EVERY = ("rows", ("unbounded preceding", None), ("unbounded following", None), "")
SHOWN = {"string_agg": "string_agg or json_agg"}  # json_agg is made of it
BY_PLACE = {"first_value": "first_by", "last_value": "last_by", "nth_value": "nth_by"}


def settle_ties(r: Relation) -> Relation:
    """The relation with orders that leave no ties, as far as keys are known."""
    return transform(r, _node)


def hanging(r: Relation) -> list[str]:
    """What in a relation hangs on the order of rows that tie, by its SQL name, each once."""
    out: dict[str, None] = {}

    def see(n: Relation) -> Relation:
        if isinstance(n, Window):
            out.update(dict.fromkeys(SHOWN.get(c.fn, c.fn) for _, c in n.calls if _hangs(c, n)))
        if isinstance(n, TopK) and not _all_ordered(n) and (n.skip or not n.with_ties):
            out["DISTINCT ON" if n.partition and n.limit == 1 else "LIMIT"] = None
        if isinstance(n, Aggregate):
            out.update(
                dict.fromkeys(SHOWN.get(a.fn, a.fn) for _, a in n.aggs if _listed(a) and not _list_settled(n, a))
            )
        return n

    transform(r, see)
    return list(out)


def _node(n: Relation) -> Relation:
    if isinstance(n, Window):
        return _window(n)
    if isinstance(n, TopK) and not n.with_ties and not _all_ordered(n):
        return replace(n, order=_longer(n.order, n.input, n.partition))
    if isinstance(n, Aggregate) and any(_listed(a) for _, a in n.aggs):
        return replace(n, aggs=tuple((k, _in_order(n, a)) for k, a in n.aggs))
    return n


# -- limits


def _all_ordered(n: TopK) -> bool:
    by = {e.name for e in (*n.partition, *(o.expr for o in n.order)) if isinstance(e, Col)}
    return set(n.names) <= by or total(n.input, n.partition, n.order)


def _longer(order: tuple[Order, ...], rows: Relation, partition: tuple[Scalar, ...] = ()) -> tuple[Order, ...]:
    """The order and then the key, unless that comes first among the columns and so is next anyway."""
    key = key_of(rows)
    if key is None or total(rows, partition, order):
        return order
    ordered = {o.expr for o in order}
    rest = [c for c in rows.schema if c not in ordered]
    added = [c for c in key if c not in ordered and c not in partition]
    return order if rest[: len(added)] == added else (*order, *map(Order, added))


# -- lists


def _listed(a: Agg) -> bool:
    return a.fn in ORDERED and not a.distinct


def _list_settled(n: Aggregate, a: Agg) -> bool:
    keys = tuple(e for _, e in n.keys)
    return settles(keys, a.order, a.args) or total(n.input, keys, a.order)


def _in_order(n: Aggregate, a: Agg) -> Agg:
    """A list in the order of its rows' key, or where none is known of what is listed."""
    if not _listed(a) or _list_settled(n, a):
        return a
    keys = tuple(e for _, e in n.keys)
    by = key_of(n.input)
    ordered = {o.expr for o in a.order} | set(keys)
    last: tuple[Scalar, ...] = tuple(by) if by is not None else tuple(x for x in a.args if not isinstance(x, Lit))
    return replace(a, order=(*a.order, *(Order(x) for x in last if x not in ordered)))


# -- windows


def _peers(c: WindowCall) -> bool:
    """Whether the frame begins, ends or has gaps where rows have equals, so that a longer order would change it."""
    if c.fn in NUMBERED:
        return False
    return c.frame is None or c.frame[0] != "rows" or c.frame[3] in ("ties", "group")


def _from_first(c: WindowCall) -> bool:
    """Whether the frame begins with the partition's first row, and holds that at least."""
    if c.frame is None:
        return True
    _, (start, _), (end, _), exclude = c.frame
    return start == "unbounded preceding" and end in ("current row", "following", "unbounded following") and not exclude


def _whole(c: WindowCall) -> bool:
    """Whether each row's frame is its partition (less the row itself)."""
    if c.frame is None:
        return not c.order
    unit, (start, _), (end, _), exclude = c.frame
    alike = ("current row",) if unit != "rows" and not c.order else ()
    return (
        start in ("unbounded preceding", *alike)
        and end in ("unbounded following", *alike)
        and exclude in ("", "current row")
    )


def _hangs(c: WindowCall, n: Window) -> bool:
    if total(n.input, n.partition, c.order) or c.fn in ("rank", "dense_rank", "percent_rank", "cume_dist"):
        return False
    if c.fn in NUMBERED:
        return True
    by_order = settles(n.partition, c.order, c.args)
    if c.fn in PICKED | ORDERED:
        return not (by_order and (_peers(c) or _whole(c) or c.fn == "first_value" and _from_first(c)))
    return c.frame is not None and c.frame[0] == "rows" and not _whole(replace(c, frame=(*c.frame[:3], "")))


def _window(n: Window) -> Relation:
    calls: list[tuple[str, WindowCall]] = []
    values: dict[str, Scalar] = {}
    taken = list(n.names)
    places: dict[tuple[Order, ...], Col] = {}
    for name, c in n.calls:
        if c.fn in ("rank", "dense_rank", "percent_rank", "cume_dist") or total(n.input, n.partition, c.order):
            calls.append((name, c))
            continue
        longer = _longer(c.order, n.input, n.partition)
        if c.fn in PICKED | ORDERED and _whole(c):
            calls.append((name, replace(c, order=longer, frame=(*EVERY[:3], c.frame[3] if c.frame else ""))))
        elif c.fn == "first_value" and _from_first(c):
            calls.append(
                (
                    name,
                    replace(c, order=longer, frame=EVERY if c.frame is not None and c.frame[0] != "rows" else c.frame),
                )
            )
        elif c.fn == "nth_value" and _peers(c) and _from_first(c):
            reached = Col(fresh(f"{name}_rows", taken), INT8)
            taken.append(reached.name)
            calls += [
                (name, replace(c, order=longer, frame=EVERY)),
                (reached.name, WindowCall("count", (), INT8, c.order, c.frame)),
            ]
            values[name] = case(
                [(Call(">=", (reached, c.args[1]), BOOL), Col(name, c.type))], Lit(None, c.type), c.type
            )
        elif c.fn in BY_PLACE and _peers(c):
            if longer not in places:
                places[longer] = Col(fresh(f"{name}_at", taken), INT8)
                taken.append(places[longer].name)
            calls.append((name, replace(c, fn=BY_PLACE[c.fn], args=(*c.args, places[longer]))))
        else:
            calls.append((name, c if _peers(c) else replace(c, order=longer)))
    if tuple(calls) == n.calls:
        return n
    placed = tuple((p.name, WindowCall("row_number", (), INT8, order)) for order, p in places.items())
    rows = Window(n.input, n.partition, placed) if placed else n.input
    out = Window(rows, n.partition, tuple(calls))
    if out.names == n.names:
        return out
    return Project(out, tuple((c.name, values.get(c.name, c)) for c in n.schema))
