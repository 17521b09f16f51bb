"""A database for the tests of a whole module; tests/conftest.py has the one for a single test."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg import sql


@contextmanager
def fresh_database(server: str, name: str) -> Iterator[str]:
    """The DSN of a new database; its slots and itself are dropped afterwards."""
    full = f"test_{os.getpid()}_{name}"
    with psycopg.connect(server, autocommit=True) as c:
        c.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(full)))
    try:
        yield psycopg.conninfo.make_conninfo(server, dbname=full)
    finally:
        with psycopg.connect(server, autocommit=True) as c:
            c.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", (full,))
            for _ in range(50):
                if not c.execute(
                    "SELECT 1 FROM pg_replication_slots WHERE database = %s AND active", (full,)
                ).fetchall():
                    break
                c.execute("SELECT pg_sleep(0.1)")
            c.execute(
                "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE database = %s", (full,)
            )
            c.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(full)))
