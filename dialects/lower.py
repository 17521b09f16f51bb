"""IR to sqlglot trees: adjacent π, σ, ⋈ become one SELECT, everything else a named step (CTE).

Weights are an expression of each SELECT, and no column where every row has weight 1. Where rows must not be negative
(the padded side of an outer join, windows, ordered aggregates) the relation is read in its positive form: mirrors have
one (`after_rows`, `before_rows`), anything else is consolidated.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

from sqlglot import exp

from compiler.catalog import mirror_name
from compiler.delta.restrict import equalities
from compiler.errors import CompilerBug
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
    is_empty,
)
from compiler.ir.scalar import TRUE, Col, Lit, Scalar, conjuncts, walk
from compiler.ir.scalar import columns as columns_of
from compiler.ir.types import INT8, Type
from dialects.dialect import Dialect, ident
from dialects.scalars import Scalars

WEIGHT = "_weight"
ACCUMULATED = {"min_in", "min_out", "max_in", "max_out", "count", "sum0", "min", "max", "bool_and", "bool_or", "any_value"}
SIGNED_SAFE = {"count", "sum0", "min_in", "min_out", "max_in", "max_out"}


@dataclass
class Frame:
    """A SELECT in the making: sources, condition, and what each column and the weight are computed from."""

    source: exp.Expr | None
    cols: dict[str, exp.Expr]
    weights: list[exp.Expr] = field(default_factory=list)
    joins: list[exp.Expr] = field(default_factory=list)
    where: list[exp.Expr] = field(default_factory=list)

    @property
    def bare(self) -> bool:
        """Only a table: no joins, no condition, no computed columns, no weight but its own."""
        own = not self.weights or (len(self.weights) == 1 and isinstance(self.weights[0], exp.Column))
        return own and not self.joins and not self.where and self.source is not None and all(
            isinstance(c, exp.Column) for c in self.cols.values())


class Lower:
    """Lowers one statement."""

    def __init__(self, dialect: Dialect, rows: bool = False) -> None:
        """With `rows`, mirrors are read in positive form throughout: the way to fill a state."""
        self.dialect = dialect
        self.rows = rows
        self.scalars = Scalars(dialect)
        self.ctes: list[tuple[str, exp.Expr, tuple[str, ...] | None]] = []
        self.memo: dict[tuple[Relation, bool], tuple[str, bool]] = {}
        self.refs: Counter[Relation] = Counter()
        self.aliases: Counter[str] = Counter()
        self.taken: set[str] = set()
        self.recursive = False
        self.inline = 0
        self.recur: dict[str, str] = {}

    # -- statements

    def query(self, r: Relation, weight: bool = True, positive: bool = False, order: bool = False) -> exp.Expr:
        """SELECT of all columns; with `weight` a weight column too, otherwise each row as often as its weight."""
        self.count(r)
        f = self.frame(r, positive) if weight else self.expanded(self.frame(r, True), r)
        return self.finish(self.last(f, r.names, weight) or self.select(f, r.names, weight))

    def last(self, f: Frame, names: tuple[str, ...], weight: bool) -> exp.Expr | None:
        """The body of the last step when nothing is left to do after it."""
        if not self.ctes or not f.bare or not isinstance(f.source, exp.Table) or f.source.name != self.ctes[-1][0]:
            return None
        body = self.ctes[-1][1]
        if self.ctes[-1][2] is not None or not isinstance(body, exp.Select) or bool(f.weights) != weight:
            return None
        want = (*names, WEIGHT) if weight else names
        if tuple(i.alias_or_name for i in body.expressions) != want or [f.cols[n].name for n in names] != list(names):
            return None
        self.ctes.pop()
        return body

    def finish(self, select: exp.Expr) -> exp.Expr:
        for name, body, columns in self.ctes:
            alias = exp.TableAlias(this=ident(name), columns=[ident(c) for c in columns] if columns else None)
            w = select.args.get("with_")
            cte = exp.CTE(this=body, alias=alias)
            if w is None:
                select.set("with_", exp.With(expressions=[cte], recursive=self.recursive))
            else:
                w.append("expressions", cte)
                w.set("recursive", self.recursive)
        return select

    def count(self, r: Relation) -> None:
        seen: set[Relation] = set()

        def go(n: Relation) -> None:
            if n in seen:
                return
            seen.add(n)
            for i in n.inputs:
                self.refs[i] += 1
                go(i)

        go(r)

    def select(self, f: Frame, names: tuple[str, ...], weight: bool) -> exp.Select:
        items: list[exp.Expr] = [self.item(f.cols[n], n) for n in names]
        if weight:
            items.append(exp.alias_(self.weight(f), ident(WEIGHT)))
        if not items:
            items = [exp.alias_(exp.Literal.number(1), ident("one"))]
        s = exp.Select(expressions=items)
        return self.attach(s, f)

    def attach(self, s: exp.Select, f: Frame) -> exp.Select:
        if f.source is not None:
            s.set("from_", exp.From(this=f.source))
        if f.joins:
            s.set("joins", list(f.joins))
        if f.where:
            s.set("where", exp.Where(this=_and(f.where)))
        return s

    def item(self, e: exp.Expr, name: str) -> exp.Expr:
        if isinstance(e, exp.Column) and e.name == name:
            return e.copy()
        return exp.Alias(this=e.copy(), alias=ident(name))

    def weight(self, f: Frame) -> exp.Expr:
        if not f.weights:
            return exp.Literal.number(1)
        out = f.weights[0].copy()
        for w in f.weights[1:]:
            out = exp.Mul(this=_paren(out), expression=_paren(w.copy()))
        return out

    # -- names

    def alias(self, base: str) -> str:
        base = re.sub(r"[^a-z0-9_]", "_", base.lower()) or "t"
        while True:
            self.aliases[base] += 1
            n = self.aliases[base]
            name = base if n == 1 else f"{base}_{n}"
            if name not in self.taken:
                self.taken.add(name)
                return name

    def step(self, label: str, select: exp.Expr, names: tuple[str, ...], weighted: bool) -> Frame:
        """A SELECT as a named step (or, inside recursion, as a derived table)."""
        name = self.alias(label)
        if self.inline:
            source: exp.Expr = exp.Subquery(this=select, alias=exp.TableAlias(this=ident(name)))
        else:
            self.ctes.append((name, select, None))
            source = exp.Table(this=ident(name))
        return self.over(source, name, names, weighted)

    def over(self, source: exp.Expr, alias: str, names: tuple[str, ...], weighted: bool) -> Frame:
        cols: dict[str, exp.Expr] = {n: exp.Column(this=ident(n), table=ident(alias)) for n in names}
        weights: list[exp.Expr] = [exp.Column(this=ident(WEIGHT), table=ident(alias))] if weighted else []
        return Frame(source, cols, weights)

    def reuse(self, name: str, names: tuple[str, ...], weighted: bool) -> Frame:
        alias = self.alias(name)
        source = exp.Table(this=ident(name), alias=exp.TableAlias(this=ident(alias)) if alias != name else None)
        return self.over(source, alias, names, weighted)

    # -- relations

    def frame(self, r: Relation, positive: bool) -> Frame:
        """A frame for `r`; with `positive`, no weight is negative and rows of weight 0 do not occur."""
        for form in (positive, True):
            if (r, form) in self.memo and not self.inline:
                name, weighted = self.memo[(r, form)]
                return self.reuse(name, r.names, weighted)
        f = self.consolidated(r) if positive and signed(r) else self.build(r, positive)
        if self.refs[r] > 1 and not self.inline and not _leaf(r):
            if not (f.bare and isinstance(f.source, exp.Table) and f.source.args.get("db") is None
                    and f.source.args.get("alias") is None and all(f.cols[n].name == n for n in r.names)):
                f = self.step(_label(r), self.select(f, r.names, bool(f.weights)), r.names, bool(f.weights))
            assert f.source is not None
            self.memo[(r, positive)] = (f.source.name, bool(f.weights))
            if not f.weights:
                self.memo[(r, True)] = (f.source.name, False)
        return f

    def consolidated(self, r: Relation) -> Frame:
        """Equal rows added up, those left with a positive weight."""
        f = self.build(r, False)
        total = exp.Sum(this=self.weight(f))
        items = [self.item(f.cols[n], n) for n in r.names] + [exp.alias_(self.dialect.cast(total, INT8), ident(WEIGHT))]
        s = self.attach(exp.Select(expressions=items), f)
        if r.names:
            s.set("group", exp.Group(expressions=[_ordinal_safe(f.cols[n].copy(), i) for i, n in enumerate(r.names)]))
        s.set("having", exp.Having(this=exp.GT(this=total.copy(), expression=exp.Literal.number(0))))
        return self.step("net", s, r.names, True)

    def build(self, r: Relation, positive: bool) -> Frame:
        method = getattr(self, f"_{type(r).__name__.lower()}", None)
        if method is None:
            raise CompilerBug(f"cannot lower {type(r).__name__}")
        return method(r, positive)  # type: ignore[no-any-return]

    def _scan(self, r: Scan, positive: bool) -> Frame:
        mirror = mirror_name(r.table)
        alias = self.alias(mirror)
        if r.at == "delta":
            return self.over(_table("", f"batch_{mirror}", alias), alias, r.names, True)
        schema, weighted = self.dialect.mirrors[(r.at, positive or self.rows)]
        return self.over(_table(schema, mirror, alias), alias, r.names, weighted or not r.key)

    def _state(self, r: State, positive: bool) -> Frame:
        alias = self.alias("s")
        return self.over(_table("state", r.name, alias), alias, r.names, r.key == ("",))

    def _temp(self, r: Temp, positive: bool) -> Frame:
        alias = self.alias(r.name)
        return self.over(_table("", r.name, alias), alias, r.names, r.signed)

    def _recur(self, r: Recur, positive: bool) -> Frame:
        return self.reuse(self.recur[r.name], r.names, False)

    def _values(self, r: Values, positive: bool) -> Frame:
        if not r.rows:
            nothing: dict[str, exp.Expr] = {
                c.name: self.dialect.cast(exp.Null(), c.type) for c in r.schema}
            return Frame(None, nothing, [], [], [exp.false()])
        if not r.cols:
            return Frame(None, {})
        if len(r.rows) == 1 and self.inline == 0:
            return Frame(None, {c.name: self.typed(x, c.type) for c, x in zip(r.cols, r.rows[0], strict=True)})
        selects: list[exp.Expr] = [exp.Select(expressions=[
            exp.Alias(this=self.typed(x, c.type), alias=ident(c.name)) for c, x in zip(r.cols, row, strict=True)])
            for row in r.rows]
        return self.step("constants", _union_all(selects), r.names, False)

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
        big = any(c > 1 and not isinstance(f.cols[n], (exp.Column, exp.Literal, exp.Cast, exp.Null)) for n, c in uses.items())
        if not big or f.source is None:
            return f
        return self.step(_label(r.input), self.select(f, r.input.names, bool(f.weights)), r.input.names, bool(f.weights))

    def _filter(self, r: Filter, positive: bool) -> Frame:
        f = self.frame(r.input, positive)
        where = [self.scalars.predicate(p, f.cols) for p in conjuncts(r.predicate)]
        return Frame(f.source, f.cols, f.weights, f.joins, [*f.where, *where])

    def _weigh(self, r: Weigh, positive: bool) -> Frame:
        f = self.frame(r.input, positive)
        if isinstance(r.by, Lit):
            by: exp.Expr = exp.Neg(this=exp.Literal.number(1)) if str(r.by.value) == "-1" else exp.Literal.number(
                str(r.by.value))
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
            join = exp.Join(this=rr.source, kind="CROSS")
            return Frame(l.source, cols, weights, [*l.joins, join, *rr.joins], [*l.where, *rr.where, *on])
        join = exp.Join(this=rr.source, on=_and(on)) if on else exp.Join(this=rr.source, kind="CROSS")
        return Frame(l.source, cols, weights, [*l.joins, join], [*l.where, *rr.where])

    def as_table(self, r: Relation, f: Frame, names: tuple[str, ...] | None = None) -> Frame:
        """The frame itself when it is a bare table, otherwise a step."""
        if f.bare:
            return f
        names = names or r.names
        return self.step(_label(r), self.select(f, names, bool(f.weights)), names, bool(f.weights))

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
        pairs = equalities(r.on, r.left, r.right) if self.dialect.hashes_comparisons and not (isinstance(r, Semi) and not r.anti) else []
        out = []
        for p in conjuncts(r.on):
            e = self.scalars.predicate(p, cols)
            if pairs and columns_of(p) <= set(r.left.names):
                key = self.scalars.emit(pairs[0][1], cols)
                null = exp.Is(this=_paren(key), expression=exp.Null())
                always = exp.Or(this=null, expression=exp.Not(this=null.copy()))
                e = exp.EQ(this=exp.Paren(this=e), expression=exp.Paren(this=always))
            out.append(e)
        return _and(out)

    def sourced(self, r: Relation, f: Frame) -> Frame:
        if f.source is not None:
            return f
        return self.step(_label(r), self.select(f, r.names, bool(f.weights)), r.names, bool(f.weights))

    def _semi(self, r: Semi, positive: bool) -> Frame:
        if positive and not r.anti and isinstance(r.right, Keys | Temp) and self.logged(r.left) and not self.rows:
            return self.consolidated(r)
        l = self.sourced(r.left, self.frame(r.left, positive))
        rr = self.frame(r.right, True)
        rr = self.as_table(r.right, rr, tuple(n for n in r.right.names if _reads(r.on, n)) or r.right.names[:1])
        cols = {**l.cols, **rr.cols}
        on = self.condition(r, cols)
        assert rr.source is not None
        join = exp.Join(this=rr.source, kind="ANTI" if r.anti else "SEMI", on=on)
        if self.dialect.semi_side:
            join.set("side", self.dialect.semi_side)
        return Frame(l.source, l.cols, l.weights, [*l.joins, join], l.where)

    def logged(self, r: Relation) -> bool:
        """Whether it is a mirror, perhaps projected and filtered, kept as a log: cut down to keys, that is cheap to add up."""
        while isinstance(r, Project | Filter):
            r = r.input
        return isinstance(r, Scan) and r.at != "delta" and self.dialect.mirrors[(r.at, False)][1]

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
        return self.step(_label(r), _union_all(selects), r.names, weighted)

    def _keys(self, r: Keys, positive: bool) -> Frame:
        f = self.frame(r.input, False)
        items: list[exp.Expr] = [exp.Alias(this=self.scalars.emit(e, f.cols), alias=ident(n)) for n, e in r.exprs]
        items = items or [exp.alias_(exp.Literal.number(1), ident("one"))]
        s = self.attach(exp.Select(expressions=items, distinct=exp.Distinct()), f)
        return self.step("keys", s, r.names, False)

    def _net(self, r: Net, positive: bool) -> Frame:
        f = self.frame(r.input, False)
        total = self.dialect.cast(exp.Sum(this=self.weight(f)), INT8)
        items = [self.item(f.cols[n], n) for n in r.names] + [exp.alias_(total, ident(WEIGHT))]
        s = self.attach(exp.Select(expressions=items), f)
        if r.names:
            s.set("group", exp.Group(expressions=[_ordinal_safe(f.cols[n].copy(), i) for i, n in enumerate(r.names)]))
        s.set("having", exp.Having(this=exp.NEQ(this=exp.Sum(this=self.weight(f)), expression=exp.Literal.number(0))))
        return self.step("net", s, r.names, True)

    def expanded(self, f: Frame, r: Relation) -> Frame:
        """Each row as often as its weight says."""
        if not f.weights:
            return f
        copies = self.dialect.template(self.dialect.copies, [self.dialect.cast(self.weight(f), INT8)])
        items = [self.item(f.cols[n], n) for n in r.names] + [exp.alias_(copies, ident("_copy"))]
        s = self.attach(exp.Select(expressions=items), f)
        return self.step("rows", s, r.names, False)

    # -- aggregates

    def _aggregate(self, r: Aggregate, positive: bool) -> Frame:
        fns = {a.fn for _, a in r.aggs}
        distinct = any(a.distinct for _, a in r.aggs)
        safe = fns <= SIGNED_SAFE and not distinct
        f = self.frame(r.input, not safe or not r.aggs)
        if not fns <= ACCUMULATED or distinct:
            f = self.expanded(f, r.input)
        keys = [self.scalars.emit(e, f.cols) for _, e in r.keys]
        items = [self.item(k, n) for k, (n, _) in zip(keys, r.keys, strict=True)]
        items += [exp.alias_(self.aggregate(a, f), ident(n)) for n, a in r.aggs]
        s = self.attach(exp.Select(expressions=items), f)
        if r.keys:
            s.set("group", exp.Group(expressions=[_ordinal_safe(k.copy(), i) for i, k in enumerate(keys)]))
            if safe and signed(r.input) and r.aggs:
                pass
        return self.step(_label(r), s, r.names, False)

    def aggregate(self, a: Agg, f: Frame) -> exp.Expr:
        keep = self.scalars.predicate(a.filter, f.cols) if a.filter is not None else None
        args = [self.scalars.emit(x, f.cols) for x in a.args]
        if a.fn in ("count", "sum0"):
            out = self.accumulator(a, args, keep, f)
        elif a.fn in SIGNED_SAFE:
            kind, way = a.fn.split("_")
            side = (exp.GT if way == "in" else exp.LT)(this=_paren(self.weight(f)), expression=exp.Literal.number(0))
            fn = exp.Min(this=args[0]) if kind == "min" else exp.Max(this=args[0])
            out = exp.Filter(this=fn, expression=exp.Where(this=_and([side, *([keep] if keep is not None else [])])))
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
            one = w if not args else exp.Case(ifs=[exp.If(this=exp.not_(exp.Is(this=_paren(args[0]), expression=exp.Null())), true=w)])
            out = exp.Sum(this=one)
        else:
            x = args[0]
            out = exp.Sum(this=x if not f.weights else exp.Mul(this=_paren(x), expression=_paren(w)))
        if keep is not None:
            out = exp.Filter(this=out, expression=exp.Where(this=keep))
        if a.fn == "sum0" or f.weights:
            out = exp.Coalesce(this=out, expressions=[exp.Literal.number(0)])
        if a.fn == "sum0" or f.weights:
            out = self.dialect.cast(out, a.type)
        return out

    def orders(self, orders: tuple[Order, ...], cols: dict[str, exp.Expr]) -> list[exp.Expr]:
        def key(e: Scalar) -> exp.Expr:
            by = self.dialect.sort_keys.get(e.type.name)
            out = self.scalars.emit(e, cols)
            return out if by is None else self.dialect.template(by, [out])

        return [exp.Ordered(this=key(o.expr), desc=o.desc or None, nulls_first=o.nulls_first) for o in orders]

    # -- windows and limits

    def _window(self, r: Window, positive: bool) -> Frame:
        f = self.expanded(self.frame(r.input, True), r.input)
        items = [self.item(f.cols[n], n) for n in r.input.names]
        for name, c in r.calls:
            items.append(exp.alias_(self.window_call(r, c, f), ident(name)))
        s = self.attach(exp.Select(expressions=items), f)
        return self.step("windows", s, r.names, False)

    def window_call(self, r: Window, c: WindowCall, f: Frame) -> exp.Expr:
        args = [self.scalars.emit(x, f.cols) for x in c.args]
        order = c.order
        if c.fn in ("row_number", "ntile", "lag", "lead", "first_value") or (c.frame and c.frame[0] == "rows"):
            known = {o.expr for o in order}
            order = (*order, *(Order(x) for x in r.input.schema if x not in known and sortable(x.type)))
        call = self.scalars.window_function(c, args)
        if c.filter is not None:
            call = self.scalars.filtered(call, self.scalars.predicate(c.filter, f.cols))
        spec = self.frame_spec(c, f)
        w = exp.Window(this=exp.Null(), partition_by=[self.scalars.emit(p, f.cols) for p in r.partition], spec=spec)
        if order:
            w.set("order", exp.Order(expressions=self.orders(order, f.cols)))
        return self.scalars.over(c, call, w)

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
            return self.scalars.emit(value, f.cols), kind.upper()

        (s, ss), (e, es) = bound(start), bound(end)
        return exp.WindowSpec(kind=unit.upper(), start=s, start_side=ss, end=e, end_side=es,
                              exclude=exp.var(exclude.upper()) if exclude else None)

    def _topk(self, r: TopK, positive: bool) -> Frame:
        f = self.expanded(self.frame(r.input, True), r.input)
        known = {o.expr for o in r.order}
        ties = () if r.with_ties else tuple(Order(c) for c in r.schema if c not in known and sortable(c.type))
        order = self.orders((*r.order, *ties), f.cols)
        if not r.partition and not r.with_ties:
            s = self.select(f, r.names, False)
            if order:
                s.set("order", exp.Order(expressions=order))
            if r.limit is not None:
                s.set("limit", exp.Limit(expression=exp.Literal.number(r.limit)))
            if r.skip:
                s.set("offset", exp.Offset(expression=exp.Literal.number(r.skip)))
            return self.step("limited", s, r.names, False)
        rank = exp.Window(this=exp.Anonymous(this="rank" if r.with_ties else "row_number"),
                          partition_by=[self.scalars.emit(p, f.cols) for p in r.partition],
                          order=exp.Order(expressions=order) if order else None)
        items = [self.item(f.cols[n], n) for n in r.names] + [exp.alias_(rank, ident("_rank"))]
        place = rank.copy()
        place.set("this", exp.Anonymous(this="row_number"))
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

    # -- sets and recursion

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
            f = self.step(_label(r.input), self.select(f, r.input.names, bool(f.weights)), r.input.names, bool(f.weights))
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

    def plain(self, r: Relation) -> exp.Select:
        return self.select(self.expanded(self.frame(r, True), r), r.names, False)


def signed(r: Relation) -> bool:
    """Whether weights may be negative in a way that reading mirrors in positive form does not mend."""
    if isinstance(r, Scan):
        return r.at == "delta"
    if isinstance(r, Temp):
        return r.signed
    if isinstance(r, State):
        return r.at == "delta"
    if isinstance(r, Weigh):
        return isinstance(r.by, Lit) or signed(r.input)
    if isinstance(r, LeftJoin | Semi):
        return signed(r.left)
    if isinstance(r, Net):
        return signed(r.input)
    if isinstance(r, Aggregate | Window | TopK | Keys | Fixpoint | Values | Recur):
        return False
    return any(signed(i) for i in r.inputs)


def sortable(t: Type) -> bool:
    return t.name not in ("json", "jsonb", "interval") or t.name == "interval"


def _label(r: Relation) -> str:
    names = {Join: "joined", LeftJoin: "outer_joined", Semi: "matching", Union: "both", Aggregate: "grouped",
             Project: "picked", Filter: "kept", Window: "windows", TopK: "limited"}
    return names.get(type(r), "step")


def _leaf(r: Relation) -> bool:
    while isinstance(r, Project | Filter):
        r = r.input
    return isinstance(r, Scan | State | Temp | Values | Recur)


def _reads(e: Scalar, name: str) -> bool:
    return any(isinstance(x, Col) and x.name == name for x in walk(e))


def _table(schema: str, name: str, alias: str) -> exp.Expr:
    t = exp.Table(this=ident(name), db=ident(schema) if schema else None)
    if alias != name or schema:
        t.set("alias", exp.TableAlias(this=ident(alias)))
    return t


def _and(parts: list[exp.Expr]) -> exp.Expr:
    if not parts:
        return exp.true()
    out = _or_paren(parts[0])
    for p in parts[1:]:
        out = exp.And(this=out, expression=_or_paren(p))
    return out


def _or_paren(e: exp.Expr) -> exp.Expr:
    return exp.Paren(this=e) if isinstance(e, exp.Or) else e


def _paren(e: exp.Expr) -> exp.Expr:
    return exp.Paren(this=e) if isinstance(e, (exp.Binary, exp.Case, exp.Not, exp.Is)) else e


def _ordinal_safe(e: exp.Expr, i: int) -> exp.Expr:
    """A constant key would be taken for a position: name the position instead."""
    return e if any(True for _ in e.find_all(exp.Column)) else exp.Literal.number(i + 1)


def _union_all(selects: list[exp.Expr]) -> exp.Expr:
    out = selects[0]
    for s in selects[1:]:
        out = exp.Union(this=out, expression=s, distinct=False)
    return out
