"""A deploy beside a pipeline is killed while it copies: the next one goes on with what is there."""

from __future__ import annotations

import re
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import psycopg
import pytest

from connectors.postgres import ranges
from connectors.postgres.connection import SourceUnreachable
from pipelines.deploying import arriving as module
from pipelines.deploying.arriving import arriving, sweep
from pipelines.deploying.beside import beside
from pipelines.deploying.deploy import compiled
from pipelines.deploying.order import Order
from pipelines.deployment import FILE
from pipelines.running.deploying import deploy
from tests.pipelines.running import running
from tests.pipelines.test_resumed_copy import CHANGES, VIEWS, deployed, slots
from tests.pipelines.test_resumed_copy import project as unfilled
from tests.project import Project

GOES_ON = re.compile(r"going on with a copy that was cut short: (\d+) of (\d+) ranges are left")


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranges, "PAGES", 4)


@contextmanager
def project(home: Path, dsn: str) -> Iterator[tuple[Project, subprocess.Popen[str]]]:
    """One whose first view is there and followed; the others wait for a deploy."""
    p = unfilled(home, dsn)
    for name in VIEWS:
        (p.home / "views" / f"{name}.sql").unlink()
    p.source("CREATE TABLE first (id int PRIMARY KEY)", "INSERT INTO first VALUES (1)")
    p.write({"first": "SELECT count(*) AS n FROM first"})
    p.deploy()
    with running(p) as process:
        p.write(VIEWS)
        yield p, process


def copied(p: Project) -> set[int]:
    """The ranges of `big` that are there."""
    with duckdb.connect(str(beside(p.config).warehouse_path / "tidemark.duckdb"), read_only=True) as con:
        return {n for (n,) in con.execute("SELECT number FROM meta.copied_ranges WHERE mirror = 'big'").fetchall()}


def sent(p: Project) -> set[str]:
    """The tables of the pipeline's publication."""
    with psycopg.connect(p.dsn) as c:
        return {
            t
            for (t,) in c.execute(
                "SELECT tablename FROM pg_publication_tables WHERE pubname = %s", (p.deployed.publication,)
            ).fetchall()
        }


def finish(p: Project) -> str:
    lines: list[str] = []
    deploy(p.config, False, lambda *_: None, lines.append, False)
    said = " ".join(lines)
    assert all(v.equal for v in p.verify()), said
    assert slots(p) == 1 and not (beside(p.config).warehouse_path / FILE).exists()
    return said


def test_each_range_is_copied_once(database: str, tmp_path: Path) -> None:
    with project(tmp_path, database) as (p, process):
        seen = []
        for hit in (3, 4, 2):
            code, said = deployed(p, f"snapshot.range=kill:{hit}")
            assert code == -9, said
            seen.append(copied(p))
            p.source(*CHANGES, "INSERT INTO first SELECT max(id) + 1 FROM first")
        assert seen[0] < seen[1] < seen[2], seen
        said = finish(p)
        went_on = GOES_ON.search(said)
        assert went_on is not None and int(went_on[1]) < int(went_on[2]), said
        assert process.poll() is None
    p.source(*CHANGES)
    p.assert_equal()


@pytest.mark.parametrize("where", ["deploy.copied", "deploy.met", "deploy.live", "arriving.caught_up"])
def test_it_goes_on_from_each_step(where: str, database: str, tmp_path: Path) -> None:
    with project(tmp_path, database) as (p, _):
        assert deployed(p, "snapshot.range=kill:3")[0] == -9
        p.source(*CHANGES)
        assert deployed(p, f"{where}=kill:1")[0] == -9
        p.source(*CHANGES)
        assert "anew" not in finish(p)
    p.source(*CHANGES)
    p.assert_equal()


def test_it_goes_on_while_rows_change(database: str, tmp_path: Path) -> None:
    over = threading.Event()

    def write() -> None:
        n = 0
        with psycopg.connect(database, autocommit=True) as c:
            while not over.is_set():
                n += 1
                c.execute("UPDATE big SET v = v + 1, k = (k + 1) %% 9 WHERE id %% 97 = %s", (n % 97,))
                c.execute("DELETE FROM big WHERE id = %s", (n * 31 % 8000,))
                c.execute("INSERT INTO big VALUES (%s, 1, 1) ON CONFLICT (id) DO NOTHING", (n * 17 % 9000,))
                c.execute("INSERT INTO first SELECT max(id) + 1 FROM first")

    with project(tmp_path, database) as (p, _):
        writer = threading.Thread(target=write)
        writer.start()
        try:
            for hit in (2, 3):
                assert deployed(p, f"snapshot.range=kill:{hit}")[0] == -9
            assert GOES_ON.search(finish(p))
        finally:
            over.set()
            writer.join()
    p.assert_equal()


@pytest.mark.parametrize(
    "between",
    [
        ("TRUNCATE big", "INSERT INTO big VALUES (1, 1, 1)"),
        ("ALTER TABLE big ALTER v TYPE bigint",),
        ("ALTER TABLE big ADD more int DEFAULT 4",),
        ('ALTER PUBLICATION "{0}" DROP TABLE big', "UPDATE big SET v = v + 1", 'ALTER PUBLICATION "{0}" ADD TABLE big'),
    ],
)
def test_where_it_cannot_go_on_it_begins_anew(between: tuple[str, ...], database: str, tmp_path: Path) -> None:
    with project(tmp_path, database) as (p, _):
        assert deployed(p, "snapshot.range=kill:3")[0] == -9
        p.source(*(s.format(p.deployed.publication) for s in between))
        assert "copying anew what was being copied" in finish(p)
    p.source(*CHANGES[:4])
    p.assert_equal()


def test_another_deploy_needs_other_tables(database: str, tmp_path: Path) -> None:
    with project(tmp_path, database) as (p, _):
        assert deployed(p, "snapshot.range=kill:3")[0] == -9
        (p.home / "views" / "pairs.sql").unlink()
        assert "copying anew" in finish(p)
        p.write(VIEWS)
        assert deployed(p, "snapshot.range=kill:1")[0] == -9
        (p.home / "views" / "pairs.sql").unlink()
        finish(p)  # which needs none


def test_without_a_pipeline_it_goes_on_too(database: str, tmp_path: Path) -> None:
    with project(tmp_path, database) as (p, _):
        assert deployed(p, "snapshot.range=kill:3")[0] == -9
    p.source(*CHANGES)
    assert GOES_ON.search(finish(p))


def test_a_deploy_without_a_pipeline_that_is_killed(database: str, tmp_path: Path) -> None:
    with project(tmp_path, database) as (p, process):
        process.terminate()
        process.wait()
    for failpoint in ("snapshot.range=kill:3", "snapshot.range=kill:2", "redeploy.adopted=kill"):
        assert deployed(p, failpoint)[0] == -9
        p.source(*CHANGES)
    assert deployed(p, "snapshot.exported=raise")[0] == 0  # nothing is copied once more
    assert slots(p) == 1 and not (beside(p.config).warehouse_path / FILE).exists()
    p.assert_equal()


def test_what_nobody_goes_on_with_is_swept(database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with project(tmp_path, database) as (p, _):
        assert deployed(p, "snapshot.range=kill:3")[0] == -9
    sweep(p.config)
    assert slots(p) == 2
    monkeypatch.setattr(module, "KEPT", 0.0)
    sweep(p.config)
    assert slots(p) == 1 and not (beside(p.config).warehouse_path / FILE).exists()
    monkeypatch.undo()
    p.deploy()
    p.assert_equal()


def test_a_copy_that_was_whole_and_is_another_by_now(database: str, tmp_path: Path) -> None:
    with project(tmp_path, database) as (p, _):
        assert deployed(p, "arriving.caught_up=kill:1")[0] == -9
        p.source("ALTER TABLE big ADD more int DEFAULT 3", "UPDATE big SET more = 4 WHERE id < 9")
        assert "copying anew what was being copied" in finish(p)
        (p.home / "views" / "sums.sql").write_text(
            "CREATE MATERIALIZED VIEW sums AS SELECT k, count(v) AS n, sum(more) AS s FROM big GROUP BY k"
        )
        assert deployed(p, "arriving.caught_up=kill:1")[0] == -9
        with psycopg.connect(p.dsn, autocommit=True) as c:
            c.execute(
                "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE slot_name <> %s AND "
                "database = current_database() AND NOT active",
                (p.deployed.slot,),
            )
        assert "copying anew what was being copied" in finish(p)


def test_a_deploy_that_fails_leaves_nothing_published(database: str, tmp_path: Path) -> None:
    with project(tmp_path, database) as (p, _):
        for failpoint in ("snapshot.chunk=raise", "arriving.published=kill"):
            assert deployed(p, failpoint)[0] != 0
            if "kill" in failpoint:
                sweep(p.config)
            assert sent(p) == {"first"}, failpoint
        finish(p)


def test_what_could_not_be_taken_back_is_swept_later(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with project(tmp_path, database) as (p, _):
        catalog, views = compiled(p.config)
        with monkeypatch.context() as m, pytest.raises(RuntimeError):
            m.setattr(module, "publish_deployed", away)
            with arriving(Order(p.config, catalog, views)):
                raise RuntimeError
        assert "big" in sent(p)
        sweep(p.config)
        assert sent(p) == {"first"}


def away(*_: object) -> None:
    raise SourceUnreachable("the source is away", code="source_unreachable")
