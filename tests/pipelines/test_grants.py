"""`check --grants`: what it prints is enough for a user who may nothing else, and each line of it is needed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests.project import Project

SCHEMA = (
    "CREATE TABLE t (id int PRIMARY KEY, a int)",
    'CREATE SCHEMA "Odd one"',
    'CREATE TABLE "Odd one"."T ""x" (id int PRIMARY KEY, v text)',
    "CREATE TABLE secret (id int PRIMARY KEY)",
    "INSERT INTO t SELECT i, i % 3 FROM generate_series(1, 9) i",
)
VIEWS = {
    "by_a": "SELECT a, count(*) AS n FROM t GROUP BY a",
    "odd": 'SELECT o.id, o.v, t.a FROM "Odd one"."T ""x" o JOIN t ON t.id = o.id',
}


@pytest.fixture
def roles(server: str) -> Iterator[tuple[str, str]]:
    """An owner of tables, and a user who may connect."""
    names = (f"owner_{os.getpid()}", f"User {os.getpid()}")
    with psycopg.connect(server, autocommit=True) as c:
        for n in names:
            c.execute(f"CREATE ROLE \"{n}\" LOGIN PASSWORD 'p'".encode())
    yield names
    with psycopg.connect(server, autocommit=True) as c:
        for n in names:
            c.execute(f'DROP ROLE "{n}"'.encode())


def test_a_user_with_these_rights_deploys_and_runs(roles: tuple[str, str], database: str, tmp_path: Path) -> None:
    owner, user = roles
    p = Project.create(tmp_path, psycopg.conninfo.make_conninfo(database, user=user, password="p"), VIEWS)
    admin = Project(tmp_path, database)
    admin.source(*SCHEMA, f'ALTER TABLE "Odd one"."T ""x" OWNER TO {owner}')
    try:
        done = p.command("check", "--grants")
        assert done.returncode == 0, done.stderr
        lines = done.stdout.splitlines()
        assert f'ALTER ROLE "{user}" REPLICATION;  -- to read the stream' in lines
        assert any(f'GRANT "{owner}" TO "{user}";' in line for line in lines) and "secret" not in done.stdout
        assert p.command("deploy").returncode != 0
        for line in lines:
            if not line.startswith("--"):
                admin.source(line)
        again = p.command("check", "--grants").stdout.splitlines()
        assert len(again) == len(lines) and all(line.startswith("-- is so: ") for line in again)
        assert p.command("check").returncode == 0
        p.deploy()
        admin.source("INSERT INTO t VALUES (10, 1)", 'INSERT INTO "Odd one"."T ""x" VALUES (3, \'x\')')
        p.assert_equal()
        assert p.command("teardown", "--yes").returncode == 0
    finally:
        for n in roles:
            admin.source(f'REASSIGN OWNED BY "{n}" TO CURRENT_USER', f'DROP OWNED BY "{n}"')
