"""Rows that change again and again: joins of many tables and tops over a log that has grown."""

from __future__ import annotations

import time
from pathlib import Path

from pipelines.applying.capture import Capture, current_lsn
from pipelines.applying.catching_up import limits
from pipelines.asking.ask import ask
from pipelines.warehouse import Warehouse
from tests.project import Project

SIX_WAY = (
    "SELECT a.id, f.id AS fid FROM r a JOIN s b ON a.k = b.k JOIN t c ON b.k = c.k JOIN r d ON d.k = c.k JOIN s e ON "
    "e.k = d.k "
    "JOIN t f ON f.k = e.k"
)
TOP = "SELECT id, x FROM r ORDER BY x DESC NULLS LAST, id LIMIT 1"
TABLES = tuple(f"CREATE TABLE {n} (id int PRIMARY KEY, k int, x int)" for n in "rst")


def created(home: Path, dsn: str, views: dict[str, str], *rows: str) -> Project:
    p = Project.create(home, dsn, views)
    p.source(*TABLES, *rows)
    p.deploy()
    return p


def test_a_six_way_join_does_not_drift(database: str, tmp_path: Path) -> None:
    p = created(
        tmp_path,
        database,
        {"six_way": SIX_WAY},
        *(f"INSERT INTO {n} VALUES (1, 1, 1), (2, 1, 1), (3, 2, 2)" for n in "rst"),
    )
    for statements in (
        ("UPDATE r SET k = 2 WHERE id = 1; UPDATE s SET k = 2 WHERE id = 2; DELETE FROM t WHERE id = 1",),
        ("UPDATE r SET k = 9; UPDATE s SET k = 9; UPDATE t SET k = 9",),
        ("INSERT INTO t VALUES (7, 9, 1)", "DELETE FROM s WHERE id = 1"),
    ):
        p.source(*statements)
        p.assert_equal()
    assert ask(p.config, "SELECT count(*) AS n FROM six_way", False).to_pylist() == [{"n": 3 * 2 * 3 * 3 * 2 * 3}]


def test_a_row_updated_often_does_not_make_a_join_slower_each_time(database: str, tmp_path: Path) -> None:
    p = created(tmp_path, database, {"six_way": SIX_WAY}, *(f"INSERT INTO {n} VALUES (1, 1, 1)" for n in "rst"))
    warehouse = Warehouse(p.config, p.deployed)
    capture = Capture(warehouse, limits(p.config))
    seconds = []
    try:
        for _ in range(11):
            p.source(*(f"UPDATE {n} SET x = x + 1" for n in "rst"))
            start = time.perf_counter()
            capture.catch_up(current_lsn(p.dsn))
            seconds.append(time.perf_counter() - start)
    finally:
        capture.close()
        warehouse.close()
    assert sorted(seconds[-3:])[1] < 4 * sorted(seconds[:5])[2], seconds


def test_the_top_row_after_updates_is_the_sources(database: str, tmp_path: Path) -> None:
    p = created(
        tmp_path, database, {"top": TOP}, "INSERT INTO r VALUES (1, 1, 3), (2, 1, 5), (3, 2, 8), (4, NULL, NULL)"
    )
    for sign in "+-+":
        p.source(f"UPDATE r SET x = x {sign} 1")
        p.assert_equal()


def test_ties_for_the_top_row_are_broken_by_the_next_column(database: str, tmp_path: Path) -> None:
    p = created(tmp_path, database, {"top": TOP}, "INSERT INTO r VALUES (1, 1, 3), (2, 1, 8), (3, 2, 8)")
    for change in (
        "INSERT INTO r VALUES (10, 1, 8)",
        "INSERT INTO r VALUES (0, 1, 8)",
        "DELETE FROM r WHERE id IN (0, 2)",
        "DELETE FROM r WHERE x = 8",
    ):
        p.source(change)
        p.assert_equal()
    assert ask(p.config, "SELECT * FROM top", False).to_pylist() == [{"id": 1, "x": 3}]
