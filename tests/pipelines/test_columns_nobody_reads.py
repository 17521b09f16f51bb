"""A column that came and that no view reads is no reason to copy a table again, whatever the views' strategies are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pipelines.deploying import redeploy
from tests.project import Project

SUMS = "SELECT g, count(*) AS n, sum(x) AS s FROM t GROUP BY g"
OPTIONS = ["", "target_lag = '1 s', final_work = 0.2", "strategy = 'partial', key = 'g'", "strategy = 'split'"]


@pytest.mark.parametrize("options", OPTIONS)
def test_only_what_is_new_is_copied(options: str, database: str, tmp_path: Path, monkeypatch: Any) -> None:
    copied: list[set[str]] = []
    add = redeploy.add_tables

    def noted(config: Any, d: Any, n: Any, *rest: Any) -> None:
        copied.append(n.tables)
        add(config, d, n, *rest)

    monkeypatch.setattr(redeploy, "add_tables", noted)
    p = Project.create(tmp_path, database, {})
    p.source(
        "CREATE TABLE t (id int PRIMARY KEY, g int, x int)",
        "CREATE TABLE later (id int PRIMARY KEY)",
        "INSERT INTO t SELECT i, i % 5, i FROM generate_series(1, 50) i",
    )
    p.write({"v": SUMS}, options)
    p.deploy()
    p.source("ALTER TABLE t ADD spare int DEFAULT 7", "UPDATE t SET x = x + 1")
    (tmp_path / "views" / "w.sql").write_text("CREATE MATERIALIZED VIEW w AS SELECT count(*) AS n FROM later")
    p.deploy()
    assert copied == [{"public.later"}]
