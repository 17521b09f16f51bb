"""SIGKILL at random moments under a writing workload: after a restart every view equals the source."""

from __future__ import annotations

import random
import signal
import threading
import time
from pathlib import Path

import psycopg
import pytest

from tests.pipelines.running import listening, running, start, until
from tests.project import Project

VIEWS = {
    "by_city": "SELECT city, count(*) AS n, sum(amount) AS s, min(amount) AS low, max(amount) AS high FROM orders "
    "GROUP BY city",
    "joined": "SELECT c.name, o.id, o.amount FROM customers c LEFT JOIN orders o ON o.customer = c.id",
    "per_customer": "SELECT c.id, count(o.id) AS n, avg(o.amount) AS a FROM customers c LEFT JOIN orders o ON "
    "o.customer = c.id GROUP BY c.id",
    "cities": "SELECT DISTINCT city FROM orders",
    "sizes": "SELECT n, count(*) AS cities FROM by_city GROUP BY n",
    "keyless": "SELECT tag, count(*) AS n FROM tags GROUP BY tag",
}
SCHEMA = (
    "CREATE TABLE customers (id int PRIMARY KEY, name text)",
    "CREATE TABLE orders (id int PRIMARY KEY, customer int, city text, amount numeric(12,2))",
    "CREATE TABLE tags (tag text)",
    "ALTER TABLE tags REPLICA IDENTITY FULL",
    "INSERT INTO customers SELECT g, 'c' || g FROM generate_series(1, 40) g",
    "INSERT INTO orders SELECT g, g % 50, 'city ' || g % 7, g FROM generate_series(1, 200) g",
    "INSERT INTO tags SELECT 't' || g % 5 FROM generate_series(1, 50) g",
)


class Workload:
    """Transactions of one to thirty random changes, until stopped."""

    def __init__(self, dsn: str, seed: int) -> None:
        self.dsn, self.random, self.stop = dsn, random.Random(seed), threading.Event()
        self.transactions = 0
        self.error: BaseException | None = None
        self.thread = threading.Thread(target=self._run)

    def __enter__(self) -> Workload:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop.set()
        self.thread.join()

    def _run(self) -> None:
        try:
            with psycopg.connect(self.dsn, autocommit=True) as c:
                while not self.stop.wait(0.002):
                    with c.transaction(force_rollback=self.random.random() < 0.05):
                        for _ in range(self.random.choice([1, 1, 3, 30])):
                            self._change(c)
                    self.transactions += 1
        except BaseException as e:
            self.error = e

    def _change(self, c: psycopg.Connection) -> None:
        r = self.random
        i, city = r.randrange(300), r.choice(["Oslo", "Bergen", None, f"city {r.randrange(7)}"])
        kind = r.random()
        if kind < 0.3:
            c.execute(
                "INSERT INTO orders VALUES (%s, %s, %s, %s) ON CONFLICT DO NOTHING",
                (i, r.randrange(60), city, r.randrange(10_000)),
            )
        elif kind < 0.6:
            c.execute("UPDATE orders SET amount = amount + 1, city = %s WHERE id = %s", (city, i))
        elif kind < 0.7:
            c.execute(
                "UPDATE orders SET id = %s WHERE id = %s AND NOT EXISTS (SELECT FROM orders WHERE id = %s)",
                (i + 300, i, i + 300),
            )
        elif kind < 0.85:
            c.execute("DELETE FROM orders WHERE id IN (%s, %s)", (i, r.randrange(600)))
        elif kind < 0.9:
            c.execute("UPDATE customers SET name = name || 'x' WHERE id = %s AND length(name) < 20", (i % 45,))
        elif kind < 0.93:
            c.execute("DELETE FROM customers WHERE id = %s", (i % 45,))
        elif kind < 0.96:
            c.execute("INSERT INTO customers VALUES (%s, 'again') ON CONFLICT DO NOTHING", (i % 45,))
        elif kind < 0.995:
            c.execute("INSERT INTO tags VALUES (%s), (%s)", (f"t{i % 5}", f"t{i % 3}"))
        else:
            c.execute("TRUNCATE tags")


def kill_and_restart(p: Project, times: int, longest: float, ready: float) -> None:
    seed = random.SystemRandom().randrange(1 << 32)
    print(f"seed {seed}")
    chance = random.Random(seed)
    p.source(*SCHEMA)
    p.deploy()
    with Workload(p.dsn, seed) as load:
        for n in range(times):
            process = start(p)
            if n % 3:  # else it may die while it is still starting
                until(lambda process=process: listening(p, process), "run starts", ready)  # type: ignore[misc]
            moment, began = chance.uniform(0, longest), load.transactions
            load.stop.wait(moment)
            assert process.poll() is None, process.communicate()[1]
            process.send_signal(signal.SIGKILL)
            process.communicate()
            assert process.returncode == -signal.SIGKILL
            until(lambda began=began: load.transactions > began or load.error is not None, "the workload goes on")  # type: ignore[misc]
        with running(p, ready, signal.SIGINT) as last:
            deadline = time.monotonic() + longest
            until(
                lambda: load.transactions > 50 and time.monotonic() > deadline,
                "the workload and the pipeline overlap",
                30 + longest,
            )
            assert last.poll() is None
        assert last.returncode == 0
    assert load.error is None, load.error
    p.assert_equal()


def test_duckdb_is_whole_after_kills(database: str, tmp_path: Path) -> None:
    kill_and_restart(Project.create(tmp_path, database, VIEWS), times=16, longest=1.2, ready=20)


def test_duckdb_is_whole_after_kills_behind_debezium(database: str, tmp_path: Path) -> None:
    kill_and_restart(Project.create(tmp_path, database, VIEWS, capture="debezium"), times=4, longest=6, ready=60)


@pytest.mark.spark
@pytest.mark.slow
def test_spark_is_whole_after_kills(database: str, tmp_path: Path) -> None:
    kill_and_restart(Project.create(tmp_path, database, VIEWS, engine="spark"), times=4, longest=20, ready=180)


def test_a_copy_that_was_killed_starts_clean_and_leaves_no_orphan_slot(database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, VIEWS)
    p.source(*SCHEMA, "INSERT INTO orders SELECT g, g % 50, 'city ' || g % 7, g FROM generate_series(1000, 400000) g")
    import subprocess
    import sys

    def slots() -> int:
        with psycopg.connect(database) as c:
            row = c.execute("SELECT count(*) FROM pg_replication_slots WHERE database = current_database()").fetchone()
            assert row is not None
            return int(row[0])

    process = subprocess.Popen(
        [sys.executable, "-m", "pipelines.cli", "deploy"],
        cwd=p.home,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    until(lambda: slots() == 1, "the copy begins")
    process.kill()
    assert process.wait(10) == -signal.SIGKILL
    p.deploy()
    assert slots() == 1
    p.source("DELETE FROM orders WHERE id > 2000")
    p.assert_equal()
