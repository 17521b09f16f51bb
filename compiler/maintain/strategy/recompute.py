"""Recompute: the view's rows are kept; at each batch that touches them the query is evaluated again and compared
with what is kept."""

from __future__ import annotations

from compiler.ir.relation import Relation
from compiler.maintain.kept import Bag
from compiler.maintain.naming import state_name
from compiler.maintain.readable import Offer, cut_where_timed, settle

NAME = "recompute"


def offer(view: str, q: Relation) -> Offer:
    """One state for each part of the query that does not read the time."""
    states: dict[str, Bag] = {}

    def settled(n: Relation) -> Relation:
        rest, ops = settle(n)
        s = Bag(state_name([view], rest, "again"), rest, again=True)
        states[s.name] = s
        out: Relation = s.read()
        for op in reversed(ops):
            out = op.rebuild((out,))
        return out

    top, notes = cut_where_timed(q, settled)
    return Offer(list(states.values()), top, notes)
