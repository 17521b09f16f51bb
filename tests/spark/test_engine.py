"""Views on Spark with real Delta tables: equal to the source after every commit, and after a crash in either phase."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from connectors.spark.batches import Batches
from tests.project import Project
from tests.rules.test_rules import LOAD, SCHEMA

pytestmark = pytest.mark.spark

VIEWS = {
    "totals": "SELECT k, count(*) AS n, sum(x) AS s, avg(v) AS a FROM r GROUP BY k",
    "joined": "SELECT r.id, s.id AS other FROM r LEFT JOIN s ON s.k = r.k",
    "extremes": "SELECT k, min(v) AS lo, max(t) AS hi FROM r GROUP BY k",
    "histogram": "SELECT n, count(*) AS groups FROM (SELECT k, count(*) AS n FROM r GROUP BY k) g GROUP BY n",
    "absent": "SELECT id FROM r WHERE k NOT IN (SELECT k FROM s WHERE w > 3)",
    "names": "SELECT k, string_agg(t, ',' ORDER BY id) AS ts FROM r GROUP BY k",
    "bagged": "SELECT k, v FROM bag",
    "products": "SELECT k, avg(x) * sum(x) AS p FROM r GROUP BY k",
    "steps": "SELECT s.id, x FROM s, generate_series(timestamp '2024-05-30', timestamp '2023-01-05', interval '1 mon "
    "-40 days') x",
}
COMMITS = (
    "INSERT INTO r VALUES (101, 2, 50, 7.5, 'new'), (102, NULL, NULL, NULL, NULL); UPDATE s SET k = k + 1 WHERE id < "
    "6; "
    "DELETE FROM bag WHERE k = 1",
    "DELETE FROM r WHERE k = 2; UPDATE r SET id = id + 1000 WHERE id = 7; TRUNCATE bag; INSERT INTO bag VALUES (NULL, "
    "NULL), (0, 0)",
)


def test_views_equal_the_source_after_every_commit(database: str, tmp_path: Path) -> None:
    project = Project.create(tmp_path, database, VIEWS, "spark")
    project.source(SCHEMA, LOAD)
    deployed = project.deploy()
    assert [v.engine for v in deployed.views] == ["spark"] * len(VIEWS)
    for commit in COMMITS:
        project.source(commit)
        project.assert_equal()
    spark_s = getattr(signal.getsignal(signal.SIGINT), "__module__", "").startswith("pyspark")
    assert not spark_s, "an interrupt would end a run in the midst of its batch"


@pytest.mark.parametrize("phase", ["_compute", "_tagged"])
def test_crash_in_a_phase_is_finished_by_the_next_run(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, phase: str
) -> None:
    project = Project.create(tmp_path, database, {k: VIEWS[k] for k in ("totals", "bagged")}, "spark")
    project.source(SCHEMA, LOAD)
    project.deploy()
    project.source(COMMITS[0])
    real, calls = getattr(Batches, phase), []

    def crash(self: Batches, *args: object) -> object:
        calls.append(args)
        if phase == "_compute" or len(calls) == 2:
            raise KeyboardInterrupt(f"crash in {phase}")
        return real(self, *args)

    with monkeypatch.context() as m:
        m.setattr(Batches, phase, crash)
        with pytest.raises(KeyboardInterrupt):
            project.catch_up()
    project.source(COMMITS[1])
    project.catch_up()
    project.assert_equal()
