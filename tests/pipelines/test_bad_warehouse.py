"""Rights, slots and warehouses that are not as they should be: message, hint, exit code, nothing changed."""

from __future__ import annotations

import fcntl
import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import duckdb
import psycopg
import pytest

import pipelines.showing.embedded
from pipelines.showing.embedded import EmbeddedPostgres
from tests.pipelines.test_bad_input import GOOD, TABLE, slots, untouched
from tests.project import Project


def deployed(home: Path, dsn: str) -> Project:
    p = Project.create(home, dsn, {"v": GOOD})
    p.source(TABLE, "INSERT INTO t VALUES (1, 1, 'x')")
    p.deploy()
    return p


@pytest.fixture
def role(server: str) -> Iterator[str]:
    name = f"reader_{os.getpid()}"
    with psycopg.connect(server, autocommit=True) as c:
        c.execute(f"DROP ROLE IF EXISTS {name}")  # type: ignore[arg-type]
        c.execute(f"CREATE ROLE {name} LOGIN PASSWORD 'p'")  # type: ignore[arg-type]
    yield name
    with psycopg.connect(server, autocommit=True) as c:
        c.execute(f"DROP OWNED BY {name}")  # type: ignore[arg-type]
        c.execute(f"DROP ROLE {name}")  # type: ignore[arg-type]


def test_a_user_without_rights_is_told_the_grants(role: str, database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, psycopg.conninfo.make_conninfo(database, user=role, password="p"), {"v": GOOD})
    with psycopg.connect(database, autocommit=True) as c:
        c.execute(TABLE)  # type: ignore[arg-type]
    check = p.command("check")
    assert check.returncode == 1
    for words in (
        f'ALTER ROLE "{role}" REPLICATION',
        "GRANT CREATE ON DATABASE",
        'GRANT SELECT ON "public"."t"',
        "check --grants",
    ):
        assert words in check.stdout
    done = p.command("deploy")
    assert done.returncode == 1 and "hint:" in done.stderr and "Traceback" not in done.stderr
    untouched(Project(tmp_path, database))
    with psycopg.connect(database, autocommit=True) as c:
        c.execute(f"DROP OWNED BY {role}")  # type: ignore[arg-type]


def test_a_user_without_the_replication_attribute_leaves_nothing(role: str, database: str, tmp_path: Path) -> None:
    with psycopg.connect(database, autocommit=True) as c:
        c.execute(TABLE)  # type: ignore[arg-type]
        c.execute(f"ALTER TABLE t OWNER TO {role}")  # type: ignore[arg-type]
        c.execute(f"GRANT CREATE ON DATABASE {c.info.dbname} TO {role}")  # type: ignore[arg-type]
    p = Project.create(tmp_path, psycopg.conninfo.make_conninfo(database, user=role, password="p"), {"v": GOOD})
    done = p.command("deploy")
    assert done.returncode in (1, 3) and "REPLICATION" in done.stderr and "Traceback" not in done.stderr
    untouched(Project(tmp_path, database))
    with psycopg.connect(database, autocommit=True) as c:
        c.execute(f"DROP OWNED BY {role}")  # type: ignore[arg-type]


def test_a_warehouse_description_of_a_newer_version_is_left_alone(database: str, tmp_path: Path) -> None:
    p = deployed(tmp_path, database)
    file = tmp_path / "warehouse" / "deployment.json"
    newer = json.dumps({**json.loads(file.read_text()), "format": 99, "novelty": True})
    file.write_text(newer)
    for args in (
        ("run", "--once"),
        ("deploy",),
        ("status",),
        ("query", "SELECT * FROM v"),
        ("verify",),
        ("teardown", "--yes"),
    ):
        done = p.command(*args)
        assert done.returncode == 1 and "newer Tidemark" in done.stderr and "Upgrade" in done.stderr, (args, done)
    assert file.read_text() == newer and len(slots(database)) == 1


@pytest.mark.parametrize("args", [("run", "--once"), ("deploy",), ("query", "SELECT * FROM v")])
def test_a_duckdb_file_of_a_newer_version_is_left_alone(database: str, tmp_path: Path, args: tuple[str, ...]) -> None:
    p = deployed(tmp_path, database)
    with duckdb.connect(str(tmp_path / "warehouse" / "tidemark.duckdb")) as c:
        c.execute("UPDATE meta.frontier SET format = 99")
    done = p.command(*args)
    assert done.returncode == 1 and "newer Tidemark" in done.stderr and "Upgrade" in done.stderr


def test_a_warehouse_in_use_is_not_written_by_another(database: str, tmp_path: Path) -> None:
    p = deployed(tmp_path, database)
    with (tmp_path / "warehouse" / "lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        for args in (("run", "--once"), ("deploy",), ("teardown", "--yes")):
            done = p.command(*args)
            assert done.returncode == 3 and "in use by another tidemark" in done.stderr and "hint:" in done.stderr, (
                args,
                done,
            )
    p.assert_equal()


def test_a_warehouse_file_held_by_another_program_is_in_use(database: str, tmp_path: Path) -> None:
    p = deployed(tmp_path, database)
    with duckdb.connect(str(tmp_path / "warehouse" / "tidemark.duckdb")):
        done = p.command("run", "--once")
    assert done.returncode == 3 and "in use by another process" in done.stderr and "hint:" in done.stderr


@pytest.mark.parametrize("args", [("run", "--once"), ("status",)])
def test_a_warehouse_that_is_held_for_a_moment_is_waited_for(
    args: tuple[str, ...], database: str, tmp_path: Path
) -> None:
    p = deployed(tmp_path, database)
    p.source("INSERT INTO t VALUES (77, 1, 'x')")
    held = duckdb.connect(str(tmp_path / "warehouse" / "tidemark.duckdb"), read_only="--once" in args)
    timer = threading.Timer(2.5, held.close)
    timer.start()
    done = p.command(*args)
    timer.join()
    assert done.returncode == 0, done.stderr


def test_a_slot_that_is_gone_says_how_to_begin_again(database: str, tmp_path: Path) -> None:
    p = deployed(tmp_path, database)
    p.source("SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE database = current_database()")
    done = p.command("run", "--once")
    assert (
        done.returncode == 1
        and "replication slot" in done.stderr
        and "hint:" in done.stderr
        and "Traceback" not in done.stderr
    )
    check = p.command("check")
    assert check.returncode == 1 and "is gone" in check.stdout and "--resync" in check.stdout


def test_a_full_slot_table_is_named_and_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(pipelines.showing.embedded.SETTINGS, "max_replication_slots", "1")
    with EmbeddedPostgres() as pg:
        p = Project.create(tmp_path, pg.dsn, {"v": GOOD})
        p.source(TABLE, "SELECT pg_create_logical_replication_slot('taken', 'pgoutput')")
        check = p.command("check")
        assert check.returncode == 1 and "0 of 1 replication slots are free" in check.stdout
        done = p.command("deploy")
        assert (
            done.returncode == 1
            and "cannot create replication slot" in done.stderr
            and "max_replication_slots" in done.stderr
        )
        assert slots(pg.dsn) == ["taken"]
        p.source("SELECT pg_drop_replication_slot('taken')")
        untouched(p)
        p.deploy()
        full = p.command("verify")
        assert full.returncode == 0, full.stderr  # it takes no slot
