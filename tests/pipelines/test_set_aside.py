"""A view that cannot be maintained any more is set aside; the others go on, and deploy brings it back."""

from __future__ import annotations

from pathlib import Path

import pytest

from compiler.errors import TidemarkError
from pipelines import deployment as deployments
from pipelines.asking.ask import ask
from pipelines.asking.export import export
from pipelines.asking.status import plain, status
from pipelines.running.run import run
from pipelines.verifying.verify import verify
from tests.project import Project

VIEWS = {
    "numbers": "SELECT id, CAST(word AS int) AS n FROM t",
    "total": "SELECT sum(CAST(word AS int)) AS s FROM t",
    "words": "SELECT word, count(*) AS n FROM t GROUP BY word",
}


@pytest.fixture
def project(database: str, tmp_path: Path) -> Project:
    p = Project.create(tmp_path, database, VIEWS)
    p.source("CREATE TABLE t (id int PRIMARY KEY, word text)", "INSERT INTO t VALUES (1, '10'), (2, '20')")
    p.deploy()
    return p


def failed(p: Project) -> set[str]:
    return {v.name for v in deployments.require(p.config.warehouse_path).views if v.error}


def test_the_other_views_go_on(project: Project, caplog: pytest.LogCaptureFixture) -> None:
    project.source("INSERT INTO t VALUES (3, 'many')")
    run(project.config, once=True)
    assert failed(project) == {"numbers", "total"}
    assert 'view "numbers" is set aside' in caplog.text
    assert ask(project.config, "SELECT word FROM words ORDER BY word", False).to_pylist() == [
        {"word": w} for w in ("10", "20", "many")
    ]
    project.source("DELETE FROM t WHERE id = 1")
    run(project.config, once=True)
    assert ask(project.config, "SELECT count(*) AS n FROM words", False).to_pylist() == [{"n": 2}]


def test_status_export_and_verify_say_so(project: Project, tmp_path: Path) -> None:
    project.source("INSERT INTO t VALUES (3, 'many')")
    run(project.config, once=True)
    assert "set aside" in plain(status(project.config))
    with pytest.raises(TidemarkError, match="2 of the views could not be exported"):
        export(project.config, [], tmp_path / "out", "parquet")
    assert (tmp_path / "out" / "words.parquet").exists()
    assert {v.view: bool(v.error) for v in verify(project.config, [], False) if not v.mirror} == {
        "numbers": True,
        "total": True,
        "words": False,
    }


def test_status_evaluates_nothing(database: str, tmp_path: Path) -> None:
    # finished when it is read
    before = "SELECT id FROM (SELECT id, lag(word) OVER (ORDER BY id) AS w FROM t) x WHERE w::int > 5"
    p = Project.create(tmp_path, database, {**VIEWS, "before": before})
    p.source("CREATE TABLE t (id int PRIMARY KEY, word text)", "INSERT INTO t VALUES (1, 'many'), (2, '20')")
    p.deploy(keep_going=True)
    told = {v.view: v for v in status(p.config).views}
    assert told["before"].rows == told["words"].rows == 2 and not told["before"].error
    done = p.command("query", "SELECT * FROM before")
    assert done.returncode == 1 and "many" in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize("caught_up", [True, False])
def test_deploy_fills_it_again(project: Project, caught_up: bool) -> None:
    project.source("INSERT INTO t VALUES (3, 'many')")
    run(project.config, once=True)
    project.source("UPDATE t SET word = '30' WHERE id = 3")
    if caught_up:
        run(project.config, once=True)
    project.deploy()
    assert failed(project) == set()
    project.assert_equal()
