"""Whether one statement sees one LSN: money moves between two tables, and their views are read together."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count

import psycopg

from pipelines.asking.client import connect_running
from tests.project import Project

ACCOUNTS, BALANCE = 20, 1000
TOTAL = 2 * ACCOUNTS * BALANCE
VIEWS = {
    "left_accounts": "SELECT id % 5 AS branch, sum(balance) AS total FROM left_account GROUP BY id % 5",
    "right_accounts": "SELECT id % 5 AS branch, sum(balance) AS total FROM right_account GROUP BY id % 5",
}
SCHEMA = tuple(
    s
    for side in ("left", "right")
    for s in (
        f"CREATE TABLE {side}_account (id int PRIMARY KEY, balance bigint NOT NULL)",
        f"INSERT INTO {side}_account SELECT g, {BALANCE} FROM generate_series(1, {ACCOUNTS}) g",
    )
)
QUESTION = (
    "SELECT (SELECT sum(total) FROM left_accounts)::BIGINT AS l, (SELECT sum(total) FROM right_accounts)::BIGINT AS r"
)


@dataclass
class Result:
    """How often the views were read, in how many states they were seen, and the pairs whose sum never existed."""

    polls: int
    seen: int
    torn: list[tuple[int, int]] = field(default_factory=list)


@contextmanager
def transfers(dsn: str, seed: int = 0, pause: float = 0.01) -> Iterator[list[int]]:
    """Transactions that move money from one table to the other, until the block ends; gives their number."""
    stop, done, chance = threading.Event(), [0], random.Random(seed)

    def run() -> None:
        with psycopg.connect(dsn, autocommit=True) as c:
            while not stop.wait(pause):
                amount, one, other = chance.randint(-50, 50), chance.randint(1, ACCOUNTS), chance.randint(1, ACCOUNTS)
                with c.transaction():
                    c.execute("UPDATE left_account SET balance = balance - %s WHERE id = %s", (amount, one))
                    c.execute("UPDATE right_account SET balance = balance + %s WHERE id = %s", (amount, other))
                done[0] += 1

    writer = threading.Thread(target=run)
    writer.start()
    try:
        yield done
    finally:
        stop.set()
        writer.join()


def poll(project: Project, polls: int, pollers: int) -> Result:
    """Read both views in one statement, `polls` times in all, over `pollers` connections to the running pipeline."""
    left, rows, failed = count(), [], []

    def run() -> None:
        try:
            reader = connect_running(project.config.warehouse_path)
            assert reader is not None, "no pipeline runs"
            with reader:
                while next(left) < polls and not failed:
                    rows.append(tuple(reader.query(QUESTION).to_pylist()[0].values()))
        except BaseException as e:
            failed.append(e)

    threads = [threading.Thread(target=run) for _ in range(pollers)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    if failed:
        raise failed[0]
    return Result(len(rows), len(set(rows)), [r for r in rows if sum(r) != TOTAL])
