"""A subquery's value as a column of the relation around it, or as a semi or anti join."""

from __future__ import annotations

from compiler.functions.aggregates import of_nothing
from compiler.ir.outers import free
from compiler.ir.relation import (
    Agg,
    Aggregate,
    Filter,
    Join,
    LeftJoin,
    Project,
    Relation,
    Semi,
)
from compiler.ir.scalar import (
    FALSE,
    TRUE,
    Call,
    Col,
    Lit,
    Outer,
    Scalar,
    case,
    columns,
    conj,
    equal,
    is_null,
    negate,
    walk,
)
from compiler.ir.scalar import transform as map_scalar
from compiler.ir.subquery import AnySub, ExistsSub, Sub
from compiler.ir.types import BOOL, INT8
from compiler.normalize.subqueries.lifting import Provided, free_above, lift, peel, pick_like
from compiler.normalize.subqueries.push import ZERO, Push
from compiler.normalize.subqueries.unique import unique
from compiler.temporal import reads_time

Attached = dict[tuple[Sub, tuple[Scalar, ...]], Scalar]  # by the conditions under which it is evaluated


def _reached(x: Scalar, before: list[Scalar], i: int) -> list[Scalar]:
    """The conditions under which the operand i is evaluated, those before it being known."""
    if not isinstance(x, Call):
        return []
    if x.fn == "coalesce":
        return [is_null(a) for a in before]
    if x.fn != "case":
        return []
    is_value = i % 2 == 1 and i < len(x.args) - 1
    earlier = before[: i - 1 : 2] if is_value else before[:i:2]
    passed: list[Scalar] = [negate(Call("is_true", (c,), BOOL)) for c in earlier]
    out = [*passed, Call("is_true", (before[i - 1],), BOOL)] if is_value else passed
    return [] if any(map(reads_time, out)) else out


class Attach(Push):
    """Attaches subqueries of conditions and expressions."""

    def replace(
        self, s: Scalar, box: list[Relation], attached: Attached | None = None, guard: tuple[Scalar, ...] = ()
    ) -> Scalar:
        """The expression with its subqueries' values; one that is bound once (`attached`) is attached once.

        A branch of CASE or COALESCE is evaluated for the rows that get there, which is what `guard` says: what a
        subquery in it computes of others could fail.
        """
        attached_as = {} if attached is None else attached

        def go(x: Scalar, guard: tuple[Scalar, ...]) -> Scalar:
            if isinstance(x, Sub):
                if (x, ()) not in attached_as and (x, guard) not in attached_as:
                    attached_as[x, guard] = self.attach(x, box, guard)
                return attached_as.get((x, ()), attached_as.get((x, guard), x))
            if not any(isinstance(n, Sub) for n in walk(x)):
                return x
            kids: list[Scalar] = []
            for i, kid in enumerate(x.children):
                kids.append(go(kid, (*guard, *_reached(x, kids, i))))
            return x.rebuild(tuple(kids))

        return go(s, guard)

    def condition(self, rel: Relation, s: ExistsSub | AnySub, positive: bool) -> Relation:
        """EXISTS and IN that a row must satisfy: semi joins; negated: anti joins, exact under NULLs."""
        args = self.plain(s.children, rel)
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
        if isinstance(s, ExistsSub):
            return Semi(rel, self.only(query, on), conj(on), anti=not positive)
        y = query.schema[: len(s.args)]
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

    def attach(self, s: Sub, box: list[Relation], guard: tuple[Scalar, ...] = ()) -> Scalar:
        """Join the subquery's value to the relation in `box`, of the rows that `guard` lets pass; gives the scalar that
        stands for it."""
        around, self.guard = self.guard, ()
        try:
            args: tuple[Scalar, ...] = ()
            if isinstance(s, AnySub):
                args = tuple(self.replace(a, box, guard=guard) for a in s.args)
                args = tuple(case([(conj(list(guard)), a)], Lit(None, a.type), a.type) for a in args) if guard else args
            query = self.run(s.query)
            self.guard = guard
            if isinstance(s, AnySub):
                return self.attach_any(s, args, query, box)
            if isinstance(s, ExistsSub):
                return self.attach_exists(query, box)
            return self.attach_scalar(query, box)
        finally:
            self.guard = around

    def attach_scalar(self, query: Relation, box: list[Relation]) -> Scalar:
        """Joins a subquery's one value to `box[0]`, and gives that value."""
        rel = box[0]
        peeled = peel(query)
        outer = [o for o in free(query) if o.name in rel.names]
        if peeled is not None and not outer:
            q = self.fresh_names(query)
            filtered = any(isinstance(op, Filter) for op in peeled[0])  # HAVING may leave no row
            box[0] = LeftJoin(rel, q, TRUE) if filtered else Join(rel, q, TRUE)
            return q.schema[0]
        if peeled is not None and not free_above(peeled, rel):
            ops, agg = peeled
            return self.defaulted(ops, agg, box)[0]
        q, p = self.push(query, rel)
        if not unique(q, {c.name for c in p.cols.values()}):
            q = self.one_row(q, p)
        q = self.fresh_names(q, p)
        box[0] = LeftJoin(rel, q, conj(p.on()))
        return q.schema[0]

    def one_row(self, q: Relation, p: Provided) -> Relation:
        """One value for each binding. Where there are two, Postgres has an error if it gets that far, as in a CASE
        it may not."""
        value = q.schema[0]
        keys = tuple((c.name, c) for c in p.cols.values())
        grouped = Aggregate(q, keys, ((value.name, Agg("any_value", (value,), value.type)),))
        return Project(grouped, tuple((c.name, c) for c in q.schema if c.name in grouped.names))

    def defaulted(self, ops: list[Relation], agg: Aggregate, box: list[Relation]) -> list[Scalar]:
        """A correlated aggregate without GROUP BY: the left join gives NULLs where Postgres gives its empty value."""
        rel = box[0]
        q, p = self.push_grouped(agg, rel)
        q = self.fresh_names(q, p)
        box[0] = LeftJoin(rel, q, conj(p.on()))
        values: dict[str, Scalar] = {}
        for (name, a), c in zip(agg.aggs, q.schema, strict=False):
            values[name] = Call("coalesce", (c, ZERO), INT8) if of_nothing(a.fn) == 0 else c
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

    def attach_any(self, s: AnySub, args: tuple[Scalar, ...], query: Relation, box: list[Relation]) -> Scalar:
        """Joins what `= ANY` needs to `box[0]`, and gives its value: true, false, or NULL where that is not known."""
        rel = box[0]
        if s.op != "=" or len(args) > 1:
            return self.attach_counted(s, args, query, box)
        q, p = self.push(query, rel)
        found = self.mark(q, p, [(args[0], q.schema[0])], box)
        n, nn = self.fresh("n"), self.fresh("nulls")
        keys = {c.name: self.fresh(c.name) for c in p.cols.values()}
        counts = Aggregate(
            q,
            tuple((keys[c], q.col(c)) for c in keys),
            ((n, Agg("count", (), INT8)), (nn, Agg("count", (), INT8, filter=is_null(q.schema[0])))),
        )
        renamed = Provided({f: Col(keys[c.name], c.type) for f, c in p.cols.items()}, p.strict)
        box[0] = LeftJoin(box[0], counts, conj(renamed.on())) if p.cols else Join(box[0], counts, TRUE)
        some = Call(">", (Call("coalesce", (Col(n, INT8), ZERO), INT8), ZERO), BOOL)
        nulls = Call(">", (Call("coalesce", (Col(nn, INT8), ZERO), INT8), ZERO), BOOL)
        unknown = Call("or", (nulls, conj([is_null(args[0]), some])), BOOL)
        return case([(found, TRUE), (unknown, Lit(None, BOOL))], FALSE, BOOL)

    def attach_counted(self, s: AnySub, args: tuple[Scalar, ...], query: Relation, box: list[Relation]) -> Scalar:
        """x op ANY (q) in general: count the rows for which the comparison is true, and unknown."""
        names = [self.fresh("operand") for _ in args]
        rel = box[0]
        box[0] = rel = Project(rel, (*((c.name, c) for c in rel.schema), *zip(names, args, strict=True)))
        tests = conj(
            [Call(s.op, (Outer(n, a.type), c), BOOL) for n, a, c in zip(names, args, query.schema, strict=False)]
        )
        t, u = self.fresh("n_true"), self.fresh("n_unknown")
        agg = Aggregate(
            query, (), ((t, Agg("count", (), INT8, filter=tests)), (u, Agg("count", (), INT8, filter=is_null(tests))))
        )
        a, b = self.defaulted([], agg, box)
        return case([(Call(">", (a, ZERO), BOOL), TRUE), (Call(">", (b, ZERO), BOOL), Lit(None, BOOL))], FALSE, BOOL)
