"""Subqueries in expressions and LATERAL become joins, semi joins and anti joins.

A correlated subquery is evaluated for all bindings of its outer columns at once. Where it is tied to them by
equality, the inner side of the equality stands for the outer column; where it is not, the distinct bindings (the
domain) are joined in. Either way each result row says which binding it belongs to, and the outer query joins on that.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from compiler.errors import CompilerBug, UnsupportedSql
from compiler.ir.parts import scalars
from compiler.ir.relation import (
    Agg,
    Aggregate,
    Apply,
    Filter,
    Join,
    LeftJoin,
    Project,
    Relation,
    Semi,
    TopK,
    Union,
    Unnest,
    Values,
    Weigh,
    Window,
    transform,
)
from compiler.ir.scalar import (
    FALSE,
    TRUE,
    Call,
    Col,
    Lit,
    Outer,
    Scalar,
    Sub,
    case,
    columns,
    conj,
    conjuncts,
    equal,
    is_null,
    negate,
    same,
    walk,
)
from compiler.ir.scalar import transform as map_scalar
from compiler.ir.types import BOOL, INT8
from compiler.normalize.outers import free, map_node

ZERO = Lit(0, INT8)


@dataclass
class Provided:
    """Columns that carry the outer columns' values in a pushed relation; `strict` ones are never NULL."""

    cols: dict[str, Col] = field(default_factory=dict)
    strict: set[str] = field(default_factory=set)

    def bind(self, e: Scalar) -> Scalar:
        return map_scalar(e, lambda n: self.cols.get(n.name) if isinstance(n, Outer) else None)

    def on(self) -> list[Scalar]:
        return [(equal if f in self.strict else same)(Col(f, c.type), c) for f, c in self.cols.items()]


def lift(q: Relation, rel: Relation) -> tuple[Relation, list[Scalar]] | None:
    """A subquery without its correlated conditions, and these as a join condition with `rel`; its own columns come first.

    None where columns of `rel` are used in any other way.
    """
    if isinstance(q, Project):
        got = lift(q.input, rel) if not any(isinstance(x, Outer) for _, e in q.exprs for x in walk(e)) else None
        if got is None:
            return None
        inner, on = got
        kept = [inner.col(c) for c in inner.names if c in columns(*on)]
        if {c.name for c in kept} & set(q.names):
            return None
        return Project(inner, (*q.exprs, *((c.name, c) for c in kept))), on
    if isinstance(q, Filter):
        bound = {c: Col(c, rel.col(c).type) for c in rel.names}
        parts = conjuncts(q.predicate)
        tied = [p for p in parts if any(isinstance(x, Outer) for x in walk(p))]
        if free(q.input) or any(o.name not in bound for p in tied for o in walk(p) if isinstance(o, Outer)) or set(q.names) & set(bound):
            return None
        rest = [p for p in parts if p not in tied]
        return (Filter(q.input, conj(rest)) if rest else q.input,
                [map_scalar(p, lambda x: bound[x.name] if isinstance(x, Outer) else None) for p in tied])
    return None if free(q) or set(q.names) & set(rel.names) else (q, [])


def unnest(r: Relation) -> Relation:
    """Remove every `Sub`, `Apply` and `Outer`."""
    return _Unnest().run(r)


class _Unnest:
    def __init__(self) -> None:
        self.count = 0
        self.memo: dict[int, tuple[Relation, Relation]] = {}

    def fresh(self, base: str) -> str:
        self.count += 1
        return f"{base}_u{self.count}"

    def run(self, r: Relation) -> Relation:
        return transform(r, self.node)

    def node(self, n: Relation) -> Relation:
        if isinstance(n, Apply):
            return self.apply(n)
        if not any(isinstance(x, Sub) for s in scalars(n) for x in walk(s)):
            return n
        if isinstance(n, Filter):
            return self.filter(n)
        if isinstance(n, Join):
            return self.filter(Filter(Join(n.left, n.right, TRUE), n.on))
        if isinstance(n, LeftJoin):
            return self.left_join(n)
        if isinstance(n, Unnest | Project | Aggregate | Window | TopK | Weigh):
            box = [n.input]
            new = {s: self.replace(s, box) for s in scalars(n)}
            out = map_node(n.rebuild((box[0],)), lambda s: new[s])
            return out if not isinstance(n, Window | TopK | Weigh | Unnest) else Project(
                out, tuple((c.name, c) for c in n.schema))
        if isinstance(n, Values):
            raise UnsupportedSql("a subquery within VALUES is not supported", code="unsupported_subquery",
                                 hint="Write SELECT … UNION ALL SELECT … instead.")
        raise UnsupportedSql(f"a subquery within {type(n).__name__.lower()} is not supported", code="unsupported_subquery")

    # -- where subqueries stand

    def filter(self, n: Filter) -> Relation:
        every = conjuncts(n.predicate)
        plain = [p for p in every if not any(isinstance(x, Sub) for x in walk(p))]
        rel: Relation = Filter(n.input, conj(plain)) if plain else n.input
        rest = []
        for p in every:
            if p in plain:
                continue
            positive, inner = True, p
            while isinstance(inner, Call) and inner.fn == "not":
                positive, inner = not positive, inner.args[0]
            if isinstance(inner, Sub) and inner.kind in ("exists", "any"):
                rel = self.condition(rel, inner, positive)
            else:
                rest.append(p)
        if not rest:
            return rel
        box = [rel]
        predicate = conj([self.replace(p, box) for p in rest])
        return pick_like(Filter(box[0], predicate), n.input)

    def left_join(self, n: LeftJoin) -> Relation:
        """Subqueries of ON are computed on the side whose columns they read."""
        left, right = [n.left], [n.right]

        def side(s: Sub) -> list[Relation]:
            reads = {o.name for o in free(s.query)} | columns(*s.args)
            if reads & set(n.left.names) and reads & set(n.right.names):
                raise UnsupportedSql("a subquery in ON that reads both sides of an outer join is not supported",
                                     code="unsupported_subquery", hint="Move it into a subquery in FROM.")
            return left if reads & set(n.left.names) else right

        on = map_scalar(n.on, lambda x: self.attach(x, side(x)) if isinstance(x, Sub) else None)
        return pick_like(LeftJoin(left[0], right[0], on), n)

    def replace(self, s: Scalar, box: list[Relation]) -> Scalar:
        return map_scalar(s, lambda x: self.attach(x, box) if isinstance(x, Sub) else None)

    # -- as conditions

    def condition(self, rel: Relation, s: Sub, positive: bool) -> Relation:
        """EXISTS and IN that a row must satisfy: semi joins; negated: anti joins, exact under NULLs."""
        args = self.plain(s.args, rel)
        if args is None:
            box = [rel]
            value = self.attach(s, box)
            return pick_like(Filter(box[0], value if positive else negate(value)), rel)
        query = self.run(s.query)
        lifted = lift(query, rel)
        if lifted is not None:
            query, on = lifted
        else:
            query, p = self.push(query, rel)
            on = p.on()
        if s.kind == "exists":
            return Semi(rel, self.only(query, on), conj(on), anti=not positive)
        y = query.schema[:len(s.args)]
        tests = [Call(s.op, (a, b), BOOL) for a, b in zip(args, y, strict=True)]
        if positive:
            return Semi(rel, query, conj([*on, *tests]))
        if s.op == "=" and len(args) == 1:
            with_null = Filter(query, is_null(y[0]))
            rel = Semi(rel, query, conj([*on, *tests]), anti=True)
            rel = Semi(rel, with_null, conj(on), anti=True)
            return Semi(rel, query, conj([*on, is_null(args[0])]), anti=True)
        return Semi(rel, query, conj([*on, negate(Call("is_false", (conj(tests),), BOOL))]), anti=True)

    def plain(self, args: tuple[Scalar, ...], rel: Relation) -> list[Scalar] | None:
        """The operands, unless they hold subqueries of their own."""
        if any(isinstance(x, Sub) for a in args for x in walk(a)):
            return None
        return list(args)

    def only(self, q: Relation, on: list[Scalar]) -> Relation:
        used = columns(*on) & set(q.names)
        if isinstance(q, Project):
            return Project(q.input, tuple((n, e) for n, e in q.exprs if n in used) or q.exprs[:1])
        return q

    # -- as values

    def attach(self, s: Sub, box: list[Relation]) -> Scalar:
        """Join the subquery's value to the relation in `box`; gives the scalar that stands for it."""
        if s.kind == "any":
            args = tuple(self.replace(a, box) for a in s.args)
            return self.attach_any(s, args, box)
        query = self.run(s.query)
        if s.kind == "exists":
            return self.attach_exists(query, box)
        return self.attach_scalar(query, box)

    def attach_scalar(self, query: Relation, box: list[Relation]) -> Scalar:
        rel = box[0]
        peeled = peel(query)
        outer = [o for o in free(query) if o.name in rel.names]
        if peeled is not None and not outer:
            q = self.fresh_names(query)
            box[0] = Join(rel, q, TRUE)
            return q.schema[0]
        if peeled is not None and not free_above(peeled, rel):
            ops, agg = peeled
            return self.defaulted(ops, agg, box)[0]
        q, p = self.push(query, rel)
        q = self.fresh_names(q, p)
        box[0] = LeftJoin(rel, q, conj(p.on()))
        return q.schema[0]

    def defaulted(self, ops: list[Relation], agg: Aggregate, box: list[Relation]) -> list[Scalar]:
        """A correlated aggregate without GROUP BY: the left join gives NULLs where Postgres gives its empty value."""
        rel = box[0]
        q, p = self.push_grouped(agg, rel)
        q = self.fresh_names(q, p)
        box[0] = LeftJoin(rel, q, conj(p.on()))
        values: dict[str, Scalar] = {}
        for (name, a), c in zip(agg.aggs, q.schema, strict=False):
            values[name] = Call("coalesce", (c, ZERO), INT8) if a.fn in ("count", "regr_count") else c
        keep: list[Scalar] = []

        def put(e: Scalar) -> Scalar:
            def swap(n: Scalar) -> Scalar | None:
                if isinstance(n, Col):
                    return values[n.name]
                if isinstance(n, Outer) and n.name in rel.names:
                    return Col(n.name, n.type)
                return None

            return map_scalar(e, swap)

        for op in reversed(ops):
            if isinstance(op, Filter):
                keep.append(put(op.predicate))
            else:
                assert isinstance(op, Project)
                values = {n: put(e) for n, e in op.exprs}
        out = list(values.values())
        if keep:
            out = [case([(conj(keep), v)], Lit(None, v.type), v.type) for v in out]
        self.last_keep = keep
        return out

    def attach_exists(self, query: Relation, box: list[Relation]) -> Scalar:
        rel = box[0]
        if not [o for o in free(query) if o.name in rel.names]:
            n = self.fresh("n")
            box[0] = Join(rel, Aggregate(query, (), ((n, Agg("count", (), INT8)),)), TRUE)
            return Call(">", (Col(n, INT8), ZERO), BOOL)
        q, p = self.push(query, rel)
        return self.mark(q, p, [], box)

    def mark(self, q: Relation, p: Provided, extra: list[tuple[Scalar, Col]], box: list[Relation]) -> Scalar:
        """Left join with the distinct bindings (and values of `extra`) that occur; true where one is found."""
        names = {c.name: self.fresh(c.name) for c in [*p.cols.values(), *(c for _, c in extra)]}
        distinct = Aggregate(q, tuple((names[c], q.col(c)) for c in names), ())
        m = self.fresh("found")
        marked = Project(distinct, (*((c.name, c) for c in distinct.schema), (m, TRUE)))
        renamed = Provided({f: Col(names[c.name], c.type) for f, c in p.cols.items()}, p.strict)
        on = renamed.on() + [equal(a, Col(names[c.name], c.type)) for a, c in extra]
        box[0] = LeftJoin(box[0], marked, conj(on))
        return Call("coalesce", (Col(m, BOOL), FALSE), BOOL)

    def attach_any(self, s: Sub, args: tuple[Scalar, ...], box: list[Relation]) -> Scalar:
        query = self.run(s.query)
        rel = box[0]
        if s.op != "=" or len(args) > 1:
            return self.attach_counted(s, args, query, box)
        q, p = self.push(query, rel)
        found = self.mark(q, p, [(args[0], q.schema[0])], box)
        n, nn = self.fresh("n"), self.fresh("nulls")
        keys = {c.name: self.fresh(c.name) for c in p.cols.values()}
        counts = Aggregate(q, tuple((keys[c], q.col(c)) for c in keys), (
            (n, Agg("count", (), INT8)), (nn, Agg("count", (), INT8, filter=is_null(q.schema[0])))))
        renamed = Provided({f: Col(keys[c.name], c.type) for f, c in p.cols.items()}, p.strict)
        box[0] = LeftJoin(box[0], counts, conj(renamed.on())) if p.cols else Join(box[0], counts, TRUE)
        some = Call(">", (Call("coalesce", (Col(n, INT8), ZERO), INT8), ZERO), BOOL)
        nulls = Call(">", (Call("coalesce", (Col(nn, INT8), ZERO), INT8), ZERO), BOOL)
        unknown = Call("or", (nulls, conj([is_null(args[0]), some])), BOOL)
        return case([(found, TRUE), (unknown, Lit(None, BOOL))], FALSE, BOOL)

    def attach_counted(self, s: Sub, args: tuple[Scalar, ...], query: Relation, box: list[Relation]) -> Scalar:
        """x op ANY (q) in general: count the rows for which the comparison is true, and unknown."""
        names = [self.fresh("operand") for _ in args]
        rel = box[0]
        box[0] = rel = Project(rel, (*((c.name, c) for c in rel.schema), *zip(names, args, strict=True)))
        tests = conj([Call(s.op, (Outer(n, a.type), c), BOOL)
                      for n, a, c in zip(names, args, query.schema, strict=False)])
        t, u = self.fresh("n_true"), self.fresh("n_unknown")
        agg = Aggregate(query, (), ((t, Agg("count", (), INT8, filter=tests)),
                                    (u, Agg("count", (), INT8, filter=is_null(tests)))))
        a, b = self.defaulted([], agg, box)
        return case([(Call(">", (a, ZERO), BOOL), TRUE), (Call(">", (b, ZERO), BOOL), Lit(None, BOOL))], FALSE, BOOL)

    # -- LATERAL

    def apply(self, n: Apply) -> Relation:
        query = self.run(n.right)
        peeled = peel(query)
        if peeled is not None and not free_above(peeled, n.left):
            box = [n.left]
            values = self.defaulted(peeled[0], peeled[1], box)
            keep = self.last_keep
            rel: Relation = box[0]
            if keep and n.kind == "inner":
                rel = Filter(rel, conj(keep))
            rel = Project(rel, (*((c.name, c) for c in n.left.schema),
                                *((c.name, v) for c, v in zip(query.schema, values, strict=True))))
            if n.on == TRUE:
                return rel
            if n.kind == "inner":
                return Filter(rel, n.on)
            return Project(rel, (*((c.name, c) for c in n.left.schema),
                                 *((c.name, case([(n.on, c)], Lit(None, c.type), c.type)) for c in query.schema)))
        q, p = self.push(query, n.left)
        on = conj([*conjuncts(n.on), *p.on()])
        joined: Relation = Join(n.left, q, on) if n.kind == "inner" else LeftJoin(n.left, q, on)
        return pick_like(joined, n)

    def fresh_names(self, q: Relation, p: Provided | None = None) -> Relation:
        """Rename so that the same subquery can be joined twice."""
        names = {c.name: self.fresh(c.name) for c in q.schema}
        if p is not None:
            p.cols = {f: Col(names[c.name], c.type) for f, c in p.cols.items()}
        return Project(q, tuple((names[c.name], c) for c in q.schema))

    # -- pushing bindings into the subquery

    def domain(self, rel: Relation, wanted: list[Outer]) -> tuple[Relation, Provided]:
        p = Provided({o.name: Col(self.fresh(o.name), o.type) for o in wanted})
        return Aggregate(rel, tuple((p.cols[o.name].name, rel.col(o.name)) for o in wanted), ()), p

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
        new = map_node(agg.rebuild((inner,)), p.bind)
        assert isinstance(new, Aggregate)
        keys = tuple((c.name, c) for c in p.cols.values())
        grouped = Aggregate(inner, keys, new.aggs)
        return Project(grouped, (*((n, Col(n, a.type)) for n, a in agg.aggs), *keys)), p

    def ensure(self, q: Relation, p: Provided, wanted: list[Outer], rel: Relation) -> tuple[Relation, Provided]:
        """Join the domain for the bindings that `q` does not carry yet."""
        missing = [o for o in wanted if o.name not in p.cols]
        if not missing:
            return q, p
        d, dp = self.domain(rel, missing)
        return Join(q, d, TRUE), Provided({**p.cols, **dp.cols}, set(p.strict))

    def go(self, q: Relation, rel: Relation) -> tuple[Relation, Provided]:
        if not [o for o in free(q) if o.name in rel.names]:
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
            new = map_node(q.rebuild((inner,)), p.bind)
            assert isinstance(new, Window | TopK)
            return replace(new, partition=(*new.partition, *p.cols.values())), p
        if isinstance(q, Union):
            return self.go_union(q, rel)
        if isinstance(q, Unnest | Weigh):
            inner, p = self.ensure(*self.go(q.input, rel), here, rel)
            return map_node(q.rebuild((inner,)), p.bind), p
        raise UnsupportedSql(f"a correlated subquery over {type(q).__name__.lower()} is not supported",
                             code="unsupported_subquery")

    def carry(self, inner: Relation, exprs: tuple[tuple[str, Scalar], ...], p: Provided) -> tuple[Relation, Provided]:
        names = {n for n, _ in exprs}
        extra = tuple((c.name, c) for c in p.cols.values() if c.name not in names)
        return Project(inner, exprs + extra), p

    def go_filter(self, q: Filter, rel: Relation, here: list[Outer]) -> tuple[Relation, Provided]:
        inner, p = self.go(q.input, rel)
        rest, derived = [], []
        for c in conjuncts(q.predicate):
            pair = _tie(c, rel.names)
            if pair is not None and pair[0].name not in p.cols and not any(
                    isinstance(x, Outer) for x in walk(pair[1])):
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
        l, lp = self.ensure(l, lp, [*here, *(Outer(f, c.type) for f, c in rp.cols.items())], rel)
        tie = [same(lp.cols[f], c) for f, c in rp.cols.items()]
        on = conj([*conjuncts(lp.bind(q.on)), *tie])
        return replace(q, left=l, right=r, on=on), lp

    def go_filter_bound(self, joined: Relation, p: Provided, on: Scalar, rel: Relation,
                        here: list[Outer]) -> tuple[Relation, Provided]:
        joined, p = self.ensure(joined, p, here, rel)
        return Filter(joined, conj([p.bind(c) for c in conjuncts(on)])), p

    def go_aggregate(self, q: Aggregate, rel: Relation, here: list[Outer]) -> tuple[Relation, Provided]:
        if not q.keys and q.aggs:
            grouped, p = self.push_grouped(q, rel)
            d, dp = self.domain(rel, [Outer(f, c.type) for f, c in p.cols.items()])
            on = [same(dp.cols[f], c) for f, c in p.cols.items()]
            joined = LeftJoin(d, grouped, conj(on))
            exprs: list[tuple[str, Scalar]] = []
            for n, a in q.aggs:
                c = Col(n, a.type)
                exprs.append((n, Call("coalesce", (c, ZERO), INT8) if a.fn in ("count", "regr_count") else c))
            return self.carry(joined, tuple(exprs), dp)
        inner, p = self.ensure(*self.go(q.input, rel), here, rel)
        new = map_node(q.rebuild((inner,)), p.bind)
        assert isinstance(new, Aggregate)
        renamed = {f: Col(self.fresh(f), c.type) for f, c in p.cols.items()}
        keys = tuple((renamed[f].name, c) for f, c in p.cols.items())
        return replace(new, input=inner, keys=new.keys + keys), Provided(renamed, p.strict)

    def go_union(self, q: Union, rel: Relation) -> tuple[Relation, Provided]:
        wanted = [o for o in free(q) if o.name in rel.names]
        parts: list[Relation] = []
        out: Provided | None = None
        strict: set[str] = {o.name for o in wanted}
        for part in q.parts:
            got, p = self.ensure(*self.go(part, rel), wanted, rel)
            if out is None:
                out = Provided({o.name: Col(self.fresh(o.name), o.type) for o in wanted})
            strict &= p.strict
            exprs = [(c.name, Col(o.name, o.type)) for c, o in zip(q.schema, part.schema, strict=True)]
            exprs += [(out.cols[o.name].name, p.cols[o.name]) for o in wanted]
            parts.append(Project(got, tuple(exprs)))
        if out is None:
            raise CompilerBug("union without parts")
        out.strict = strict
        return Union(tuple(parts)), out


def _tie(c: Scalar, names: tuple[str, ...]) -> tuple[Outer, Scalar] | None:
    """`outer = expression` of the inner query, either way round."""
    if isinstance(c, Call) and c.fn == "=":
        for a, b in (c.args, c.args[::-1]):
            if isinstance(a, Outer) and a.name in names:
                return a, b
    return None


def peel(q: Relation) -> tuple[list[Relation], Aggregate] | None:
    """(projections and filters from the top, aggregate without keys) where that is the query's form."""
    ops: list[Relation] = []
    while isinstance(q, Project | Filter):
        ops.append(q)
        q = q.input
    if isinstance(q, Aggregate) and not q.keys and q.aggs:
        return ops, q
    return None


def free_above(peeled: tuple[list[Relation], Aggregate], rel: Relation) -> bool:
    """Whether the peeled operators read columns of queries other than `rel`."""
    ops, _ = peeled
    return any(isinstance(x, Outer) and x.name not in rel.names for op in ops for s in scalars(op) for x in walk(s))


def pick_like(r: Relation, like: Relation) -> Relation:
    if r.names == like.names:
        return r
    return Project(r, tuple((c.name, c) for c in like.schema))
