"""The proof of every strategy, on random queries, tables and batches."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from compiler.ir.relation import Relation
from compiler.ir.zset import Database
from compiler.maintain.late import lagged
from compiler.maintain.offer import Offer, Wanted
from compiler.maintain.strategy import PLAIN, first_order
from tests.compiler.maintain.proof import follows
from tests.compiler.maintain.strategies import MORE, databases, queries

SOME = settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))


def late(w: Wanted) -> Offer:
    """First order, with the states lagging that can."""
    made = first_order.offer(w)
    return Offer(*lagged(made.states, made.top))


EVERY = {**PLAIN, "late": late}


@pytest.mark.parametrize("strategy", EVERY)
@SOME
@given(q=queries(more=MORE), db=databases(), data=st.data())
def test_states_are_their_definitions_after_every_batch(
    strategy: str, q: Relation, db: Database, data: st.DataObject
) -> None:
    follows(EVERY[strategy], q, db, data)
