"""On Spark too: changes that were lost are copied again, refused values stop what reads them, mirrors are compared
and mended."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.project import Project

VIEWS = {"totals": "SELECT a, count(*) AS n FROM t GROUP BY a", "sums": "SELECT a, sum(n) AS s FROM t GROUP BY a"}


@pytest.mark.spark
@pytest.mark.slow
def test_lost_changes_and_refused_values(database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, VIEWS, engine="spark")
    p.source(
        "CREATE TABLE t (id int PRIMARY KEY, a int, n numeric)",
        "INSERT INTO t SELECT g, g % 3, g FROM generate_series(1, 30) g",
    )
    p.deploy()
    p.source(f"SELECT pg_drop_replication_slot('{p.deployed.slot}')", "DELETE FROM t WHERE id < 10")
    done = p.command("run", "--once")
    assert done.returncode == 1 and "--resync" in done.stderr, done
    done = p.command("deploy", "--resync")
    assert done.returncode == 0, done.stderr
    p.source("INSERT INTO t VALUES (40, 1, 1)", "INSERT INTO t VALUES (50, 1, 0.12345678901234567)")
    done = p.command("run", "--once")
    assert done.returncode == 0 and 'view "sums" is set aside' in done.stderr, done
    lines = p.command("verify").stdout
    assert "totals: equal" in lines and "table public.t on spark: equal" in lines, lines
    p.source("UPDATE t SET n = 2 WHERE id = 50")
    done = p.command("deploy")
    assert done.returncode == 0, done.stderr
    name = f'"{p.deployed.publication}"'
    p.source(
        f"ALTER PUBLICATION {name} DROP TABLE t", "DELETE FROM t WHERE id = 20", f"ALTER PUBLICATION {name} ADD TABLE t"
    )
    assert p.command("run", "--once").returncode == 1
    done = p.command("deploy", "--resync")
    assert done.returncode == 0, done.stderr
    p.assert_equal()
