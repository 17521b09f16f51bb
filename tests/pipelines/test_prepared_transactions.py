"""Keys that are read from the source while transactions are prepared there: in the stream with their own id, later."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from tests.pipelines.test_no_mirrors import project, rows, source
from tests.project import Project

CHANGES = (
    "INSERT INTO vote VALUES (5000, 3, 100, 'x'), (5001, 4, 200, 'x')",
    "DELETE FROM vote WHERE id = (SELECT min(id) FROM vote WHERE article = 3)",
    "UPDATE vote SET article = 4 WHERE id = (SELECT max(id) FROM vote WHERE article = 3 AND id < 5000)",
)


def is_right(p: Project, key: int) -> None:
    assert [r[:5] for r in rows(p, f"SELECT * FROM votes WHERE id = {key}")] == source(p, key)


@contextmanager
def prepared(p: Project) -> Iterator[psycopg.Connection[tuple[object, ...]]]:
    """After a transaction that changes votes of 3 and 4 was prepared, which nobody sees yet."""
    with psycopg.connect(p.dsn, autocommit=True) as c:
        if c.execute("SHOW max_prepared_transactions").fetchone() == ("0",):
            pytest.skip("the server prepares no transactions: max_prepared_transactions is 0")
        c.execute("BEGIN")
        for change in CHANGES:
            c.execute(change)
        c.execute("PREPARE TRANSACTION 'changes'")
        try:
            yield c
        finally:
            for (name,) in c.execute("SELECT gid FROM pg_prepared_xacts WHERE database = current_database()"):
                c.execute(f"ROLLBACK PREPARED '{name}'")


def test_what_is_committed_after_a_key_was_read_is_taken(database: str, tmp_path: Path) -> None:
    p = project(tmp_path, database)
    with prepared(p) as c:
        is_right(p, 3)
        p.source("INSERT INTO vote VALUES (6000, 3, 7, 'later')")  # with a later id, and earlier in the stream
        p.catch_up()
        is_right(p, 3)
        c.execute("COMMIT PREPARED 'changes'")
        is_right(p, 4)
        p.catch_up()
        is_right(p, 3)
        is_right(p, 4)
        p.assert_equal()


def test_what_is_committed_before_a_key_is_read_is_not_taken_twice(database: str, tmp_path: Path) -> None:
    p = project(tmp_path, database)
    with prepared(p) as c:
        c.execute("COMMIT PREPARED 'changes'")
        is_right(p, 3)
        is_right(p, 4)
        p.catch_up()
        is_right(p, 3)
        is_right(p, 4)
        p.assert_equal()


def test_what_is_rolled_back_never_was(database: str, tmp_path: Path) -> None:
    p = project(tmp_path, database)
    with prepared(p) as c:
        is_right(p, 3)
        c.execute("ROLLBACK PREPARED 'changes'")
        p.source("UPDATE vote SET weight = weight + 1 WHERE article IN (3, 4)")
        p.catch_up()
        is_right(p, 3)
        is_right(p, 4)
        p.assert_equal()
