"""A correlated query over the bindings of its outer columns, all at once."""

from __future__ import annotations

from dataclasses import replace

from compiler.errors import CompilerBug, UnsupportedSql
from compiler.functions.aggregates import of_nothing
from compiler.ir.outers import free
from compiler.ir.parts import scalars, with_scalars
from compiler.ir.relation import (
    Aggregate,
    Filter,
    Fixpoint,
    Join,
    LeftJoin,
    Project,
    Recur,
    Relation,
    Semi,
    TopK,
    Union,
    Unnest,
    Weigh,
    Window,
)
from compiler.ir.relation import walk as walk_nodes
from compiler.ir.scalar import (
    Call,
    Col,
    Lit,
    Outer,
    Scalar,
    columns,
    conj,
    conjuncts,
    equal,
    is_null,
    negate,
    same,
    walk,
)
from compiler.ir.types import INT8
from compiler.normalize.subqueries.forms import form, type_of_form
from compiler.normalize.subqueries.lifting import Provided, tie

ZERO = Lit(0, INT8)


class Push:
    """Pushes bindings down to where they are used."""

    def __init__(self) -> None:
        self.count = 0
        self.rounds: dict[
            str, tuple[Recur, dict[str, Col]]
        ] = {}  # recursions being pushed: their rows with the bindings
        self.memo: dict[int, tuple[Relation, Relation]] = {}
        self.guard: tuple[Scalar, ...] = ()  # of the rows whose bindings are asked for

    def run(self, r: Relation) -> Relation:
        """The relation with no subquery left in it."""
        raise NotImplementedError

    def fresh(self, base: str) -> str:
        self.count += 1
        return f"{base}_u{self.count}"

    def fresh_names(self, q: Relation, p: Provided | None = None) -> Relation:
        """Rename so that the same subquery can be joined twice."""
        names = {c.name: self.fresh(c.name) for c in q.schema}
        if p is not None:
            p.cols = {f: Col(names[c.name], c.type) for f, c in p.cols.items()}
        return Project(q, tuple((names[c.name], c) for c in q.schema))

    def domain(self, rel: Relation, wanted: list[Outer]) -> tuple[Relation, Provided]:
        """The bindings that there are in `rel`, of the rows that are asked about."""
        if self.guard and columns(*self.guard) <= set(rel.names):
            rel = Filter(rel, conj(list(self.guard)))
        p = Provided({o.name: Col(self.fresh(o.name), type_of_form(o.type)) for o in wanted})
        return Aggregate(rel, tuple((p.cols[o.name].name, form(rel.col(o.name))) for o in wanted), ()), p

    def push(self, q: Relation, rel: Relation) -> tuple[Relation, Provided]:
        """The subquery for all bindings of the columns of `rel` that it reads, its own columns first."""
        wanted = [o for o in free(q) if o.name in rel.names]
        if not wanted:
            return q, Provided()
        got, p = self.go(q, rel)
        got, p = self.ensure(got, p, wanted, rel)
        return Project(got, (*((c.name, c) for c in q.schema), *((c.name, c) for c in p.cols.values()))), p

    def push_grouped(self, agg: Aggregate, rel: Relation) -> tuple[Relation, Provided]:
        """A global aggregate as one row for each binding that has rows."""
        wanted = [o for o in free(agg) if o.name in rel.names]
        inner, p = self.go(agg.input, rel)
        inner, p = self.ensure(inner, p, wanted, rel)
        new = with_scalars(agg.rebuild((inner,)), p.bind)
        assert isinstance(new, Aggregate)
        keys = tuple((c.name, c) for c in p.cols.values())
        grouped = Aggregate(inner, keys, new.aggs)
        return Project(grouped, (*((n, Col(n, a.type)) for n, a in agg.aggs), *keys)), p

    def ensure(self, q: Relation, p: Provided, wanted: list[Outer], rel: Relation) -> tuple[Relation, Provided]:
        """Join the domain for the bindings that `q` does not carry yet: those that come with the bindings it
        carries."""
        missing = [o for o in wanted if o.name not in p.cols]
        if not missing:
            return q, p
        d, dp = self.domain(rel, [*missing, *(Outer(f, rel.col(f).type) for f in p.cols)])
        on = conj([(equal if f in p.strict else same)(dp.cols[f], c) for f, c in p.cols.items()])
        return Join(q, d, on), Provided({**p.cols, **{o.name: dp.cols[o.name] for o in missing}}, set(p.strict))

    def exact(self, q: Relation, p: Provided, wanted: list[Outer], rel: Relation) -> tuple[Relation, Provided]:
        """Bindings of the outer columns' own types: an equal value of another type takes its place only within one
        branch."""
        other = [o for o in wanted if p.cols[o.name].type != type_of_form(o.type)]
        if not other:
            return q, p
        d, dp = self.domain(rel, other)
        on = conj([same(dp.cols[o.name], p.cols[o.name]) for o in other])
        return Join(q, d, on), Provided({**p.cols, **dp.cols}, set(p.strict))

    def go(self, q: Relation, rel: Relation) -> tuple[Relation, Provided]:
        """The query over the domain of the columns of `rel` that it reads, and where it has them. UnsupportedSql if
        it cannot."""
        if isinstance(q, Recur) and q.name in self.rounds:
            return self.go_recur(q)
        if not [o for o in free(q) if o.name in rel.names] and not any(
            isinstance(n, Recur) and n.name in self.rounds for n in walk_nodes(q)
        ):
            return q, Provided()
        here = [o for s in scalars(q) for o in walk(s) if isinstance(o, Outer) and o.name in rel.names]
        here = list(dict.fromkeys(here))
        if isinstance(q, Filter):
            return self.go_filter(q, rel, here)
        if isinstance(q, Project):
            inner, p = self.ensure(*self.go(q.input, rel), here, rel)
            exprs = tuple((n, p.bind(e)) for n, e in q.exprs)
            return self.carry(inner, exprs, p)
        if isinstance(q, Join | LeftJoin | Semi):
            return self.go_binary(q, rel, here)
        if isinstance(q, Aggregate):
            return self.go_aggregate(q, rel, here)
        if isinstance(q, Window | TopK):
            inner, p = self.ensure(*self.go(q.input, rel), here, rel)
            new = with_scalars(q.rebuild((inner,)), p.bind)
            assert isinstance(new, Window | TopK)
            return replace(new, partition=(*new.partition, *p.cols.values())), p
        if isinstance(q, Union):
            return self.go_union(q, rel)
        if isinstance(q, Fixpoint):
            return self.go_fixpoint(q, rel)
        if isinstance(q, Unnest | Weigh):
            inner, p = self.ensure(*self.go(q.input, rel), here, rel)
            return with_scalars(q.rebuild((inner,)), p.bind), p
        raise UnsupportedSql(
            f"a correlated subquery over {type(q).__name__.lower()} is not supported", code="unsupported_subquery"
        )

    def carry(self, inner: Relation, exprs: tuple[tuple[str, Scalar], ...], p: Provided) -> tuple[Relation, Provided]:
        names = {n for n, _ in exprs}
        extra = tuple((c.name, c) for c in p.cols.values() if c.name not in names)
        return Project(inner, exprs + extra), p

    def go_filter(self, q: Filter, rel: Relation, here: list[Outer]) -> tuple[Relation, Provided]:
        """As `go`; an equality with an outer column gives that column, without a domain."""
        inner, p = self.go(q.input, rel)
        rest, derived = [], []
        for c in conjuncts(q.predicate):
            pair = tie(c, rel.names)
            if pair is not None and pair[0].name not in p.cols and not any(isinstance(x, Outer) for x in walk(pair[1])):
                f, e = pair
                name = self.fresh(f.name)
                derived.append((name, e))
                p = Provided({**p.cols, f.name: Col(name, e.type)}, p.strict | {f.name})
                rest.append(negate(is_null(e)))
            else:
                rest.append(c)
        if derived:
            inner = Project(inner, (*((c.name, c) for c in inner.schema), *derived))
        inner, p = self.ensure(inner, p, here, rel)
        return Filter(inner, conj([p.bind(c) for c in rest])), p

    def go_binary(self, q: Join | LeftJoin | Semi, rel: Relation, here: list[Outer]) -> tuple[Relation, Provided]:
        l, lp = self.go(q.left, rel)
        r, rp = self.go(q.right, rel)
        if isinstance(q, Join):
            shared = [same(lp.cols[f], c) for f, c in rp.cols.items() if f in lp.cols]
            p = Provided({**rp.cols, **lp.cols}, lp.strict | rp.strict)
            joined: Relation = Join(l, r, conj(shared))
            return self.go_filter_bound(joined, p, q.on, rel, here)
        local = {o.name for o in here}
        l, lp = self.ensure(l, lp, [*here, *(Outer(f, c.type) for f, c in rp.cols.items() if f not in local)], rel)
        tie = [same(lp.cols[f], c) for f, c in rp.cols.items()]
        on = conj([*conjuncts(lp.bind(q.on)), *tie])
        return replace(q, left=l, right=r, on=on), lp

    def go_filter_bound(
        self, joined: Relation, p: Provided, on: Scalar, rel: Relation, here: list[Outer]
    ) -> tuple[Relation, Provided]:
        joined, p = self.ensure(joined, p, here, rel)
        return Filter(joined, conj([p.bind(c) for c in conjuncts(on)])), p

    def go_aggregate(self, q: Aggregate, rel: Relation, here: list[Outer]) -> tuple[Relation, Provided]:
        """As `go`; outer columns become keys. Without keys there is a row for each of the domain."""
        if not q.keys and not q.aggs:  # one row whatever there is: HAVING or an empty grouping set alone
            return self.domain(rel, [o for o in free(q) if o.name in rel.names])
        if not q.keys:
            grouped, p = self.push_grouped(q, rel)
            d, dp = self.domain(rel, [Outer(f, c.type) for f, c in p.cols.items()])
            on = [same(dp.cols[f], c) for f, c in p.cols.items()]
            joined = LeftJoin(d, grouped, conj(on))
            exprs: list[tuple[str, Scalar]] = []
            for n, a in q.aggs:
                c = Col(n, a.type)
                exprs.append((n, Call("coalesce", (c, ZERO), INT8) if of_nothing(a.fn) == 0 else c))
            return self.carry(joined, tuple(exprs), dp)
        inner, p = self.ensure(*self.go(q.input, rel), here, rel)
        new = with_scalars(q.rebuild((inner,)), p.bind)
        assert isinstance(new, Aggregate)
        renamed = {f: Col(self.fresh(f), c.type) for f, c in p.cols.items()}
        keys = tuple((renamed[f].name, c) for f, c in p.cols.items())
        return replace(new, input=inner, keys=new.keys + keys), Provided(renamed, p.strict)

    def go_fixpoint(self, q: Fixpoint, rel: Relation) -> tuple[Relation, Provided]:
        """A recursion for all bindings at once: its rows carry them from round to round."""
        wanted = [o for o in free(q) if o.name in rel.names]
        base, p = self.exact(*self.ensure(*self.go(q.base, rel), wanted, rel), wanted, rel)
        cols = {o.name: Col(self.fresh(o.name), type_of_form(o.type)) for o in wanted}
        first = Project(
            base, (*((c.name, c) for c in q.base.schema), *((cols[o.name].name, p.cols[o.name]) for o in wanted))
        )
        name = self.fresh(q.name)
        self.rounds[q.name] = (Recur(name, first.schema), cols)
        step, sp = self.ensure(*self.go(q.step, rel), wanted, rel)
        del self.rounds[q.name]
        mine = zip(first.schema, q.step.schema, strict=False)
        again = Project(
            step,
            (
                *((a.name, Col(b.name, b.type)) for a, b in mine),
                *((cols[o.name].name, sp.cols[o.name]) for o in wanted),
            ),
        )
        return Fixpoint(name, first, again, q.distinct), Provided(cols)

    def go_recur(self, q: Recur) -> tuple[Relation, Provided]:
        """The rows of the round before, with their bindings under names of their own: they may be read twice."""
        rows, cols = self.rounds[q.name]
        own = {f: Col(self.fresh(f), c.type) for f, c in cols.items()}
        kept = tuple((mine.name, theirs) for mine, theirs in zip(q.schema, rows.schema, strict=False))
        return Project(rows, (*kept, *((own[f].name, c) for f, c in cols.items()))), Provided(own)

    def go_union(self, q: Union, rel: Relation) -> tuple[Relation, Provided]:
        """As `go`; each part gets the outer columns, under names that they share."""
        wanted = [o for o in free(q) if o.name in rel.names]
        parts: list[Relation] = []
        out: Provided | None = None
        strict: set[str] = {o.name for o in wanted}
        for part in q.parts:
            got, p = self.exact(*self.ensure(*self.go(part, rel), wanted, rel), wanted, rel)
            if out is None:
                out = Provided({o.name: Col(self.fresh(o.name), type_of_form(o.type)) for o in wanted})
            strict &= p.strict
            exprs = [(c.name, Col(o.name, o.type)) for c, o in zip(q.schema, part.schema, strict=True)]
            exprs += [(out.cols[o.name].name, p.cols[o.name]) for o in wanted]
            parts.append(Project(got, tuple(exprs)))
        if out is None:
            raise CompilerBug("union without parts")
        out.strict = strict
        return Union(tuple(parts)), out
