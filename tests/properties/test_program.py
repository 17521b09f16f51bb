"""The proof of every strategy, on random queries, tables and batches."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from compiler.ir.relation import Relation
from compiler.ir.zset import Database
from compiler.maintain.late import lag
from compiler.maintain.strategy import STRATEGIES, first_order
from tests.properties.proof import follows
from tests.properties.strategies import MORE, databases, queries

SOME = settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))


EVERY = {**STRATEGIES, "auto": lambda view, q: lag(first_order.offer(view, q))}


@pytest.mark.parametrize("strategy", EVERY)
@SOME
@given(q=queries(more=MORE), db=databases(), data=st.data())
def test_states_are_their_definitions_after_every_batch(
    strategy: str, q: Relation, db: Database, data: st.DataObject
) -> None:
    follows(EVERY[strategy], q, db, data)
