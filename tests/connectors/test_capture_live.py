"""Changes of a real Postgres, landed under every replica identity: the views say whether the mirror is right."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from connectors.duckdb.engine import DuckDBEngine
from connectors.postgres.connection import connect
from pipelines.asking.ask import ask
from pipelines.warehouse import Warehouse
from tests.project import Project

IDENTITIES = ["DEFAULT", "FULL", "USING INDEX t_k"]
# stored out of line: does not compress
LONG = "(SELECT string_agg(md5(g::text || {}), '') FROM generate_series(1, 300) g)"


def project(home: Path, dsn: str, identity: str = "DEFAULT") -> Project:
    """One table with an out-of-line value, its copy, an aggregate, and a join with itself."""
    p = Project.create(
        home,
        dsn,
        {
            "copy": "SELECT id, k, n, doc FROM t",
            "totals": "SELECT n, count(*) AS c, sum(length(doc)) AS s FROM t GROUP BY n",
            "pairs": "SELECT a.id, b.id AS other FROM t a JOIN t b ON a.n = b.k",
        },
    )
    p.source(
        "CREATE TABLE t (id int PRIMARY KEY, k int NOT NULL, n int, doc text)",
        "CREATE UNIQUE INDEX t_k ON t (k)",
        "ALTER TABLE t ALTER doc SET STORAGE EXTERNAL",
        f"ALTER TABLE t REPLICA IDENTITY {identity}",
        *(f"INSERT INTO t VALUES ({i}, {i + 10}, {i % 2 + 11}, {LONG.format(i)})" for i in range(1, 5)),
    )
    p.deploy()
    return p


def commit(p: Project, *statements: str) -> None:
    """All of it in one transaction."""
    with connect(p.dsn, autocommit=False) as c:
        for s in statements:
            c.execute(s)  # type: ignore[arg-type]
        c.commit()


def count(p: Project, sql: str) -> int:
    return int(ask(p.config, sql, False).to_pylist()[0]["n"])


@pytest.mark.parametrize("identity", IDENTITIES)
def test_inserts_updates_and_deletes(database: str, tmp_path: Path, identity: str) -> None:
    p = project(tmp_path, database, identity)
    p.assert_equal()
    p.source(
        "INSERT INTO t VALUES (5, 15, NULL, NULL)",
        "UPDATE t SET n = 12, doc = '' WHERE id = 1",
        "DELETE FROM t WHERE id = 2",
    )
    p.assert_equal()
    assert count(p, "SELECT count(*) AS n FROM copy") == 4


@pytest.mark.parametrize("identity", IDENTITIES)
def test_an_unchanged_toast_value_is_kept(database: str, tmp_path: Path, identity: str) -> None:
    p = project(tmp_path, database, identity)
    p.source("UPDATE t SET n = 99 WHERE id = 1", "UPDATE t SET n = n + 1")
    p.assert_equal()
    assert count(p, "SELECT count(*) AS n FROM copy WHERE length(doc) = 9600") == 4


@pytest.mark.parametrize("identity", IDENTITIES)
def test_a_key_change_keeps_an_unchanged_toast_value(database: str, tmp_path: Path, identity: str) -> None:
    p = project(tmp_path, database, identity)
    commit(p, "UPDATE t SET id = 100, k = 200 WHERE id = 1")
    p.assert_equal()
    assert count(p, "SELECT count(*) AS n FROM copy WHERE length(doc) = 9600") == 4


@pytest.mark.parametrize("identity", IDENTITIES)
def test_key_changes_and_unchanged_values_chained_in_one_batch(database: str, tmp_path: Path, identity: str) -> None:
    p = project(tmp_path, database, identity)
    commit(
        p,
        "UPDATE t SET n = 5 WHERE id = 1",
        "UPDATE t SET id = 50, k = 60 WHERE id = 1",
        "UPDATE t SET n = 6 WHERE id = 50",
        "UPDATE t SET id = 1, k = 11 WHERE id = 2",
        f"UPDATE t SET doc = {LONG.format(77)} WHERE id = 3",
        "UPDATE t SET n = 7 WHERE id = 3",
        "UPDATE t SET id = 2, k = 12 WHERE id = 3",
        "INSERT INTO t VALUES (3, 13, 1, 'short')",
        "UPDATE t SET n = 2 WHERE id = 3",
    )
    p.assert_equal()
    commit(p, "UPDATE t SET n = n + 1")
    p.assert_equal()


@pytest.mark.parametrize("identity", IDENTITIES)
def test_keys_are_swapped_in_one_transaction(database: str, tmp_path: Path, identity: str) -> None:
    p = project(tmp_path, database, identity)
    commit(p, *(f"UPDATE t SET id = {b}, k = {b + 10} WHERE id = {a}" for a, b in [(1, -9), (2, 1), (3, 2), (-9, 3)]))
    p.assert_equal()


@pytest.mark.parametrize("identity", IDENTITIES)
def test_several_changes_to_one_key_in_one_transaction(database: str, tmp_path: Path, identity: str) -> None:
    p = project(tmp_path, database, identity)
    commit(
        p,
        "INSERT INTO t VALUES (9, 19, 1, 'a')",
        "UPDATE t SET n = 2 WHERE id = 9",
        "DELETE FROM t WHERE id = 9",
        "INSERT INTO t VALUES (9, 19, 3, 'b')",
        "UPDATE t SET doc = 'c' WHERE id = 9",
        "DELETE FROM t WHERE id = 1",
        "INSERT INTO t VALUES (1, 11, 12, 'back')",
        "INSERT INTO t VALUES (8, 18, 1, 'x')",
        "DELETE FROM t WHERE id = 8",
    )
    p.assert_equal()
    assert ask(p.config, "SELECT n, doc FROM copy WHERE id = 9", False).to_pylist() == [{"n": 3, "doc": "c"}]


@pytest.mark.parametrize("identity", IDENTITIES)
def test_truncate_takes_all_rows_and_what_follows_stays(database: str, tmp_path: Path, identity: str) -> None:
    p = project(tmp_path, database, identity)
    p.source("UPDATE t SET n = 1 WHERE id = 1")
    p.catch_up()
    p.source("INSERT INTO t VALUES (7, 17, 1, 'gone')", "TRUNCATE t")
    p.assert_equal()
    assert count(p, "SELECT count(*) AS n FROM copy") == 0
    commit(
        p,
        "INSERT INTO t VALUES (1, 11, 1, 'a'), (2, 12, 2, 'b')",
        "TRUNCATE t",
        "INSERT INTO t VALUES (2, 12, 12, 'c')",
        "UPDATE t SET n = 13 WHERE id = 2",
    )
    p.assert_equal()
    p.source("TRUNCATE t", "INSERT INTO t VALUES (1, 11, 11, 'd')", "UPDATE t SET id = 4 WHERE id = 1", "DELETE FROM t")
    p.assert_equal()


@pytest.mark.parametrize("identity", ["DEFAULT", "FULL", "USING INDEX t_k"])
def test_truncate_followed_by_inserts_alone_in_one_batch(database: str, tmp_path: Path, identity: str) -> None:
    p = project(tmp_path, database, identity)
    commit(p, "TRUNCATE t", "INSERT INTO t VALUES (1, 11, 1, 'a'), (9, 19, 11, NULL)")
    p.assert_equal()


def test_a_rolled_back_transaction_leaves_nothing(database: str, tmp_path: Path) -> None:
    p = project(tmp_path, database)
    with connect(p.dsn, autocommit=False) as c:
        c.execute("DELETE FROM t")
        c.rollback()
        c.execute("SAVEPOINT s")
        c.execute("INSERT INTO t VALUES (70, 80, 1, 'undone')")
        c.execute("ROLLBACK TO s")
        c.execute("INSERT INTO t VALUES (71, 81, 1, 'done')")
        c.commit()
    p.assert_equal()
    assert count(p, "SELECT count(*) AS n FROM copy") == 5


def test_a_table_without_a_key_counts_equal_rows(database: str, tmp_path: Path) -> None:
    p = Project.create(
        tmp_path, database, {"copy": "SELECT a, b FROM d", "totals": "SELECT a, count(*) AS n FROM d GROUP BY a"}
    )
    p.source(
        "CREATE TABLE d (a int, b text)",
        "ALTER TABLE d REPLICA IDENTITY FULL",
        "INSERT INTO d VALUES (1, 'x'), (1, 'x'), (NULL, NULL)",
    )
    p.deploy()
    p.source("INSERT INTO d VALUES (1, 'x'), (NULL, NULL)", "DELETE FROM d WHERE ctid = (SELECT min(ctid) FROM d)")
    p.assert_equal()
    p.source("UPDATE d SET b = 'y' WHERE ctid = (SELECT max(ctid) FROM d WHERE a = 1)", "DELETE FROM d WHERE a IS NULL")
    p.assert_equal()
    p.source("TRUNCATE d", "INSERT INTO d VALUES (1, 'x'), (1, 'x')")
    p.assert_equal()


def test_a_partitioned_table_is_captured_as_one(database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, {"totals": "SELECT day, count(*) AS n, sum(v) AS s FROM e GROUP BY day"})
    p.source(
        "CREATE TABLE e (id int, day int, v int, PRIMARY KEY (id, day)) PARTITION BY LIST (day)",
        "CREATE TABLE e1 PARTITION OF e FOR VALUES IN (1)",
        "CREATE TABLE e2 PARTITION OF e FOR VALUES IN (2)",
        "INSERT INTO e VALUES (1, 1, 1), (2, 2, 2)",
    )
    p.deploy()
    p.source("INSERT INTO e VALUES (3, 1, 5)", "UPDATE e SET day = 2 WHERE id = 1", "DELETE FROM e WHERE id = 2")
    p.assert_equal()


def test_a_replica_identity_changed_while_deployed_does_not_corrupt(database: str, tmp_path: Path) -> None:
    p = project(tmp_path, database, "FULL")
    p.source(
        "ALTER TABLE t REPLICA IDENTITY DEFAULT",
        "UPDATE t SET n = 3, doc = 'x' WHERE id = 1",
        "DELETE FROM t WHERE id = 2",
    )
    p.assert_equal()


def test_a_column_added_while_deployed_does_not_corrupt(database: str, tmp_path: Path) -> None:
    p = project(tmp_path, database, "FULL")
    p.source(
        "UPDATE t SET n = 3 WHERE id = 1",
        "ALTER TABLE t ADD COLUMN extra int DEFAULT 7",
        "UPDATE t SET n = 4, extra = 8 WHERE id = 2",
    )
    p.assert_equal()


def test_the_frontier_is_told_while_another_thread_is_at_work(database: str, tmp_path: Path) -> None:
    """Spark's batches have a thread of their own, and what has come is noted on another."""
    p = project(tmp_path, database)
    warehouse = Warehouse(p.config, p.deployed)
    engine = warehouse.engine("duckdb")
    assert isinstance(engine, DuckDBEngine)
    want, stop = engine.frontier(), threading.Event()

    def work() -> None:
        while not stop.is_set():
            engine.con.execute("SELECT 1 WHERE false")

    thread = threading.Thread(target=work)
    thread.start()
    try:
        assert {warehouse.frontier("duckdb") for _ in range(20_000)} == {want}
    finally:
        stop.set()
        thread.join()
    warehouse.close()


def test_a_frontier_that_was_told_in_a_batch_holds_up_no_checkpoint(database: str, tmp_path: Path) -> None:
    p = project(tmp_path, database)
    warehouse = Warehouse(p.config, p.deployed)
    engine = warehouse.engine("duckdb")
    assert isinstance(engine, DuckDBEngine)
    for i in range(3):
        engine.con.execute("BEGIN")
        engine.frontier()
        engine.con.execute(f"UPDATE meta.frontier SET lsn = lsn + {i}")
        engine.con.execute("INSERT INTO meta.states VALUES ('x')")
        engine.con.execute("COMMIT")
        engine.con.execute("CHECKPOINT")
    warehouse.close()
