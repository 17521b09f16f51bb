"""Views that cannot be filled again stay set aside, and are filled once their cause is gone."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipelines.deploying.heal import heal
from tests.project import Project

VIEWS = {
    "v": "SELECT id, x::int AS n FROM t",
    "s": "SELECT b, sum(x::int) AS n FROM t GROUP BY b",
    "w": "SELECT id FROM t",
}


@pytest.mark.parametrize("by", ["heal", "deploy"])
def test_what_cannot_be_filled_stays(by: str, database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, VIEWS)
    p.source("CREATE TABLE t (id int PRIMARY KEY, x text, b int)", "INSERT INTO t VALUES (1, '1', 1)")
    p.deploy()

    def again() -> None:
        if by == "heal":
            heal(p.config, lambda *_: None, lambda _: None)
        else:
            p.deploy(keep_going=True)

    p.source("INSERT INTO t VALUES (2, 'none', 1)")
    p.catch_up()
    for _ in range(2):
        again()
        assert {v.name: bool(v.error) for v in p.deployed.views} == {"v": True, "s": True, "w": False}
    p.source("DELETE FROM t WHERE id = 2")
    again()
    assert not any(v.error for v in p.deployed.views) and len(p.deployed.views) == 3
    p.assert_equal()
    p.source("INSERT INTO t VALUES (3, '3', 1)")
    p.assert_equal()
