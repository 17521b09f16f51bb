"""Partitions that come, go or are emptied by their own names: Postgres sends none of it, and the catalog tells."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.pipelines.running import running, until
from tests.pipelines.schema_changes import PARTITIONS, ever_stopped
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


def of(case: str, text: str) -> str:
    """Statements for the tables of a case: each has its own."""
    return re.sub(r"\b(part|other)(?=\b|_)", rf"\g<1>{list(PARTITIONS).index(case)}", text)


def views(case: str) -> dict[str, str]:
    return {f"{name}_{list(PARTITIONS).index(case)}": of(case, query) for name, query in VIEWS.items()}


def stops(case: str) -> set[str]:
    return {n for n in views(case) if not n.startswith("apart")} if PARTITIONS[case][1] else set()


def project(database: str, home: Path, cases: Iterable[str]) -> Project:
    p = Project.create(home, database, {n: q for case in cases for n, q in views(case).items()})
    p.source(*(of(case, x) for case in cases for x in SCHEMA))
    p.deploy()
    return p


def stopped(p: Project) -> set[str]:
    return {v.name for v in p.deployed.views if v.error}


def test_what_the_stream_does_not_tell_stops_the_views_that_read_it(
    database: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """And the next run fills again what it can of them."""
    p = project(database, tmp_path, PARTITIONS)
    for step in range(2):
        for case in PARTITIONS:
            steps = PARTITIONS[case][0].split("||")
            p.source(*(of(case, x) for x in (steps[step].split("|") if step < len(steps) else [])))
        p.catch_up()
    assert ever_stopped(caplog) == {n for case in PARTITIONS for n in stops(case)}
    left = stopped(p)
    more = ("INSERT INTO part VALUES (500, 1, 5)", "UPDATE other SET x = x + 1")
    p.source(*(of(case, x) for case in PARTITIONS for x in more))
    assert {r.view for r in p.verify() if not r.equal} == left
    p.deploy()
    assert not stopped(p)
    last = ("UPDATE part SET v = v + 1 WHERE id % 3 = 0", "DELETE FROM other WHERE id = 3")
    p.source(*(of(case, x) for case in PARTITIONS for x in last))
    p.assert_equal()


@pytest.mark.parametrize(
    "cases",
    [
        ("attached", "truncated", "truncated by all names", "truncated whole", "computed anew"),
        ("made, and dropped later",),
    ],
)
def test_it_is_noticed_while_the_pipeline_runs(database: str, tmp_path: Path, cases: tuple[str, ...]) -> None:
    """Apart, as half a minute after a first view stopped the pipeline looks by itself, and mends what it finds."""
    p = project(database, tmp_path, cases)
    seen: set[str] = set()
    with running(p):
        p.source(*(of(case, "UPDATE part SET v = v + 1") for case in cases))
        for step in range(2):
            for case in cases:
                steps = PARTITIONS[case][0].split("||")
                then = ("INSERT INTO part VALUES (501, 1, 5)", "DELETE FROM part WHERE id = 501")
                if step < len(steps):
                    p.source(*(of(case, x) for x in (*steps[step].split("|"), *then)))
            apart = f"SELECT count(*) FROM {max(views(cases[0]))}".replace("joined", "apart")
            assert p.command("query", "--wait", apart).returncode == 0
            seen |= stopped(p)
        expected = {n for case in cases for n in stops(case)}

        def noticed() -> bool:
            """Views stay set aside for half a minute, then the pipeline fills them again by itself."""
            seen.update(stopped(p))
            return seen >= expected

        until(noticed, "noticed at the latest by the next look at the catalog", 60)
        assert seen == expected
    p.deploy()
    p.assert_equal()


UNSENT = {
    "is unlogged": (
        "CREATE UNLOGGED TABLE part_2 PARTITION OF part FOR VALUES IN (2); ALTER TABLE part_2 REPLICA IDENTITY FULL",
        "ALTER TABLE part_2 SET LOGGED",
    ),
    "has another replica identity": (
        "CREATE TABLE part_2 PARTITION OF part FOR VALUES IN (2)",
        "ALTER TABLE part_2 REPLICA IDENTITY FULL",
    ),
}


@pytest.mark.parametrize("what", UNSENT)
def test_a_partition_whose_changes_are_not_sent_stops_the_views(database: str, tmp_path: Path, what: str) -> None:
    """Postgres makes it, and sends its rows without what they were before, or not at all."""
    made, mended = UNSENT[what]
    p = Project.create(tmp_path, database, {"by_k": VIEWS["by_k"]})
    p.source(
        "CREATE TABLE part (id int, k int, v int, PRIMARY KEY (id, k)) PARTITION BY LIST (k)",
        "CREATE TABLE part_1 PARTITION OF part FOR VALUES IN (1)",
        "ALTER TABLE part REPLICA IDENTITY FULL",
        "ALTER TABLE part_1 REPLICA IDENTITY FULL",
        "INSERT INTO part SELECT i, 1, i FROM generate_series(1, 5) i",
    )
    p.deploy()
    p.source(made, "INSERT INTO part VALUES (1, 2, 10), (2, 2, 20)", "DELETE FROM part WHERE k = 2 AND id = 1")
    p.catch_up()
    (view,) = p.deployed.views
    assert "a partition of" in view.error and what in view.error, view.error
    refused = p.command("deploy")
    assert refused.returncode != 0, refused.stdout
    p.source(mended)
    p.deploy()
    p.source("DELETE FROM part WHERE id = 2", "INSERT INTO part VALUES (9, 2, 9)")
    p.assert_equal()
