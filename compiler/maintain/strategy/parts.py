"""What a change of one relation of a join meets: rows of some of the others, and groups of the rest.

The others fall apart into those read as they were and those read as they are, and these into what is connected
without the changed one. Each such part is a state of groups, unless its rows are the groups, or values that are equal
are not written alike: then it is read row by row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from compiler.ir.naming import fresh
from compiler.ir.relation import Agg, Aggregate, Filter, Project, Relation, Scan, State
from compiler.ir.scalar import Col, Lit, Scalar, cast, columns, transform
from compiler.ir.types import INT8
from compiler.maintain.kept import COUNT
from compiler.maintain.strategy.factors import Share, certain, groupable, product, shares, whole
from compiler.maintain.strategy.flat import Flat
from compiler.normalize.subqueries.unique import unique
from compiler.simplify.products import connected, joined
from compiler.simplify.projects import fuse_projects
from compiler.simplify.prune import prune


@dataclass
class Part:
    """Relations that are kept as groups: by the expressions that the rest reads of them, with their shares."""

    atoms: list[int]
    time: str  # before or after
    names: set[str]
    keys: list[Scalar] = field(default_factory=list)

    def take(self, e: Scalar) -> None:
        """Have the groups tell what an expression reads of the part."""
        got = self.read_whole(e)
        if got is not None:
            if got not in self.keys:
                self.keys.append(got)
            return
        for c in e.children:
            self.take(c)

    def read_whole(self, e: Scalar) -> Scalar | None:
        """The expression, where it is one of this part alone that can be computed for any of its rows."""
        used = columns(e)
        return e if used and used <= self.names and (isinstance(e, Col) or certain(e) and groupable(e.type)) else None


@dataclass
class Groups:
    """A part as a state (`definition`), and what it has under the names that a term reads it by (`columns`)."""

    definition: Aggregate
    time: str
    columns: tuple[tuple[str, Col], ...]
    keys: dict[Scalar, Col]
    sums: dict[Agg, Col]

    def sum_of(self, s: Share) -> Col:
        return self.sums[s.total]


@dataclass
class Parts:
    """The parts of a join for one changed relation: `rows` are read row by row, the changed one among them."""

    rows: list[int]
    groups: list[Groups]
    conditions: list[Scalar]  # between the parts, over what is read
    shares: dict[Agg, list[Share]]

    def over_groups(self, e: Scalar) -> Scalar:
        """An expression over the relations, in terms of what is read."""
        return _over_groups(e, self.groups)

    def value(self, a: Agg) -> Scalar:
        """What one row of the term adds to an accumulator."""
        mine, *others = self.shares[a]
        factors: list[Scalar] = [g.sum_of(s) for g, s in zip(self.groups, others, strict=True)]
        if mine.value is not None:
            factors.insert(0, self.over_groups(mine.value))
        value = product(factors) if factors else Lit(1, INT8)
        return cast(value, INT8 if a.fn == "count" else a.type)


def parts_of(q: Aggregate, join: Flat, changed: int) -> Parts:
    """The parts that a change of the relation `changed` meets in an aggregate over the columns of `join`."""
    sides = (("before", range(changed)), ("after", range(changed + 1, len(join.atoms))))
    parts = [p for time, side in sides for p in _apart(join, list(side), time)]
    rows = [changed]
    while True:
        names = [{n for i in rows for n in join.atoms[i].names}, *(p.names for p in parts)]
        split = {a: shares(a, names) or whole(a, len(names)) for _, a in q.aggs}
        outer = [c for c in join.conditions if not any(_within(c, p) for p in parts)]
        for p in parts:
            p.keys = []
            for e in (*outer, *(e for _, e in q.keys), *(e for s in split.values() for e in _scalars(s[0]))):
                p.take(e)
        plain = [p for p in parts if not all(groupable(k.type) for k in p.keys) or _is_itself(p, join)]
        if not plain:
            break
        parts = [p for p in parts if p not in plain]
        rows += [i for p in plain for i in p.atoms]
    taken = [n for a in join.atoms for n in a.names]
    groups = [_groups(p, join, {s[i] for s in split.values()}, taken) for i, p in enumerate(parts, 1)]
    return Parts(rows, groups, [_over_groups(c, groups) for c in outer], split)


def _apart(join: Flat, side: list[int], time: str) -> list[Part]:
    """What of one side conditions bring together."""
    leaves = [join.atoms[i] for i in side]
    inside = [c for c in join.conditions if certain(c)]
    found = [[side[k] for k in one] for one in connected(leaves, inside)]
    return [Part(one, time, {n for i in one for n in join.atoms[i].names}) for one in found]


def _within(c: Scalar, p: Part) -> bool:
    used = columns(c)
    return bool(used) and used <= p.names and certain(c)


def _scalars(s: Share) -> Sequence[Scalar]:
    return (*([s.factor] if s.factor is not None else []), *s.keep)


def _is_itself(p: Part, join: Flat) -> bool:
    """Whether each row of the part would be a group of its own."""
    if len(p.atoms) > 1:
        return False
    return _one_row_each(join.atoms[p.atoms[0]], {k.name for k in p.keys if isinstance(k, Col)})


def _one_row_each(r: Relation, by: set[str]) -> bool:
    if isinstance(r, Project):
        return _one_row_each(r.input, {e.name for n, e in r.exprs if n in by and isinstance(e, Col)})
    if isinstance(r, Filter):
        return _one_row_each(r.input, by)
    if isinstance(r, State):
        return not r.weighted and set(r.key) <= by
    return isinstance(r, Scan) and unique(r, by)


def _groups(p: Part, join: Flat, asked: set[Share], taken: list[str]) -> Groups:
    """The state of a part; its names are its own, so that equal parts of other views are the same state."""
    inside = [c for c in join.conditions if _within(c, p)]
    local = [*p.names, COUNT]
    keys: list[tuple[str, Scalar]] = []
    for e in sorted(p.keys, key=repr):
        keys.append((e.name if isinstance(e, Col) else _new("key", local), e))
    totals = sorted({s.total for s in asked}, key=repr)
    plain = Agg("count", (), INT8)
    aggs = [(COUNT if a == plain else _new(a.fn.rstrip("0"), local), a) for a in totals]
    source = joined([join.atoms[i] for i in p.atoms], inside)
    named = [(COUNT, plain), *((n, a) for n, a in aggs if a != plain)]
    definition = Aggregate(source, tuple(keys), tuple(named))
    shown = {n: n if isinstance(e, Col) else _new(n, taken) for n, e in keys}
    shown |= {n: _new(n.strip("_"), taken) for n, _ in named}
    return Groups(
        _pruned(definition),
        p.time,
        tuple((shown[c.name], c) for c in definition.schema),
        {e: Col(shown[n], e.type) for n, e in keys},
        {a: Col(shown[n], a.type) for n, a in named},
    )


def _pruned(a: Aggregate) -> Aggregate:
    got = fuse_projects(prune(a))
    assert isinstance(got, Aggregate)
    return got


def _new(name: str, taken: list[str]) -> str:
    out = fresh(name, taken)
    taken.append(out)
    return out


def _over_groups(e: Scalar, groups: Sequence[Groups]) -> Scalar:
    grouped: dict[Scalar, Col] = {k: c for g in groups for k, c in g.keys.items()}
    return transform(e, _lookup(grouped))


def _lookup(grouped: dict[Scalar, Col]) -> Callable[[Scalar], Scalar | None]:
    return lambda e: None if isinstance(e, Lit) else grouped.get(e)
