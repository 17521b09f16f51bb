"""A standby takes over, and the views follow it: its copy of the slot is where the stream goes on."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest

from compiler.errors import TidemarkError
from tests.connectors.standby import binaries, pair
from tests.pipelines.running import running, until
from tests.project import Project

pytestmark = pytest.mark.skipif(binaries() is None, reason="no newer Postgres: scripts/fetch-postgres")
VIEWS = {"sums": "SELECT k, count(*) AS n, sum(v) AS s FROM t GROUP BY k"}
SYNCED = "SELECT synced AND NOT temporary FROM pg_replication_slots WHERE failover"


def project(home: Path, dsn: str) -> Project:
    p = Project.create(home, dsn, VIEWS)
    p.source(
        "CREATE TABLE t (id int PRIMARY KEY, k int, v int)",
        "INSERT INTO t SELECT i, i % 7, i FROM generate_series(1, 1000) i",
    )
    p.deploy()
    return p


def equal(p: Project) -> bool:
    try:
        return all(v.equal for v in p.verify())
    except TidemarkError as e:  # it has not come back yet
        assert e.code == "source_unreachable", e
        return False


def test_a_pipeline_follows_a_standby_that_takes_over(tmp_path: Path) -> None:
    found = binaries()
    assert found is not None
    with pair(found) as servers:
        p = project(tmp_path, servers.dsn)
        servers.follow()
        with running(p) as process:
            p.source("UPDATE t SET v = v + 1 WHERE k = 3", "DELETE FROM t WHERE id = 5")
            servers.until(SYNCED)
            p.source("INSERT INTO t SELECT i, i % 7, i FROM generate_series(2001, 2100) i")
            servers.take_over()
            p.source("UPDATE t SET k = 1 WHERE k = 2", "DELETE FROM t WHERE id = 2050")
            until(lambda: equal(p), "the views follow", 60)
            assert process.poll() is None
        p.source("INSERT INTO t VALUES (5000, 1, 1)")
        p.catch_up()
        p.assert_equal()


def test_a_standby_that_lacks_what_the_views_have_is_refused(tmp_path: Path) -> None:
    """It did not have to be waited for."""
    found = binaries()
    assert found is not None
    with pair(found) as servers:
        p = project(tmp_path, servers.dsn)
        servers.follow()
        p.catch_up()
        servers.until(SYNCED)
        with psycopg.connect(servers.primary.dsn, autocommit=True) as c:
            c.execute("ALTER SYSTEM SET synchronized_standby_slots = ''")
            c.execute("SELECT pg_reload_conf()")
        with psycopg.connect(servers.own, autocommit=True) as c:
            c.execute("ALTER SYSTEM SET primary_conninfo = ''")
            c.execute("SELECT pg_reload_conf()")
        servers.until("SELECT count(*) = 0 FROM pg_stat_wal_receiver")
        p.source("UPDATE t SET v = v + 1")
        p.catch_up()
        servers.take_over()
        with pytest.raises(TidemarkError, match="earlier point|another history"):
            p.catch_up()
        p.source("UPDATE t SET v = v + 2 WHERE k = 1", "SELECT pg_switch_wal()")
        p.source("UPDATE t SET v = v + 2 WHERE k = 1")
        with pytest.raises(TidemarkError, match="another history"):
            p.catch_up()
        assert p.command("deploy", "--resync").returncode == 0
        p.assert_equal()


def test_check_tells_whether_views_can_follow(tmp_path: Path) -> None:
    found = binaries()
    assert found is not None
    with pair(found) as servers:
        p = project(tmp_path, servers.primary.dsn)
        assert "standby" not in p.command("check").stdout
        servers.follow()
        assert "the views can follow a standby that takes over" in p.command("check").stdout
        with psycopg.connect(servers.primary.dsn, autocommit=True) as c:
            c.execute("ALTER SYSTEM SET synchronized_standby_slots = ''")
            c.execute("SELECT pg_reload_conf()")
        assert "synchronized_standby_slots = 'standby'" in p.command("check").stdout
