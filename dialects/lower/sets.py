"""Set-returning functions and recursion."""

from __future__ import annotations

from sqlglot import exp

from compiler.ir.relation import (
    Fixpoint,
    Unnest,
)
from dialects.dialect import ident
from dialects.lower.frames import Frame
from dialects.lower.ordered import Ordered
from dialects.lower.trees import label_of


class Sets(Ordered):
    """Relations that are made of functions or of themselves."""

    def _unnest(self, r: Unnest, positive: bool) -> Frame:
        f = self.frame(r.input, positive)
        args = [self.scalars.emit(a, f.cols) for a in r.args]
        inner = self.dialect.template(self.dialect.unnest[r.fn], args)
        alias = self.alias("items")
        produced = ["x"] if len(r.out) == 1 else ["key", "value"]
        cols = dict(f.cols)
        for c, p in zip(r.out, produced, strict=True):
            cols[c.name] = self.dialect.cast(exp.Column(this=ident(p), table=ident(alias)), c.type)
        if r.ordinality:
            cols[r.ordinality] = exp.Column(this=ident("o"), table=ident(alias))
        sub = exp.Lateral(this=exp.Subquery(this=inner), alias=exp.TableAlias(this=ident(alias)))
        if f.source is None:
            source = exp.Subquery(this=inner, alias=exp.TableAlias(this=ident(alias)))
            return Frame(source, cols, f.weights, f.joins, f.where)
        join = exp.Join(this=sub, side="LEFT", on=exp.true()) if r.outer else exp.Join(this=sub, kind="CROSS")
        if f.where and r.outer:
            f = self.step(label_of(r.input), self.select(f, r.input.names, bool(f.weights)), r.input.names, bool(f.weights))
            return self._unnest_over(r, f)
        return Frame(f.source, cols, f.weights, [*f.joins, join], f.where)

    def _unnest_over(self, r: Unnest, f: Frame) -> Frame:
        from dataclasses import replace

        name = f.source.name if f.source is not None else ""
        self.memo[(r.input, True)] = self.memo[(r.input, False)] = (name, bool(f.weights))
        return self._unnest(replace(r), True)

    def _fixpoint(self, r: Fixpoint, positive: bool) -> Frame:
        name = self.alias(r.name)
        self.recur[r.name] = name
        self.recursive = True
        base = self.plain(r.base)
        self.inline += 1
        step = self.plain(r.step)
        self.inline -= 1
        body = exp.Union(this=base, expression=step, distinct=r.distinct)
        self.ctes.append((name, body, r.names))
        return self.reuse(name, r.names, False)
