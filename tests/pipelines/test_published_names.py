"""A deploy after a table was renamed, which nobody has seen yet: it stays published."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pipelines.renames import small, stopped
from tests.pipelines.running import running


@pytest.mark.parametrize("runs", [True, False])
def test_a_deploy_right_after_a_table_was_renamed(runs: bool, database: str, tmp_path: Path) -> None:
    p = small(tmp_path, database, {"m": "SELECT g, sum(v) AS s FROM t GROUP BY g", "o": "SELECT id FROM u"})

    def deployed() -> None:
        p.source("ALTER TABLE t RENAME TO renamed", "CREATE TABLE w (id int PRIMARY KEY)")
        p.write({"added": "SELECT id FROM w"})
        p.command("deploy", "--keep-going")
        p.source("INSERT INTO renamed VALUES (500, 1, 1)", "INSERT INTO w VALUES (1)")

    if runs:
        with running(p) as process:
            deployed()
            assert process.poll() is None
            p.source("UPDATE renamed SET v = v + 1")
            p.assert_equal()
    else:
        deployed()
        p.assert_equal()
    assert stopped(p) == set()


def test_a_table_that_nobody_reads_any_more_was_not_published(database: str, tmp_path: Path) -> None:
    p = small(tmp_path, database, {"m": "SELECT g, sum(v) AS s FROM t GROUP BY g", "o": "SELECT id FROM u"})
    p.source(f'ALTER PUBLICATION "{p.deployed.publication}" DROP TABLE u')
    (p.home / "views" / "o.sql").unlink()
    p.write({"other": "SELECT v, count(*) AS n FROM t GROUP BY v"})
    p.deploy()
    p.assert_equal()
