"""Paces: the states of first order, each of which takes what changed in its inputs at a pace of its own.

An inner aggregate that moves all the time makes work for those above it that its next move undoes: they take its
changes rarely, and what costs as much at any time is done early ("Thrifty Query Execution via Incrementability").
When, is decided where it runs (`pipelines/pacing`), by what is waiting and what work was measured to take.
"""

from __future__ import annotations

from compiler.errors import InvalidSql
from compiler.maintain.offer import Offer, Wanted
from compiler.maintain.paced import paced
from compiler.maintain.strategy import first_order

NAME = "paces"


def offer(w: Wanted) -> Offer:
    """The states of first order with a log for each of their inputs, and what reads the view from them. Raises
    InvalidSql where it says no lag."""
    if w.lag is None:
        raise InvalidSql(
            f'view "{w.view}" has paces, and says no target_lag',
            hint="WITH (strategy = 'paces', target_lag = '1 h'): how far it may lag behind the source.",
            code="unknown_option",
        )
    offered = first_order.offer(w)
    return Offer(*paced(offered.states, offered.top), offered.notes)
