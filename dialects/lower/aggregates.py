"""γ: accumulators over weights, and aggregates of each row as often as it is there."""

from __future__ import annotations

from sqlglot import exp

from compiler.ir.relation import (
    Agg,
    Aggregate,
    Order,
)
from dialects.dialect import ident
from dialects.lower.frames import ACCUMULATED, SIGNED_SAFE, Frame
from dialects.lower.relations import Relations
from dialects.lower.signs import changes
from dialects.lower.trees import all_of, label_of, ordinal_safe, paren

COUNTED = frozenset(("count", "sum0"))  # aggregates that are 0 where all rows cancel


class Aggregates(Relations):
    """Groups."""

    def _aggregate(self, r: Aggregate, positive: bool) -> Frame:
        fns = {a.fn for _, a in r.aggs}
        distinct = any(a.distinct for _, a in r.aggs)
        safe = fns <= SIGNED_SAFE and not distinct
        f = self.frame(r.input, not safe or not r.aggs)
        if not fns <= ACCUMULATED or distinct:
            f = self.expanded(f, r.input)
        keys = self.keys(tuple(e for _, e in r.keys), f.cols)
        items = [
            self.item(
                self.scalars.emit(e, f.cols) if self.dialect.sort_key(e.type) is None else self.one_of(e, f.cols), n
            )
            for n, e in r.keys
        ]
        items += [exp.alias_(self.aggregate(a, f), ident(n)) for n, a in r.aggs]
        s = self.attach(exp.Select(expressions=items), f)
        if r.keys:
            s.set("group", exp.Group(expressions=[ordinal_safe(k.copy(), i) for i, k in enumerate(keys)]))
        if r.keys and r.aggs and f.weights and fns <= COUNTED and not changes(r.input):
            s.set("having", exp.Having(this=self.there(r, f)))
        return self.step(label_of(r), s, r.names, False)

    def there(self, r: Aggregate, f: Frame) -> exp.Expr:
        """Whether a group has rows, where some of those that are read cancel."""
        some: list[exp.Expr] = [exp.Sum(this=self.weight(f)), *(self.aggregate(a, f) for _, a in r.aggs)]
        return exp.or_(*(exp.NEQ(this=x, expression=exp.Literal.number(0)) for x in some))

    def aggregate(self, a: Agg, f: Frame) -> exp.Expr:
        keep = self.scalars.predicate(a.filter, f.cols) if a.filter is not None else None
        args = [self.scalars.emit(x, f.cols) for x in a.args]
        if a.fn in ("count", "sum0"):
            out = self.accumulator(a, args, keep, f)
        elif a.fn in SIGNED_SAFE:
            kind, way = a.fn.split("_")
            side = (exp.GT if way == "in" else exp.LT)(this=paren(self.weight(f)), expression=exp.Literal.number(0))
            fn = self.scalars.aggregate(Agg(kind, a.args, a.type), args, [])
            out = exp.Filter(this=fn, expression=exp.Where(this=all_of([side, *([keep] if keep is not None else [])])))
        else:
            out = self.scalars.aggregate(a, args, self.orders(a.order, f.cols))
            if keep is not None:
                out = self.scalars.filtered(out, keep)
        return out

    def accumulator(self, a: Agg, args: list[exp.Expr], keep: exp.Expr | None, f: Frame) -> exp.Expr:
        w = self.weight(f)
        if a.fn == "count" and not args and not f.weights:
            out: exp.Expr = exp.Count(this=exp.Distinct(expressions=args) if a.distinct else exp.Star())
        elif a.fn == "count" and not f.weights:
            out = exp.Count(this=exp.Distinct(expressions=args) if a.distinct else args[0])
        elif a.fn == "count":
            one = (
                w
                if not args
                else exp.Case(ifs=[exp.If(this=exp.not_(exp.Is(this=paren(args[0]), expression=exp.Null())), true=w)])
            )
            out = exp.Sum(this=one)
        else:
            x = args[0]
            if f.weights and a.args[0].type.name == "int8":  # a value times its weight may be beyond 64 bits
                x = self.dialect.cast(x, a.type)
            out = exp.Sum(this=x if not f.weights else exp.Mul(this=paren(x), expression=paren(w)))
        if keep is not None:
            out = exp.Filter(this=out, expression=exp.Where(this=keep))
        if a.fn == "sum0" or f.weights:
            out = exp.Coalesce(this=out, expressions=[exp.Literal.number(0)])
        if a.fn == "sum0" or f.weights:
            out = self.dialect.cast(out, a.type)
        return out

    def orders(self, orders: tuple[Order, ...], cols: dict[str, exp.Expr]) -> list[exp.Expr]:
        keys = self.keys(tuple(o.expr for o in orders), cols)
        return [
            exp.Ordered(this=k, desc=o.desc or None, nulls_first=o.nulls_first)
            for k, o in zip(keys, orders, strict=True)
        ]
