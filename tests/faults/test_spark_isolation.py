"""A statement over two views on Spark, while batches change both: no total that never existed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.faults.isolation import SCHEMA, VIEWS, poll, transfers
from tests.pipelines.running import running, until
from tests.project import Project

POLLS = int(os.environ.get("TIDEMARK_POLLS", "60"))


@pytest.mark.spark
@pytest.mark.slow
def test_a_statement_over_two_views_sees_one_frontier(database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, VIEWS, "spark")
    p.source(*SCHEMA)
    p.deploy()
    with running(p, 120) as pipeline, transfers(p.dsn) as done:
        until(lambda: poll(p, 1, 1).seen == 1 and done[0] > 5, "the views are read", 120)
        result = poll(p, POLLS, 2)
        assert pipeline.poll() is None
    assert result.polls == POLLS and not result.torn, result
    assert result.seen > 1, "the views stood still"
    p.assert_equal()
