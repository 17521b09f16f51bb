"""Reads of mirrors by keys, as steps of their own: `fetched_…` holds the rows of a mirror that a batch meets.

A rule joins a little (the batch, or what was made of it) with a mirror. `restrict` brings the keys of the little side
down to the mirror; there the read becomes a step, shared by all rules that read by the same keys, which an engine may
answer by an index. A fetch may bring rows too many, never too few: the conditions that brought the keys stay.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import count

from compiler.delta.keyed import negative
from compiler.delta.restrict import Pairs, equalities, restrict
from compiler.ir import types
from compiler.ir.relation import (
    Aggregate,
    Filter,
    Fixpoint,
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
    Unnest,
    Values,
    Weigh,
    Window,
    transform,
    walk,
)
from compiler.ir.scalar import Col, Scalar, columns, conj, same, substitute
from compiler.ir.types import Type
from compiler.maintain.naming import digest, slug
from compiler.maintain.program import Lookup, Program, Step
from compiler.simplify.prune import leaves_read, prune

Large = Callable[[str], bool]  # whether a table's mirror is too large to be read whole for a batch
EXACT = frozenset(("date", "timestamp", "timestamptz", "uuid", "bool"))  # types whose equal values are written alike
WHOLE = frozenset(("int2", "int4", "int8"))
LETTERS = frozenset(("text", "varchar"))
ADDED_UP = frozenset(("count", "sum0"))
MEETS = "what meets a mirror"
DEEPEST = 6  # joins that bring keys to each other, one within the other


def fetched(p: Program, large: Large) -> Program:
    """The program with the mirrors that are `large` read by keys in steps of their own, where it has keys for them."""
    out = _Fetching(large)
    for s in p.steps:
        relation = out.rewritten(s.relation)
        out.put(replace(s, relation=relation))
    changes = [c if isinstance(c.source, Temp) else replace(c, source=out.rewritten(c.source)) for c in p.changes]
    return _narrowed(Program(out.steps, changes, p.rules))


@dataclass
class _Fetching:
    large: Large
    steps: list[Step] = field(default_factory=list)
    lookups: dict[Relation, Temp] = field(default_factory=dict)  # (mirror ⋉ keys) → what holds it
    stored: dict[Relation, Temp] = field(default_factory=dict)  # what gives keys, and is stored for that
    depth: int = 0
    names: Iterator[int] = field(default_factory=count)
    netted: set[Relation] = field(default_factory=set)

    def put(self, s: Step) -> None:
        self.steps.append(s)

    def rewritten(self, r: Relation) -> Relation:
        if not self.whole(r):
            return r
        before = dict(self.stored)
        new = self.of(r)
        made = {k: t for k, t in self.stored.items() if k not in before}
        return prune(_added_up_once(_replaced(new, made), self.netted))

    def whole(self, r: Relation) -> bool:
        """Whether a large mirror is read below."""
        return any(isinstance(n, Scan) and n.at != "delta" and self.large(n.table) for n in walk(r))

    def of(self, r: Relation) -> Relation:
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
        if not equal or self.depth == DEEPEST:
            return r
        source, exprs = _nearest(by, [e for _, e in equal])
        n = next(self.names)
        keys = Keys(source, tuple((f"_met_{n}_{i}", e) for i, e in enumerate(exprs)))
        pairs: Pairs = [(e, k) for (e, _), k in zip(equal, keys.schema, strict=True)]
        trial = _Fetching(
            self.large, list(self.steps), dict(self.lookups), dict(self.stored), self.depth + 1, self.names, self.netted
        )
        new = trial.of(trial.looked_up(_towards(r, keys, pairs)))
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
        if read not in self.lookups:
            table = scan.table.split(".")[-1]
            name = f"fetched_{slug([table, 'by', *by])}_{digest(read)}"
            self.lookups[read] = Temp(name, now.schema, not scan.key)
            lookup = Lookup(scan.table, tuple(sorted(by)), ks)
            self.put(Step(name, read, not scan.key, "fetch: the rows of a mirror with these keys", "", lookup))
        temp = self.lookups[read]
        if scan.at == "after":
            return temp
        earlier = Net(Union((temp, negative(replace(scan, at="delta")))))
        self.netted.add(earlier)
        return earlier

    def at_hand(self, keys: Keys) -> Keys:
        """Keys of a part of the batch, or of what is stored; what else gives them is stored, once: all of it, or where
        rows that come and go may cancel there, the keys alone."""
        if _cheap(keys.input):
            return keys
        if _weighted(keys.input):
            return Keys(self.store(keys), tuple((c.name, c) for c in keys.schema))
        return Keys(self.store(keys.input), keys.exprs)

    def store(self, r: Relation) -> Temp:
        if r not in self.stored:
            temp = Temp(f"meets_{digest(r)}", r.schema, False)
            self.put(Step(temp.name, _replaced(r, self.stored), False, MEETS, ""))
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
    if isinstance(r, Join) and _filtered(r.left) != _filtered(r.right):
        side, other = (r.left, r.right) if _filtered(r.left) else (r.right, r.left)
        known = {b: a for a, b in equalities(r.on, side, other)}
        moved = [(e if columns(e) <= set(side.names) else known.get(e), k) for e, k in pairs]
        down: Pairs = [(e, k) for e, k in moved if e is not None]
        if down and len(down) == len(pairs) and known:
            new = _towards(side, keys, down)
            return r.rebuild((new, r.right) if side is r.left else (r.left, new))
    return restrict(r, keys, pairs)


def _filtered(r: Relation) -> bool:
    return any(isinstance(n, Filter) for n in walk(r))


def _cheap(r: Relation) -> bool:
    """Whether it is the batch, or what is stored, or a sum of such."""
    if isinstance(r, Project | Filter | Weigh | Union | Net):
        return all(map(_cheap, r.inputs))
    return isinstance(r, Temp | Values) or (isinstance(r, Scan) and r.at == "delta")


def findable(a: Type, b: Type) -> bool:
    """Whether a value of one type equals one of the other exactly where it is that value, in the other's type."""
    return any(a.name in kinds and b.name in kinds for kinds in (WHOLE, LETTERS)) or (a == b and _exact(a))


def _exact(t: Type) -> bool:
    return t.name in EXACT or (types.is_numeric(t) and t.precision is not None)


def driving(r: Relation) -> bool:
    """Whether a batch bounds the number of rows: there are no more than it has, times what each meets."""
    match r:
        case Scan():
            return r.at == "delta"
        case Temp() | Values():
            return True
        case Project() | Filter() | Weigh() | Net() | Keys() | Unnest() | Window() | TopK() | Aggregate():
            return driving(r.input)
        case Union():
            return all(map(driving, r.parts))
        case Join():
            return driving(r.left) or driving(r.right)
        case LeftJoin():
            return driving(r.left)
        case Semi():
            return driving(r.left) or (not r.anti and driving(r.right))
        case Fixpoint():
            return driving(r.base) and driving(r.step)
        case _:
            return False


def _nearest(r: Relation, exprs: list[Scalar]) -> tuple[Relation, list[Scalar]]:
    """The smallest part of r that has what the expressions read: their values there are all that r has, or more."""
    used = columns(*exprs)
    if isinstance(r, Project) and all(isinstance(e, Col) for n, e in r.exprs if n in used):
        known = dict(r.exprs)
        return _nearest(r.input, [substitute(e, known) for e in exprs])
    if isinstance(r, Join):
        for side in (r.left, r.right):
            if used <= set(side.names) and driving(side):
                return _nearest(side, exprs)
    if isinstance(r, LeftJoin | Semi) and used <= set(r.left.names) and driving(r.left):
        return _nearest(r.left, exprs)
    return r, exprs


def _weighted(r: Relation) -> bool:
    """Whether rows may have another weight than 1."""
    match r:
        case Aggregate() | Keys() | Values():
            return False
        case Scan():
            return r.at != "after" or not r.key
        case Temp():
            return r.signed
        case State():
            return r.weighted or r.at == "delta"
        case Project() | Filter() | Window() | Unnest():
            return _weighted(r.input)
        case Join() | LeftJoin():
            return _weighted(r.left) or _weighted(r.right)
        case Semi():
            return _weighted(r.left)
        case _:
            return True


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


def _added_up_once(r: Relation, netted: set[Relation]) -> Relation:
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
                sums = bool(n.aggs) and all(a.fn in ADDED_UP and not a.distinct for _, a in n.aggs)
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


def _narrowed(p: Program) -> Program:
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
    return Program(out, [replace(c, source=cut(c.source)) for c in p.changes], p.rules)


def _cut_step(s: Step, cut: Callable[[Relation], Relation]) -> Step:
    lookup = s.lookup
    if lookup is not None:
        lookup = replace(lookup, keys=cut(prune(lookup.keys)))
    return replace(s, relation=cut(s.relation), lookup=lookup)
