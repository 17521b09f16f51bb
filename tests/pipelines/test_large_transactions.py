"""A transaction that does not fit into memory is applied in parts, and is there at once or not at all."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import psycopg
import pytest

from connectors.duckdb import batches
from connectors.postgres import transactions
from connectors.postgres.spool import Spool
from pipelines.applying.capture import Capture, current_lsn
from pipelines.applying.catching_up import limits
from pipelines.warehouse import Warehouse
from tests.project import Project

SCHEMA = (
    "CREATE TABLE p (id int PRIMARY KEY, name text)",
    "CREATE TABLE c (id int PRIMARY KEY, p int, x int, note text)",
    "ALTER TABLE c ALTER note SET STORAGE EXTERNAL",
    "CREATE TABLE f (id int PRIMARY KEY, p int, x numeric(9, 2))",
    "ALTER TABLE f REPLICA IDENTITY FULL",
    "CREATE TABLE bag (p int, x int)",
    "ALTER TABLE bag REPLICA IDENTITY FULL",
    "CREATE TABLE d (id int, x int, PRIMARY KEY (id) DEFERRABLE INITIALLY DEFERRED)",
    "ALTER TABLE d REPLICA IDENTITY FULL",
    "INSERT INTO p SELECT i, 'n' || i FROM generate_series(1, 40) i",
    "INSERT INTO c SELECT i, 1 + i % 40, i, repeat(md5(i::text), 90) FROM generate_series(1, 400) i",
    "INSERT INTO f SELECT i, 1 + i % 40, i FROM generate_series(1, 400) i",
    "INSERT INTO bag SELECT i % 40, i % 5 FROM generate_series(1, 400) i",
    "INSERT INTO d SELECT i, i FROM generate_series(1, 100) i",
)
VIEWS = {
    "joined": "SELECT p.name, count(*) AS n, sum(c.x) AS s FROM p JOIN c ON c.p = p.id GROUP BY p.name",
    "extremes": "SELECT p, min(x) AS least, max(x) AS most, count(DISTINCT x) AS d FROM c GROUP BY p",
    "rows_of": "SELECT c.id, c.note, p.name FROM c LEFT JOIN p ON p.id = c.p",
    "sums": "SELECT p, sum(x) AS s FROM f GROUP BY p",
    "bags": "SELECT x, count(*) AS n FROM bag GROUP BY x",
    "none": "SELECT id FROM p WHERE NOT EXISTS (SELECT FROM c WHERE c.p = p.id)",
    "deferred": "SELECT id, x FROM d",
    "ranks": "SELECT id, rank() OVER (PARTITION BY p ORDER BY x, id) AS r FROM c",
}
MOVES = (
    "UPDATE c SET x = x + 1 WHERE id % 3 = {k}",
    "UPDATE c SET id = id + 1000 WHERE id % 7 = {k} AND id < 1000",
    "UPDATE c SET id = id - 1000 WHERE id > 1000",
    "UPDATE c SET p = 1 + x % 40 WHERE id % 2 = {k}",
    "UPDATE c SET note = repeat(md5((x + {k})::text), 80) WHERE id % 11 = {k}",
    "DELETE FROM c WHERE id % 13 = {k}",
    "INSERT INTO c SELECT i, 1 + i % 40, i, repeat(md5(i::text), 85) FROM generate_series(1, 400) i ON CONFLICT DO "
    "NOTHING",
    "UPDATE f SET x = x * 2, p = 1 + id % 39 WHERE id % 5 = {k} AND x < 100000",
    "DELETE FROM f WHERE id % 17 = {k}",
    "INSERT INTO f SELECT i, 1 + i % 40, i FROM generate_series(1, 400) i ON CONFLICT DO NOTHING",
    "INSERT INTO bag SELECT i % 40, i % 6 FROM generate_series(1, 300) i",
    "DELETE FROM bag WHERE x = {k}",
    "UPDATE bag SET x = x + 1 WHERE p = {k}",
    "UPDATE p SET name = name || '!' WHERE id % 2 = {k}",
    "TRUNCATE c",
    "TRUNCATE bag",
    "UPDATE d SET id = 101 - id",
    "UPDATE d SET x = x + {k}",
)


def project(folder: Path, dsn: str, engine: str, settings: str = "") -> Project:
    small = '\n[batch]\nrows = 700\nmemory = "100KB"\n'
    p = Project.create(folder, dsn + " options='-c logical_decoding_work_mem=64kB'", VIEWS, engine, local_memory="1GB")
    (p.home / "tidemark.toml").write_text((p.home / "tidemark.toml").read_text() + small + settings)
    return p


def moved(dsn: str, chance: random.Random, moves: Sequence[str], times: int) -> None:
    """One transaction of some of the moves, a fifth of them undone."""
    with psycopg.connect(dsn) as c, c.transaction():
        for _ in range(times):
            with suppress(psycopg.errors.UniqueViolation), c.transaction() as part:
                c.execute(chance.choice(moves).format(k=chance.randrange(3)))  # type: ignore[arg-type]
                if chance.random() < 0.2:
                    raise psycopg.Rollback(part)


def cut(p: Project, failpoints: str) -> None:
    """A `run --once` that ends at a failpoint."""
    done = subprocess.run(
        [sys.executable, "-m", "pipelines.cli", "run", "--once"],
        cwd=p.home,
        env={**os.environ, "TIDEMARK_FAILPOINTS": failpoints},
        capture_output=True,
    )
    assert done.returncode != 0


@pytest.mark.parametrize("engine", ["duckdb", "spark"])
@pytest.mark.parametrize("settings", ["", "\n[duckdb]\nindex_rows = 0\n"])
def test_every_kind_of_change(
    database: str, tmp_path: Path, engine: str, settings: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    large = []
    spill = Spool.spill

    def noted(self: Spool) -> int:
        large.append(self)
        return spill(self)

    monkeypatch.setattr(transactions.Spool, "spill", noted)
    p = project(tmp_path, database, engine, settings)
    p.source(*SCHEMA)
    p.deploy()
    chance = random.Random(f"{engine} {settings}")
    for _ in range(4):
        moved(database, chance, MOVES, 25)
        p.source("UPDATE p SET name = 'after' WHERE id = 1")
        p.assert_equal()
    assert large


def test_states_that_wait_get_every_part_of_it(database: str, tmp_path: Path) -> None:
    """Also where the tables of its first part are read by no view that may lag, and their views are filled anew."""
    p = project(tmp_path, database, "duckdb")
    p.source(*SCHEMA)
    for name in ("extremes", "joined"):
        text = f"CREATE MATERIALIZED VIEW late_{name} WITH (target_lag = '1 h') AS {VIEWS[name]}"
        (p.home / "views" / f"late_{name}.sql").write_text(text)
    p.deploy()
    with psycopg.connect(database) as c:
        c.execute("INSERT INTO bag SELECT i % 40, i % 6 FROM generate_series(1, 5000) i")
        c.execute("INSERT INTO c SELECT i, 1 + i % 40, i, 'x' FROM generate_series(1000, 7999) i")
        c.execute("DELETE FROM c WHERE id % 3 = 0")
    p.source("UPDATE p SET name = 'after' WHERE id = 1")
    p.assert_equal()


def test_nobody_sees_a_part_of_it(database: str, tmp_path: Path) -> None:
    p = project(tmp_path, database, "duckdb")
    p.source(*SCHEMA)
    p.deploy()
    with psycopg.connect(database) as c:
        c.execute("INSERT INTO c SELECT i, 1, 0, 'x' FROM generate_series(1000, 20999) i")
    warehouse = Warehouse(p.config, p.deployed)
    seen, over = set(), threading.Event()

    def look() -> None:
        con = warehouse.engine("duckdb").con.cursor()  # type: ignore[attr-defined]
        while not over.is_set():
            seen.add(con.execute("SELECT sum(n) FROM main.joined").fetchall()[0][0])
        con.close()

    reader = threading.Thread(target=look)
    reader.start()
    capture = Capture(warehouse, limits(p.config))
    capture.catch_up(current_lsn(database))
    over.set()
    reader.join()
    assert seen <= {400, 20_400}
    con = warehouse.engine("duckdb").con  # type: ignore[attr-defined]
    assert con.execute("SELECT sum(n) FROM main.joined").fetchall() == [(20_400,)]
    capture.close()
    warehouse.close()


def test_what_is_refused_in_it_stops_its_views_alone(database: str, tmp_path: Path) -> None:
    p = project(tmp_path, database, "duckdb")
    p.source(*SCHEMA, "CREATE TABLE wide (id int PRIMARY KEY, y numeric)", "INSERT INTO wide VALUES (1, 1)")
    p.write({"wides": "SELECT sum(y) AS y FROM wide", "counted": "SELECT count(*) AS n FROM wide"})
    p.deploy()
    with psycopg.connect(database) as c:
        c.execute("INSERT INTO wide SELECT i, i FROM generate_series(2, 9000) i")
        c.execute("INSERT INTO wide VALUES (10000, 1e40), (10001, 2)")
        c.execute("UPDATE c SET x = x + 1")
    p.catch_up()
    assert {v.name for v in p.deployed.views if v.error} == {"wides"}
    assert all(r.equal for r in p.verify() if r.view != "wides")


@pytest.mark.parametrize("stop", ["kill", "raise"])
def test_one_that_is_cut_off_in_a_part_is_done_again(database: str, tmp_path: Path, stop: str) -> None:
    p = project(tmp_path, database, "duckdb")
    p.source(*SCHEMA)
    p.deploy()
    with psycopg.connect(database) as c:
        c.execute("INSERT INTO c SELECT i, 1 + i % 40, i, 'x' FROM generate_series(1000, 7999) i")
        c.execute("UPDATE c SET x = x + 1 WHERE id > 2000")
    cut(p, f"duckdb.landed={stop}:5")
    p.assert_equal()


def test_one_that_comes_again_after_it_was_applied_tells_of_its_tables(database: str, tmp_path: Path) -> None:
    """It is not applied again, and the server tells a table's form once."""
    p = project(tmp_path, database, "duckdb")
    p.source(*SCHEMA)
    p.deploy()
    with psycopg.connect(database) as c:
        c.execute("INSERT INTO c SELECT i, 1 + i % 40, i, 'x' FROM generate_series(1000, 7999) i")
    cut(p, "capture.applied=kill:1")
    p.source("INSERT INTO c VALUES (9000, 1, 1, 'y')", "UPDATE c SET x = x + 1 WHERE id = 9000")
    p.assert_equal()


def test_one_for_which_the_disk_is_too_small_is_received_again(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    p = project(tmp_path, database, "duckdb")
    p.source(*SCHEMA)
    p.deploy()
    p.source("INSERT INTO c SELECT i, 1 + i % 40, i, 'x' FROM generate_series(1000, 7999) i")
    with Path("/dev/full").open("r+b", buffering=0) as full:
        monkeypatch.setattr("connectors.postgres.spool.nameless", lambda folder: full)
        with pytest.raises(OSError, match="No space left"):
            p.catch_up()
        monkeypatch.undo()
    p.assert_equal()


@pytest.mark.parametrize("megabytes", [1, 8, 24])
def test_one_for_which_memory_is_too_small_is_done_with_more(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, megabytes: int
) -> None:
    monkeypatch.setattr(batches, "LARGE", megabytes << 20)
    p = project(tmp_path, database, "duckdb")
    p.source(*SCHEMA)
    p.deploy()
    with psycopg.connect(database) as c:
        c.execute("INSERT INTO c SELECT i, 1 + i % 40, i, repeat(md5(i::text), 20) FROM generate_series(1000, 20999) i")
        c.execute("UPDATE c SET x = x + 1 WHERE id % 2 = 0")
    p.assert_equal()


@pytest.mark.parametrize("identity", ["FULL", "USING INDEX t_i"])
def test_keys_that_move_on_to_their_neighbours_all_arrive(identity: str, database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, f"{database} options='-c logical_decoding_work_mem=64kB'", {})
    with (p.home / "tidemark.toml").open("a") as f:
        f.write('\n[batch]\nrows = 300\nmemory = "64KB"\n')
    p.write({"rows_of": "SELECT id, x FROM t", "others": "SELECT o.id, t.x FROM o LEFT JOIN t ON t.id = o.id"})
    p.source(
        "CREATE TABLE t (id int PRIMARY KEY DEFERRABLE, x int)",
        "CREATE UNIQUE INDEX t_i ON t (x)",
        "ALTER TABLE t ALTER x SET NOT NULL",
        f"ALTER TABLE t REPLICA IDENTITY {identity}",
        "CREATE TABLE o (id int PRIMARY KEY)",
        "INSERT INTO t SELECT i, i FROM generate_series(1, 3000) i",
        "INSERT INTO o SELECT i FROM generate_series(1, 50) i",
    )
    p.deploy()
    p.source("UPDATE t SET id = id + 1")
    p.assert_equal()
    both = "UPDATE t SET id = id + 1 WHERE id > 2000; INSERT INTO t SELECT -i, -i FROM generate_series(1, 900) i"
    p.source(f"BEGIN; {both}; COMMIT")
    p.assert_equal()
