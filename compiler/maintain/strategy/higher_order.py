"""Higher order: what a change of one table meets in a join is kept as states of its own, added up by what is read of
it.

Of γ(R ⋈ S ⋈ T) a change of S gives γ(ΔS ⋈ γ(R) ⋈ γ(T)): R and T, which it leaves as they are, are states, grouped by
what the rest of the query reads of them and with their shares of the sums. Where R meets T by itself the state is
γ(R ⋈ T), which is maintained in the same way (DBToaster, sections 2 and 3). A mirror is read only where its rows would
be the groups.
"""

from __future__ import annotations

from dataclasses import replace

from compiler.delta.times import at
from compiler.ir.relation import Agg, Aggregate, Project, Relation
from compiler.ir.scalar import substitute
from compiler.maintain.kept import Accumulated, Kept, Term
from compiler.maintain.offer import Offer, Wanted
from compiler.maintain.strategy import first_order
from compiler.maintain.strategy.flat import Flat, flat
from compiler.maintain.strategy.parts import Groups, parts_of
from compiler.simplify.products import joined
from compiler.simplify.projects import fuse_projects

NAME = "higher_order"


def offer(w: Wanted) -> Offer:
    """The states of first order, those that add up joins with terms over further states."""
    first = first_order.offer(w)
    states = HigherOrder()
    for s in first.states:
        states.keep(s)
    return Offer(list(states.states.values()), first.top, first.notes)


class HigherOrder:
    """Collects states, each with those that its terms read before it."""

    def __init__(self) -> None:
        self.states: dict[str, Kept] = {}

    def keep(self, s: Kept) -> None:
        if s.name in self.states:
            return
        if isinstance(s, Accumulated) and not s.has_extrema:
            s = replace(s, terms=self.terms(s))
        self.states[s.name] = s

    def terms(self, s: Accumulated) -> tuple[Term, ...]:
        """A term for each relation that the state joins; none where it joins none."""
        join = flat(s.definition.input)
        if len(join.atoms) < 2:
            return ()
        keys = tuple((n, substitute(e, join.exprs)) for n, e in s.definition.keys)
        aggs = tuple((n, _over(a, join)) for n, a in s.definition.aggs)
        q = Aggregate(joined(join.atoms, join.conditions), keys, aggs)
        return tuple(self.term(q, join, i) for i in range(len(join.atoms)))

    def term(self, q: Aggregate, join: Flat, i: int) -> Term:
        """What a change of the i-th relation adds, to those before it as they were and those after it as they are."""
        parts = parts_of(q, join, i)
        rows = [at(join.atoms[j], "before" if j < i else "after") for j in parts.rows if j != i]
        met = joined([Term.hole(join.atoms[i]), *rows, *map(self.read, parts.groups)], parts.conditions)
        keys = ((k, parts.over_groups(e)) for k, e in q.keys)
        values = ((n, parts.value(a)) for n, a in q.aggs)
        return Term(join.atoms[i], fuse_projects(Project(met, (*keys, *values))))

    def read(self, g: Groups) -> Relation:
        """The groups of a part at its time, under the names that the term has for them."""
        s = first_order.group_state(g.definition)
        self.keep(s)
        return Project(s.read(g.time), g.columns)


def _over(a: Agg, join: Flat) -> Agg:
    """An aggregate over the columns of what is joined."""
    keep = substitute(a.filter, join.exprs) if a.filter is not None else None
    return replace(a, args=tuple(substitute(x, join.exprs) for x in a.args), filter=keep)
