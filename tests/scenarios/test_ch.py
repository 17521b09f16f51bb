"""CH-benCHmark: its 22 queries over TPC-C's tables, maintained while orders are placed, paid and delivered."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.project import Project
from tests.scenarios.test_cases import WAYS, views

CASE = Path(__file__).parent / "ch"


@pytest.mark.parametrize(("engine", "strategy"), WAYS)
def test_every_query_is_maintained_under_transactions(
    engine: str, strategy: str, database: str, tmp_path: Path
) -> None:
    p = Project.create(tmp_path, database, views(CASE), engine, strategy=strategy)
    p.play(CASE / "schema.sql")
    p.play(CASE / "load.sql")
    p.deploy()
    told = p.maintenance
    assert len(told) == 22 and set(told.values()) <= {"incremental", "keyed"}, told
    p.follow(CASE / "batches")
