"""Recompute: the view's rows are kept; at each batch that touches them the query is evaluated again and compared
with what is kept."""

from __future__ import annotations

from compiler.ir.relation import Relation
from compiler.maintain.kept import Bag
from compiler.maintain.naming import state_name
from compiler.maintain.offer import Offer, Wanted
from compiler.maintain.readable import cut_where_timed, over_rows

NAME = "recompute"


def offer(w: Wanted) -> Offer:
    """One state for each part of the query that does not read the time."""
    states: dict[str, Bag] = {}

    def keep(rows: Relation) -> Relation:
        s = Bag(state_name([w.view], rows, "again"), rows, again=True)
        states[s.name] = s
        return s.read()

    top, notes = cut_where_timed(w.query, lambda n: over_rows(n, keep))
    return Offer(list(states.values()), top, notes)
