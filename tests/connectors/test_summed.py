"""Small states take additions by an append: whatever changes, however it is folded, they are what their query gives."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import duckdb
import psycopg
import pytest

from connectors import failpoints
from connectors.duckdb import batches, summed
from connectors.duckdb.engine import DuckDBEngine
from connectors.duckdb.ways import Way
from pipelines.warehouse import Warehouse
from tests.project import Project

SCHEMA = (
    "CREATE TABLE a (id int PRIMARY KEY, g int, code numeric, at timestamptz, n numeric(30,4), big bigint, r real)",
    "CREATE TABLE b (id int PRIMARY KEY, a int, w int)",
    "INSERT INTO a SELECT i, i % 7, i % 3, timestamptz '2026-01-01' + i * interval '1 hour', i, i, i "
    "FROM generate_series(1, 60) i",
    "INSERT INTO b SELECT i, i % 60, i FROM generate_series(1, 200) i",
)
VIEWS = {
    "by_g": "SELECT g, count(*) AS n, sum(n) AS s, sum(big) AS t, avg(n) AS m, count(r) AS c FROM a GROUP BY g",
    "by_code": "SELECT code, sum(id) AS s FROM a GROUP BY code",
    "total": "SELECT count(*) AS n, sum(w) AS s FROM b",
    "joined": "SELECT a.g, date_trunc('day', a.at) AS d, sum(b.w) AS s FROM a JOIN b ON b.a = a.id GROUP BY 1, 2",
    "extreme": "SELECT g, max(n) AS m, count(*) AS n FROM a GROUP BY g",
    "filtered": "SELECT g, sum(n) FILTER (WHERE id % 2 = 0) AS s FROM a GROUP BY g HAVING count(*) > 3",
    "rows_of_a": "SELECT id, g FROM a",
    "ordered": "SELECT g, sum(big) AS s FROM a GROUP BY g ORDER BY s DESC, g LIMIT 3",
}
APPENDED = 6  # states of these views that only add
MOVES = (
    "UPDATE a SET g = g + {k} WHERE id % 3 = {k}",
    "UPDATE a SET code = round(code, {k}) WHERE id % 4 = {k}",
    "UPDATE a SET n = NULL, r = NULL WHERE id % 5 = {k}",
    "UPDATE a SET n = id * 1.25, big = big + 1 WHERE id % 2 = {k}",
    "DELETE FROM a WHERE id % 6 = {k}",
    "INSERT INTO a SELECT i, i % 7, i, '2026-01-01', i, i, i FROM generate_series(1, 60) i ON CONFLICT DO NOTHING",
    "UPDATE b SET w = w + 1 WHERE id % 3 = {k}",
    "UPDATE b SET a = a + 1 WHERE id % 7 = {k}",
    "DELETE FROM b WHERE id % 5 = {k}",
    "INSERT INTO b SELECT i, i % 60, i FROM generate_series(1, 200) i ON CONFLICT DO NOTHING",
    "TRUNCATE b",
)


def project(folder: Path, dsn: str, monkeypatch: pytest.MonkeyPatch, few: int = 10_000) -> Project:
    monkeypatch.setattr(summed, "FEW", few)
    monkeypatch.setattr(summed, "MANY", 2 * few)
    monkeypatch.setattr(summed, "WAITING", few // 10)
    p = Project.create(folder, dsn, VIEWS)
    p.source(*SCHEMA)
    p.deploy()
    return p


def tails(p: Project) -> dict[str, int]:
    """The rows that wait, by state."""
    w = Warehouse(p.config, p.deployed, read_only=True)
    try:
        return dict(engine(w).statements.summed.waiting)
    finally:
        w.close()


def engine(w: Warehouse) -> DuckDBEngine:
    e = w.engine("duckdb")
    assert isinstance(e, DuckDBEngine)
    return e


def compact(p: Project, force: bool = False) -> None:
    w = Warehouse(p.config, p.deployed)
    w.engine("duckdb").compact(w.tables("duckdb"), force)
    w.close()


@pytest.mark.parametrize(("seed", "few"), [(1, 10_000), (2, 12), (3, 5)])
def test_every_kind_of_change(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int, few: int
) -> None:
    p, chance = project(tmp_path, database, monkeypatch, few), random.Random(seed)
    most = 0
    for _ in range(8):
        with psycopg.connect(database) as c:
            for _ in range(chance.randint(1, 4)):
                c.execute(chance.choice(MOVES).format(k=chance.randrange(3)))
        p.assert_equal()
        most = max(most, len(tails(p)))
        if chance.random() < 0.5:
            compact(p)
            p.assert_equal()
    assert most == APPENDED if few > 1000 else most


def test_rows_take_what_waits(database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    p = project(tmp_path, database, monkeypatch)
    p.source("UPDATE a SET n = n + 1", "UPDATE b SET w = w + 1")
    p.assert_equal()
    assert len(tails(p)) == APPENDED and sum(tails(p).values()) > APPENDED
    compact(p)
    assert sum(tails(p).values()) > APPENDED, "few rows may wait"
    compact(p, force=True)
    assert len(tails(p)) == APPENDED and not any(tails(p).values())
    p.assert_equal()


def test_columns_are_as_they_were(database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    p = project(tmp_path, database, monkeypatch)

    def columns() -> dict[str, list[tuple[object, ...]]]:
        w = Warehouse(p.config, p.deployed, read_only=True)
        con = engine(w).con
        out = {n: con.execute(f'DESCRIBE state."{n}"').fetchall() for n in engine(w).states()}
        w.close()
        return {n: [(r[0], r[1]) for r in rows] for n, rows in out.items()}

    before = columns()
    p.source("UPDATE a SET n = n + 1", "UPDATE b SET w = w + 1")
    p.catch_up()
    assert tails(p)
    assert columns() == before
    for command in ("status", "verify"):
        assert p.command(command).returncode == 0


def test_a_state_that_grows_is_a_table_again(database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    p = project(tmp_path, database, monkeypatch, 20)
    p.source("UPDATE a SET n = n + 1")
    p.assert_equal()
    small = set(tails(p))
    p.source("INSERT INTO a SELECT i, i, i, '2026-01-01', i, i, i FROM generate_series(100, 400) i")
    p.assert_equal()
    compact(p)
    assert set(tails(p)) < small
    p.source("DELETE FROM a WHERE id > 300")
    p.assert_equal()


def test_states_are_filled_anew(database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    p = project(tmp_path, database, monkeypatch)
    p.source("UPDATE a SET n = n + 1", "UPDATE b SET w = w + 1")
    p.assert_equal()
    assert tails(p)
    with monkeypatch.context() as m:
        m.setattr(batches, "open_ways", lambda *a: [Way.ANEW])
        p.source("UPDATE a SET n = n + 1, g = g + 1", "UPDATE b SET w = w + 1")
        p.assert_equal()
        assert not tails(p)
    p.source("UPDATE a SET n = n + 1", "UPDATE b SET w = w + 1")
    p.assert_equal()
    assert len(tails(p)) == APPENDED


def test_a_view_that_reads_another_ones_state(database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    p = project(tmp_path, database, monkeypatch)
    p.source("UPDATE a SET n = n + 1")
    p.assert_equal()
    before = tails(p)
    p.write({"above": "SELECT s, count(*) AS k FROM (SELECT code, sum(id) AS s FROM a GROUP BY code) x GROUP BY s"})
    p.deploy()
    p.source("UPDATE a SET g = g + 1 WHERE id % 2 = 0", "DELETE FROM a WHERE id % 5 = 0")
    p.assert_equal()
    assert not before.keys() <= tails(p).keys(), "one that others read is a table"
    for gone in ("above", "by_g"):
        (p.home / "views" / f"{gone}.sql").unlink()
    p.deploy()
    p.source("UPDATE a SET g = g + 1 WHERE id % 2 = 0")
    p.assert_equal()
    assert p.command("teardown", "--yes").returncode == 0


@pytest.mark.parametrize("name", ["duckdb.summing", "duckdb.summed", "duckdb.maintained"])
def test_what_is_cut_off_is_done_again(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    p = project(tmp_path, database, monkeypatch)
    p.source("UPDATE a SET n = n + 1", "UPDATE b SET w = w + 1")
    p.catch_up()
    monkeypatch.setattr(summed, "WAITING", 0)
    p.source("UPDATE a SET n = n + 1", "UPDATE a SET n = n + 1", "DELETE FROM b WHERE id < 9")
    monkeypatch.setattr(failpoints, "ACTIVE", failpoints.Failpoints({name: (failpoints.Action.RAISE, 1)}))
    with pytest.raises(failpoints.FailpointReached):
        p.catch_up()
        compact(p)
    monkeypatch.setattr(failpoints, "ACTIVE", failpoints.Failpoints({}))
    p.source("UPDATE a SET n = n + 1 WHERE id < 30")
    p.assert_equal()


@pytest.mark.parametrize("how", ["ended", "outgrown", "folded", "dropped"])
def test_the_file_of_a_process_that_was_killed_can_be_read(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    p = project(tmp_path, database, monkeypatch)
    p.source("UPDATE a SET n = n + 1", "UPDATE b SET w = w + 1")
    p.catch_up()
    w = Warehouse(p.config, p.deployed)
    e = engine(w)
    name = next(n for n in sorted(e.statements.summed.waiting) if n.startswith("a_by_g"))
    on = "USING (SELECT 7 AS g) AS d ON s.g_2 = d.g WHEN MATCHED THEN UPDATE SET _count = 1"
    merge = f"MERGE INTO state.{name} AS s {on}"
    monkeypatch.setattr(summed, "WAITING", 0)
    if how == "outgrown":
        monkeypatch.setattr(summed, "MANY", 0)
    if how in ("outgrown", "folded"):
        e.compact([], force=True)
    with e.statements.transaction("what is killed"):
        if how == "ended":
            e.statements.summed.end(name)
        elif how == "dropped":
            e.statements.summed.drop(name)
            e.con.execute(f"CREATE TABLE state.{name} AS SELECT 1 AS g_2, 2 AS _count")
        if how != "folded":
            e.con.execute(merge)
    want = sorted(map(str, e.con.execute(f"SELECT * FROM state.{name}").fetchall()))
    for file in (e.path, e.path.with_name(e.path.name + ".wal")):
        shutil.copy(file, tmp_path / file.name.replace("tidemark", "killed"))
    with duckdb.connect(str(tmp_path / e.path.name.replace("tidemark", "killed"))) as con:
        assert sorted(map(str, con.execute(f"SELECT * FROM state.{name}").fetchall())) == want
    w.close()
