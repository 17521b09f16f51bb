"""explain: rules, states with their sizes, and the why."""

from __future__ import annotations

import json
from pathlib import Path

from tests.project import Project


def test_states_are_shown_with_rows_and_bytes_once_deployed(database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, {"totals": "SELECT k, count(*) AS n, max(v) AS m FROM t GROUP BY k"})
    p.source("CREATE TABLE t (id int PRIMARY KEY, k int, v int)", "INSERT INTO t SELECT i, i % 7, i FROM generate_series(1, 1000) i")
    before = p.command("explain", "totals")
    assert before.returncode == 0, before.stderr
    assert "not deployed" in before.stdout
    p.deploy()
    told = p.command("explain", "totals", "--format", "json")
    (state,) = json.loads(told.stdout)["states"]
    assert state["rows"] == 7
    assert state["bytes"] > 0
    assert "7 rows" in p.command("explain", "totals").stdout
