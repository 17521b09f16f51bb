"""A SELECT in the making, the names of steps, and how a relation becomes one or the other."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from sqlglot import exp

from compiler.errors import CompilerBug
from compiler.ir.parts import of_a_round
from compiler.ir.relation import Filter, Project, Relation, Scan
from compiler.ir.types import INT8
from dialects.dialect import Dialect, ident
from dialects.lower.joined import filtering, unjoined
from dialects.lower.trees import added_up, all_of, label_of, leaf, ordinal_safe, paren, signed
from dialects.scalars import Scalars

WEIGHT = "_weight"
UNNESTED = {"o", "x", "key", "value"}  # columns of what is unnested, which no alias has for a name


class Weights(Enum):
    """What the weights of a frame may be."""

    NONE = 0  # each row is there once, and there is no weight
    ONE = 1  # 1 or -1
    ANY = 2

    def __bool__(self) -> bool:
        return self is not Weights.NONE


@dataclass
class Frame:
    """A SELECT in the making: sources, condition, and what each column and the weight are computed from."""

    source: exp.Expr | None
    cols: dict[str, exp.Expr]
    weights: list[exp.Expr] = field(default_factory=list)
    joins: list[exp.Expr] = field(default_factory=list)
    where: list[exp.Expr] = field(default_factory=list)
    once: bool = False  # whether each weight is 1 or -1

    @property
    def ones(self) -> bool:
        """Whether each row is there once, or is taken away once."""
        return not self.weights or self.once

    @property
    def weighted(self) -> Weights:
        return Weights.NONE if not self.weights else Weights.ONE if self.once else Weights.ANY

    @property
    def bare(self) -> bool:
        """Only a table: no joins, no condition, no computed columns, no weight but its own."""
        own = not self.weights or (len(self.weights) == 1 and isinstance(self.weights[0], exp.Column))
        return (
            own
            and not self.joins
            and not self.where
            and self.source is not None
            and all(isinstance(c, exp.Column) for c in self.cols.values())
        )


class Lowering:
    """A statement in the making. `rules` tell what each kind of relation becomes."""

    def __init__(self, dialect: Dialect, rules: Mapping[type[Relation], Rule], rows: bool = False) -> None:
        """With `rows`, mirrors are read in positive form throughout: the way to fill a state."""
        self.dialect = dialect
        self.rules = rules
        self.rows = rows
        self.scalars = Scalars(dialect)
        self.ctes: list[tuple[str, exp.Expr, tuple[str, ...] | None]] = []
        self.memo: dict[tuple[Relation, bool], tuple[str, Weights]] = {}
        self.refs: Counter[Relation] = Counter()
        self.aliases: Counter[str] = Counter()
        self.taken: set[str] = set()
        self.recursive = False
        self.inline = 0
        self.recur: dict[str, str] = {}

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
        joins, where = (
            (f.joins, f.where)
            if not self.dialect.joins_unequal
            else ([unjoined(j) for j in f.joins], filtering(f.where))
        )
        if joins:
            s.set("joins", list(joins))
        if where:
            s.set("where", exp.Where(this=all_of(where)))
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
            out = exp.Mul(this=paren(out), expression=paren(w.copy()))
        return out

    def alias(self, base: str) -> str:
        base = (
            re.sub(r"[^a-z0-9_]", "_", base.lower()).lstrip("_") or "t"
        )  # those that begin with _ are variables of lambdas
        base = f"{base}_" if base in UNNESTED else base
        while True:
            self.aliases[base] += 1
            n = self.aliases[base]
            name = base if n == 1 else f"{base}_{n}"
            if name not in self.taken:
                self.taken.add(name)
                return name

    def step(self, label: str, select: exp.Expr, names: tuple[str, ...], weighted: Weights) -> Frame:
        """A SELECT as a named step (or, inside recursion, as a derived table)."""
        name = self.alias(label)
        if self.inline:
            source: exp.Expr = exp.Subquery(this=select, alias=exp.TableAlias(this=ident(name)))
        else:
            self.ctes.append((name, select, None))
            source = exp.Table(this=ident(name))
        return self.over(source, name, names, weighted)

    def over(self, source: exp.Expr, alias: str, names: tuple[str, ...], weighted: Weights) -> Frame:
        cols: dict[str, exp.Expr] = {n: exp.Column(this=ident(n), table=ident(alias)) for n in names}
        weights: list[exp.Expr] = [exp.Column(this=ident(WEIGHT), table=ident(alias))] if weighted else []
        return Frame(source, cols, weights, once=weighted is Weights.ONE)

    def reuse(self, name: str, names: tuple[str, ...], weighted: Weights) -> Frame:
        alias = self.alias(name)
        source = exp.Table(this=ident(name), alias=exp.TableAlias(this=ident(alias)) if alias != name else None)
        return self.over(source, alias, names, weighted)

    def frame(self, r: Relation, positive: bool) -> Frame:
        """A frame for `r`; with `positive`, no weight is negative and rows of weight 0 do not occur."""
        for form in (positive, True):
            if (r, form) in self.memo and not self.inline:
                name, weighted = self.memo[(r, form)]
                return self.reuse(name, r.names, weighted)
        apart = positive and signed(r) and not of_a_round(r)  # within a recursion rows are added up outside the rounds
        f = self.consolidated(r) if apart else self.build(r, positive)
        if self.refs[r] > 1 and not self.inline and not leaf(r):
            if not (
                f.bare
                and isinstance(f.source, exp.Table)
                and f.source.args.get("db") is None
                and f.source.args.get("alias") is None
                and all(f.cols[n].name == n for n in r.names)
            ):
                f = self.step(label_of(r), self.select(f, r.names, bool(f.weights)), r.names, f.weighted)
            assert f.source is not None
            self.memo[(r, positive)] = (f.source.name, f.weighted)
            if not f.weights:
                self.memo[(r, True)] = (f.source.name, Weights.NONE)
        return f

    def consolidated(self, r: Relation) -> Frame:
        """Equal rows added up, those left with a positive weight."""
        once = added_up(r)
        f = self.build(r, False) if once is None or self.refs[once] > 1 else self.frame(once.input, False)
        total = exp.Sum(this=self.weight(f))
        items = [self.item(f.cols[n], n) for n in r.names] + [exp.alias_(self.dialect.cast(total, INT8), ident(WEIGHT))]
        s = self.attach(exp.Select(expressions=items), f)
        if r.names:
            s.set("group", exp.Group(expressions=self.group_columns(r, f)))
        s.set("having", exp.Having(this=exp.GT(this=total.copy(), expression=exp.Literal.number(0))))
        return self.step("net", s, r.names, Weights.ANY)

    def group_columns(self, r: Relation, f: Frame) -> list[exp.Expr]:
        """What rows are added up by: all columns, and what tells values apart that are equal for the engine, as 1
        day and 24 hours."""
        forms = [
            self.dialect.template(t, [f.cols[c.name].copy()]) for c in r.schema for t in self.dialect.forms_of(c.type)
        ]
        return [*(ordinal_safe(f.cols[n].copy(), i) for i, n in enumerate(r.names)), *forms]

    def build(self, r: Relation, positive: bool) -> Frame:
        rule = self.rules.get(type(r))
        if rule is None:
            raise CompilerBug(f"cannot lower {type(r).__name__}")
        return rule(self, r, positive)

    def expanded(self, f: Frame, r: Relation) -> Frame:
        """Each row as often as its weight says."""
        if not f.weights:
            return f
        copies = self.dialect.template(self.dialect.copies, [self.dialect.cast(self.weight(f), INT8)])
        items = [self.item(f.cols[n], n) for n in r.names] + [exp.alias_(copies, ident("_copy"))]
        s = self.attach(exp.Select(expressions=items), f)
        return self.step("rows", s, r.names, Weights.NONE)

    def logged(self, r: Relation) -> bool:
        """Whether it is a mirror, perhaps projected and filtered, kept as a log: cut down to keys, that is cheap to
        add up."""
        while isinstance(r, Project | Filter):
            r = r.input
        return isinstance(r, Scan) and r.at != "delta" and self.dialect.mirrors[(r.at, False)][1]

    def as_table(self, r: Relation, f: Frame, names: tuple[str, ...] | None = None) -> Frame:
        """The frame itself when it is a bare table, otherwise a step."""
        if f.bare:
            return f
        names = names or r.names
        return self.step(label_of(r), self.select(f, names, bool(f.weights)), names, f.weighted)

    def sourced(self, r: Relation, f: Frame) -> Frame:
        if f.source is not None:
            return f
        return self.step(label_of(r), self.select(f, r.names, bool(f.weights)), r.names, f.weighted)

    def plain(self, r: Relation) -> exp.Select:
        return self.select(self.expanded(self.frame(r, True), r), r.names, False)


Rule = Callable[[Lowering, Any, bool], Frame]  # the relation is of the type that the rule is listed for
