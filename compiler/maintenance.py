"""The maintenance of a set of views: named statements, in order, for a batch that changes some tables.

First every new value is computed from states not yet touched (`Step`), then the states take them (`Merge`): so each
state is read as it was before the batch, and an engine whose tables commit one by one can repeat the second part.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from compiler.delta.keyed import negative
from compiler.delta.recursive import fixpoint, monotone
from compiler.delta.restrict import keys_of, restrict
from compiler.delta.rules import Deltas
from compiler.delta.times import after
from compiler.ir.relation import (
    Agg,
    Aggregate,
    Filter,
    Fixpoint,
    LeftJoin,
    Net,
    Project,
    Relation,
    Scan,
    Semi,
    State,
    Temp,
    Union,
    is_empty,
    transform,
    walk,
)
from compiler.ir.scalar import Call, Col, Lit, Scalar, case, columns, conj, negate, same
from compiler.ir.types import BOOL, INT4, INT8
from compiler.simplify.prune import prune
from compiler.state import COUNT, StateDef, ViewPlan

ZERO = Lit(0, INT8)


@dataclass(frozen=True)
class Statement:
    """SQL text and what it is about. `kind`: create, fill, step, merge, read. `needs` are tables that must have changed."""

    kind: str
    target: str
    sql: str
    reads: tuple[str, ...]
    writes: str
    rule: str
    state: str = ""


@dataclass(frozen=True)
class Step:
    """A result kept for the rest of the batch under `name`; `signed` ones have a weight column."""

    name: str
    relation: Relation
    signed: bool
    rule: str
    state: str


@dataclass(frozen=True)
class Merge:
    """A state takes its change. `how`: add (accumulators are added), replace (groups are replaced), bag (weights)."""

    state: StateDef
    source: Relation
    how: str
    rule: str


@dataclass
class Program:
    """What to run for a batch: steps, then merges. `rules` names the kinds of rules each state uses."""

    steps: list[Step] = field(default_factory=list)
    merges: list[Merge] = field(default_factory=list)
    rules: dict[str, set[str]] = field(default_factory=dict)

    def columns(self, *times: str) -> dict[str, frozenset[str]]:
        """Of each table, the columns read at one of `times`: those of the projection right above its scan."""
        out: dict[str, frozenset[str]] = {}
        for r in (*(s.relation for s in self.steps), *(m.source for m in self.merges)):
            for n in (Project(r, tuple((c.name, c) for c in r.schema)), *walk(r)):
                for scan in n.inputs:
                    if isinstance(scan, Scan) and scan.at in times:
                        read = columns(*(e for _, e in n.exprs)) if isinstance(n, Project) else scan.names
                        out[scan.table] = out.get(scan.table, frozenset()) | set(read)
        return out


def states_of(plans: list[ViewPlan]) -> list[StateDef]:
    """All states, each once, those that others read first."""
    out: dict[str, StateDef] = {}
    for p in plans:
        for s in p.states:
            out.setdefault(s.name, s)
    return list(out.values())


def program(plans: list[ViewPlan], changed: frozenset[str]) -> Program:
    """The statements for a batch that changes the tables `changed` (schema-qualified names)."""
    states = states_of(plans)
    read = {n.name for s in states for n in walk(s.definition) if isinstance(n, State)}
    return _Builder(changed, read).build(states)


@dataclass
class _Builder:
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
            self.out.rules[s.name] = deltas.used | ({"keyed"} if s.kind == "keyed" or self.extrema(s) else set())
        self.out.steps = [replace(s, relation=prune(s.relation)) for s in self.out.steps]
        self.out.merges = [replace(m, source=m.source if isinstance(m.source, Temp) else prune(m.source)) for m in self.out.merges]
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

    def extrema(self, s: StateDef) -> bool:
        return isinstance(s.definition, Aggregate) and any(a.fn in ("min", "max") for _, a in s.definition.aggs)

    def groups(self, s: StateDef, deltas: Deltas) -> None:
        q = s.definition
        assert isinstance(q, Aggregate)
        change = self.resolve(deltas.of(q.input))
        if is_empty(change):
            return
        deltas.used.add("keyed" if s.kind == "keyed" else "additive")
        if s.kind == "keyed":
            self.step(s, self.recomputed(q, change), "Δγ(R) = γ(R⁺⋉K) − γ(R⁻⋉K), K = δ(π_K |ΔR|)")
        elif self.extrema(s):
            self.step(s, self.with_extrema(s, q, change), "accumulators + γ(ΔR); groups that lost an extremum: γ(R⁺⋉K)")
        elif s.name in self.read:
            added = q.rebuild((change,))
            self.step(s, self.summed(s, q, added), "accumulators + γ(ΔR)")
        else:
            self.out.merges.append(Merge(s, self.nonzero(q.rebuild((change,))), "add", "γ(R + ΔR) = γ(R) + γ(ΔR)"))
            return
        self.out.merges.append(Merge(s, self.temps[s.name], "replace", "touched groups take their new values"))

    def nonzero(self, r: Relation) -> Relation:
        assert isinstance(r, Aggregate)
        if not r.keys:
            return r
        some = [Call("<>", (Col(n, a.type), Lit(0, INT4)), BOOL) for n, a in r.aggs]
        return Filter(r, some[0] if len(some) == 1 else Call("or", tuple(some), BOOL))

    def step(self, s: StateDef, r: Relation, rule: str) -> None:
        name = f"new_{s.name}"
        self.out.steps.append(Step(name, r, False, rule, s.name))
        self.temps[s.name] = Temp(name, s.definition.schema, False)

    def old(self, s: StateDef) -> tuple[Relation, dict[str, Col]]:
        """The state before the batch under other column names, and those names."""
        cols = s.definition.schema
        names = {c.name: Col(f"old_{c.name}", c.type) for c in cols}
        before = State(s.name, cols, s.key, "before")
        return Project(before, tuple((names[c.name].name, c) for c in cols)), names

    def summed(self, s: StateDef, q: Aggregate, added: Relation) -> Relation:
        """Old accumulators plus the batch's, for every group of the batch."""
        old, names = self.old(s)
        on = conj([same(added.col(k), names[k]) for k in s.key])
        joined = LeftJoin(added, old, on)
        exprs: list[tuple[str, Scalar]] = [(k, added.col(k)) for k in s.key]
        exprs += [(n, self.plus(names[n], Col(n, a.type))) for n, a in q.aggs]
        return Project(joined, tuple(exprs))

    def plus(self, old: Col, new: Col) -> Scalar:
        zero: Scalar = Lit(0, INT8) if old.type == INT8 else Lit("0", old.type)
        return Call("cast", (Call("+", (Call("coalesce", (old, zero), old.type), new), old.type),), old.type)

    def with_extrema(self, s: StateDef, q: Aggregate, change: Relation) -> Relation:
        """MIN and MAX take what was inserted; a group whose extremum left, and was not replaced, is computed again."""
        inputs: dict[Scalar, str] = {}

        def put(x: Scalar) -> Col:
            inputs.setdefault(x, f"in_{len(inputs)}")
            return Col(inputs[x], x.type)

        keys = tuple((k, put(e)) for k, e in q.keys)
        aggs: list[tuple[str, Agg]] = []
        for n, a in q.aggs:
            args, keep = tuple(put(x) for x in a.args), put(a.filter) if a.filter is not None else None
            if a.fn in ("min", "max"):
                aggs += [(f"{n}_in", Agg(f"{a.fn}_in", args, a.type, keep)),
                         (f"{n}_out", Agg(f"{a.fn}_out", args, a.type, keep))]
            else:
                aggs.append((n, Agg(a.fn, args, a.type, keep)))
        net = Net(Project(change, tuple((name, x) for x, name in inputs.items())))
        added = Aggregate(net, keys, tuple(aggs))
        old, names = self.old(s)
        joined: Relation = LeftJoin(added, old, conj([same(added.col(k), names[k]) for k in s.key]))
        extrema = [(n, a) for n, a in q.aggs if a.fn in ("min", "max")]
        gone = [self.gone(n, a, names[n]) for n, a in extrema]
        lost = gone[0] if len(gone) == 1 else Call("or", tuple(gone), BOOL)
        marked = Project(joined, (*((c.name, c) for c in joined.schema), ("lost", Call("is_true", (lost,), BOOL))))
        again = self.again(q, Filter(marked, Col("lost", BOOL)), extrema)
        on = conj([same(marked.col(k), Col(f"again_{k}", e.type)) for k, e in q.keys]) if q.keys else Col("lost", BOOL)
        whole = LeftJoin(marked, again, on)
        exprs: list[tuple[str, Scalar]] = [(k, Col(k, e.type)) for k, e in q.keys]
        for n, a in q.aggs:
            if a.fn in ("min", "max"):
                kept = Call("least" if a.fn == "min" else "greatest", (names[n], Col(f"{n}_in", a.type)), a.type)
                exprs.append((n, case([(Col("lost", BOOL), Col(f"again_{n}", a.type))], kept, a.type)))
            else:
                exprs.append((n, self.plus(names[n], Col(n, a.type))))
        return Project(whole, tuple(exprs))

    def gone(self, n: str, a: Agg, old: Col) -> Scalar:
        """Whether the old extremum was deleted and nothing as extreme was inserted."""
        out, new = Col(f"{n}_out", a.type), Col(f"{n}_in", a.type)
        beyond = "<=" if a.fn == "min" else ">="
        kept = Call("is_true", (Call(beyond, (new, old), BOOL),), BOOL)
        return conj([Call("is_true", (Call(beyond, (out, old), BOOL),), BOOL), negate(kept)])

    def again(self, q: Aggregate, lost: Relation, extrema: list[tuple[str, Agg]]) -> Relation:
        if q.keys:
            keys, cols = keys_of(lost, [Col(k, e.type) for k, e in q.keys])
            pairs: list[tuple[Scalar, Col]] = [(e, c) for (_, e), c in zip(q.keys, cols, strict=True)]
        else:
            keys, cols = keys_of(lost, [Lit(1, INT4)])
            pairs = [(Lit(1, INT4), cols[0])]
        source = self.resolve(restrict(after(q.input), keys, pairs))
        return Aggregate(source, tuple((f"again_{k}", e) for k, e in q.keys),
                         tuple((f"again_{n}", a) for n, a in extrema))

    def recomputed(self, q: Aggregate, change: Relation) -> Relation:
        """γ(R⁺⋉K), with a row of count 0 for each key of K that has no rows left."""
        keys, cols = keys_of(change, [e for _, e in q.keys])
        source = self.resolve(restrict(after(q.input), keys, [(e, c) for (_, e), c in zip(q.keys, cols, strict=True)]))
        new = q.rebuild((source,))
        if not q.keys:
            return new
        touched = Project(keys, tuple((f"key_{k}", c) for (k, _), c in zip(q.keys, cols, strict=True)))
        on = conj([same(Col(f"key_{k}", e.type), Col(k, e.type)) for k, e in q.keys])
        joined = LeftJoin(touched, new, on)
        exprs: list[tuple[str, Scalar]] = [(k, Col(f"key_{k}", e.type)) for k, e in q.keys]
        exprs += [(n, Call("coalesce", (Col(n, a.type), ZERO), INT8) if n == COUNT else Col(n, a.type))
                  for n, a in q.aggs]
        return Project(joined, tuple(exprs))

    # -- bags

    def bag(self, s: StateDef, deltas: Deltas) -> None:
        rule = "rows + Δq"
        if isinstance(s.definition, Fixpoint) and monotone(s.definition):
            change = fixpoint(s.definition, State(s.name, s.definition.schema, ("",), "before"), deltas)
            rule = "semi-naive: ΔF = fix(ΔB + ΔS(F⁻) + S⁺); where rows leave, fix(B⁺ + S⁺) − F⁻"
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


def maintenance_of(plan: ViewPlan) -> str:
    """incremental (delta rules only), keyed (affected keys are recomputed) or recompute."""
    used = rules_of(plan)
    if "whole" in used:
        return "recompute"
    return "keyed" if "keyed" in used else "incremental"


def rules_of(plan: ViewPlan) -> set[str]:
    p = program([plan], plan.tables)
    return {r for rules in p.rules.values() for r in rules}
