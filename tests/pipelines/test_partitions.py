"""Partitions that come, go or are emptied by their own names: Postgres sends none of it, and the catalog tells."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pipelines.running import running, until
from tests.pipelines.schema_changes import PARTITIONS
from tests.project import Project

VIEWS = {
    "by_k": "SELECT k, count(*) AS n, sum(v) AS s FROM part GROUP BY k",
    "joined": "SELECT o.id, p.v FROM other o JOIN part p ON p.id = o.id",
    "apart": "SELECT id, x FROM other",
}
SCHEMA = (
    "CREATE TABLE part (id int, k int, v int, PRIMARY KEY (id, k)) PARTITION BY LIST (k)",
    "CREATE TABLE part_1 PARTITION OF part FOR VALUES IN (1)",
    "CREATE TABLE part_2 PARTITION OF part FOR VALUES IN (2)",
    "CREATE TABLE part_3 PARTITION OF part FOR VALUES IN (3, 30) PARTITION BY LIST (k)",
    "CREATE TABLE part_30 PARTITION OF part_3 FOR VALUES IN (30)",
    "CREATE TABLE other (id int PRIMARY KEY, x int)",
    "INSERT INTO part SELECT i, 1 + i % 2, i FROM generate_series(1, 20) i",
    "INSERT INTO part SELECT i, 30, i FROM generate_series(1, 5) i",
    "INSERT INTO other SELECT i, i FROM generate_series(1, 9) i",
)


def project(database: str, home: Path) -> Project:
    p = Project.create(home, database, VIEWS)
    p.source(*SCHEMA)
    p.deploy()
    return p


@pytest.mark.parametrize("case", PARTITIONS)
def test_what_the_stream_does_not_tell_stops_the_views_that_read_it(case: str, database: str, tmp_path: Path) -> None:
    p = project(database, tmp_path)
    done, stops = PARTITIONS[case]
    for while_stopped in done.split("||"):
        p.source(*while_stopped.split("|"))
        p.catch_up()
    stopped = {v.name for v in p.deployed.views if v.error}
    assert stopped == ({"by_k", "joined"} if stops else set())
    p.source("INSERT INTO part VALUES (500, 1, 5)", "UPDATE other SET x = x + 1")
    assert {r.view for r in p.verify() if not r.equal} == stopped
    p.deploy()
    assert not [v for v in p.deployed.views if v.error]
    p.source("UPDATE part SET v = v + 1 WHERE id % 3 = 0", "DELETE FROM other WHERE id = 3")
    p.assert_equal()


@pytest.mark.parametrize("case", ["attached", "truncated", "computed anew", "made, and dropped later"])
def test_it_is_noticed_while_the_pipeline_runs_with_the_next_row(case: str, database: str, tmp_path: Path) -> None:
    p = project(database, tmp_path)
    with running(p):
        p.source("UPDATE part SET v = v + 1")
        for some in PARTITIONS[case][0].split("||"):
            p.source(*some.split("|"), "INSERT INTO part VALUES (501, 1, 5)", "DELETE FROM part WHERE id = 501")
            p.command("query", "--wait", "SELECT count(*) FROM apart")
        until(lambda: {v.name for v in p.deployed.views if v.error} == {"by_k", "joined"}, "noticed", 5)
        done = p.command("query", "SELECT * FROM by_k")
        assert done.returncode != 0 and "partition" in done.stderr or "altered" in done.stderr, done.stderr
    p.deploy()
    p.assert_equal()
