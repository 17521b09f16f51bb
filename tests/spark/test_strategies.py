"""Views by the strategies on Spark: each batch is a commit of every state and tail that it changes."""

from __future__ import annotations

from pathlib import Path

import pytest

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
