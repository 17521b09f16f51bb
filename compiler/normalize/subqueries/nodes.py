"""Where a subquery stands: in a filter, a join, a SELECT list or LATERAL."""

from __future__ import annotations

from compiler.errors import UnsupportedSql
from compiler.ir.parts import scalars
from compiler.ir.relation import (
    Aggregate,
    Apply,
    Filter,
    Join,
    LeftJoin,
    Project,
    Relation,
    TopK,
    Unnest,
    Values,
    Weigh,
    Window,
    transform,
)
from compiler.ir.scalar import (
    TRUE,
    Call,
    Lit,
    Sub,
    case,
    columns,
    conj,
    conjuncts,
    walk,
)
from compiler.ir.scalar import transform as map_scalar
from compiler.normalize.outers import free, map_node
from compiler.normalize.subqueries.attach import Attach
from compiler.normalize.subqueries.lifting import free_above, peel, pick_like


def unnest(r: Relation) -> Relation:
    """Remove every `Sub`, `Apply` and `Outer`."""
    return _Unnest().run(r)


class _Unnest(Attach):
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
