"""A strategy written by the page `docs/design.md#adding-a-strategy`: the rows of the view are all that is kept."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from compiler.ir.relation import Relation
from compiler.ir.zset import Database
from compiler.maintain import choose, strategy
from compiler.maintain.kept import Bag
from compiler.maintain.naming import state_name
from compiler.maintain.offer import Offer, Wanted
from compiler.maintain.readable import cut_where_timed, over_rows
from tests.compiler.maintain.proof import follows
from tests.compiler.maintain.strategies import MORE, databases, queries
from tests.project import Project


def offer(w: Wanted) -> Offer:
    """One state of rows, its change by the delta rules alone: aggregates inside are computed again by their keys."""
    states: dict[str, Bag] = {}

    def keep(rows: Relation) -> Relation:
        s = Bag(state_name([w.view], rows, "toy"), rows)
        states[s.name] = s
        return s.read()

    top, notes = cut_where_timed(w.query, lambda n: over_rows(n, keep))
    return Offer(list(states.values()), top, notes)


@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(q=queries(more=MORE), db=databases(), data=st.data())
def test_its_states_are_their_definitions_after_every_batch(q: Relation, db: Database, data: st.DataObject) -> None:
    follows(offer, q, db, data)


def test_a_view_is_kept_by_it(database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known = {**strategy.STRATEGIES, "toy": offer}
    for module in (choose, strategy):
        monkeypatch.setattr(module, "STRATEGIES", known)
    monkeypatch.setattr("pipelines.project.STRATEGIES", known)
    p = Project.create(tmp_path, database, {})
    (p.home / "views" / "totals.sql").write_text(
        "CREATE MATERIALIZED VIEW totals WITH (strategy = 'toy') AS SELECT g, count(*) AS n, sum(x) AS s FROM t GROUP "
        "BY g"
    )
    p.source(
        "CREATE TABLE t (id int PRIMARY KEY, g int, x int)",
        "INSERT INTO t SELECT i, i % 5, i FROM generate_series(1, 50) i",
    )
    (told,) = p.deploy().views
    assert (
        told.strategy == "toy" and told.plan is not None and [s.name[:10] for s in told.plan.states] == ["totals_toy"]
    )
    for change in (
        "UPDATE t SET g = g + 1 WHERE id % 3 = 0",
        "DELETE FROM t WHERE g = 2",
        "INSERT INTO t VALUES (100, 2, 7)",
    ):
        p.source(change)
        p.assert_equal()
