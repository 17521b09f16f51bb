"""First order: each aggregate, inexact window and recursion is a state, and so are the rows of the view below its
readable top.

What a batch changes in a state is derived by the delta rules: Δ of its definition over the batch, the mirrors and
the states below it (OpenIVM, DBSP). An aggregate is kept as accumulators where they can take rows back (`additive`),
otherwise its groups are computed again.
"""

from __future__ import annotations

from compiler.delta.recursive import apart
from compiler.ir.parts import of_a_round
from compiler.ir.relation import (
    Agg,
    Aggregate,
    Fixpoint,
    Project,
    Relation,
    Scan,
    State,
    TopK,
    Window,
    transform,
    walk,
)
from compiler.ir.scalar import Col
from compiler.ir.types import INT8
from compiler.ir.verify import Pass, passed
from compiler.maintain.facts import Facts
from compiler.maintain.kept import COUNT, Accumulated, Bag, Kept, Recomputed
from compiler.maintain.naming import state_name, tables_of
from compiler.maintain.offer import Offer, Wanted
from compiler.maintain.readable import cut_where_timed, over_rows, peel, under
from compiler.maintain.strategy.additive import additive_aggregates
from compiler.simplify.filters import push_filters
from compiler.simplify.products import connect_joins
from compiler.simplify.projects import fuse_projects

NAME = "first_order"
PASSES: tuple[Pass, ...] = (additive_aggregates, fuse_projects, push_filters, connect_joins, fuse_projects)


def offer(w: Wanted) -> Offer:
    """The states of a normalized query, and what reads it from them."""
    first = FirstOrder(w.view)
    top, notes = cut_where_timed(passed(w.query, *PASSES), first.settled)
    return Offer(list(first.states.values()), top, notes)


class FirstOrder:
    """Collects the states of one view."""

    def __init__(self, view: str) -> None:
        self.view = view
        self.states: dict[str, Kept] = {}

    def settled(self, n: Relation) -> Relation:
        """n over states alone: what is readable stays above the last of them."""
        above, below = peel(n)
        body = fuse_projects(under(above, transform(below, self.kept)))
        _, rest = peel(body)
        return body if isinstance(rest, State) else over_rows(body, self.below_top)

    def below_top(self, n: Relation) -> State:
        n = transform(n, self.ordered)
        return self.rows(n, state_name([self.view], n, "rows"))

    def kept(self, n: Relation) -> Relation:
        """An operator replaced by a state that holds its rows, where it is kept."""
        if isinstance(n, Aggregate | Window | Fixpoint) and not of_a_round(n):
            match n:
                case Aggregate():
                    return self.groups(Aggregate(transform(n.input, self.ordered), n.keys, n.aggs), n.schema)
                case Window() if not Facts(n).repeatable:
                    return self.rows(transform(n, self.ordered), state_name([*tables_of(n), "windows"], n))
                case Fixpoint():
                    q = apart(n, lambda x: self.rows(transform(x, self.ordered), state_name([self.view], x, "beside")))
                    return self.rows(q, state_name([n.name], q))
        return n

    def groups(self, n: Aggregate, shown: tuple[Col, ...]) -> Relation:
        s = group_state(n)
        self.states.setdefault(s.name, s)
        raw = s.read()
        return Project(raw, tuple((c.name, c if c.name in raw.names else Col(COUNT, INT8)) for c in shown))

    def rows(self, n: Relation, name: str) -> State:
        s = Bag(name, n)
        self.states.setdefault(name, s)
        return s.read()

    def ordered(self, n: Relation) -> Relation:
        """Below other operators, a window or LIMIT over all rows reads rows that are kept for it."""
        if not isinstance(n, Window | TopK) or n.partition or not any(isinstance(x, Scan) for x in walk(n.input)):
            return n
        return n.rebuild((self.rows(n.input, state_name([self.view], n.input, "ordered")),))


def group_state(n: Aggregate) -> Accumulated | Recomputed:
    """The state of an aggregate: accumulators when it has only those, otherwise its groups as computed."""
    rows = (COUNT, Agg("count", (), INT8))
    definition = Aggregate(n.input, n.keys, (rows, *((k, a) for k, a in n.aggs if a != rows[1])))
    words = [*tables_of(n), "by", *(k for k, _ in n.keys)] if n.keys else [*tables_of(n), "total"]
    kind = Accumulated if Facts(n).accumulated else Recomputed
    return kind(state_name(words, definition), definition)
