"""Windows and limits."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from compiler.ir.relation import (
    Order,
    Project,
    Relation,
    TopK,
    Window,
    WindowCall,
)
from compiler.ir.scalar import Call, Col, Scalar
from dialects.dialect import ident, varies
from dialects.lower.aggregates import ordered_by
from dialects.lower.framed import by_joins, forward, unfiltered, widened
from dialects.lower.frames import Frame, Lowering, Weights
from dialects.lower.relations import sort_keys


def lower_window(lowering: Lowering, r: Window, positive: bool) -> Frame:
    """A SELECT with window calls; those that the dialect has no frames for are lowered as joins."""
    r = replace(
        r, calls=tuple((n, widened(c if lowering.dialect.window_filters else unfiltered(c))) for n, c in r.calls)
    )
    onward = forward(r)
    if onward is not r:
        whole = Project(onward, tuple((c.name, c) for c in r.schema))
        lowering.count(whole)
        return lowering.frame(whole, True)
    foreign = tuple((n, c) for n, c in r.calls if not lowering.dialect.frames(c))
    if foreign:
        joined = by_joins(r, foreign)
        rest = tuple((n, c) for n, c in r.calls if (n, c) not in foreign)
        whole = Project(replace(r, input=joined, calls=rest) if rest else joined, tuple((c.name, c) for c in r.schema))
        lowering.count(whole)
        return lowering.frame(whole, True)
    f = lowering.expanded(lowering.frame(r.input, True), r.input)
    items = [lowering.item(f.cols[n], n) for n in r.input.names]
    for name, c in r.calls:
        items.append(exp.alias_(window_call(lowering, r, c, f), ident(name)))
    s = lowering.attach(exp.Select(expressions=items), f)
    return lowering.step("windows", s, r.names, Weights.NONE)


def window_call(lowering: Lowering, r: Window, c: WindowCall, f: Frame) -> exp.Expr:
    """A call with its OVER; orders by row end with all columns, so that no ties are left."""
    args = [lowering.scalars.emit(x, f.cols) for x in c.args]
    order, apart = c.order, list[exp.Expr]()
    by_row = c.fn in ("row_number", "ntile", "lag", "lead", "first_value") and (c.frame is None or c.frame[0] == "rows")
    peers = c.frame is not None and c.frame[3] in ("ties", "group")  # more columns to order by would leave no peers
    if (by_row or (c.frame and c.frame[0] == "rows")) and not peers:
        order, apart = in_full(lowering, order, r.input, f)
    call = lowering.scalars.window_function(c, args)
    if c.filter is not None:
        call = lowering.scalars.filtered(call, lowering.scalars.predicate(c.filter, f.cols))
    spec = frame_spec(lowering, c, f)
    w = exp.Window(this=exp.Null(), partition_by=sort_keys(lowering, r.partition, f.cols), spec=spec)
    if order:
        w.set("order", exp.Order(expressions=[*ordered_by(lowering, order, f.cols), *apart]))
    return lowering.scalars.over(c, call, w)


def in_full(
    lowering: Lowering, order: tuple[Order, ...], rows: Relation, f: Frame
) -> tuple[tuple[Order, ...], list[exp.Expr]]:
    """The order lengthened by all columns, so that rows that still tie are equal; and what tells apart values of
    several forms."""
    ordered = {o.expr for o in order}
    forms = [
        t for c in rows.schema if lowering.dialect.sort_key(c.type) is not None for t in distinguishing(lowering, c, f)
    ]
    return (*order, *(Order(c) for c in rows.schema if c not in ordered)), [
        exp.Ordered(this=t, nulls_first=False) for t in forms
    ]


def distinguishing(lowering: Lowering, c: Col, f: Frame) -> list[exp.Expr]:
    """What differs between values of a column that are ordered as equals."""
    forms = lowering.dialect.forms_of(c.type)
    return [lowering.dialect.template(t, [f.cols[c.name].copy()]) for t in forms] if forms else [f.cols[c.name].copy()]


def frame_spec(lowering: Lowering, c: WindowCall, f: Frame) -> exp.Expr | None:
    """The frame of a window call; None where none is said."""
    if c.frame is None:
        return None
    unit, start, end, exclude = c.frame

    def bound(b: tuple[str, Scalar | None]) -> tuple[object, str | None]:
        edge, value = b
        match edge.split():
            case ["current", "row"]:
                return "CURRENT ROW", None
            case ["unbounded", direction]:
                return "UNBOUNDED", direction.upper()
        assert value is not None
        own = lowering.dialect.functions.get(f"distance:{value.type.name}")
        if callable(own):
            return own(lowering.dialect, Call("distance", (value,), value.type), []), edge.upper()
        return lowering.scalars.emit(value, f.cols), edge.upper()

    (s, ss), (e, es) = bound(start), bound(end)
    return exp.WindowSpec(
        kind=unit.upper(),
        start=s,
        start_side=ss,
        end=e,
        end_side=es,
        exclude=exp.var(exclude.upper()) if exclude else None,
    )


def all_rows(lowering: Lowering, f: Frame, r: Relation) -> Frame:
    """The rows under a window over all of them, below which no condition of a join may get."""
    rows = exp.Window(this=exp.Count(this=exp.Star()))
    items = [*(lowering.item(f.cols[n], n) for n in r.names), exp.alias_(rows, ident("_rows"))]
    counted = lowering.attach(exp.Select(expressions=items), f)
    inner = lowering.step("counted", counted, (*r.names, "_rows"), Weights.NONE)
    inner.where.append(exp.GT(this=inner.cols.pop("_rows"), expression=exp.Literal.number(0)))
    return inner


def lower_topk(lowering: Lowering, r: TopK, positive: bool) -> Frame:
    """ORDER BY with LIMIT and OFFSET where the dialect can, else a filter on the row's number or rank."""
    f = lowering.expanded(lowering.frame(r.input, True), r.input)
    full, apart = in_full(lowering, r.order, r, f)
    order = ordered_by(lowering, r.order, f.cols) if r.with_ties else [*ordered_by(lowering, full, f.cols), *apart]
    if not r.partition and not r.with_ties and not (lowering.inline and lowering.dialect.filters_below_limits):
        s = lowering.select(f, r.names, False)
        if varying := [
            o for o in order if varies(o)
        ]:  # an engine takes a constant for a column's place, or for a mistake
            s.set("order", exp.Order(expressions=varying))
        if r.limit is not None:
            s.set("limit", exp.Limit(expression=exp.Literal.number(r.limit)))
        if r.skip:
            s.set("offset", exp.Offset(expression=exp.Literal.number(r.skip)))
        limited = lowering.step("limited", s, r.names, Weights.NONE)
        return all_rows(lowering, limited, r) if lowering.dialect.filters_below_limits else limited
    rank = exp.Window(
        this=exp.Anonymous(this="rank" if r.with_ties else "row_number"),
        partition_by=sort_keys(lowering, r.partition, f.cols),
        order=exp.Order(expressions=order) if order else None,
    )
    items = [lowering.item(f.cols[n], n) for n in r.names] + [exp.alias_(rank, ident("_rank"))]
    place = rank.copy()
    place.set("this", exp.Anonymous(this="row_number"))
    place.set(
        "order", exp.Order(expressions=[*ordered_by(lowering, full, f.cols), *apart])
    )  # the same rows are skipped each time
    tied = bool(r.with_ties and r.skip)  # rows to skip are counted, ties belong to the end alone
    items += [exp.alias_(place, ident("_place"))] if tied else []
    names = (*r.names, "_rank", *(["_place"] if tied else []))
    inner = lowering.step("ranked", lowering.attach(exp.Select(expressions=items), f), names, Weights.NONE)
    n = inner.cols.pop("_rank")
    if r.skip:
        skipped = inner.cols.pop("_place") if tied else n
        inner.where.append(exp.GT(this=skipped.copy(), expression=exp.Literal.number(r.skip)))
    if r.limit is not None:
        inner.where.append(exp.LTE(this=n.copy(), expression=exp.Literal.number(r.skip + r.limit)))
    return inner
