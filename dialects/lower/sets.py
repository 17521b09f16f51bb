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
from dialects.lower.frames import Frame, Lowering, Weights
from dialects.lower.trees import all_of, label_of


def lower_unnest(lowering: Lowering, r: Unnest, positive: bool) -> Frame:
    """A lateral join with the rows that a set-returning function gives; for an outer one, also those of the left
    that it gives none."""
    f, forms = with_forms(lowering, r, lowering.frame(r.input, positive))
    inner = lowering.dialect.template(lowering.dialect.unnest[r.fn], [lowering.scalars.emit(a, f.cols) for a in r.args])
    if forms:
        assert isinstance(inner, exp.Select)
        inner.set("where", exp.Where(this=all_of([exp.NullSafeEQ(this=c, expression=c.copy()) for c in forms])))
    alias = lowering.alias("items")
    produced = ["x"] if len(r.out) == 1 else ["key", "value"]
    cols = dict(f.cols)
    for c, p in zip(r.out, produced, strict=True):
        cols[c.name] = lowering.dialect.cast(exp.Column(this=ident(p), table=ident(alias)), c.type)
    if r.ordinality:
        cols[r.ordinality] = exp.Column(this=ident("o"), table=ident(alias))
    called = exp.Subquery(this=inner)
    if f.source is None:
        called.set("alias", exp.TableAlias(this=ident(alias)))
        return replace(f, source=called, cols=cols)
    sub = exp.Lateral(this=called, alias=exp.TableAlias(this=ident(alias)))
    join = exp.Join(this=sub, side="LEFT", on=exp.true()) if r.outer else exp.Join(this=sub, kind="CROSS")
    return replace(f, cols=cols, joins=[*f.joins, join])


def with_forms(lowering: Lowering, r: Unnest, f: Frame) -> tuple[Frame, list[exp.Expr]]:
    """The rows that a function is called for, and columns that tell values apart which are equal for the engine:
    it makes one call for rows whose columns are equal. A filter on rows that are kept without items is a step of
    its own."""
    if f.source is None:
        return f, []
    read = [r.input.col(n) for n in r.input.names if n in columns(*r.args)] if lowering.dialect.forms else []
    forms = [
        lowering.item(lowering.dialect.template(t, [f.cols[c.name].copy()]), lowering.alias("form"))
        for c in read
        for t in lowering.dialect.forms_of(c.type)
    ]
    if not forms and not (f.where and r.outer) and all(isinstance(f.cols[c.name], exp.Column) for c in read):
        return f, []
    rows = lowering.select(f, r.input.names, bool(f.weights))
    rows.set("expressions", [*rows.expressions, *forms])
    names = [i.alias for i in forms]
    out = lowering.step(label_of(r.input), rows, (*r.input.names, *names), f.weighted)
    return out, [out.cols.pop(n) for n in names]


def lower_fixpoint(lowering: Lowering, r: Fixpoint, positive: bool) -> Frame:
    r, names = numbered(lowering, r), r.names
    name = lowering.alias(r.name)
    lowering.recur[r.name] = name
    lowering.recursive = True
    base = lowering.plain(r.base)
    lowering.inline += 1
    step = lowering.plain(r.step)
    lowering.inline -= 1
    body = exp.Union(this=base, expression=step, distinct=r.distinct)
    lowering.ctes.append((name, body, r.names))
    return lowering.reuse(name, names, Weights.NONE)


def numbered(lowering: Lowering, r: Fixpoint) -> Fixpoint:
    """The recursion with the number of each row's round, where nothing makes sure that it ends. (Under UNION,
    rows that are found again would be others.)"""
    if r.distinct or r.ends or "next_round" not in lowering.dialect.functions:
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
    lowering.count(out)
    return out
