"""What a trial from outside found of the source: a batch that failed, a slot or publication that is another, a
warehouse of nobody. Each was a way to lose rows."""

from __future__ import annotations

import os
from contextlib import nullcontext
from pathlib import Path

import psycopg
import pytest

from compiler.errors import TidemarkError
from connectors.failpoints import FailpointReached
from pipelines.applying.capture import Capture, current_lsn
from pipelines.applying.catching_up import limits
from pipelines.warehouse import Warehouse
from tests.faults.trust import VIEWS, failpoint, status
from tests.pipelines.running import running, until
from tests.project import Project


@pytest.mark.parametrize(
    "where",
    ["capture.received", "capture.decoded", "duckdb.landed", "duckdb.frontier", "duckdb.committed", "capture.applied"],
)
def test_01_a_batch_that_failed_is_applied_again_before_anything_is_acknowledged(p: Project, where: str) -> None:
    """As where `verify` is served in the loop: the error is told to whoever asked, and the loop goes on."""
    warehouse = Warehouse(p.config, p.deployed)
    capture = Capture(warehouse, limits(p.config))
    try:
        p.source("INSERT INTO t SELECT g, g % 3, g FROM generate_series(100, 2000) g")
        with failpoint(where), pytest.raises(FailpointReached):
            capture.catch_up(current_lsn(p.dsn))
        before = capture.stream.acknowledged
        p.source("INSERT INTO t VALUES (5000, 1, 1)")
        capture.catch_up(current_lsn(p.dsn))
        assert capture.stream.acknowledged > before
    finally:
        capture.close()
        warehouse.close()
    p.assert_equal()


def test_01_a_frontier_does_not_pass_what_was_received_and_not_stored(p: Project) -> None:
    warehouse = Warehouse(p.config, p.deployed)
    capture = Capture(warehouse, limits(p.config))
    try:
        p.source("INSERT INTO t VALUES (5000, 1, 1)")
        with failpoint("duckdb.landed"), pytest.raises(FailpointReached):
            capture.catch_up(current_lsn(p.dsn))
        with pytest.raises(TidemarkError, match="about to pass changes that are not stored"):
            capture.advance(current_lsn(p.dsn))
        with pytest.raises(TidemarkError, match="about to pass changes that are not stored"):
            capture.ledger.take(current_lsn(p.dsn) + 1), capture.ledger.take(current_lsn(p.dsn) + 2)
    finally:
        capture.close()
        warehouse.close()


def test_03_a_slot_that_somebody_advanced_is_refused_and_a_resync_mends_it(p: Project) -> None:
    p.source(
        "DELETE FROM t WHERE id < 10",
        "SELECT pg_replication_slot_advance(slot_name, pg_current_wal_lsn()) FROM pg_replication_slots "
        "WHERE database = current_database()",
    )
    refused(p)
    resynced(p)


def test_03_a_slot_made_again_under_its_name_is_refused(p: Project) -> None:
    slot = p.deployed.slot
    p.source(
        f"SELECT pg_drop_replication_slot('{slot}')",
        "DELETE FROM t WHERE id < 10",
        f"SELECT pg_create_logical_replication_slot('{slot}', 'pgoutput')",
        "DELETE FROM t WHERE id = 10",
    )
    refused(p)
    resynced(p)


def test_03_a_slot_that_is_gone_is_refused_by_deploy_too(p: Project) -> None:
    p.source(f"SELECT pg_drop_replication_slot('{p.deployed.slot}')", "DELETE FROM t WHERE id < 10")
    refused(p)
    told = status(p)
    assert "is gone" in told["slot_error"] and told["retained_bytes"] is None
    resynced(p)


def refused(p: Project) -> None:
    for args in (("run", "--once"), ("run",), ("deploy",), ("verify",)):
        done = p.command(*args)
        assert done.returncode == 1 and "--resync" in done.stderr and "Traceback" not in done.stderr, (args, done)


def resynced(p: Project) -> None:
    done = p.command("deploy", "--resync")
    assert done.returncode == 0, done.stderr
    p.assert_equal()
    p.source("INSERT INTO t VALUES (7000, 2, 7), (7001, 2, 8)")
    p.assert_equal()
    with psycopg.connect(p.dsn) as c:
        assert c.execute(
            "SELECT count(*) FROM pg_replication_slots WHERE database = current_database()"
        ).fetchone() == (1,)


def test_07_what_a_lost_deployment_left_is_never_taken_for_filled(p: Project) -> None:
    (p.config.warehouse_path / "deployment.json").unlink()
    p.source("DELETE FROM t WHERE id < 20")
    done = p.command("deploy")
    assert done.returncode == 1 and "no deployment.json" in done.stderr and "teardown" in done.stderr
    done = p.command("teardown", "--yes")
    assert done.returncode == 0 and "pg_drop_replication_slot('tidemark_" in done.stderr, done
    done = p.command("deploy")
    assert done.returncode == 0 and "slots or publications of another deployment" in done.stderr
    assert "slots or publications of another deployment" in p.command("check").stdout
    p.assert_equal()


def test_07_a_strangers_file_is_never_read(p: Project, tmp_path: Path) -> None:
    other = Project.create(tmp_path / "other", p.dsn, VIEWS)
    other.deploy()
    os.replace(other.config.warehouse_path / "tidemark.duckdb", p.config.warehouse_path / "tidemark.duckdb")
    for args in (("run", "--once"), ("query", "SELECT * FROM totals"), ("deploy",), ("status",)):
        done = p.command(*args)
        assert done.returncode == 1 and "another deployment" in done.stderr and "Traceback" not in done.stderr, (
            args,
            done,
        )


@pytest.mark.parametrize("while_running", [False, True])
def test_09_a_publication_altered_and_put_back_is_noticed(p: Project, while_running: bool) -> None:
    name = f'"{p.deployed.publication}"'
    change = (
        f"ALTER PUBLICATION {name} DROP TABLE t",
        "DELETE FROM t WHERE id = 3",
        f"ALTER PUBLICATION {name} ADD TABLE t",
        "DELETE FROM t WHERE id = 4",
    )
    with running(p) if while_running else nullcontext():
        p.source(*change)
        if not while_running:
            p.catch_up()
        until(lambda: any("left out" in v.error for v in p.deployed.views), "it is noticed")
        for args in [] if while_running else [("query", "SELECT * FROM totals"), ("verify",)]:
            done = p.command(*args)
            assert done.returncode == 1 and "left out" in done.stdout + done.stderr, (args, done)
        if while_running:
            until(lambda: not any(v.error for v in p.deployed.views), "it heals", 60)
    done = p.command("deploy", "--resync")
    assert done.returncode == 0, done.stderr
    p.source("INSERT INTO t VALUES (7000, 2, 7)", "UPDATE u SET b = 'y'")
    p.assert_equal()


def test_09_only_the_tables_concerned_are_copied_again(p: Project) -> None:
    name, slot = f'"{p.deployed.publication}"', p.deployed.slot
    p.source(
        f"ALTER PUBLICATION {name} SET TABLE u",
        "DELETE FROM t WHERE id = 3",
        f"ALTER PUBLICATION {name} SET TABLE t, u",
    )
    assert p.command("deploy", "--resync").returncode == 0
    assert p.deployed.slot == slot
    p.assert_equal()
