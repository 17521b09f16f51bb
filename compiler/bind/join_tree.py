"""Join trees of FROM: what a tree brings into sight, products, full joins, and the kinds of items."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from sqlglot import exp

from compiler.bind.scope import Bound, Source
from compiler.ir.relation import Join, LeftJoin, Order, Project, Relation, Semi, Union
from compiler.ir.scalar import TRUE, Col, Lit, Scalar, cast, transform, walk
from compiler.ir.types import TEXT


@dataclass
class Tree:
    """A join tree: its relation, the sources in it, columns merged by USING, and what * shows, in order."""

    rel: Relation
    sources: list[Source]
    shown: list[tuple[str, Scalar]]
    merged: dict[str, Scalar] = field(default_factory=dict)
    order: tuple[Order, ...] = ()  # of a subquery's rows, while it stands alone


def product(left: Tree, right: Tree, within: bool = False) -> Tree:
    """Two items with a comma between; `within`: the right one's relation holds the left one's already."""
    rel = right.rel if within else Join(left.rel, right.rel, TRUE)
    order = arriving(left, right) if within else ()
    return Tree(
        rel, [*left.sources, *right.sources], [*left.shown, *right.shown], {**left.merged, **right.merged}, order
    )


def arriving(left: Tree, right: Tree) -> tuple[Order, ...]:
    """The order of a function's rows for each row to its left, these by their keys; none where they have no order or
    key."""
    order = [*left.order]
    for s in left.sources if right.order and not order else ():
        if s.table is None or not s.table.key:
            return ()
        columns = dict(s.columns)
        order += [Order(columns[k], False, False) for k in s.table.key]
    return (*order, *right.order) if right.order else ()


def full_join(left: Relation, right: Relation, on: Scalar) -> Relation:
    """FULL JOIN: the left join, and the right rows without a partner padded with NULLs."""
    alone = Semi(right, left, on, anti=True)
    padded = Project(
        alone, tuple((c.name, Lit(None, c.type)) for c in left.schema) + tuple((c.name, c) for c in right.schema)
    )
    return Union((LeftJoin(left, right, on), padded))


def ident(e: exp.Expr | str | None) -> str:
    """A name as Postgres folds it; "" for none."""
    if isinstance(e, exp.Identifier):
        return str(e.this if e.args.get("quoted") else e.this.lower())
    return str(e or "")


def is_comma(j: exp.Join) -> bool:
    return not any(j.args.get(k) for k in ("kind", "side", "on", "using", "method"))


def is_function(t: exp.Expr) -> bool:
    inner = t.this if isinstance(t, exp.Lateral) else t
    return (
        isinstance(inner, exp.Unnest)
        or isinstance(t, exp.Lateral)
        and not isinstance(inner, (exp.Subquery, exp.Query))
        or isinstance(t, exp.Table)
        and isinstance(t.this, (exp.Func, exp.Anonymous))
    )


def is_lateral(t: exp.Expr) -> bool:
    """Whether an item may look at those to its left; a join in parentheses may where a part of it may."""
    if isinstance(t, exp.Subquery) and isinstance(t.this, exp.Table | exp.Subquery):
        return any(is_lateral(p) for p in t.find_all(exp.Table, exp.Lateral, exp.Unnest))
    return isinstance(t, exp.Lateral) or is_function(t)


def no_unknown(c: Scalar) -> Scalar:
    """A literal of no type is text."""
    return cast(c, TEXT) if c.type.name == "unknown" else c


def renamed(bound: Bound, cols: list[Col], fresh: Callable[[str], str]) -> tuple[Relation, tuple[Order, ...]]:
    """A query's rows under new names, followed by what its order needs beside them, and that order."""
    rel, order = bound.ordered or (bound.rel, ())
    pairs = [(o, c) for (_, o), c in zip(bound.outputs, cols, strict=True)]
    new = dict(pairs)
    for x in sorted({x for o in order for x in walk(o.expr) if isinstance(x, Col)} - set(new), key=lambda x: x.name):
        new[x] = Col(fresh(x.name), x.type)
        pairs.append((x, new[x]))
    moved = tuple(replace(o, expr=transform(o.expr, lambda x: new[x] if isinstance(x, Col) else None)) for o in order)
    return Project(rel, tuple((c.name, no_unknown(o)) for o, c in pairs)), moved
