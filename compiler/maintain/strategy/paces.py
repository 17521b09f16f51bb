"""Paces: the states of first order, each of which takes what changed in its inputs at a pace of its own.

An inner aggregate that moves all the time makes work for those above it that its next move undoes: they take its
changes rarely, and what costs as much at any time is done early ("Thrifty Query Execution via Incrementability").
When, is decided where it runs (`pipelines/pacing`), by what is waiting and what work was measured to take.
"""

from __future__ import annotations

from compiler.ir.relation import Relation
from compiler.maintain.paced import paced
from compiler.maintain.readable import Offer
from compiler.maintain.strategy import first_order

NAME = "paces"


def offer(view: str, q: Relation) -> Offer:
    """The states of first order with a log for each of their inputs, and what reads the view from them."""
    made = first_order.offer(view, q)
    return Offer(*paced(view, made.states, made.top), made.notes)
