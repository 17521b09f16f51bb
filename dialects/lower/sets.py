"""Set-returning functions and recursion."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from compiler.ir.naming import fresh
from compiler.ir.relation import Fixpoint, Project, Unnest, walk
from compiler.ir.rounds import carried
from compiler.ir.scalar import Call, Col, Lit, columns
from compiler.ir.types import INT4
from dialects.dialect import ident
from dialects.lower.frames import Frame
from dialects.lower.ordered import Ordered
from dialects.lower.trees import all_of, label_of


class Sets(Ordered):
    """Relations that are made of functions or of themselves."""

    def _unnest(self, r: Unnest, positive: bool) -> Frame:
        f, forms = self.told_to(r, self.frame(r.input, positive))
        inner = self.dialect.template(self.dialect.unnest[r.fn], [self.scalars.emit(a, f.cols) for a in r.args])
        if forms:
            assert isinstance(inner, exp.Select)
            inner.set("where", exp.Where(this=all_of([exp.NullSafeEQ(this=c, expression=c.copy()) for c in forms])))
        alias = self.alias("items")
        produced = ["x"] if len(r.out) == 1 else ["key", "value"]
        cols = dict(f.cols)
        for c, p in zip(r.out, produced, strict=True):
            cols[c.name] = self.dialect.cast(exp.Column(this=ident(p), table=ident(alias)), c.type)
        if r.ordinality:
            cols[r.ordinality] = exp.Column(this=ident("o"), table=ident(alias))
        called = exp.Subquery(this=inner)
        if f.source is None:
            called.set("alias", exp.TableAlias(this=ident(alias)))
            return Frame(called, cols, f.weights, f.joins, f.where)
        sub = exp.Lateral(this=called, alias=exp.TableAlias(this=ident(alias)))
        join = exp.Join(this=sub, side="LEFT", on=exp.true()) if r.outer else exp.Join(this=sub, kind="CROSS")
        return Frame(f.source, cols, f.weights, [*f.joins, join], f.where)

    def told_to(self, r: Unnest, f: Frame) -> tuple[Frame, list[exp.Expr]]:
        """The rows that a function is called for, and columns that tell values apart which are equal for the engine:
        it makes one call for rows whose columns are equal. A filter on rows that are kept without items is a step of
        its own."""
        if f.source is None:
            return f, []
        read = [r.input.col(n) for n in r.input.names if n in columns(*r.args)] if self.dialect.forms else []
        forms = [
            self.item(self.dialect.template(t, [f.cols[c.name].copy()]), self.alias("form"))
            for c in read
            for t in self.dialect.forms_of(c.type)
        ]
        if not forms and not (f.where and r.outer) and all(isinstance(f.cols[c.name], exp.Column) for c in read):
            return f, []
        rows = self.select(f, r.input.names, bool(f.weights))
        rows.set("expressions", [*rows.expressions, *forms])
        told = [i.alias for i in forms]
        out = self.step(label_of(r.input), rows, (*r.input.names, *told), bool(f.weights))
        return out, [out.cols.pop(n) for n in told]

    def _fixpoint(self, r: Fixpoint, positive: bool) -> Frame:
        r, names = self.counted(r), r.names
        name = self.alias(r.name)
        self.recur[r.name] = name
        self.recursive = True
        base = self.plain(r.base)
        self.inline += 1
        step = self.plain(r.step)
        self.inline -= 1
        body = exp.Union(this=base, expression=step, distinct=r.distinct)
        self.ctes.append((name, body, r.names))
        return self.reuse(name, names, False)

    def counted(self, r: Fixpoint) -> Fixpoint:
        """The recursion with the number of each row's round, where nothing makes sure that it ends. (Under UNION,
        rows that are found again would be others.)"""
        if r.distinct or r.ends or "next_round" not in self.dialect.functions:
            return r
        number = Col(fresh("_round", [x for n in walk(r) for x in n.names]), INT4)
        step = carried(r.step, r.name, number)
        if step is None:
            return r
        base = Project(r.base, (*((c.name, c) for c in r.schema), (number.name, Lit(0, INT4))))
        following = Call("next_round", (number,), INT4)
        after = Project(
            step, (*((a.name, b) for a, b in zip(r.schema, r.step.schema, strict=True)), (number.name, following))
        )
        out = replace(r, base=base, step=after)
        self.count(out)
        return out
