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
from dialects.lower.aggregates import Aggregates
from dialects.lower.framed import by_joins, forward, unfiltered, widened
from dialects.lower.frames import Frame


class Ordered(Aggregates):
    """What depends on an order of rows."""

    def _window(self, r: Window, positive: bool) -> Frame:
        r = replace(
            r, calls=tuple((n, widened(c if self.dialect.window_filters else unfiltered(c))) for n, c in r.calls)
        )
        onward = forward(r)
        if onward is not r:
            whole = Project(onward, tuple((c.name, c) for c in r.schema))
            self.count(whole)
            return self.frame(whole, True)
        foreign = tuple((n, c) for n, c in r.calls if not self.dialect.frames(c))
        if foreign:
            made = by_joins(r, foreign)
            rest = tuple((n, c) for n, c in r.calls if (n, c) not in foreign)
            whole = Project(replace(r, input=made, calls=rest) if rest else made, tuple((c.name, c) for c in r.schema))
            self.count(whole)
            return self.frame(whole, True)
        f = self.expanded(self.frame(r.input, True), r.input)
        items = [self.item(f.cols[n], n) for n in r.input.names]
        for name, c in r.calls:
            items.append(exp.alias_(self.window_call(r, c, f), ident(name)))
        s = self.attach(exp.Select(expressions=items), f)
        return self.step("windows", s, r.names, False)

    def window_call(self, r: Window, c: WindowCall, f: Frame) -> exp.Expr:
        args = [self.scalars.emit(x, f.cols) for x in c.args]
        order, apart = c.order, list[exp.Expr]()
        by_row = c.fn in ("row_number", "ntile", "lag", "lead", "first_value") and (
            c.frame is None or c.frame[0] == "rows"
        )
        peers = c.frame is not None and c.frame[3] in ("ties", "group")  # more columns to order by would leave no peers
        if (by_row or (c.frame and c.frame[0] == "rows")) and not peers:
            order, apart = self.in_full(order, r.input, f)
        call = self.scalars.window_function(c, args)
        if c.filter is not None:
            call = self.scalars.filtered(call, self.scalars.predicate(c.filter, f.cols))
        spec = self.frame_spec(c, f)
        w = exp.Window(this=exp.Null(), partition_by=self.keys(r.partition, f.cols), spec=spec)
        if order:
            w.set("order", exp.Order(expressions=[*self.orders(order, f.cols), *apart]))
        return self.scalars.over(c, call, w)

    def in_full(self, order: tuple[Order, ...], rows: Relation, f: Frame) -> tuple[tuple[Order, ...], list[exp.Expr]]:
        """The order lengthened by all columns, so that rows that still tie are equal; and what tells apart values of
        several forms."""
        known = {o.expr for o in order}
        forms = [t for c in rows.schema if self.dialect.sort_key(c.type) is not None for t in self.told_by(c, f)]
        return (*order, *(Order(c) for c in rows.schema if c not in known)), [
            exp.Ordered(this=t, nulls_first=False) for t in forms
        ]

    def told_by(self, c: Col, f: Frame) -> list[exp.Expr]:
        """What differs between values of a column that are ordered as equals."""
        forms = self.dialect.forms_of(c.type)
        return [self.dialect.template(t, [f.cols[c.name].copy()]) for t in forms] if forms else [f.cols[c.name].copy()]

    def frame_spec(self, c: WindowCall, f: Frame) -> exp.Expr | None:
        if c.frame is None:
            return None
        unit, start, end, exclude = c.frame

        def bound(b: tuple[str, Scalar | None]) -> tuple[object, str | None]:
            kind, value = b
            if kind == "current row":
                return "CURRENT ROW", None
            if kind.startswith("unbounded"):
                return "UNBOUNDED", kind.split()[1].upper()
            assert value is not None
            own = self.dialect.functions.get(f"distance:{value.type.name}")
            if callable(own):
                return own(self.dialect, Call("distance", (value,), value.type), []), kind.upper()
            return self.scalars.emit(value, f.cols), kind.upper()

        (s, ss), (e, es) = bound(start), bound(end)
        return exp.WindowSpec(
            kind=unit.upper(),
            start=s,
            start_side=ss,
            end=e,
            end_side=es,
            exclude=exp.var(exclude.upper()) if exclude else None,
        )

    def whole(self, f: Frame, r: Relation) -> Frame:
        """The rows under a window over all of them, below which no condition of a join may get."""
        rows = exp.Window(this=exp.Count(this=exp.Star()))
        items = [*(self.item(f.cols[n], n) for n in r.names), exp.alias_(rows, ident("_rows"))]
        inner = self.step("counted", self.attach(exp.Select(expressions=items), f), (*r.names, "_rows"), False)
        inner.where.append(exp.GT(this=inner.cols.pop("_rows"), expression=exp.Literal.number(0)))
        return inner

    def _topk(self, r: TopK, positive: bool) -> Frame:
        f = self.expanded(self.frame(r.input, True), r.input)
        full, apart = self.in_full(r.order, r, f)
        order = self.orders(r.order, f.cols) if r.with_ties else [*self.orders(full, f.cols), *apart]
        if not r.partition and not r.with_ties and not (self.inline and self.dialect.filters_below_limits):
            s = self.select(f, r.names, False)
            if varying := [
                o for o in order if varies(o)
            ]:  # an engine takes a constant for a column's place, or for a mistake
                s.set("order", exp.Order(expressions=varying))
            if r.limit is not None:
                s.set("limit", exp.Limit(expression=exp.Literal.number(r.limit)))
            if r.skip:
                s.set("offset", exp.Offset(expression=exp.Literal.number(r.skip)))
            limited = self.step("limited", s, r.names, False)
            return self.whole(limited, r) if self.dialect.filters_below_limits else limited
        rank = exp.Window(
            this=exp.Anonymous(this="rank" if r.with_ties else "row_number"),
            partition_by=self.keys(r.partition, f.cols),
            order=exp.Order(expressions=order) if order else None,
        )
        items = [self.item(f.cols[n], n) for n in r.names] + [exp.alias_(rank, ident("_rank"))]
        place = rank.copy()
        place.set("this", exp.Anonymous(this="row_number"))
        place.set(
            "order", exp.Order(expressions=[*self.orders(full, f.cols), *apart])
        )  # the same rows are skipped each time
        tied = bool(r.with_ties and r.skip)  # rows to skip are counted, ties belong to the end alone
        items += [exp.alias_(place, ident("_place"))] if tied else []
        names = (*r.names, "_rank", *(["_place"] if tied else []))
        inner = self.step("ranked", self.attach(exp.Select(expressions=items), f), names, False)
        n = inner.cols.pop("_rank")
        if r.skip:
            skipped = inner.cols.pop("_place") if tied else n
            inner.where.append(exp.GT(this=skipped.copy(), expression=exp.Literal.number(r.skip)))
        if r.limit is not None:
            inner.where.append(exp.LTE(this=n.copy(), expression=exp.Literal.number(r.skip + r.limit)))
        return inner
