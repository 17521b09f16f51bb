"""π, σ, ⋈ and their kin."""

from __future__ import annotations

from collections import Counter

from sqlglot import exp

from compiler.catalog import mirror_name
from compiler.delta.restrict import equalities
from compiler.ir.relation import (
    Filter,
    Join,
    Keys,
    LeftJoin,
    Project,
    Recur,
    Scan,
    Semi,
    State,
    Temp,
    Union,
    Values,
    Weigh,
    is_empty,
)
from compiler.ir.scalar import TRUE, Col, Lit, Scalar, conjuncts, walk
from compiler.ir.scalar import columns as columns_of
from compiler.ir.types import Type
from dialects.dialect import ident, varies
from dialects.lower.frames import WEIGHT, Frame, Frames
from dialects.lower.joined import placed, tables_of
from dialects.lower.trees import all_of, label_of, ordinal_safe, paren, reads, table_of, union_all


class Relations(Frames):
    """Relations of rows by themselves."""

    def _scan(self, r: Scan, positive: bool) -> Frame:
        mirror = mirror_name(r.table)
        alias = self.alias(mirror)
        if r.at == "delta":
            return self.over(table_of("", f"batch_{mirror}", alias), alias, r.names, True)
        schema, weighted = self.dialect.mirrors[(r.at, positive or self.rows)]
        return self.over(table_of(schema, mirror, alias), alias, r.names, weighted or not r.key)

    def _state(self, r: State, positive: bool) -> Frame:
        alias = self.alias("s")
        return self.over(table_of("state", r.name, alias), alias, r.names, r.weighted)

    def _temp(self, r: Temp, positive: bool) -> Frame:
        alias = self.alias(r.name)
        return self.over(table_of("", r.name, alias), alias, r.names, r.signed)

    def _recur(self, r: Recur, positive: bool) -> Frame:
        return self.reuse(self.recur[r.name], r.names, False)

    def _values(self, r: Values, positive: bool) -> Frame:
        if not r.rows:
            nothing: dict[str, exp.Expr] = {c.name: self.dialect.cast(exp.Null(), c.type) for c in r.schema}
            return Frame(None, nothing, [], [], [exp.false()])
        if not r.cols:
            return Frame(None, {})
        if len(r.rows) == 1 and self.inline == 0:
            return Frame(None, {c.name: self.typed(x, c.type) for c, x in zip(r.cols, r.rows[0], strict=True)})
        selects: list[exp.Expr] = [
            exp.Select(
                expressions=[
                    exp.Alias(this=self.typed(x, c.type), alias=ident(c.name)) for c, x in zip(r.cols, row, strict=True)
                ]
            )
            for row in r.rows
        ]
        return self.step("constants", union_all(selects), r.names, False)

    def typed(self, x: Scalar, t: Type) -> exp.Expr:
        e = self.scalars.emit(x, {})
        return e if isinstance(e, exp.Cast) else self.dialect.cast(e, t)

    def _project(self, r: Project, positive: bool) -> Frame:
        f = self.frame(r.input, positive)
        f = self.unduplicated(f, r)
        cols = {n: self.scalars.emit(e, f.cols) for n, e in r.exprs}
        return Frame(f.source, cols, f.weights, f.joins, f.where)

    def unduplicated(self, f: Frame, r: Project) -> Frame:
        """Make a step of the input when this projection would repeat large expressions of it."""
        uses = Counter(x.name for _, e in r.exprs for x in walk(e) if isinstance(x, Col))
        big = any(
            c > 1 and not isinstance(f.cols[n], (exp.Column, exp.Literal, exp.Cast, exp.Null)) for n, c in uses.items()
        )
        if not big or f.source is None:
            return f
        return self.step(
            label_of(r.input), self.select(f, r.input.names, bool(f.weights)), r.input.names, bool(f.weights)
        )

    def _filter(self, r: Filter, positive: bool) -> Frame:
        f = self.frame(r.input, positive)
        where = [self.scalars.predicate(p, f.cols) for p in conjuncts(r.predicate)]
        return Frame(f.source, f.cols, f.weights, f.joins, [*f.where, *where])

    def _weigh(self, r: Weigh, positive: bool) -> Frame:
        f = self.frame(r.input, positive)
        if isinstance(r.by, Lit):
            by: exp.Expr = (
                exp.Neg(this=exp.Literal.number(1)) if str(r.by.value) == "-1" else exp.Literal.number(str(r.by.value))
            )
            if not f.weights:
                return Frame(f.source, f.cols, [by], f.joins, f.where)
            return Frame(f.source, f.cols, [*f.weights, by], f.joins, f.where)
        w = self.scalars.emit(r.by, f.cols)
        some = exp.NEQ(this=w.copy(), expression=exp.Literal.number(0))
        return Frame(f.source, f.cols, [*f.weights, w], f.joins, [*f.where, some])

    def _join(self, r: Join, positive: bool) -> Frame:
        l, rr = self.frame(r.left, positive), self.frame(r.right, positive)
        cols = {**l.cols, **rr.cols}
        on = [self.scalars.predicate(p, cols) for p in conjuncts(r.on)]
        weights = [*l.weights, *rr.weights]
        if l.source is None or rr.source is None:
            a, b = (l, rr) if rr.source is None else (rr, l)
            return Frame(a.source, cols, weights, [*a.joins, *b.joins], [*a.where, *b.where, *on])
        if rr.joins:
            seen = tables_of(l.source, *l.joins)
            joins, left = placed([exp.Join(this=rr.source, kind="CROSS"), *rr.joins], on, seen)
            return Frame(l.source, cols, weights, [*l.joins, *joins], [*l.where, *rr.where, *left])
        join = exp.Join(this=rr.source, on=all_of(on)) if on else exp.Join(this=rr.source, kind="CROSS")
        return Frame(l.source, cols, weights, [*l.joins, join], [*l.where, *rr.where])

    def _leftjoin(self, r: LeftJoin, positive: bool) -> Frame:
        l = self.sourced(r.left, self.frame(r.left, positive))
        rr = self.as_table(r.right, self.frame(r.right, True))
        cols = {**l.cols, **rr.cols}
        on = self.condition(r, cols)
        weights = [*l.weights, *[exp.Coalesce(this=w, expressions=[exp.Literal.number(1)]) for w in rr.weights]]
        return Frame(l.source, cols, weights, [*l.joins, exp.Join(this=rr.source, side="LEFT", on=on)], l.where)

    def condition(self, r: LeftJoin | Semi, cols: dict[str, exp.Expr]) -> exp.Expr:
        """ON. Where an engine hashes comparisons of both sides alone, a condition of the left side is made one."""
        if r.on == TRUE:
            return exp.true()
        pairs = (
            equalities(r.on, r.left, r.right)
            if self.dialect.hashes_comparisons and not (isinstance(r, Semi) and not r.anti)
            else []
        )
        out = []
        for p in conjuncts(r.on):
            e = self.scalars.predicate(p, cols)
            if pairs and columns_of(p) <= set(r.left.names):
                key = self.scalars.emit(pairs[0][1], cols)
                null = exp.Is(this=paren(key), expression=exp.Null())
                always = exp.Or(this=null, expression=exp.Not(this=null.copy()))
                e = exp.EQ(this=exp.Paren(this=e), expression=exp.Paren(this=always))
            out.append(e)
        return all_of(out)

    def _semi(self, r: Semi, positive: bool) -> Frame:
        if positive and not r.anti and isinstance(r.right, Keys | Temp) and self.logged(r.left) and not self.rows:
            return self.consolidated(r)
        l = self.sourced(r.left, self.frame(r.left, positive))
        rr = self.frame(r.right, True)
        rr = self.as_table(r.right, rr, tuple(n for n in r.right.names if reads(r.on, n)) or r.right.names[:1])
        cols = {**l.cols, **rr.cols}
        on = self.condition(r, cols)
        assert rr.source is not None
        join = exp.Join(this=rr.source, kind="ANTI" if r.anti else "SEMI", on=on)
        if self.dialect.semi_side:
            join.set("side", self.dialect.semi_side)
        return Frame(l.source, l.cols, l.weights, [*l.joins, join], l.where)

    def _union(self, r: Union, positive: bool) -> Frame:
        parts = [(p, self.frame(p, positive)) for p in r.parts if not is_empty(p)]
        if not parts:
            return self._values(Values(r.schema, ()), positive)
        weighted = any(f.weights for _, f in parts)
        selects: list[exp.Expr] = []
        for p, f in parts:
            items = []
            for c, o in zip(r.schema, p.schema, strict=True):
                e = f.cols[o.name]
                if o.type != c.type or isinstance(e, exp.Null):
                    e = self.dialect.cast(e.copy(), c.type)
                items.append(self.item(e, c.name))
            if weighted:
                items.append(exp.alias_(self.weight(f), ident(WEIGHT)))
            selects.append(self.attach(exp.Select(expressions=items or [exp.alias_(exp.Literal.number(1), "one")]), f))
        return self.step(label_of(r), union_all(selects), r.names, weighted)

    def _keys(self, r: Keys, positive: bool) -> Frame:
        f = self.frame(r.input, False)
        forms = any(self.dialect.sort_key(e.type) is not None for _, e in r.exprs)
        items: list[exp.Expr] = [
            exp.Alias(
                this=self.scalars.emit(e, f.cols) if self.dialect.sort_key(e.type) is None else self.one_of(e, f.cols),
                alias=ident(n),
            )
            for n, e in r.exprs
        ]
        items = items or [exp.alias_(exp.Literal.number(1), ident("one"))]
        s = self.attach(exp.Select(expressions=items, distinct=None if forms else exp.Distinct()), f)
        if forms:
            s.set(
                "group",
                exp.Group(
                    expressions=[
                        ordinal_safe(k, i) for i, k in enumerate(self.keys(tuple(e for _, e in r.exprs), f.cols))
                    ]
                ),
            )
        return self.step("keys", s, r.names, False)

    def keys(self, exprs: tuple[Scalar, ...], cols: dict[str, exp.Expr]) -> list[exp.Expr]:
        """What rows are grouped or ordered by: of a value that has several forms, what these have in common."""

        def key(e: Scalar) -> exp.Expr:
            by = self.dialect.sort_key(e.type)
            out = self.scalars.emit(e, cols)
            return out if by is None else self.dialect.template(by, [out])

        return [key(e) for e in exprs]

    def one_of(self, e: Scalar, cols: dict[str, exp.Expr]) -> exp.Expr:
        """One of the forms that a group's key has; a constant has one."""
        one = self.scalars.emit(e, cols)
        return exp.Min(this=one) if varies(one) else one
