"""Steps and merges of a batch, from the states and the tables that changed."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from compiler.delta.keyed import negative
from compiler.delta.recursive import fixpoint, monotone
from compiler.delta.restrict import keys_of, restrict
from compiler.delta.rules import Deltas
from compiler.delta.times import after
from compiler.ir.relation import Aggregate, Filter, Fixpoint, Net, Relation, Scan, Semi, State, Temp, Union, Window, is_empty, transform
from compiler.ir.scalar import Call, conj, same
from compiler.ir.types import BOOL
from compiler.maintenance.groups import ZERO, as_kept, has_extrema, nonzero, recomputed, summed, with_extrema
from compiler.maintenance.program import Merge, Program, Step
from compiler.state import COUNT, StateDef


@dataclass
class Builder:
    changed: frozenset[str]
    read: set[str]
    temps: dict[str, Temp] = field(default_factory=dict)  # what each changed state's readers see
    defs: dict[str, StateDef] = field(default_factory=dict)
    out: Program = field(default_factory=Program)

    def build(self, states: list[StateDef]) -> Program:
        for s in states:
            self.defs[s.name] = s
            deltas = Deltas(self.changed | set(self.temps))
            if not deltas.moves(s.definition):
                continue
            if s.kind == "bag":
                self.bag(s, deltas)
            else:
                self.groups(s, deltas)
            self.out.rules[s.name] = deltas.used | ({"keyed"} if s.kind == "keyed" or has_extrema(s) else set())
        self.out.merges.reverse()  # a change computed while merging reads states that have not taken theirs yet
        return self.out

    # -- reading states that change in this batch

    def resolve(self, r: Relation) -> Relation:
        """States at a time, in terms of what they were before and this batch's steps."""

        def one(n: Relation) -> Relation:
            if isinstance(n, Scan) and n.at == "before" and n.table not in self.changed:
                return replace(n, at="after")
            if not isinstance(n, State) or n.name not in self.temps:
                return n
            if n.at == "before":
                return n
            temp, s = self.temps[n.name], self.defs[n.name]
            old = State(n.name, n.cols, n.key, "before")
            if s.kind == "bag":
                return temp if n.at == "delta" else Union((old, temp))
            new = self.present(s, temp)
            if not s.key:
                return new if n.at == "after" else Union((negative(old), new))
            keys, cols = keys_of(temp, [temp.col(k) for k in s.key])
            on = conj([same(old.col(k), c) for k, c in zip(s.key, cols, strict=True)])
            if n.at == "delta":
                return Union((negative(Semi(old, keys, on)), new))
            return Union((Semi(old, keys, on, anti=True), new))

        return transform(r, one)

    def present(self, s: StateDef, temp: Temp) -> Relation:
        """Groups that are there after the batch."""
        if not s.key:
            return temp
        return Filter(temp, Call(">", (temp.col(COUNT), ZERO), BOOL))

    # -- aggregates

    def groups(self, s: StateDef, deltas: Deltas) -> None:
        q = s.definition
        assert isinstance(q, Aggregate)
        change = self.resolve(deltas.of(q.input))
        if is_empty(change):
            return
        deltas.used.add("keyed" if s.kind == "keyed" else "additive")
        if s.kind == "keyed":
            self.step(s, recomputed(q, change, self.resolve), "Δγ(R) = γ(R⁺⋉K) − γ(R⁻⋉K), K = δ(π_K |ΔR|)")
        elif has_extrema(s):
            self.step(s, with_extrema(s, q, change, self.resolve), "accumulators + γ(ΔR); groups that lost an extremum: γ(R⁺⋉K)")
        elif s.name in self.read:
            added = q.rebuild((change,))
            self.step(s, summed(s, q, added), "accumulators + γ(ΔR)")
        else:
            self.out.merges.append(Merge(s, nonzero(q.rebuild((change,))), "add", "γ(R + ΔR) = γ(R) + γ(ΔR)"))
            return
        self.out.merges.append(Merge(s, self.temps[s.name], "replace", "touched groups take their new values"))

    def step(self, s: StateDef, r: Relation, rule: str) -> None:
        name = f"new_{s.name}"
        self.out.steps.append(Step(name, as_kept(s, r), False, rule, s.name))
        self.temps[s.name] = Temp(name, s.definition.schema, False)

    # -- bags

    def replaced(self, s: StateDef, q: Window, deltas: Deltas) -> Relation:
        """The rows of touched partitions computed, and those that are kept for them taken back."""
        deltas.used.add("keyed")
        d = deltas.of(q.input)
        if is_empty(d):
            return d
        exprs = list(q.partition)
        keys, cols = keys_of(d, exprs)
        pairs = list(zip(exprs, cols, strict=True))
        kept: Relation = State(s.name, s.definition.schema, ("",), "before")
        if pairs:
            kept = Semi(kept, keys, conj([same(e, k) for e, k in pairs]))
        return Union((q.rebuild((restrict(after(q.input), keys, pairs),)), negative(kept)))

    def bag(self, s: StateDef, deltas: Deltas) -> None:
        rule = "rows + Δq"
        if isinstance(s.definition, Fixpoint) and monotone(s.definition):
            change = fixpoint(s.definition, State(s.name, s.definition.schema, ("",), "before"), deltas)
            rule = "semi-naive: ΔF = fix(ΔB + ΔS(F⁻) + S⁺); where rows leave, fix(B⁺ + S⁺) − F⁻"
        elif isinstance(s.definition, Window):
            change = self.replaced(s, s.definition, deltas)
            rule = "Δq = q(R⁺⋉K) − rows⋉K, K = δ(π_K |ΔR|): the kept rows leave, not rows computed again"
        else:
            change = deltas.of(s.definition)
        if "whole" in deltas.used:
            old = State(s.name, s.definition.schema, ("",), "before")
            change = Union((after(s.definition), negative(old)))
            rule = "q(R⁺) − rows"
        change = self.resolve(change)
        if is_empty(change):
            return
        name = f"delta_{s.name}"
        self.out.steps.append(Step(name, Net(change), True, rule, s.name))
        self.temps[s.name] = Temp(name, s.definition.schema, True)
        self.out.merges.append(Merge(s, self.temps[s.name], "bag", rule))
