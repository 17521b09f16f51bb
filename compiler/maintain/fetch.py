"""Reads of mirrors by keys, as steps of their own: `fetched_…` holds the rows of a mirror that a batch meets.

A rule joins a little (the batch, or what was made of it) with a mirror. `restrict` brings the keys of the little side
down to the mirror; there the read becomes a step, shared by all rules that read by the same keys, which an engine may
answer by an index. A fetch may bring rows too many, never too few: the conditions that brought the keys stay.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count

from compiler.delta.keyed import negative
from compiler.delta.restrict import Pairs, equalities, restrict
from compiler.ir.relation import (
    Filter,
    Join,
    Keys,
    LeftJoin,
    Net,
    Project,
    Relation,
    Scan,
    Semi,
    Temp,
    Union,
    transform,
    walk,
)
from compiler.ir.scalar import Col, Scalar, columns, conj, same, substitute
from compiler.maintain.change import mapped
from compiler.maintain.driven import keys_first, little_first
from compiler.maintain.little import at_hand, driving, filtered, findable, nearest, weighted
from compiler.maintain.naming import digest, slug
from compiler.maintain.narrowed import MEETS, added_up_once, filtered_first, narrowed
from compiler.maintain.program import Lookup, Program, Step, verified
from compiler.simplify.prune import prune

Large = Callable[[str], bool]  # whether a table's mirror is too large to be read whole for a batch
DEEPEST = 6  # joins that bring keys to each other, one within the other
MOST = 40  # joins of one step that are tried
FETCH = "the rows with these keys of a mirror that is large"
LONGEST = 300  # operators of a step that is looked at: what is larger is read as before


def fetched(p: Program, large: Large) -> Program:
    """The program with the mirrors that are `large` read by keys in steps of their own, where it has keys for them."""
    out = _Fetching(large, p.waiting)
    for s in p.steps:
        relation = out.rewritten(s.relation, s.state)  # which may put steps before it
        out.steps.append(replace(s, relation=relation))
    changes = [mapped(c, partial(out.rewritten, state=c.state.name)) for c in p.changes]
    return verified(narrowed(replace(p, steps=out.steps, changes=changes)))


@dataclass
class _Fetching:
    large: Large
    waiting: Mapping[str, Project]  # what stands for a batch's rows, where that has not all columns of a table
    steps: list[Step] = field(default_factory=list)
    lookups: dict[str, Temp] = field(default_factory=dict)  # what holds a mirror ⋉ keys, by its name
    stored: dict[Relation, Temp] = field(default_factory=dict)  # what gives keys, and is stored for that
    depth: int = 0
    names: Iterator[int] = field(default_factory=count)
    netted: set[Relation] = field(default_factory=set)
    trials: Iterator[int] = field(default_factory=count)  # of the relation at hand
    state: str = ""  # whose change it is a part of: what fails on the way is its
    shared: frozenset[Relation] = frozenset()  # what several operators of the relation at hand read

    def rewritten(self, r: Relation, state: str) -> Relation:
        if not self.whole(r) or sum(1 for _ in walk(r)) > LONGEST:
            return r
        r = keys_first(little_first(r, self.whole))
        self.trials, self.state, self.shared = count(), state, _shared(r)
        before = dict(self.stored)
        new = self.with_fetches(r)
        added = {k: t for k, t in self.stored.items() if k not in before}
        return prune(filtered_first(added_up_once(_replaced(new, added), self.netted)))

    def whole(self, r: Relation) -> bool:
        """Whether a large mirror is read below."""
        return any(isinstance(n, Scan) and n.at != "delta" and self.large(n.table) for n in walk(r))

    def with_fetches(self, r: Relation) -> Relation:
        memo: dict[Relation, Relation] = {}

        def one(n: Relation) -> Relation:
            if n not in memo:
                memo[n] = self.node(n.rebuild(tuple(one(i) for i in n.inputs)) if n.inputs else n)
            return memo[n]

        return one(r)

    def node(self, n: Relation) -> Relation:
        """n over inputs that are rewritten: a large side restricted to the keys of a little one."""
        if isinstance(n, Semi) and isinstance(n.left, Scan) and isinstance(n.right, Keys):
            return self.looked_up(n)
        if isinstance(n, Join | LeftJoin | Semi):
            if driving(n.left) and self.whole(n.right):
                return n.rebuild((n.left, self.restricted(n.right, n.left, equalities(n.on, n.right, n.left))))
            inner = isinstance(n, Join) or (isinstance(n, Semi) and not n.anti)
            if inner and driving(n.right) and self.whole(n.left):
                return n.rebuild((self.restricted(n.left, n.right, equalities(n.on, n.left, n.right)), n.right))
        return n

    def restricted(self, r: Relation, by: Relation, equal: list[tuple[Scalar, Scalar]]) -> Relation:
        """r, or what of it has the keys of `by`, if that reads no large mirror whole."""
        if not equal or self.depth == DEEPEST or next(self.trials) >= MOST:
            return r
        source, exprs = nearest(by, [e for _, e in equal])
        n = next(self.names)
        keys = Keys(source, tuple((f"_met_{n}_{i}", e) for i, e in enumerate(exprs)))
        pairs: Pairs = [(e, k) for (e, _), k in zip(equal, keys.schema, strict=True)]
        trial = replace(
            self, steps=list(self.steps), lookups=dict(self.lookups), stored=dict(self.stored), depth=self.depth + 1
        )
        new = trial.with_fetches(trial.looked_up(_towards(r, keys, pairs)))
        if trial.whole(new):
            return r
        new = transform(new, lambda n: n.left if isinstance(n, Semi) and n.right == keys and not n.anti else n)
        self.steps, self.lookups, self.stored = trial.steps, trial.lookups, trial.stored
        return new

    def looked_up(self, r: Relation) -> Relation:
        """Mirrors that are restricted to keys, as what is fetched."""

        def one(n: Relation) -> Relation:
            if not isinstance(n, Semi) or n.anti or not isinstance(n.right, Keys):
                return n
            scan = n.left
            if not isinstance(scan, Scan) or scan.at == "delta" or not self.large(scan.table):
                return n
            found = self.lookup(scan, n.right, n.on)
            return n.rebuild((found, n.right)) if found is not None else n  # the reader drops it where it asks again

        return transform(r, one)

    def lookup(self, scan: Scan, keys: Keys, on: Scalar) -> Relation | None:
        """The rows of the mirror with these keys, at the scan's time."""
        by = {
            a.name: (a, k)
            for a, k in equalities(on, scan, keys)
            if isinstance(a, Col) and isinstance(k, Col) and findable(a.type, k.type)
        }
        if not by or not driving(keys):
            return None
        pairs = [by[name] for name in sorted(by)]
        now = replace(scan, at="after")
        exprs = dict(keys.exprs)
        ks = self.at_hand(Keys(keys.input, tuple((f"_k{i}", exprs[k.name]) for i, (_, k) in enumerate(pairs))))
        condition = conj([same(c, k) for (c, _), k in zip(pairs, ks.schema, strict=True)])
        read = Semi(now, ks, condition)
        name = f"fetched_{slug([scan.table.split('.')[-1], 'by', *by])}_{digest(read)}"
        if name not in self.lookups:
            self.lookups[name] = Temp(name, now.schema, not scan.key)
            lookup = Lookup(scan.table, tuple(sorted(by)), ks)
            self.steps.append(Step(name, read, not scan.key, FETCH, self.state, lookup))
        temp = self.lookups[name]
        if scan.at == "after":
            return temp
        of_both: tuple[Relation, ...] = (temp, negative(replace(scan, at="delta")))
        if (stands := self.waiting.get(scan.table)) is not None:  # in others they would not cancel
            of_both = tuple(Project(r, stands.exprs) for r in of_both)
        earlier = Net(Union(of_both), within=tuple(sorted(by)))  # Δ has other keys as well
        self.netted.add(earlier)
        return earlier

    def at_hand(self, keys: Keys) -> Keys:
        """Keys of a part of the batch, or of what is stored; what else gives them is stored, once: what is read for
        more than the keys, or all of it, or where rows that come and go may cancel there, the keys alone."""
        if at_hand(keys.input):
            return keys
        if isinstance(keys.input, Keys):
            exprs = dict(keys.input.exprs)
            within = Keys(keys.input.input, tuple((n, substitute(e, exprs)) for n, e in keys.exprs))
            return self.at_hand(within)
        part = keys.input
        while isinstance(part, Filter | Project) and part not in self.shared:
            part = part.input
        if part in self.shared and driving(part) and not weighted(part):
            temp = self.store(part)
            return Keys(transform(keys.input, lambda n: temp if n == part else n), keys.exprs)
        if weighted(keys.input):
            return Keys(self.store(keys), tuple((c.name, c) for c in keys.schema))
        return Keys(self.store(keys.input), keys.exprs)

    def store(self, r: Relation) -> Temp:
        if r not in self.stored:
            temp = Temp(f"meets_{digest(r)}", r.schema, False)
            if temp not in self.stored.values():  # of another that differs in what nobody reads
                self.steps.append(Step(temp.name, _replaced(r, self.stored), False, MEETS, self.state))
            self.stored[r] = temp
        return self.stored[r]


def _towards(r: Relation, keys: Relation, pairs: Pairs) -> Relation:
    """r ⋉ K, the keys brought to the side of a join that has a filter alone: that one's rows have the fewer keys for
    the other."""
    if isinstance(r, Project):
        exprs = dict(r.exprs)
        return Project(_towards(r.input, keys, [(substitute(e, exprs), k) for e, k in pairs]), r.exprs)
    if isinstance(r, Filter):
        return r.rebuild((_towards(r.input, keys, pairs),))
    if isinstance(r, Join) and filtered(r.left) != filtered(r.right):
        side, other = (r.left, r.right) if filtered(r.left) else (r.right, r.left)
        met = {b: a for a, b in equalities(r.on, side, other)}
        moved = [(e if columns(e) <= set(side.names) else met.get(e), k) for e, k in pairs]
        down: Pairs = [(e, k) for e, k in moved if e is not None]
        if down and len(down) == len(pairs) and met:
            new = _towards(side, keys, down)
            return r.rebuild((new, r.right) if side is r.left else (r.left, new))
    return restrict(r, keys, pairs)


def _shared(r: Relation) -> frozenset[Relation]:
    """The operators that several others below r read."""
    found = Counter(i for n in walk(r) for i in n.inputs if i.inputs)
    return frozenset(n for n, readers in found.items() if readers > 1)


def _replaced(r: Relation, stored: dict[Relation, Temp]) -> Relation:
    """r with what is stored read from there, the largest parts first."""
    if not stored:
        return r
    memo: dict[Relation, Relation] = {}

    def go(n: Relation) -> Relation:
        if n not in memo:
            temp = stored.get(n)
            memo[n] = temp if temp is not None else n.rebuild(tuple(map(go, n.inputs))) if n.inputs else n
        return memo[n]

    return go(r)
