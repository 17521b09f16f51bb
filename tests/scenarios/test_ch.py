"""CH-benCHmark: its 22 queries over TPC-C's tables, maintained while orders are placed, paid and delivered."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest

from pipelines import deployment as store
from tests.project import Project
from tests.scenarios.test_cases import ENGINES, views

CASE = Path(__file__).parent / "ch"


def play(dsn: str, script: Path) -> None:
    with psycopg.connect(dsn, autocommit=True) as c:
        c.execute(script.read_text().encode())


@pytest.mark.parametrize("engine", ENGINES)
def test_every_query_is_maintained_under_transactions(engine: str, database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, views(CASE), engine)
    play(database, CASE / "schema.sql")
    play(database, CASE / "load.sql")
    p.deploy()
    told = {v.name: v.maintenance for v in store.require(p.config.warehouse_path).views}
    assert len(told) == 22 and set(told.values()) <= {"incremental", "keyed"}, told
    p.assert_equal()
    for batch in sorted((CASE / "batches").glob("*.sql")):
        play(database, batch)
        p.assert_equal()
