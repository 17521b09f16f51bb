"""π, σ, ⋈ and their kin."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from sqlglot import exp

from compiler.catalog import mirror_name
from compiler.delta.restrict import equalities
from compiler.ir.relation import (
    Filter,
    Join,
    Keys,
    LeftJoin,
    Net,
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
from compiler.ir.scalar import TRUE, Call, Col, Lit, Scalar, conjuncts, walk
from compiler.ir.scalar import columns as columns_of
from compiler.ir.types import INT8, Type
from dialects.dialect import ident, varies
from dialects.lower.frames import WEIGHT, Frame, Lowering, Weights
from dialects.lower.joined import placed, tables_of
from dialects.lower.trees import all_of, label_of, ordinal_safe, paren, reads, signed, table_of, union_all


def lower_scan(lowering: Lowering, r: Scan, positive: bool) -> Frame:
    mirror = mirror_name(r.table)
    alias = lowering.alias(mirror)
    if r.at == "delta":
        return lowering.over(table_of("", f"batch_{mirror}", alias), alias, r.names, _once(r))
    schema, weighted = lowering.dialect.mirrors[(r.at, positive or lowering.rows)]
    weights = _once(r) if weighted or not r.key else Weights.NONE
    return lowering.over(table_of(schema, mirror, alias), alias, r.names, weights)


def _once(r: Scan) -> Weights:
    """Of a table with a key a row is there once, and comes and goes once."""
    return Weights.ONE if r.key else Weights.ANY


def _any(weighted: bool) -> Weights:
    return Weights.ANY if weighted else Weights.NONE


def lower_state(lowering: Lowering, r: State, positive: bool) -> Frame:
    alias = lowering.alias("s")
    return lowering.over(table_of("state", r.name, alias), alias, r.names, _any(r.weighted))


def lower_temp(lowering: Lowering, r: Temp, positive: bool) -> Frame:
    alias = lowering.alias(r.name)
    return lowering.over(table_of("", r.name, alias), alias, r.names, _any(r.signed))


def lower_recur(lowering: Lowering, r: Recur, positive: bool) -> Frame:
    return lowering.reuse(lowering.recur[r.name], r.names, Weights.NONE)


def lower_values(lowering: Lowering, r: Values, positive: bool) -> Frame:
    """Constants: no row is an empty frame, one row is inlined, more are a UNION ALL."""
    if not r.rows:
        nothing: dict[str, exp.Expr] = {c.name: lowering.dialect.cast(exp.Null(), c.type) for c in r.schema}
        return Frame(None, nothing, [], [], [exp.false()])
    if not r.cols:
        return Frame(None, {})
    if len(r.rows) == 1 and lowering.inline == 0:
        return Frame(None, {c.name: emitted_as(lowering, x, c.type) for c, x in zip(r.cols, r.rows[0], strict=True)})
    selects: list[exp.Expr] = [
        exp.Select(
            expressions=[
                exp.Alias(this=emitted_as(lowering, x, c.type), alias=ident(c.name))
                for c, x in zip(r.cols, row, strict=True)
            ]
        )
        for row in r.rows
    ]
    return lowering.step("constants", union_all(selects), r.names, Weights.NONE)


def emitted_as(lowering: Lowering, x: Scalar, t: Type) -> exp.Expr:
    e = lowering.scalars.emit(x, {})
    return e if isinstance(e, exp.Cast) else lowering.dialect.cast(e, t)


def lower_project(lowering: Lowering, r: Project, positive: bool) -> Frame:
    f = lowering.frame(r.input, positive)
    f = unduplicated(lowering, f, r)
    cols = {n: lowering.scalars.emit(e, f.cols) for n, e in r.exprs}
    return replace(f, cols=cols)


def unduplicated(lowering: Lowering, f: Frame, r: Project) -> Frame:
    """Make a step of the input when this projection would repeat large expressions of it."""
    uses = Counter(x.name for _, e in r.exprs for x in walk(e) if isinstance(x, Col))
    big = any(
        c > 1 and not isinstance(f.cols[n], (exp.Column, exp.Literal, exp.Cast, exp.Null)) for n, c in uses.items()
    )
    if not big or f.source is None:
        return f
    return lowering.step(
        label_of(r.input), lowering.select(f, r.input.names, bool(f.weights)), r.input.names, f.weighted
    )


def lower_filter(lowering: Lowering, r: Filter, positive: bool) -> Frame:
    f = lowering.frame(r.input, positive)
    where = [lowering.scalars.predicate(p, f.cols) for p in conjuncts(r.predicate)]
    return Frame(f.source, f.cols, f.weights, f.joins, [*f.where, *where], f.once)


def lower_weigh(lowering: Lowering, r: Weigh, positive: bool) -> Frame:
    f = lowering.frame(r.input, positive)
    if isinstance(r.by, Lit):
        by: exp.Expr = (
            exp.Neg(this=exp.Literal.number(1)) if str(r.by.value) == "-1" else exp.Literal.number(str(r.by.value))
        )
        return replace(f, weights=[*f.weights, by], once=f.ones and str(r.by.value) in ("1", "-1"))
    w = lowering.scalars.emit(r.by, f.cols)
    some = exp.NEQ(this=w.copy(), expression=exp.Literal.number(0))
    return Frame(f.source, f.cols, [*f.weights, w], f.joins, [*f.where, some])


def lower_join(lowering: Lowering, r: Join, positive: bool) -> Frame:
    """A join in the frame of the left side. What that computes by dividing is a step before it, where a batch bounds
    its rows."""
    l, rr = lowering.frame(r.left, positive), lowering.frame(r.right, positive)
    if l.joins and signed(r.left) and isinstance(r.left, Project) and _divides(r.left):
        l = lowering.as_table(r.left, l)  # once for each of them, not for each row that they meet
    cols = {**l.cols, **rr.cols}
    on = [lowering.scalars.predicate(p, cols) for p in conjuncts(r.on)]
    weights, once = [*l.weights, *rr.weights], l.ones and rr.ones
    if l.source is None or rr.source is None:
        a, b = (l, rr) if rr.source is None else (rr, l)
        return Frame(a.source, cols, weights, [*a.joins, *b.joins], [*a.where, *b.where, *on], once)
    if rr.joins:
        seen = tables_of(l.source, *l.joins)
        joins, left = placed([exp.Join(this=rr.source, kind="CROSS"), *rr.joins], on, seen)
        return Frame(l.source, cols, weights, [*l.joins, *joins], [*l.where, *rr.where, *left], once)
    join = exp.Join(this=rr.source, on=all_of(on)) if on else exp.Join(this=rr.source, kind="CROSS")
    return Frame(l.source, cols, weights, [*l.joins, join], [*l.where, *rr.where], once)


def _divides(r: Project) -> bool:
    return any(isinstance(x, Call) and x.fn == "/" for _, e in r.exprs for x in walk(e))


def lower_leftjoin(lowering: Lowering, r: LeftJoin, positive: bool) -> Frame:
    l = lowering.sourced(r.left, lowering.frame(r.left, positive))
    rr = lowering.as_table(r.right, lowering.frame(r.right, True))
    cols = {**l.cols, **rr.cols}
    on = join_condition(lowering, r, cols)
    weights = [*l.weights, *[exp.Coalesce(this=w, expressions=[exp.Literal.number(1)]) for w in rr.weights]]
    joins = [*l.joins, exp.Join(this=rr.source, side="LEFT", on=on)]
    return Frame(l.source, cols, weights, joins, l.where, l.ones and rr.ones)


def join_condition(lowering: Lowering, r: LeftJoin | Semi, cols: dict[str, exp.Expr]) -> exp.Expr:
    """ON. Where an engine hashes comparisons of both sides alone, a condition of the left side is made one."""
    if r.on == TRUE:
        return exp.true()
    pairs = (
        equalities(r.on, r.left, r.right)
        if lowering.dialect.hashes_comparisons and not (isinstance(r, Semi) and not r.anti)
        else []
    )
    out = []
    for p in conjuncts(r.on):
        e = lowering.scalars.predicate(p, cols)
        if pairs and columns_of(p) <= set(r.left.names):
            key = lowering.scalars.emit(pairs[0][1], cols)
            null = exp.Is(this=paren(key), expression=exp.Null())
            always = exp.Or(this=null, expression=exp.Not(this=null.copy()))
            e = exp.EQ(this=exp.Paren(this=e), expression=exp.Paren(this=always))
        out.append(e)
    return all_of(out)


def lower_semi(lowering: Lowering, r: Semi, positive: bool) -> Frame:
    """A semi or anti join in the frame of the left side; keys that nobody else reads stand in it as they are."""
    if positive and not r.anti and isinstance(r.right, Keys | Temp) and lowering.logged(r.left) and not lowering.rows:
        return lowering.consolidated(r)
    l = lowering.sourced(r.left, lowering.frame(r.left, positive))
    if isinstance(r.right, Keys) and lowering.refs[r.right] == 1 and not _of_forms(lowering, r.right):
        rr = _any_keys(lowering, r.right)
    else:
        rr = lowering.frame(r.right, True)
        rr = lowering.as_table(r.right, rr, tuple(n for n in r.right.names if reads(r.on, n)) or r.right.names[:1])
    cols = {**l.cols, **rr.cols}
    on = join_condition(lowering, r, cols)
    assert rr.source is not None
    join = exp.Join(this=rr.source, kind="ANTI" if r.anti else "SEMI", on=on)
    if lowering.dialect.semi_side:
        join.set("side", lowering.dialect.semi_side)
    return replace(l, joins=[*l.joins, join])


def lower_union(lowering: Lowering, r: Union, positive: bool) -> Frame:
    """A UNION ALL of the parts that may have rows, with weights where any part has them."""
    parts = [(p, lowering.frame(p, positive)) for p in r.parts if not is_empty(p)]
    if not parts:
        return lower_values(lowering, Values(r.schema, ()), positive)
    weighted = any(f.weights for _, f in parts)
    selects: list[exp.Expr] = []
    for p, f in parts:
        items = []
        for c, o in zip(r.schema, p.schema, strict=True):
            e = f.cols[o.name]
            if o.type != c.type or isinstance(e, exp.Null):
                e = lowering.dialect.cast(e.copy(), c.type)
            items.append(lowering.item(e, c.name))
        if weighted:
            items.append(exp.alias_(lowering.weight(f), ident(WEIGHT)))
        selects.append(lowering.attach(exp.Select(expressions=items or [exp.alias_(exp.Literal.number(1), "one")]), f))
    weights = Weights.NONE if not weighted else Weights.ONE if all(f.ones for _, f in parts) else Weights.ANY
    return lowering.step(label_of(r), union_all(selects), r.names, weights)


def _any_keys(lowering: Lowering, r: Keys) -> Frame:
    """Keys that are only asked whether there are some: equal ones need not be one."""
    f = lowering.frame(Project(r.input, r.exprs), False)
    named = all(isinstance(c, exp.Column) for c in f.cols.values())
    if named and isinstance(f.source, exp.Table) and not f.joins and not f.where:
        return replace(f, weights=[])
    return lowering.step("keys", lowering.select(f, r.names, False), r.names, Weights.NONE)


def _of_forms(lowering: Lowering, r: Keys) -> bool:
    return any(lowering.dialect.sort_key(e.type) is not None for _, e in r.exprs)


def lower_keys(lowering: Lowering, r: Keys, positive: bool) -> Frame:
    """The distinct values of the keys; for a type with forms, one form of equal values."""
    f = lowering.frame(r.input, False)
    forms = _of_forms(lowering, r)
    items: list[exp.Expr] = [exp.Alias(this=key_value(lowering, e, f.cols), alias=ident(n)) for n, e in r.exprs]
    items = items or [exp.alias_(exp.Literal.number(1), ident("one"))]
    s = lowering.attach(exp.Select(expressions=items, distinct=None if forms else exp.Distinct()), f)
    if forms:
        s.set(
            "group",
            exp.Group(
                expressions=[
                    ordinal_safe(k, i) for i, k in enumerate(sort_keys(lowering, tuple(e for _, e in r.exprs), f.cols))
                ]
            ),
        )
    return lowering.step("keys", s, r.names, Weights.NONE)


def lower_net(lowering: Lowering, r: Net, positive: bool) -> Frame:
    f = lowering.frame(r.input, False)
    total = lowering.dialect.cast(exp.Sum(this=lowering.weight(f)), INT8)
    items = [lowering.item(f.cols[n], n) for n in r.names] + [exp.alias_(total, ident(WEIGHT))]
    s = lowering.attach(exp.Select(expressions=items), f)
    if r.names:
        s.set("group", exp.Group(expressions=lowering.group_columns(r, f)))
    s.set("having", exp.Having(this=exp.NEQ(this=exp.Sum(this=lowering.weight(f)), expression=exp.Literal.number(0))))
    return lowering.step("net", s, r.names, Weights.ANY)


def sort_keys(lowering: Lowering, exprs: tuple[Scalar, ...], cols: dict[str, exp.Expr]) -> list[exp.Expr]:
    """What rows are grouped or ordered by: of a value that has several forms, what these have in common."""

    def key(e: Scalar) -> exp.Expr:
        by = lowering.dialect.sort_key(e.type)
        out = lowering.scalars.emit(e, cols)
        return out if by is None else lowering.dialect.template(by, [out])

    return [key(e) for e in exprs]


def key_value(lowering: Lowering, e: Scalar, cols: dict[str, exp.Expr]) -> exp.Expr:
    """What a group shows for its key: of a value that has several forms, one of those that it has there."""
    if lowering.dialect.sort_key(e.type) is None:
        return lowering.scalars.emit(e, cols)
    one = lowering.scalars.emit(e, cols)
    return exp.Min(this=one) if varies(one) else one
