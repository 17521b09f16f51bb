"""Where a subquery stands: in a filter, a join, a SELECT list or LATERAL."""

from __future__ import annotations

from compiler.errors import UnsupportedSql
from compiler.ir.outers import free
from compiler.ir.parts import scalars, with_scalars
from compiler.ir.relation import (
    Aggregate,
    Apply,
    Binary,
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
from compiler.ir.scalar import TRUE, Call, Lit, case, columns, conj, conjuncts, same, walk
from compiler.ir.scalar import transform as map_scalar
from compiler.ir.subquery import AnySub, ExistsSub, Sub
from compiler.normalize.subqueries.attach import Attach, Attached
from compiler.normalize.subqueries.forms import form
from compiler.normalize.subqueries.left_first import left_first
from compiler.normalize.subqueries.lifting import free_above, lift, peel, pick_like


def unnest(r: Relation) -> Relation:
    """Remove every `Sub`, `Apply` and `Outer`."""
    return _Unnest().run(r)


class _Unnest(Attach):
    def run(self, r: Relation) -> Relation:
        return transform(left_first(r), self.node)

    def node(self, n: Relation) -> Relation:
        """The operator without subqueries and LATERAL. UnsupportedSql where a subquery has no place."""
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
        if isinstance(n, Semi):
            return self.met(n.left, self.pairs(n), n.anti)
        if isinstance(n, Unnest | Project | Aggregate | Window | TopK | Weigh):
            box, attached = [n.input], Attached()
            new = {s: self.replace(s, box, attached) for s in scalars(n)}
            out = with_scalars(n.rebuild((box[0],)), lambda s: new[s])
            return (
                out
                if not isinstance(n, Window | TopK | Weigh | Unnest)
                else Project(out, tuple((c.name, c) for c in n.schema))
            )
        if isinstance(n, Values):
            raise UnsupportedSql(
                "a subquery within VALUES is not supported",
                code="unsupported_subquery",
                hint="Write SELECT … UNION ALL SELECT … instead.",
            )
        raise UnsupportedSql(
            f"a subquery within {type(n).__name__.lower()} is not supported", code="unsupported_subquery"
        )

    def filter(self, n: Filter) -> Relation:
        """The filter with EXISTS, IN and ANY as semi-joins, and other subqueries joined; columns as before."""
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
            if isinstance(inner, ExistsSub | AnySub):
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

        def reads(s: Sub, side: Relation) -> bool:
            return bool(({o.name for o in free(s.query)} | columns(*s.children)) & set(side.names))

        if any(reads(s, n.left) and reads(s, n.right) for s in walk(n.on) if isinstance(s, Sub)):
            return self.left_join_of_pairs(n)
        on = map_scalar(
            n.on, lambda x: self.attach(x, left if reads(x, n.left) else right) if isinstance(x, Sub) else None
        )
        return pick_like(LeftJoin(left[0], right[0], on), n)

    def left_join_of_pairs(self, n: LeftJoin) -> Relation:
        """A condition with a subquery over both sides: the pairs that meet it, and the left rows that are in no such
        pair."""
        pairs = self.pairs(n)
        alone = self.met(n.left, pairs, anti=True)
        return Union(
            (
                pairs,
                Project(
                    alone,
                    (*((c.name, c) for c in n.left.schema), *((c.name, Lit(None, c.type)) for c in n.right.schema)),
                ),
            )
        )

    def pairs(self, n: Binary) -> Relation:
        """Rows of both sides that meet the condition."""
        both = Join(n.left, n.right, TRUE)
        return pick_like(self.filter(Filter(both, n.on)), both)

    def met(self, rel: Relation, pairs: Relation, anti: bool) -> Relation:
        """Rows of `rel` that are (or are not) in one of the pairs; equal rows meet the same."""
        named = {c.name: self.fresh(c.name) for c in rel.schema}
        distinct = Aggregate(pairs, tuple((k, form(pairs.col(c))) for c, k in named.items()), ())
        return Semi(rel, distinct, conj([same(form(c), distinct.col(named[c.name])) for c in rel.schema]), anti=anti)

    def apply(self, n: Apply) -> Relation:
        """LATERAL as a join on its conditions where it can be lifted, else over the domain of what it reads."""
        query = self.run(n.right)
        peeled = peel(query)
        if peeled is not None and not free_above(peeled, n.left):
            box = [n.left]
            values = self.defaulted(peeled[0], peeled[1], box)
            keep = self.last_keep
            rel: Relation = box[0]
            if keep and not n.outer:
                rel = Filter(rel, conj(keep))
            rel = Project(
                rel,
                (
                    *((c.name, c) for c in n.left.schema),
                    *((c.name, v) for c, v in zip(query.schema, values, strict=True)),
                ),
            )
            if n.on == TRUE:
                return rel
            if not n.outer:
                return self.node(Filter(rel, n.on))
            met = self.fresh("met")
            rel = self.node(Project(rel, (*((c.name, c) for c in rel.schema), (met, n.on))))
            return Project(
                rel,
                (
                    *((c.name, c) for c in n.left.schema),
                    *((c.name, case([(rel.col(met), c)], Lit(None, c.type), c.type)) for c in query.schema),
                ),
            )
        lifted = lift(query, n.left)
        if lifted is None:
            pushed, p = self.push(query, n.left)
            lifted = pushed, p.on()
        q, ties = lifted
        on = conj([*conjuncts(n.on), *ties])
        joined: Relation = LeftJoin(n.left, q, on) if n.outer else Join(n.left, q, on)
        return pick_like(self.node(joined), n)
