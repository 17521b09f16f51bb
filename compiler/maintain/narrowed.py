"""What is fetched is cut to what is read, and added up only where that matters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

from compiler.functions.aggregates import ADDED
from compiler.ir.relation import (
    Aggregate,
    Filter,
    Join,
    Keys,
    LeftJoin,
    Net,
    Project,
    Relation,
    Scan,
    Semi,
    State,
    Temp,
    TopK,
    Union,
    Weigh,
    Window,
    transform,
    walk,
)
from compiler.ir.scalar import Col, Scalar, columns, substitute
from compiler.maintain.change import mapped
from compiler.maintain.program import Program, Step
from compiler.simplify.prune import leaves_read, prune

MEETS = "what meets a mirror"


def added_up_once(r: Relation, netted: set[Relation]) -> Relation:
    """Rows before the batch need not be added up where all that reads them adds up weights."""
    memo: dict[tuple[Relation, bool], Relation] = {}

    def go(n: Relation, linear: bool) -> Relation:
        if (n, linear) not in memo:
            memo[n, linear] = one(n, linear)
        return memo[n, linear]

    def one(n: Relation, linear: bool) -> Relation:
        if linear and n in netted:
            return go(n.inputs[0], True)
        inner: tuple[bool, ...]
        match n:
            case Net():
                inner = (True,)
            case Aggregate():
                sums = bool(n.aggs) and all(a.fn in ADDED and not a.distinct for _, a in n.aggs)
                inner = (sums and _signed(n.input, netted),)  # over rows of both signs a group of none means nothing
            case Keys():
                inner = (False,)
            case Project() | Filter() | Weigh() | Union() | Join():
                inner = (linear,) * len(n.inputs)
            case LeftJoin() | Semi():
                inner = (linear, False)
            case _:
                inner = (False,) * len(n.inputs)
        return n.rebuild(tuple(go(i, x) for i, x in zip(n.inputs, inner, strict=True))) if n.inputs else n

    return go(r, False)


def filtered_first(r: Relation) -> Relation:
    """Rows before the batch that a condition drops are not added up, where nobody else reads them: of keys that are
    read, the rows that come and go are all there, and equal ones meet the condition alike."""
    readers = Counter(i for n in walk(r) for i in n.inputs)

    def moved(n: Relation, predicate: Scalar) -> Relation | None:
        if readers[n] > 1:
            return None
        if isinstance(n, Net) and n.within is not None:
            return n.rebuild((Filter(n.input, predicate),))
        if isinstance(n, Project):
            exprs = dict(n.exprs)
            if all(isinstance(exprs[c], Col) for c in columns(predicate)):
                below = moved(n.input, substitute(predicate, exprs))
                return n.rebuild((below,)) if below is not None else None
        return None

    def one(n: Relation) -> Relation:
        return (moved(n.input, n.predicate) or n) if isinstance(n, Filter) else n

    return transform(r, one)


def _signed(r: Relation, netted: set[Relation]) -> bool:
    """Whether it has rows that are taken away, but for mirrors before the batch."""
    if r in netted:
        return False
    match r:
        case Scan() | State():
            return r.at == "delta"
        case Temp():
            return r.signed
        case Weigh() | Net():
            return True
        case Aggregate() | Keys() | Window() | TopK():
            return False
        case LeftJoin() | Semi():
            return _signed(r.left, netted)
        case _:
            return any(_signed(i, netted) for i in r.inputs)


def narrowed(p: Program) -> Program:
    """Fetches with the columns that some rule reads of them."""
    names = {s.name for s in p.steps if s.lookup is not None or s.rule == MEETS}
    need: dict[str, set[str]] = {n: set() for n in names}

    def reads(r: Relation) -> None:
        for leaf, cols in leaves_read(r).items():
            if isinstance(leaf, Temp) and leaf.name in need:
                need[leaf.name] |= cols

    for c in p.changes:
        reads(c.source)
    steps: list[Step] = []
    for s in reversed(p.steps):  # those that read come after what they read
        if s.name in need:
            wanted = [c for c in s.relation.schema if c.name in need[s.name]] or list(s.relation.schema[:1])
            s = replace(s, relation=prune(Project(s.relation, tuple((c.name, c) for c in wanted))))
        reads(s.relation)
        steps.append(s)
    cols = {s.name: s.relation.schema for s in steps if s.name in need}

    def cut(r: Relation) -> Relation:
        return transform(r, lambda n: replace(n, cols=cols[n.name]) if isinstance(n, Temp) and n.name in cols else n)

    out = [_cut_step(s, cut) for s in reversed(steps)]
    return replace(p, steps=out, changes=[mapped(c, cut) for c in p.changes])


def _cut_step(s: Step, cut: Callable[[Relation], Relation]) -> Step:
    lookup = s.lookup
    if lookup is not None:
        lookup = replace(lookup, keys=cut(prune(lookup.keys)))
    return replace(s, relation=cut(s.relation), lookup=lookup)
