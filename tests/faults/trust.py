"""What the tests of trust share."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager

from connectors.failpoints import ACTIVE, Action
from tests.project import Project

T = (
    "CREATE TABLE t (id int PRIMARY KEY, a int, n numeric)",
    "CREATE TABLE u (id int PRIMARY KEY, b text)",
    "INSERT INTO t SELECT g, g % 3, g FROM generate_series(1, 30) g",
    "INSERT INTO u VALUES (1, 'x')",
)
VIEWS = {
    "totals": "SELECT a, count(*) AS n FROM t GROUP BY a",
    "sums": "SELECT a, sum(n) AS s FROM t GROUP BY a",
    "us": "SELECT id, b FROM u",
}


@contextmanager
def failpoint(name: str) -> Iterator[None]:
    """In this process: the next time it is reached, it raises."""
    ACTIVE.wanted, ACTIVE.reached = {name: (Action.RAISE, 1)}, {name: 0}
    try:
        yield
    finally:
        ACTIVE.wanted = {}


def status(p: Project) -> dict:  # type: ignore[type-arg]
    done = p.command("status", "--json")
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))
