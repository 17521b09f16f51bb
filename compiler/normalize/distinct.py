"""COUNT, SUM, AVG … (DISTINCT x): aggregates over the distinct values of each group.

The distinct values of each argument and the group's own rows are unioned under a tag, and one aggregate reads each
part by FILTER: γ(R) with DISTINCT = γ(R₀ + δ(π_{k,x} R) + δ(π_{k,y} R) + …).
"""

from __future__ import annotations

from dataclasses import replace

from compiler.functions.aggregates import by_distinct_values
from compiler.ir.naming import companions, fresh
from compiler.ir.relation import Agg, Aggregate, Filter, Order, Project, Relation, Union, transform
from compiler.ir.scalar import Call, Col, Lit, Scalar, columns, conj, substitute
from compiler.ir.types import BOOL, INT4


def distinct_aggregates(r: Relation) -> Relation:
    return transform(r, _node)


def _node(n: Relation) -> Relation:
    if not isinstance(n, Aggregate):
        return n
    wanted = [a for _, a in n.aggs if a.distinct and a.args]
    if not wanted or not all(by_distinct_values(a.fn) for a in wanted):
        return n
    others = [(k, a) for k, a in n.aggs if not (a.distinct and a.args)]
    groups = list(dict.fromkeys((a.args, a.filter) for a in wanted))
    if not others and len(groups) == 1 and groups[0][1] is None:
        return _single(n, groups[0][0])
    return _tagged(n, others, groups)


def _single(n: Aggregate, args: tuple[Scalar, ...]) -> Relation:
    taken = [k for k, _ in n.keys]
    values = tuple((fresh(f"value_{i}", taken), a) for i, a in enumerate(args))
    distinct = Aggregate(n.input, n.keys + values, ())
    cols = tuple(Col(k, e.type) for k, e in values)
    aggs = tuple((k, replace(a, args=cols, distinct=False)) for k, a in n.aggs)
    return Aggregate(distinct, tuple((k, Col(k, e.type)) for k, e in n.keys), aggs)


def _tagged(n: Aggregate, others: list[tuple[str, Agg]], groups: list) -> Relation:  # type: ignore[type-arg]
    taken = [k for k, _ in n.keys]
    tag = Col(fresh("part", taken), INT4)
    keys = tuple(Col(k, e.type) for k, e in n.keys)
    read = sorted(columns(*(s for _, a in others for s in a.scalars)))
    inner_name = companions("in{n}_{x}", read, taken)
    kept = tuple(Col(inner_name(c), n.input.col(c).type) for c in read)
    back: dict[str, Scalar] = {c: k for c, k in zip(read, kept, strict=True)}
    values = [
        tuple(Col(fresh(f"value_{g}_{i}", taken), a.type) for i, a in enumerate(args))
        for g, (args, _) in enumerate(groups)
    ]

    def part(src: Relation, key_exprs, mine: dict[str, Scalar], number: int) -> Relation:  # type: ignore[no-untyped-def]
        cols = [*kept, *(c for v in values for c in v)]
        return Project(
            src,
            (*key_exprs, *((c.name, mine.get(c.name, Lit(None, c.type))) for c in cols), (tag.name, Lit(number, INT4))),
        )

    parts = [part(n.input, n.keys, {k.name: n.input.col(c) for c, k in zip(read, kept, strict=True)}, 0)]
    for g, (args, keep) in enumerate(groups):
        src = Filter(n.input, keep) if keep is not None else n.input
        inner = Aggregate(src, n.keys + tuple((c.name, a) for c, a in zip(values[g], args, strict=True)), ())
        parts.append(part(inner, tuple((k.name, k) for k in keys), {c.name: c for c in values[g]}, g + 1))

    def is_part(number: int) -> Scalar:
        return Call("=", (tag, Lit(number, INT4)), BOOL)

    aggs: list[tuple[str, Agg]] = []
    for k, a in n.aggs:
        if a.distinct and a.args:
            g = groups.index((a.args, a.filter))
            aggs.append((k, replace(a, args=values[g], distinct=False, filter=is_part(g + 1), order=())))
        else:
            keep = conj([is_part(0), *([substitute(a.filter, back)] if a.filter is not None else [])])
            aggs.append(
                (
                    k,
                    replace(
                        a,
                        args=tuple(substitute(x, back) for x in a.args),
                        filter=keep,
                        order=tuple(Order(substitute(o.expr, back), o.desc, o.nulls_first) for o in a.order),
                    ),
                )
            )
    return Aggregate(Union(tuple(parts)), tuple((k.name, k) for k in keys), tuple(aggs))
