"""A resync that is killed when it has taken the old warehouse's place leaves nothing in the source."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest

from connectors.failpoints import VARIABLE
from tests.project import Project

SCHEMA = ("CREATE TABLE t (id int PRIMARY KEY, g int)", "INSERT INTO t SELECT i, i % 5 FROM generate_series(1, 50) i")
LEFT = (
    "SELECT (SELECT count(*) FROM pg_replication_slots WHERE database = current_database()), "
    "(SELECT count(*) FROM pg_publication)"
)


@pytest.mark.parametrize("where", ["resync.copied", "resync.saved"])
@pytest.mark.parametrize("then", [("run", "--once"), ("deploy",)], ids=["run", "deploy"])
def test_the_slot_it_replaced_is_dropped_by_the_next_command(
    where: str, then: tuple[str, ...], database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    p = Project.create(tmp_path, database, {"totals": "SELECT g, count(*) AS n FROM t GROUP BY g"})
    p.source(*SCHEMA)
    p.deploy()
    with psycopg.connect(p.dsn, autocommit=True) as c:
        c.execute(
            "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE slot_name = %s",
            (p.deployed.slot,),
        )
        c.execute("SELECT pg_create_logical_replication_slot(%s, 'pgoutput')", (p.deployed.slot,))
    monkeypatch.setenv(VARIABLE, f"{where}=kill:1")
    assert p.command("deploy", "--resync").returncode == -9
    monkeypatch.delenv(VARIABLE)
    if where == "resync.copied":
        assert p.command("deploy", "--resync").returncode == 0
    done = p.command(*then)
    assert done.returncode == 0, done.stderr
    with psycopg.connect(p.dsn) as c:
        assert c.execute(LEFT).fetchone() == (1, 1)
    assert p.deployed.former == []
    p.source("DELETE FROM t WHERE g = 2")
    p.assert_equal()
