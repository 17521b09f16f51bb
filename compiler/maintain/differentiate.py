"""The program of a batch, from the states that are kept and the tables that changed: every state by the rule of its
kind."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import assert_never

from compiler.delta.keyed import negative
from compiler.delta.recursive import fixpoint, monotone
from compiler.delta.restrict import keys_of, restrict
from compiler.delta.rules import Deltas
from compiler.delta.times import after
from compiler.errors import CompilerBug
from compiler.ir.relation import (
    Aggregate,
    Filter,
    Fixpoint,
    Net,
    Project,
    Relation,
    Scan,
    Semi,
    State,
    Temp,
    Union,
    Window,
    is_empty,
    transform,
    walk,
)
from compiler.ir.scalar import Call, Col, conj, is_null, same
from compiler.ir.types import BOOL
from compiler.maintain.asked import SCHEMA as ASKED
from compiler.maintain.asked import arrived, left
from compiler.maintain.change import Add, AddRows, Append, Clear, Replace, mapped
from compiler.maintain.facts import Facts
from compiler.maintain.groups import ZERO, New, as_kept, nonzero, recomputed, summed, with_extrema
from compiler.maintain.kept import COUNT, Accumulated, Bag, Groups, Held, Kept, Lagging, Log, Recomputed
from compiler.maintain.paced import arriving, at_once
from compiler.maintain.plan import ViewPlan, states_of
from compiler.maintain.program import Program, Step, verified
from compiler.simplify.prune import prune

Same = frozenset[tuple[str, frozenset[str]]]  # tables, and columns of them
UPQUERY = "q(R⋉K), K = keys that arrived"
TERMS = "Σ γ(ΔR ⋈ γ(S)), what does not change being read as groups that are kept"


def program(
    plans: list[ViewPlan],
    changed: frozenset[str],
    folded: frozenset[str] = frozenset(),
    same: Same = frozenset(),
    leaving: bool = False,
) -> Program:
    """The statements for a batch that changes the tables `changed` (schema-qualified names), in which the states
    `folded` take what waits in their tails.

    `same`: of tables in which the batch only changes rows that stay, columns that are in each of them as they were. A
    state that reads no others of a table is not changed by it.

    Keys that are asked for change in batches of their own, in which all of them arrive, or all are `leaving`.
    """
    return pruned(differentiated(states_of(plans), changed, folded, same, leaving))


def pruned(p: Program) -> Program:
    """The program, computing no more than somebody reads."""
    p.steps = [replace(s, relation=prune(s.relation)) for s in p.steps]
    p.changes = [mapped(c, prune) for c in p.changes]
    return verified(p)


def differentiated(
    states: list[Kept],
    changed: frozenset[str],
    folded: frozenset[str] = frozenset(),
    same: Same = frozenset(),
    leaving: bool = False,
) -> Program:
    """The program of states, those that others read first, before it is simplified."""
    read = {n.name for s in states for n in walk(s.definition) if isinstance(n, State)}
    read |= {n.name for s in states for n in _in_terms(s) if isinstance(n, State) and n.at != "before"}
    return Differentiation(changed, read, folded, dict(same), leaving).program(states)


def _in_terms(s: Kept) -> Iterator[Relation]:
    for t in s.terms if isinstance(s, Accumulated) else ():
        yield from walk(t.query)


def rules_of(plan: ViewPlan) -> set[str]:
    """The kinds of rules that maintain a view: linear, bilinear, additive, keyed, whole."""
    p = differentiated(list(map(at_once, plan.states)), plan.tables)
    return {r for rules in p.rules.values() for r in rules}


def columns_of(s: Groups, r: Relation) -> Relation:
    """r with the columns of the state alone."""
    names = s.definition.schema
    return r if r.schema == names else Project(r, tuple((c.name, r.col(c.name)) for c in names))


def rows_of(s: Bag) -> tuple[Relation, ...]:
    """What adds up to the rows before the batch."""
    return (s.read("before"), *([s.tail.read("before")] if s.tail is not None else []))


@dataclass
class Differentiation:
    changed: frozenset[str]
    read: set[str]  # the states that other states read
    folded: frozenset[str] = frozenset()  # the states that take what waits in their tails
    same: Mapping[str, frozenset[str]] = field(default_factory=dict)  # of tables, the columns that are as they were
    leaving: bool = False  # whether keys that are asked for leave
    temps: dict[str, Temp] = field(default_factory=dict)  # what each changed state's readers see
    was: dict[str, Mapping[str, Col]] = field(default_factory=dict)  # its columns with a state's rows as they were
    states: dict[str, Kept] = field(default_factory=dict)
    out: Program = field(default_factory=Program)

    def program(self, states: Iterable[Kept]) -> Program:
        """The program that takes the batch into `states`, of which each comes after those that it reads."""
        for s in states:
            self.states[s.name] = s
            moved = self.moved(s)
            if not isinstance(s, Log) and s.waits:
                self.wait(s, moved)
                continue
            deltas = Deltas(moved | set(self.temps))
            if self.holds(s):
                self.held(s)
                continue
            if deltas.moves(s.definition):
                self.change(s, deltas)
            else:
                self.fold(s)
        self.out.changes.reverse()  # a change computed while merging reads states that have not taken theirs yet
        return self.out

    def change(self, s: Kept, deltas: Deltas) -> None:
        """What a state takes of inputs that change."""
        match s:
            case Accumulated():
                self.accumulated(s, deltas)
            case Recomputed():
                self.recomputed(s, deltas)
            case Bag():
                self.bag(s, deltas)
            case Log():
                pass
            case _:
                assert_never(s)
        self.out.rules[s.name] = deltas.used

    def wait(self, s: Accumulated | Recomputed | Bag, moved: frozenset[str]) -> None:
        """What the batch changes in the tables that a state reads, for later."""
        for w in s.waits:
            whole = w.scan is not None and not w.scan.key  # what waits is told from what was by all columns
            if w.source in (self.changed if whole else moved):
                self.out.changes.append(Append(w.log, arriving(w), f"Δ{w.source.split('.')[-1]}, to be taken later"))

    def moved(self, s: Kept) -> frozenset[str]:
        """The tables that the batch changes in a column which the state reads."""
        if not self.same:
            return self.changed
        read = Facts(s.definition).columns_used
        return frozenset(t for t in self.changed if t not in self.same or not read.get(t, set()) <= self.same[t])

    # -- reading states that change in this batch

    def resolve(self, r: Relation) -> Relation:
        """States at a time, in terms of what they were before and this batch's steps."""

        def one(n: Relation) -> Relation:
            if isinstance(n, Scan) and n.at == "before" and n.table not in self.changed:
                return replace(n, at="after")
            if not isinstance(n, State) or n.name not in self.temps or n.at == "before":
                return n
            s = self.states[n.name]
            if isinstance(s, Log):  # only who reads a view reads what waits
                raise CompilerBug(f"{s.name} is read within a batch")
            if self.holds(s):  # who reads it asks for the keys that arrived, of which nothing was there
                return self.temps[s.name]
            return self.bag_at(s, n.at) if isinstance(s, Bag) else self.groups_at(s, n.at)

        return transform(r, one)

    def bag_at(self, s: Bag, at: str) -> Relation:
        temp = self.temps[s.name]
        return temp if at == "delta" else Union((s.read("before"), temp))

    def groups_at(self, s: Groups, at: str) -> Relation:
        temp, old, was = self.temps[s.name], s.read("before"), self.was.get(s.name, {})
        if not s.key:
            return temp if at == "after" else Union((negative(old), temp))
        # the groups that are there after the batch
        new = columns_of(s, Filter(temp, Call(">", (temp.col(COUNT), ZERO), BOOL)))
        if at == "delta" and was:
            there = Filter(temp, Call("not", (is_null(was[COUNT]),), BOOL))
            return Union((negative(Project(there, tuple((c.name, was[c.name]) for c in s.columns))), new))
        keys, cols = keys_of(temp, [temp.col(k) for k in s.key])
        on = conj([same(old.col(k), c) for k, c in zip(s.key, cols, strict=True)])
        if at == "delta":
            return Union((negative(Semi(old, keys, on)), new))
        return Union((Semi(old, keys, on, anti=True), new))

    # -- keys that arrive and leave

    def holds(self, s: Kept) -> bool:
        """Whether the batch changes the keys that a state is held by."""
        return not isinstance(s, Log) and s.held is not None and s.held.asked.name in self.changed

    def held(self, s: Kept) -> None:
        """In a batch of keys alone: what the definition gives for those that arrived (an upquery), and without the
        rows of those that left."""
        if not all(t.startswith(f"{ASKED}.") for t in self.changed):
            raise CompilerBug("a batch changes tables of the source and keys that were asked for")
        assert isinstance(s, Accumulated | Recomputed | Bag) and s.held is not None
        held = s.held
        if self.leaving:
            self.dismissed(s, held)
            return
        new = self.resolve(restrict(after(held.whole), arrived(held.asked), list(held.pairs)))
        if isinstance(s, Bag):
            source: Relation = self.step(s, f"delta_{s.name}", Net(new), True, UPQUERY)
        else:
            source = self.step(s, f"new_{s.name}", new, False, UPQUERY)
        self.out.changes.append(Append(s, source, "nothing was kept of these keys"))
        self.out.rules[s.name] = {"upquery"}

    def dismissed(self, s: Accumulated | Recomputed | Bag, held: Held) -> None:
        old, keys = s.read("before"), left(held.asked)
        gone = Semi(old, keys, conj([same(e, k) for e, k in held.pairs]))
        rule = "the rows of keys that left"
        if isinstance(s, Bag):
            self.out.changes.append(AddRows(s, self.step(s, f"delta_{s.name}", negative(gone), True, rule), rule))
        else:
            none = Project(gone, tuple((c.name, ZERO if c.name == COUNT else c) for c in gone.schema))
            self.out.changes.append(Replace(s, self.step(s, f"new_{s.name}", none, False, rule), rule))
        self.out.rules[s.name] = {"upquery"}

    # -- aggregates

    def accumulated(self, s: Accumulated, deltas: Deltas) -> None:
        if s.terms:
            self.by_terms(s, deltas)
            return
        change = self.resolve(deltas.delta(s.definition.input))
        if is_empty(change):
            return
        deltas.used.add("additive")
        if s.has_extrema:
            deltas.used.add("keyed")
            new = with_extrema(s, change, self.resolve, bool(s.key) and s.name in self.read)
            self.replaced_groups(s, new, "accumulators + γ(ΔR); groups that lost an extremum: γ(R⁺⋉K)")
        else:
            self.take(s, s.over(change), "γ(ΔR)")

    def by_terms(self, s: Accumulated, deltas: Deltas) -> None:
        """The sum of what a change of each of the relations adds."""
        found = [(t, deltas.delta(t.changed)) for t in s.terms]
        terms = [self.resolve(t.over(d)) for t, d in found if not is_empty(d)]
        if not terms:
            return
        deltas.used.add("additive")
        added = s.adding_up(terms[0] if len(terms) == 1 else Union(tuple(terms)))
        self.take(s, added, TERMS)

    def take(self, s: Accumulated, added: Aggregate, rule: str) -> None:
        """A batch's accumulators are taken, or wait."""
        if s.tail is not None and s.name in self.folded:
            self.fold(s, nonzero(added))
        elif s.tail is not None:
            self.out.changes.append(Append(s.tail, nonzero(added), f"{rule}, to be taken later"))
        elif s.name in self.read:
            self.replaced_groups(s, summed(s, added, bool(s.key)), f"accumulators + {rule}")
        else:
            self.out.changes.append(Add(s, nonzero(added), f"γ(R + ΔR) = γ(R) + {rule}"))

    def fold(self, s: Kept, added: Relation | None = None) -> None:
        """What waits, and what a batch adds, is taken; nothing waits any more."""
        if not isinstance(s, Lagging) or s.tail is None or s.name not in self.folded:
            return
        waiting: Relation = s.tail.read("before")
        whole = waiting if added is None else Union((waiting, added))
        self.out.changes.append(Clear(s.tail, "what waited was taken"))  # changes are made from the last to the first
        if isinstance(s, Bag):
            temp = self.step(s, f"delta_{s.name}", Net(whole), True, "rows that waited")
            self.out.changes.append(AddRows(s, temp, "rows + those that waited"))
        else:
            self.out.changes.append(Add(s, nonzero(s.adding_up(whole)), "accumulators + those that waited"))

    def recomputed(self, s: Recomputed, deltas: Deltas) -> None:
        deltas.used.add("keyed")
        change = self.resolve(deltas.delta(s.definition.input))
        if not is_empty(change):
            new = recomputed(s.definition, change, self.resolve)
            self.replaced_groups(s, New(new), "Δγ(R) = γ(R⁺⋉K) − γ(R⁻⋉K), K = δ(π_K |ΔR|)")

    def replaced_groups(self, s: Accumulated | Recomputed, new: New, rule: str) -> None:
        temp = self.step(s, f"new_{s.name}", as_kept(s, new.rows), False, rule, new.was)
        self.out.changes.append(Replace(s, columns_of(s, temp), "touched groups take their new values"))

    def step(
        self, s: Kept, name: str, r: Relation, signed: bool, rule: str, was: Mapping[str, Col] | None = None
    ) -> Temp:
        """A step with the rows of a state, and beside them, in the columns `was`, what these were."""
        self.was[s.name] = was = was or {}
        self.out.steps.append(Step(name, r, signed, rule, s.name))
        self.temps[s.name] = Temp(name, (*s.definition.schema, *was.values()), signed)
        return self.temps[s.name]

    # -- bags

    def bag(self, s: Bag, deltas: Deltas) -> None:
        change, rule = self.evaluated_again(s, deltas) if s.again else self.bag_delta(s, s.definition, deltas)
        if "whole" in deltas.used:
            change, rule = self.evaluated_again(s, deltas)
        change = self.resolve(change)
        if is_empty(change):
            return
        if s.tail is not None and s.name in self.folded:
            self.fold(s, change)
        elif s.tail is not None:
            self.out.changes.append(Append(s.tail, Net(change), f"{rule}, to be taken later"))
        else:
            temp = self.step(s, f"delta_{s.name}", Net(change), True, rule)
            self.out.changes.append(AddRows(s, temp, rule))

    def evaluated_again(self, s: Bag, deltas: Deltas) -> tuple[Relation, str]:
        deltas.used.add("whole")
        return Union((after(s.definition), *map(negative, rows_of(s)))), "q(R⁺) − rows"

    def bag_delta(self, s: Bag, q: Relation, deltas: Deltas) -> tuple[Relation, str]:
        if isinstance(q, Fixpoint) and monotone(q):
            deltas.used.add("keyed")
            return fixpoint(q, s.read("before"), deltas.delta), (
                "semi-naive: ΔF = fix(ΔB + ΔS(F⁻) + S⁺); where rows leave, fix(B⁺ + S⁺) − F⁻"
            )
        if isinstance(q, Window):
            return self.partitions(s, q, deltas), (
                "Δq = q(R⁺⋉K) − rows⋉K, K = δ(π_K |ΔR|): the kept rows leave, not rows computed again"
            )
        return deltas.delta(q), "rows + Δq"

    def partitions(self, s: Bag, q: Window, deltas: Deltas) -> Relation:
        """The rows of touched partitions computed, and those that are kept for them taken back."""
        deltas.used.add("keyed")
        d = deltas.delta(q.input)
        if is_empty(d):
            return d
        exprs = list(q.partition)
        keys, cols = keys_of(d, exprs)
        pairs = list(zip(exprs, cols, strict=True))
        on = conj([same(e, k) for e, k in pairs])
        held: Iterable[Relation] = (Semi(r, keys, on) if pairs else r for r in rows_of(s))
        return Union((q.rebuild((restrict(after(q.input), keys, pairs),)), *map(negative, held)))
