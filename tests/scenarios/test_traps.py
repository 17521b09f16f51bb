"""The traps other systems fell into, each a test: compared with the source's own answer after every commit.

The six-way join of trap 1 and the top row of trap 9 are in test_hot_rows.py.
Trap 12, a cost model trained on mislabelled runs: no strategy is learned from past runs, whatever they cost.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from connectors.duckdb.batches import Batches
from connectors.engine import Statement
from connectors.postgres.connection import connect
from pipelines import deployment
from pipelines.applying.capture import Capture, current_lsn
from pipelines.applying.catching_up import limits
from pipelines.asking.reading import LocalReader
from pipelines.verifying.verify import Verified, verify_with
from pipelines.warehouse import Warehouse
from tests.connectors.fresh import fresh_database
from tests.project import Project

TABLES = (
    "CREATE TABLE r (id int PRIMARY KEY, k int, g text, x int, p numeric(10,2))",
    "CREATE TABLE s (id int PRIMARY KEY, k int, y int)",
    "CREATE TABLE t (id int PRIMARY KEY, k int, z int)",
    "CREATE TABLE dup (a int, b int)",
    "ALTER TABLE dup REPLICA IDENTITY FULL",
)
VIEWS = {
    "left_join": "SELECT r.id, s.id AS sid, s.y FROM r LEFT JOIN s ON r.k = s.k",
    "full_join": "SELECT r.id, s.id AS sid FROM r FULL JOIN s ON r.k = s.k AND s.y > 0",
    "chained_max": "SELECT r.g, max(s.y) AS my, max(t.z) AS mz, count(*) AS n FROM r LEFT JOIN s ON s.k = r.k LEFT "
    "JOIN t ON t.k = s.k GROUP BY r.g",
    "duplicates": "SELECT k, x % 2 AS odd FROM r",
    "keyless": "SELECT a, b FROM dup",
    "grouped": "SELECT g, count(*) AS n, sum(x) AS total, min(x) AS low FROM r GROUP BY g",
    "on_grouped": "SELECT n, count(*) AS groups, sum(total) AS total FROM grouped GROUP BY n",
    "above": "SELECT g, total * 2 AS twice FROM grouped WHERE total > 5",
    "null_keys": "SELECT k, count(*) AS n, count(k) AS nk FROM s GROUP BY k",
    "distinct_null": "SELECT DISTINCT k, y FROM s",
    "newest": "SELECT DISTINCT ON (k) k, y, id FROM s ORDER BY k, y DESC, id",
    "at_maximum": "SELECT id, x FROM r WHERE x = (SELECT max(x) FROM r)",
    "at_group_maximum": "SELECT o.id, o.x FROM r o WHERE o.x = (SELECT max(i.x) FROM r i WHERE i.g = o.g)",
    "having_both": "SELECT g, sum(x) AS total FROM r GROUP BY g HAVING sum(x) BETWEEN 5 AND 20",
    "averages": "SELECT g, avg(p) AS a, sum(p) AS total FROM r GROUP BY g",
    "overall": "SELECT avg(p) AS a, count(*) AS n FROM r",
    "per_key_total": "SELECT k, sum(x) AS total FROM r GROUP BY k",
    "k_has_rows": "SELECT id FROM s WHERE EXISTS (SELECT 1 FROM r WHERE r.k = s.k)",
    "k_has_none": "SELECT id FROM s WHERE s.k NOT IN (SELECT k FROM r WHERE k IS NOT NULL)",
}


class Open(Project):
    """A project whose warehouse stays open from one commit to the next."""

    warehouse: Warehouse
    capture: Capture

    def verify(self) -> list[Verified]:
        return verify_with(self.config, self.warehouse, self.capture, [], False)

    @property
    def durable(self) -> int:
        return self.warehouse.engine("duckdb").frontier()


@pytest.fixture(scope="module")
def deployed(server: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Open]:
    with fresh_database(server, "traps") as dsn:
        p = Open(Project.create(tmp_path_factory.mktemp("traps"), dsn, VIEWS).home, dsn)
        p.source(*TABLES)
        p.deploy()
        p.warehouse = Warehouse(p.config, p.deployed)
        p.capture = Capture(p.warehouse, limits(p.config))
        yield p
        p.capture.close()
        p.warehouse.close()


@pytest.fixture
def project(deployed: Open) -> Open:
    """The shared project with the same few rows at the start of every test."""
    commit(
        deployed,
        "DELETE FROM r",
        "DELETE FROM s",
        "DELETE FROM t",
        "DELETE FROM dup",
        "INSERT INTO r VALUES (1, 1, 'a', 3, 0.10), (2, 1, 'a', 5, 0.20), (3, 2, 'b', 8, 0.70), (4, NULL, NULL, NULL, "
        "NULL)",
        "INSERT INTO s VALUES (1, 1, 10), (2, 1, 20), (3, 3, 30), (4, NULL, NULL)",
        "INSERT INTO t VALUES (1, 1, 100), (2, 2, 200)",
        "INSERT INTO dup VALUES (1, 1), (1, 1), (2, NULL)",
    )
    return deployed


def commit(p: Open, *statements: str) -> None:
    """One transaction, then every view is compared."""
    with connect(p.dsn, autocommit=False) as c:
        for s in statements:
            c.execute(s)  # type: ignore[arg-type]
        c.commit()
    p.assert_equal()


def rows(p: Open, sql: str) -> list[tuple[object, ...]]:
    return [tuple(r.values()) for r in LocalReader(p.warehouse).query(sql).to_pylist()]


def test_01_both_sides_of_an_outer_join_change_in_one_batch(project: Open) -> None:
    commit(project, "INSERT INTO r VALUES (10, 7, 'c', 1, 1)", "INSERT INTO s VALUES (10, 7, 1)")
    commit(project, "UPDATE s SET k = 2 WHERE id = 1", "UPDATE r SET k = 3 WHERE id = 1", "DELETE FROM s WHERE id = 2")
    commit(project, "DELETE FROM r WHERE id = 10", "DELETE FROM s WHERE id = 10")
    commit(project, "UPDATE r SET k = 9", "UPDATE s SET k = 9", "UPDATE t SET k = 9")


def test_02_chained_left_joins_with_max_on_a_populated_group(project: Open) -> None:
    commit(project, "INSERT INTO t VALUES (10, 1, 500)", "INSERT INTO s VALUES (10, 1, 99)")
    commit(project, "DELETE FROM t WHERE id = 10", "UPDATE s SET y = 1 WHERE id = 10")
    commit(project, "DELETE FROM s WHERE k = 1")
    assert rows(project, "SELECT my, mz, n FROM chained_max WHERE g = 'a'") == [(None, None, 2)]


def test_03_equal_rows_are_counted_and_deleted_one_at_a_time(project: Open) -> None:
    commit(project, "DELETE FROM dup WHERE ctid = (SELECT min(ctid) FROM dup WHERE a = 1)")
    assert rows(project, "SELECT count(*) AS n FROM keyless WHERE a = 1") == [(1,)]
    commit(project, "DELETE FROM r WHERE id = 1")
    assert rows(project, "SELECT count(*) AS n FROM duplicates WHERE k = 1") == [(1,)]
    commit(
        project,
        "INSERT INTO dup VALUES (1, 1), (1, 1), (2, NULL)",
        "UPDATE dup SET b = 5 WHERE ctid = (SELECT max(ctid) FROM dup)",
    )


def test_04_and_06_every_table_and_view_stands_at_the_one_stored_frontier(project: Open) -> None:
    commit(project, "INSERT INTO r VALUES (10, 1, 'a', 1, 1)")
    with connect(project.dsn) as c:
        c.execute("INSERT INTO r VALUES (11, 1, 'a', 1, 1)")
    assert project.durable < current_lsn(project.dsn)
    assert (
        rows(project, "SELECT count(*) AS n FROM duplicates")
        == rows(project, "SELECT sum(n)::BIGINT AS n FROM grouped")
        == [(5,)]
    )
    project.assert_equal()


def test_05_a_view_on_a_view_sees_the_delete_of_an_update(project: Open) -> None:
    commit(project, "UPDATE r SET g = 'b' WHERE id = 1")
    commit(project, "UPDATE r SET x = x + 1")
    commit(project, "UPDATE r SET g = 'z' WHERE g = 'b'")
    assert rows(project, "SELECT count(*) AS n FROM above WHERE g = 'b'") == [(0,)]


def test_07_maintenance_is_compiled_anew_and_not_stored(project: Open) -> None:
    text = (project.config.warehouse_path / deployment.FILE).read_text()
    assert "MERGE" not in text and "_weight" not in text
    assert '"grouped\\"' in text


def test_08_an_emptied_group_and_an_emptied_table_come_back(project: Open) -> None:
    commit(project, "DELETE FROM r WHERE g = 'a'")
    commit(project, "INSERT INTO r VALUES (1, 1, 'a', 4, 0.3)")
    commit(project, "DELETE FROM r")
    assert rows(project, "SELECT n FROM overall") == [(0,)]
    commit(
        project, "INSERT INTO r VALUES (1, 1, 'a', 4, 0.3)", "DELETE FROM r", "INSERT INTO r VALUES (2, 1, 'a', 6, 0.4)"
    )


def test_09_null_keys_arrival_order_and_ties(project: Open) -> None:
    commit(project, "INSERT INTO s VALUES (10, NULL, 5), (11, NULL, NULL)", "UPDATE s SET k = NULL WHERE id = 1")
    commit(project, "INSERT INTO s VALUES (12, 1, 20)", "UPDATE s SET y = 20 WHERE k = 1")
    commit(project, "DELETE FROM s WHERE id = 2", "INSERT INTO s VALUES (0, 1, 20)")
    commit(project, "INSERT INTO r VALUES (10, 1, 'a', 8, 1)", "INSERT INTO r VALUES (0, 1, 'a', 8, 1)")
    assert rows(project, "SELECT id FROM newest WHERE k = 1") == [(0,)]
    commit(project, "DELETE FROM s WHERE k IS NULL")


def test_10_the_maximum_moves_up_down_and_away(project: Open) -> None:
    commit(project, "INSERT INTO r VALUES (10, 1, 'a', 99, 1)")
    commit(project, "UPDATE r SET x = 1 WHERE id = 10")
    commit(project, "UPDATE r SET x = 8 WHERE id IN (1, 2)")
    assert rows(project, "SELECT count(*) AS n FROM at_maximum") == [(3,)]
    commit(project, "DELETE FROM r WHERE x = 8")
    commit(project, "DELETE FROM r")


def test_11_having_is_crossed_in_both_directions(project: Open) -> None:
    for x in (100, 6, 0, 12, -50, 5, 21):
        commit(project, f"UPDATE r SET x = {x} WHERE id = 1")
    commit(project, "UPDATE r SET x = 0 WHERE id = 1", "UPDATE r SET x = 100 WHERE id = 3")


def test_12_batches_that_overturn_everything_leave_the_choice_of_maintenance_as_it_was(
    project: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    run: list[Statement] = []
    real = Batches.maintain

    def recorded(batches: Batches, statements: Sequence[Statement], nothing: set[str]) -> None:
        run.extend(statements)
        real(batches, statements, nothing)

    def of_a_small_batch(row: int) -> list[Statement]:
        run.clear()
        project.warehouse.maintaining.prepared.clear()
        commit(project, f"INSERT INTO r VALUES ({row}, 1, 'a', 1, 1)")
        return list(run)

    monkeypatch.setattr(Batches, "maintain", recorded)
    before = of_a_small_batch(10)
    for i in range(5):
        commit(
            project,
            f"UPDATE r SET k = k + 1, x = x + {i}, g = g || '{i}'",
            "UPDATE s SET k = k + 1, y = -y",
            "DELETE FROM t",
            "INSERT INTO r SELECT g, g % 9, 'a' || g % 5, g % 11, g FROM generate_series(1000, 1999) g",
            "INSERT INTO t VALUES (1, 1, 5)",
        )
        commit(project, "DELETE FROM r WHERE id >= 1000")
    assert before
    assert of_a_small_batch(11) == before
    assert {v.maintenance for v in project.deployed.views} == {"incremental", "keyed"}


def test_13_averages_of_numeric_do_not_drift(project: Open) -> None:
    for i in range(6):
        commit(
            project,
            f"INSERT INTO r SELECT g, 100 + g, 'a', 1, g * 0.01 + {i} FROM generate_series({100 + i * 50}, "
            f"{149 + i * 50}) g",
            "UPDATE r SET p = p + 0.01 WHERE g = 'a'",
            f"DELETE FROM r WHERE id % 7 = {i}",
        )
    commit(project, "DELETE FROM r WHERE id >= 100")


def test_14_an_update_within_a_group_that_leaves_its_key_alone_is_not_lost(project: Open) -> None:
    commit(project, "UPDATE r SET x = 50 WHERE id = 1")
    assert rows(project, "SELECT total FROM per_key_total WHERE k = 1") == [(55,)]
    commit(project, "UPDATE r SET x = 5 WHERE id = 1", "UPDATE r SET x = 50 WHERE id = 2")
    commit(project, "UPDATE r SET id = 100 WHERE id = 1")
    commit(project, "UPDATE r SET x = 51 WHERE id = 2", "UPDATE r SET x = 50 WHERE id = 2")


def test_15_the_slot_is_never_acknowledged_past_what_is_durable(project: Open) -> None:
    for i in range(3):
        commit(project, f"INSERT INTO r VALUES ({10 + i}, 1, 'a', 1, 1)", f"DELETE FROM s WHERE id = {i}")
        with connect(project.dsn) as c:
            row = c.execute(
                "SELECT (confirmed_flush_lsn - '0/0')::bigint FROM pg_replication_slots WHERE slot_name = %s",
                (project.deployed.slot,),
            ).fetchone()
        assert row is not None and row[0] <= project.durable
