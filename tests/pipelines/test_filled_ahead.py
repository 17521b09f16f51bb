"""States that are filled beside the batches of a pipeline: they see the tables as they were when that began, take what
was changed since, and then stand where all others do."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from compiler.maintain.kept import Kept
from connectors.duckdb.filling import Filling
from connectors.engine import Begun
from pipelines import deployment as deployments
from pipelines.applying.catching_up import catch_up
from pipelines.asking.client import connect_running
from pipelines.deploying import ahead
from pipelines.deploying.deploy import compiled
from pipelines.warehouse import Warehouse
from tests.pipelines.running import running, until
from tests.pipelines.test_arriving import beginning
from tests.project import Project
from tests.rules.test_rules import COMMITS, LOAD, PAGES, SCHEMA, statement

TABLES = {"all_r": "SELECT * FROM r", "all_s": "SELECT * FROM s", "all_bag": "SELECT * FROM bag"}
MORE = "SELECT g, count(*) AS n, sum(x) AS s FROM t GROUP BY g"
TABLE = (
    "CREATE TABLE t (id int PRIMARY KEY, g int, x int)",
    "INSERT INTO t SELECT i, i % 7, i FROM generate_series(1, 1000) i",
)


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The states that were taken, from now on."""
    out: list[str] = []
    take = Filling.take

    def noted(self: Filling, states: Sequence[Kept], *args: Any) -> None:
        take(self, states, *args)
        out.extend(s.name for s in states)

    monkeypatch.setattr(Filling, "take", noted)
    return out


def begun(p: Project, warehouse: Warehouse) -> list[Begun]:
    return ahead.begin(warehouse, compiled(p.config)[1])


def opened(p: Project) -> Warehouse:
    return Warehouse(p.config, deployments.require(p.config.warehouse_path))


def test_every_operator(database: str, tmp_path: Path, taken: list[str]) -> None:
    p = Project.create(tmp_path, database, TABLES)
    p.source(SCHEMA, LOAD)
    p.deploy()
    plain = [page for page in PAGES if "now()" not in page.read_text()]
    for page in plain:
        (p.home / "views" / f"{page.stem}.sql").write_text(statement(page))
    for at in range(len(COMMITS)):  # what has been committed when it begins, while it goes on, and after it
        taken.clear()
        warehouse = opened(p)
        fills = begun(p, warehouse)
        assert len(fills) == 1
        p.source(COMMITS[at])
        catch_up(p.config, warehouse)
        fills[0].run()
        p.source("UPDATE r SET v = v + 3, k = k + 1 WHERE id % 2 = 1; INSERT INTO bag VALUES (2, 2), (NULL, 1)")
        catch_up(p.config, warehouse)
        warehouse.close()
        p.source("UPDATE s SET w = w - 1 WHERE id % 3 = 0; DELETE FROM bag WHERE v = 1")
        p.deploy()
        assert len(taken) > len(plain) / 2
        p.assert_equal()
        p.source("UPDATE r SET v = v - 1; UPDATE s SET k = k - 1; INSERT INTO bag SELECT k, v FROM bag")
        p.assert_equal()
        for page in plain:  # and they go again
            (p.home / "views" / f"{page.stem}.sql").rename(p.home / f"{page.stem}.sql")
        p.deploy()
        for page in plain:
            (p.home / f"{page.stem}.sql").rename(p.home / "views" / f"{page.stem}.sql")


@pytest.mark.parametrize(
    "meanwhile",
    [
        lambda p: p.source("TRUNCATE t", "INSERT INTO t VALUES (1, 1, 1)"),
        lambda p: p.source("ALTER TABLE t ALTER x TYPE bigint", "UPDATE t SET x = 10000000000 WHERE id = 3"),
        lambda p: p.source("DROP TABLE t", *TABLE, "DELETE FROM t WHERE id > 5"),
        lambda p: p.source("ALTER TABLE t RENAME x TO y", "ALTER TABLE t RENAME g TO x", "ALTER TABLE t RENAME y TO g"),
    ],
    ids=["truncated", "another type", "another table", "other names"],
)
def test_what_happens_to_a_table_meanwhile(meanwhile: Callable[[Project], None], database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, {"whole": "SELECT * FROM t"})
    p.source(*TABLE)
    p.deploy()
    p.write({"sums": MORE})
    warehouse = opened(p)
    fills = begun(p, warehouse)
    meanwhile(p)
    catch_up(p.config, warehouse)
    fills[0].run()
    warehouse.close()
    p.deploy()
    p.assert_equal()


def test_a_repair_meanwhile_is_not_lost(database: str, tmp_path: Path, taken: list[str]) -> None:
    p = Project.create(tmp_path, database, {"whole": "SELECT * FROM t"})
    p.source(*TABLE)
    p.deploy()
    p.write({"sums": MORE})
    warehouse = opened(p)
    engine = warehouse.engine("duckdb")
    engine.con.execute("UPDATE base.t SET x = -1 WHERE id = 7")  # type: ignore[attr-defined]
    fills = begun(p, warehouse)
    fills[0].run()
    warehouse.close()
    assert p.command("verify", "--repair").returncode == 0
    p.deploy()
    p.assert_equal()
    assert not taken


def test_what_cannot_be_filled_is_told_by_the_deploy(database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, {"whole": "SELECT * FROM t"})
    p.source(*TABLE)
    p.deploy()
    with running(p) as loop:
        p.write({"bad": "SELECT g, sum(x * 2000000000) AS q FROM t GROUP BY g", "good": MORE})
        failed = p.command("deploy")
        assert failed.returncode == 1
        assert 'view "bad"' in failed.stderr and "out of range" in failed.stderr.lower()
        (p.home / "views" / "bad.sql").unlink()
        assert p.command("deploy").returncode == 0
        p.source("UPDATE t SET g = g + 1, x = x + 10 WHERE id < 500")
        p.assert_equal()
        assert loop.poll() is None


@pytest.mark.parametrize("point", ["duckdb.filling", "duckdb.filled", "duckdb.catching_up"])
def test_a_kill_leaves_nothing_of_it(
    point: str, database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    p = Project.create(tmp_path, database, {"whole": "SELECT * FROM t"})
    p.source(*TABLE)
    p.deploy()
    p.write({"sums": MORE})
    monkeypatch.setenv("TIDEMARK_FAILPOINTS", f"{point}=kill")
    with running(p, how=signal.SIGKILL) as loop:
        monkeypatch.delenv("TIDEMARK_FAILPOINTS")
        assert p.command("deploy").returncode != 0
        until(lambda: loop.poll() is not None, "it is killed")
    p.source("UPDATE t SET g = g + 1 WHERE id < 500")
    with running(p):
        p.assert_equal()
        p.source("DELETE FROM t WHERE id % 2 = 0")
        assert p.command("deploy").returncode == 0
        p.assert_equal()
    warehouse = opened(p)
    assert warehouse.engine("duckdb").filling is not None
    assert not warehouse.engine("duckdb").filling.names()  # type: ignore[union-attr]
    warehouse.close()


def test_batches_go_on_meanwhile_and_a_pipeline_that_is_stopped_stops(database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, {"whole": "SELECT * FROM t"})
    p.source(*TABLE)
    p.deploy()
    p.write({"long": "SELECT count(*) AS n FROM t a, t b, t c, t d WHERE (a.x * b.x * c.x * d.x) % 7 = a.g"})
    with running(p) as loop:
        asked = beginning(p)
        reader = connect_running(p.config.warehouse_path)
        assert reader is not None
        with reader:
            for i in range(1, 6):
                p.source(f"UPDATE t SET x = -{i} WHERE id = 1")
                until(lambda i=i: reader.query("SELECT x FROM whole WHERE id = 1").to_pylist() == [{"x": -i}], "seen")  # type: ignore[misc]
                time.sleep(0.5)
        assert asked.poll() is None
        loop.send_signal(signal.SIGTERM)
        loop.wait(30)
        asked.wait(30)
    assert loop.returncode == 0
    (p.home / "views" / "long.sql").unlink()
    p.deploy()
    p.assert_equal()


def test_what_was_filled_is_taken_once_though_a_table_leaves_the_driver_meanwhile(
    database: str, tmp_path: Path
) -> None:
    p = Project.create(tmp_path, database, {"whole": "SELECT * FROM t"}, engine="spark", local_memory="2MB")
    p.source(
        *TABLE,
        "CREATE TABLE big (id int PRIMARY KEY, w text)",
        "INSERT INTO big SELECT i, repeat('w', 200) || i FROM generate_series(1, 30000) i",
    )
    p.deploy()
    with running(p, batch=60):
        p.write({"sums": MORE, "onbig": "SELECT count(*) AS n, max(w) AS m FROM big"})
        assert p.command("deploy").returncode == 0
        assert p.deployed.dist == ["public.big"]
        p.source(
            "UPDATE t SET x = x + 1 WHERE id < 500", "INSERT INTO t SELECT i, 1, i FROM generate_series(2000, 2500) i"
        )
        p.assert_equal()
        (p.home / "views" / "onbig.sql").unlink()
        assert p.command("deploy").returncode == 0
        p.assert_equal()
        p.source("DELETE FROM t WHERE id % 3 = 0")
        p.assert_equal()


def test_times_are_in_utc(database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Days of a time with a zone are longer and shorter elsewhere."""
    p = Project.create(tmp_path, database, {"whole": "SELECT * FROM t"})
    p.source("CREATE TABLE t (id int PRIMARY KEY, at timestamptz)", "INSERT INTO t VALUES (1, '2024-03-08 12:00+00')")
    p.deploy()
    monkeypatch.setenv("TZ", "America/New_York")
    days = "generate_series(t.at, t.at + interval '3 days', interval '1 day')"
    p.write({"days": f"SELECT g, count(*) AS n FROM t, {days} g GROUP BY g"})
    with running(p):
        assert p.command("deploy").returncode == 0
        p.assert_equal()
        p.source("INSERT INTO t VALUES (2, '2024-03-09 12:00+00')", "DELETE FROM t WHERE id = 1")
        p.assert_equal()


def test_nothing_is_noted_for_a_deploy_that_is_refused(database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, {"whole": "SELECT * FROM t"})
    p.source(*TABLE)
    p.deploy()
    with running(p):
        p.write({"sums": MORE})
        toml = tmp_path / "tidemark.toml"
        before = toml.read_text()
        toml.write_text(before + "[batch]\nrows = 77\n")
        assert "was changed" in p.command("deploy").stderr
        toml.write_text(before)
        p.source("UPDATE t SET x = x + 1")
        p.assert_equal()
    warehouse = opened(p)
    filling = warehouse.engine("duckdb").filling
    assert filling is not None and not filling.since and not filling.names()
    warehouse.close()
