"""Views by the strategies on Spark: each batch is a commit of every state and tail that it changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from connectors.failpoints import Action, FailpointReached, Failpoints
from pipelines import folding
from tests.pipelines.test_folding import COMMITS, project

pytestmark = pytest.mark.spark


@pytest.mark.parametrize("strategy", ["split", "higher_order"])
def test_a_batch_folds(database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, strategy: str) -> None:
    monkeypatch.setattr(folding, "BATCHES", 1)
    monkeypatch.setattr(folding, "LOOK", 1)
    p = project(database, tmp_path, strategy, "spark")
    p.deploy()
    for commit in COMMITS[:3]:
        p.source(commit)
        p.assert_equal()


def test_a_batch_that_folds_is_cut_anywhere(database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """States that lag, their tails and the eager ones are of one batch, or of the one before."""
    monkeypatch.setattr(folding, "BATCHES", 1)
    monkeypatch.setattr(folding, "LOOK", 1)
    p = project(database, tmp_path, "split", "spark")
    p.deploy()
    points = ("spark.landed", "spark.computed", "spark.manifest", "spark.commit", "spark.committed", "spark.cleared")
    for commit, point in zip(COMMITS, points, strict=True):
        p.source(commit)
        with monkeypatch.context() as cut:
            commits = 2 if point == "spark.commit" else 1  # the others are passed once
            cut.setattr("connectors.failpoints.ACTIVE", Failpoints({point: (Action.RAISE, commits)}))
            with pytest.raises(FailpointReached):
                p.catch_up()
        p.assert_equal()
