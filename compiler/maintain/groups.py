"""Groups of an aggregate after a batch: accumulators added up, extrema combined, or computed again."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace

from compiler.delta.restrict import keys_of, restrict
from compiler.delta.times import after
from compiler.functions.aggregates import EXTREMA
from compiler.ir.naming import companions, fresh
from compiler.ir.relation import Agg, Aggregate, Filter, LeftJoin, Net, Project, Relation, Scan
from compiler.ir.scalar import Call, Col, Lit, Scalar, case, conj, negate, same
from compiler.ir.types import BOOL, INT4, INT8
from compiler.maintain.kept import COUNT, Accumulated, Groups
from compiler.normalize.subqueries.forms import FORMS

ZERO = Lit(0, INT8)
Resolve = Callable[[Relation], Relation]  # states at a time, in terms of what is there during the batch


def nonzero(r: Aggregate) -> Relation:
    """Groups of which any accumulator is not zero."""
    if not r.keys:
        return r
    some = [Call("<>", (Col(n, a.type), Lit(0, INT4)), BOOL) for n, a in r.aggs]
    return Filter(r, some[0] if len(some) == 1 else Call("or", tuple(some), BOOL))


def before(s: Groups, others: Collection[str] = ()) -> tuple[Relation, dict[str, Col]]:
    """The state before the batch under other column names, not `others` either, and those names."""
    cols = s.definition.schema
    old = companions("old{n}_{x}", s.definition.names, others)
    names = {c.name: Col(old(c.name), c.type) for c in cols}
    return Project(s.read("before"), tuple((names[c.name].name, c) for c in cols)), names


@dataclass(frozen=True)
class New:
    """Groups as they are after a batch. `was`: by the state's columns, those that have what it had before, NULL where
    it had no such group; none where that was not looked up."""

    rows: Relation
    was: Mapping[str, Col] = field(default_factory=dict)


def summed(s: Accumulated, added: Relation, with_old: bool = False) -> New:
    """Old accumulators plus the batch's, for every group of the batch; `with_old`, as they were, too."""
    old, names = before(s, added.names)
    on = conj([same(added.col(k), names[k]) for k in s.key])
    joined = LeftJoin(added, old, on)
    exprs: list[tuple[str, Scalar]] = [(k, added.col(k)) for k in s.key]
    exprs += [(n, plus(names[n], Col(n, a.type))) for n, a in s.definition.aggs]
    return _beside(Project(joined, tuple(exprs)), names if with_old else {})


def _beside(new: Project, was: Mapping[str, Col]) -> New:
    return New(replace(new, exprs=(*new.exprs, *((c.name, c) for c in was.values()))), was)


def as_kept(s: Groups, new: Relation) -> Relation:
    """Groups under the form of their keys that the state has: 1 day where a row with 24:00 came, so that what leaves
    is what arrived."""
    if not any(c.type in FORMS for c in new.schema if c.name in s.key):
        return new
    old, names = before(s, new.names)
    joined = LeftJoin(new, old, conj([same(new.col(k), names[k]) for k in s.key]))
    kept: dict[str, Scalar] = {
        k: Call("coalesce", (names[k], new.col(k)), new.col(k).type) for k in s.key if new.col(k).type in FORMS
    }
    return Project(joined, tuple((c.name, kept.get(c.name, c)) for c in new.schema))


def plus(old: Col, new: Col) -> Scalar:
    zero: Scalar = Lit(0, INT8) if old.type == INT8 else Lit("0", old.type)
    return Call("cast", (Call("+", (Call("coalesce", (old, zero), old.type), new), old.type),), old.type)


def with_extrema(s: Accumulated, change: Relation, resolve: Resolve, with_old: bool = False) -> New:
    """MIN and MAX take what was inserted; a group whose extremum left, and was not replaced, is computed again."""
    q = s.definition
    inputs: dict[Scalar, str] = {}

    def put(x: Scalar) -> Col:
        inputs.setdefault(x, f"in_{len(inputs)}")
        return Col(inputs[x], x.type)

    came, went = companions("{x}_in{n}", q.names), companions("{x}_out{n}", q.names)
    keys = tuple((k, put(e)) for k, e in q.keys)
    aggs: list[tuple[str, Agg]] = []
    for n, a in q.aggs:
        args, keep = tuple(put(x) for x in a.args), put(a.filter) if a.filter is not None else None
        if a.fn in EXTREMA:
            aggs += [
                (came(n), Agg(f"{a.fn}_in", args, a.type, keep)),
                (went(n), Agg(f"{a.fn}_out", args, a.type, keep)),
            ]
        else:
            aggs.append((n, Agg(a.fn, args, a.type, keep)))
    read: Relation = Project(change, tuple((name, x) for x, name in inputs.items()))
    added = Aggregate(read if _row_by_row(change) else Net(read), keys, tuple(aggs))
    old, names = before(s, added.names)
    joined: Relation = LeftJoin(added, old, conj([same(added.col(k), names[k]) for k in s.key]))
    found = [(n, a) for n, a in q.aggs if a.fn in EXTREMA]
    left = [gone(a, names[n], Col(came(n), a.type), Col(went(n), a.type)) for n, a in found]
    either = left[0] if len(left) == 1 else Call("or", tuple(left), BOOL)
    lost = Col(fresh("lost", joined.names), BOOL)
    marked = Project(joined, (*((c.name, c) for c in joined.schema), (lost.name, Call("is_true", (either,), BOOL))))
    anew = companions("again{n}_{x}", q.names, marked.names)
    renewed = again(q, Filter(marked, lost), found, anew, resolve)
    on = conj([same(marked.col(k), Col(anew(k), e.type)) for k, e in q.keys]) if q.keys else lost
    whole = LeftJoin(marked, renewed, on)
    exprs: list[tuple[str, Scalar]] = [(k, Col(k, e.type)) for k, e in q.keys]
    for n, a in q.aggs:
        if a.fn in EXTREMA:
            kept = Call("least" if a.fn == "min" else "greatest", (names[n], Col(came(n), a.type)), a.type)
            exprs.append((n, case([(lost, Col(anew(n), a.type))], kept, a.type)))
        else:
            exprs.append((n, plus(names[n], Col(n, a.type))))
    return _beside(Project(whole, tuple(exprs)), names if with_old else {})


def _row_by_row(change: Relation) -> bool:
    """Whether what comes is there after the batch, and what goes was there before: none of it is to cancel. A value
    that goes with one row and comes with another is no extremum that is lost."""
    while isinstance(change, Project | Filter):
        change = change.input
    return isinstance(change, Scan) and change.at == "delta" and bool(change.key)


def gone(a: Agg, old: Col, new: Col, out: Col) -> Scalar:
    """Whether the old extremum was deleted and nothing as extreme was inserted."""
    beyond = "<=" if a.fn == "min" else ">="
    kept = Call("is_true", (Call(beyond, (new, old), BOOL),), BOOL)
    return conj([Call("is_true", (Call(beyond, (out, old), BOOL),), BOOL), negate(kept)])


def again(
    q: Aggregate, lost: Relation, found: list[tuple[str, Agg]], anew: Callable[[str], str], resolve: Resolve
) -> Relation:
    if q.keys:
        keys, cols = keys_of(lost, [Col(k, e.type) for k, e in q.keys])
        pairs: list[tuple[Scalar, Col]] = [(e, c) for (_, e), c in zip(q.keys, cols, strict=True)]
    else:
        keys, cols = keys_of(lost, [Lit(1, INT4)])
        pairs = [(Lit(1, INT4), cols[0])]
    source = resolve(restrict(after(q.input), keys, pairs))
    return Aggregate(source, tuple((anew(k), e) for k, e in q.keys), tuple((anew(n), a) for n, a in found))


def recomputed(q: Aggregate, change: Relation, resolve: Resolve) -> Relation:
    """γ(R⁺⋉K), with a row of count 0 for each key of K that has no rows left."""
    keys, cols = keys_of(change, [e for _, e in q.keys])
    source = resolve(restrict(after(q.input), keys, [(e, c) for (_, e), c in zip(q.keys, cols, strict=True)]))
    new = q.rebuild((source,))
    if not q.keys:
        return new
    key = companions("key{n}_{x}", q.names)
    touched = Project(keys, tuple((key(k), c) for (k, _), c in zip(q.keys, cols, strict=True)))
    on = conj([same(Col(key(k), e.type), Col(k, e.type)) for k, e in q.keys])
    joined = LeftJoin(touched, new, on)
    exprs: list[tuple[str, Scalar]] = [(k, Col(key(k), e.type)) for k, e in q.keys]
    exprs += [(n, Call("coalesce", (Col(n, a.type), ZERO), INT8) if n == COUNT else Col(n, a.type)) for n, a in q.aggs]
    return Project(joined, tuple(exprs))
