"""A real Postgres for every test that needs one: TIDEMARK_TEST_DSN, docker, local binaries, or the pgserver wheel."""

from __future__ import annotations

import itertools
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from pipelines.showing.embedded import EmbeddedPostgres

ROOT = Path(__file__).parent.parent
SLOW = Path(__file__).parent / "slow.txt"
DOCKER_PASSWORD = os.environ.get("TIDEMARK_PG_PASSWORD", "shop")  # as compose.yaml reads it


def _docker_runs() -> bool:
    docker = shutil.which("docker")
    if docker is None:
        return False
    return subprocess.run([docker, "info"], capture_output=True).returncode == 0


def pytest_configure() -> None:
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # as an interrupt: what was started is stopped
    signal.signal(
        signal.SIGINT, signal.default_int_handler
    )  # a shell's background job ignores it, and so would what it starts


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What `slow.txt` lists is slow, too."""
    listed = [x for x in SLOW.read_text(encoding="utf-8").splitlines() if x and not x.startswith("#")]
    for item in items:
        if item.nodeid.startswith(tuple(listed)):
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def docker_compose_file() -> str:
    return str(ROOT / "compose" / "compose.yaml")


@pytest.fixture(scope="session")
def docker_setup() -> list[str]:
    return ["up --build -d --wait postgres"]


@pytest.fixture(scope="session")
def server(request: pytest.FixtureRequest) -> Iterator[str]:
    """The DSN of a server with wal_level = logical."""
    told = request.config.get_terminal_writer()
    if dsn := os.environ.get("TIDEMARK_TEST_DSN"):
        told.line("\nPostgres: TIDEMARK_TEST_DSN")
        yield dsn
    elif _docker_runs():
        services = request.getfixturevalue("docker_services")
        told.line("\nPostgres: docker, compose/compose.yaml")
        port = services.port_for("postgres", 5432)
        yield f"host=127.0.0.1 port={port} user=postgres password={DOCKER_PASSWORD} dbname=postgres"
    else:
        with EmbeddedPostgres() as pg:
            told.line(f"\nPostgres: {pg.source}")
            yield pg.dsn


_numbers = itertools.count(1)


@pytest.fixture
def database(server: str) -> Iterator[str]:
    """The DSN of a database of the test's own; its slots and itself are dropped afterwards."""
    with new_database(server) as dsn:
        yield dsn


@contextmanager
def new_database(server: str) -> Iterator[str]:
    name = f"test_{os.getpid()}_{next(_numbers)}"
    with psycopg.connect(server, autocommit=True) as c:
        c.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    yield psycopg.conninfo.make_conninfo(server, dbname=name)
    with psycopg.connect(server, autocommit=True) as c:
        c.execute(
            "SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots WHERE database = %s AND active", (name,)
        )
        for _ in range(50):
            if not c.execute("SELECT 1 FROM pg_replication_slots WHERE database = %s AND active", (name,)).fetchall():
                break
            c.execute("SELECT pg_sleep(0.1)")
        c.execute("SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE database = %s", (name,))
        c.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="Rewrite the SQL blocks of tests/rules/*.md.")
