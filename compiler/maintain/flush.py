"""The program that lets a state take what waits of some of its inputs: its delta rule, with that as their Δ.

It runs between batches. A mirror is then the table after all that waits, and the table as the state has it is that
less what waits: to the rules it is a batch that has landed already. What the state changes by it is put behind what
waits for the states that read it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from compiler.delta.keyed import negative
from compiler.delta.rules import Deltas
from compiler.errors import CompilerBug
from compiler.ir.relation import Net, Project, Relation, Scan, State, Temp, Union, transform
from compiler.ir.scalar import Lit, Scalar
from compiler.maintain.change import Append, Clear
from compiler.maintain.differentiate import Differentiation, pruned
from compiler.maintain.kept import Accumulated, Bag, Kept, Recomputed, Waiting, own
from compiler.maintain.program import Program, Step

NOW = "now"  # of an input that is a state: as it is stored


def flush(states: Iterable[Kept], name: str, sources: frozenset[str], nothing: frozenset[str] = frozenset()) -> Program:
    """The program by which one of a view's states takes what waits of the inputs `sources`, of which some does. Of the
    inputs `nothing` none waits: they are what the state has taken of them."""
    states = list(states)
    by_name = {s.name: s for s in own(states)}
    s = by_name[name]
    readers = [(r, w) for r in by_name.values() for w in r.waits if w.source == name]
    if unknown := sources - {w.source for w in s.waits}:
        raise CompilerBug(f"{name} has no inputs {', '.join(sorted(unknown))}")
    flushing = _Flush(
        frozenset(w.source for w in s.waits if w.scan is not None and w.source not in nothing),
        {name} if readers else set(),
        inputs={w.source: w for w in s.waits if w.source not in nothing},
        at_rest={w.source for w in s.waits if w.source in nothing},
        taken=sources - nothing,
        kept=by_name,
    )
    return pruned(flushing.flushed(s, [w for _, w in readers]))


@dataclass
class _Flush(Differentiation):
    inputs: dict[str, Waiting] = field(default_factory=dict)
    at_rest: set[str] = field(default_factory=set)  # inputs of which nothing waits
    taken: frozenset[str] = frozenset()
    kept: dict[str, Accumulated | Recomputed | Bag] = field(default_factory=dict)

    def flushed(self, s: Accumulated | Recomputed | Bag, readers: list[Waiting]) -> Program:
        """The program that takes into a state what waits for it, and hands what that changes on to `readers`, to wait
        there."""
        self.states[s.name] = s
        inputs = [w for w in s.waits if w.source in self.inputs]
        self.out.waiting = {w.source: standing_for(w) for w in inputs if w.scan is not None}
        for w in inputs:
            if w.scan is None:
                self.out.steps.append(Step(self.waits(w).name, Net(w.log.read()), True, "what waits", s.name))
        deltas = Deltas(self.taken)
        taken = [w.log for w in sorted(s.waits, key=lambda w: w.source) if w.source in self.taken]
        self.out.takes, self.out.taker = tuple(log.name for log in taken), s.name
        # changes are made from the last to the first
        self.out.changes += [Clear(log, "what waited was taken") for log in taken]
        self.change(s, deltas)
        if s.name in self.temps:
            found = self.bag_at(s, "delta") if isinstance(s, Bag) else self.groups_at(s, "delta")
            for w in readers:
                change = Project(found, tuple((c.name, c) for c in w.log.schema))
                self.out.changes.append(Append(w.log, change, f"Δ{s.name}, to be taken later"))
        self.out.changes.reverse()
        return self.out

    def resolve(self, r: Relation) -> Relation:
        """Inputs at a time: what is taken of them is their Δ, and they are now what they are after it; the others are
        what they were, which is what they are where nothing waits."""

        def one(n: Relation) -> Relation:
            if isinstance(n, Scan) and n.table in self.inputs and n.at == "after" and n.table not in self.taken:
                return replace(n, at="before")
            if isinstance(n, State) and n.name in self.inputs and n.at != NOW:  # what is resolved may come again
                return self.input_at(n)
            if isinstance(n, State) and n.name in self.at_rest:
                return replace(n, at=NOW)
            return n

        return super().resolve(transform(r, one))

    def input_at(self, n: State) -> Relation:
        waits, now = self.waits(self.inputs[n.name]), replace(n, at=NOW)
        if n.at == "delta":
            return waits
        if n.at == "after" and n.name in self.taken:
            return now
        return Union((now, negative(waits)))

    def waits(self, w: Waiting) -> Temp:
        """What waits of a state, added up."""
        return Temp(f"waits_{w.log.name}", w.log.schema, True)


def standing_for(w: Waiting) -> Project:
    """What waits of a table as a batch's rows: all its columns, those that nobody reads NULL."""
    assert w.scan is not None
    held = {c.name for c in w.log.schema}
    exprs: list[tuple[str, Scalar]] = [(c.name, c if c.name in held else Lit(None, c.type)) for c in w.scan.schema]
    return Project(Net(w.log.read()), tuple(exprs))
