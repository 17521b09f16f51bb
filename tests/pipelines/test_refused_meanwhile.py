"""A value that is refused while a deploy brings tables in stops the views that read it, whatever the deploy is for."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.project import Project


@pytest.mark.parametrize("aside", [False, True])
def test_a_view_that_is_well_is_set_aside_by_the_deploy(database: str, tmp_path: Path, aside: bool) -> None:
    p = Project.create(tmp_path, database, {"sums": "SELECT sum(v) AS s FROM t", "ids": "SELECT id FROM t"})
    p.source("CREATE TABLE t (id int PRIMARY KEY, v numeric)", "INSERT INTO t VALUES (1, 5)")
    p.source("CREATE TABLE u (id int PRIMARY KEY)", "CREATE TABLE w (id int PRIMARY KEY, v numeric)")
    if aside:
        p.write({"wide": "SELECT max(v) AS m FROM w"})
    p.deploy()
    if aside:  # another view that is, is tried again by the same deploy
        p.source("INSERT INTO w VALUES (1, 1e40)")
        p.catch_up()
        p.source("DELETE FROM w")
    p.source("INSERT INTO t VALUES (2, 'NaN')", "INSERT INTO t VALUES (3, 1)")
    p.write({"others": "SELECT id FROM u"})
    p.command("deploy", "--keep-going")
    stopped = {v.name for v in p.deployed.views if v.error}
    assert stopped == {"sums"}, [(v.name, v.error) for v in p.deployed.views]
    p.source("INSERT INTO t VALUES (4, 7)", "INSERT INTO u VALUES (1)")
    assert {r.view for r in p.verify() if not r.equal} == {"sums"}
    p.source("UPDATE t SET v = 2 WHERE id = 2")
    p.deploy()
    p.assert_equal()
    assert not any(v.error for v in p.deployed.views)
