"""Split: what arrives is taken as far as the first pipeline breaker, the rest is done when the view is read.

The lowest aggregates are kept as accumulators that lag: a batch appends its own behind those that wait, which costs
it no look-up. Readers add the two up, and evaluate whatever stands above: joins of aggregates, further aggregates,
windows, limits ("Meet Me Halfway", section 3). What waits is folded now and then. Rows that meet an aggregate without
one of their own are kept as rows.
"""

from __future__ import annotations

from compiler.ir.parts import of_a_round
from compiler.ir.relation import Aggregate, Fixpoint, Project, Relation, Scan, TopK, Window, walk
from compiler.ir.scalar import Col
from compiler.ir.types import INT8
from compiler.ir.verify import passed
from compiler.maintain.kept import COUNT, Accumulated
from compiler.maintain.late import lagged
from compiler.maintain.naming import state_name
from compiler.maintain.offer import Offer, Wanted
from compiler.maintain.readable import cut_where_timed
from compiler.maintain.strategy.first_order import PASSES, FirstOrder, group_state
from compiler.simplify.prune import prune

NAME = "split"
BREAKERS = (Aggregate, Window, TopK, Fixpoint)


def offer(w: Wanted) -> Offer:
    """Lagging accumulators and rows, and what finishes them for a reader."""
    split = Split(w.view)
    top, notes = cut_where_timed(passed(w.query, *PASSES), lambda n: split.cut(passed(n, prune)))
    return Offer(*lagged(split.states.values(), top), notes)


class Split(FirstOrder):
    """Collects the states of one view."""

    def cut(self, n: Relation) -> Relation:
        """n over states: all of it that stands above the first breaker is evaluated by who reads it."""
        if not any(isinstance(x, Scan) for x in walk(n)):
            return n
        if isinstance(n, Fixpoint) and not of_a_round(n):
            return self.kept(n)
        if isinstance(n, Aggregate) and not _breaks(n.input):
            return self.accumulators(n)
        if not _breaks(n):
            return self.rows(n, state_name([self.view], n, "rows"))
        return n.rebuild(tuple(map(self.cut, n.inputs)))

    def accumulators(self, n: Aggregate) -> Relation:
        s = group_state(n)
        if not isinstance(s, Accumulated) or s.has_extrema:
            return n.rebuild((self.cut(n.input),))
        self.states.setdefault(s.name, s)
        raw = s.read()
        return Project(raw, tuple((c.name, c if c.name in raw.names else Col(COUNT, INT8)) for c in n.schema))


def _breaks(n: Relation) -> bool:
    return any(isinstance(x, BREAKERS) for x in walk(n))
