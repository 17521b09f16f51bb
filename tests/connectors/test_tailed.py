"""Large mirrors take their changes by an append: whatever changes, however it is folded, they are the source's rows."""

from __future__ import annotations

import random
from pathlib import Path

import duckdb
import psycopg
import pytest

from connectors import failpoints
from connectors.duckdb import indexes, mirrors
from connectors.duckdb.tailed import named
from pipelines.warehouse import Warehouse
from tests.project import Project

SCHEMA = (
    "CREATE TABLE a (id int PRIMARY KEY, x int, note text)",
    "ALTER TABLE a ALTER note SET STORAGE EXTERNAL",
    "CREATE TABLE b (k text, n numeric, x int, PRIMARY KEY (k, n))",
    "CREATE TABLE c (id int PRIMARY KEY, code int NOT NULL UNIQUE, x int)",
    "ALTER TABLE c REPLICA IDENTITY USING INDEX c_code_key",
    "CREATE TABLE f (id int PRIMARY KEY, x int)",
    "ALTER TABLE f REPLICA IDENTITY FULL",
    'CREATE SCHEMA "__rows"',
    'CREATE TABLE "__rows".a (id int PRIMARY KEY, x int)',
    "INSERT INTO a SELECT i, i % 7, repeat(md5(i::text), 90) FROM generate_series(1, 60) i",
    "INSERT INTO b SELECT 'k' || i % 5, i, i FROM generate_series(1, 60) i",
    "INSERT INTO c SELECT i, -i, i FROM generate_series(1, 60) i",
    "INSERT INTO f SELECT i, i FROM generate_series(1, 60) i",
    'INSERT INTO "__rows".a SELECT i, i FROM generate_series(1, 60) i',
)
VIEWS = {
    "a_rows": "SELECT id, x, note FROM a",
    "a_sums": "SELECT x, count(*) AS n, min(id) AS m FROM a GROUP BY x",
    "ab": "SELECT a.id, b.n FROM a JOIN b ON b.x = a.id",
    "b_rows": "SELECT k, n, x FROM b",
    "c_rows": "SELECT id, code, x FROM c",
    "cf": "SELECT c.id, f.x FROM c LEFT JOIN f ON f.id = c.x",
    "other": 'SELECT x, count(*) AS n FROM "__rows".a GROUP BY x',
}
MOVES = (
    "UPDATE a SET x = x + {k} WHERE id % 3 = {k}",
    "UPDATE a SET note = repeat(md5((x + {k})::text), 80) WHERE id % 4 = {k}",
    "UPDATE a SET id = id + 1000 WHERE id % 5 = {k} AND id < 1000",
    "UPDATE a SET id = id - 1000 WHERE id > 1000 AND id % 2 = {k}",
    "DELETE FROM a WHERE id % 6 = {k}",
    "INSERT INTO a SELECT i, i % 7, repeat(md5(i::text), 90) FROM generate_series(1, 60) i ON CONFLICT DO NOTHING",
    "UPDATE b SET n = round(n, {k}), x = x + 1 WHERE x % 3 = {k}",
    "UPDATE b SET k = k || '!' WHERE x % 7 = {k}",
    "DELETE FROM b WHERE x % 5 = {k}",
    "INSERT INTO b SELECT 'k' || i % 5, i, i FROM generate_series(1, 60) i ON CONFLICT DO NOTHING",
    "UPDATE c SET code = code - 100 * ({k} + 1) WHERE id % 3 = {k}",
    "UPDATE c SET id = id + 100 * ({k} + 1) WHERE id % 4 = {k}",
    "DELETE FROM c WHERE id % 5 = {k}",
    "INSERT INTO c SELECT i, -i, i FROM generate_series(1, 60) i ON CONFLICT DO NOTHING",
    "UPDATE f SET x = x + 1 WHERE id % 3 = {k}; DELETE FROM f WHERE id % 7 = {k}",
    "INSERT INTO f SELECT i, i FROM generate_series(1, 60) i ON CONFLICT DO NOTHING",
    'UPDATE "__rows".a SET x = x + 1 WHERE id % 3 = {k}',
    "TRUNCATE a",
)


def project(folder: Path, dsn: str, monkeypatch: pytest.MonkeyPatch, fold: int) -> Project:
    monkeypatch.setattr(indexes, "FEW", 0)
    monkeypatch.setattr(mirrors, "FOLD_ROWS", fold)
    monkeypatch.setattr(mirrors, "FOLD_SHARE", 0)
    p = Project.create(folder, dsn, VIEWS)
    (p.home / "tidemark.toml").write_text((p.home / "tidemark.toml").read_text() + "\n[duckdb]\nindex_rows = 0\n")
    p.source(*SCHEMA)
    p.deploy()
    return p


def tails(p: Project) -> dict[str, int]:
    w = Warehouse(p.config, p.deployed, read_only=True)
    tailed = w.engine("duckdb").mirrors.tailed  # type: ignore[attr-defined]
    out = {m: tailed.rows(m) for m in tailed.mirrors}
    w.close()
    return out


@pytest.mark.parametrize(("seed", "fold"), [(1, 10_000), (2, 25), (3, 1)])
def test_every_kind_of_change(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int, fold: int
) -> None:
    p, chance = project(tmp_path, database, monkeypatch, fold), random.Random(seed)
    grown = 0
    for _ in range(8):
        with psycopg.connect(database) as c:
            for _ in range(chance.randint(1, 4)):
                try:
                    with c.transaction():
                        c.execute(chance.choice(MOVES).format(k=chance.randrange(3)))
                except psycopg.errors.UniqueViolation:
                    continue
        p.assert_equal()
        grown = max(grown, *tails(p).values(), 0)
    assert len(tails(p)) >= 3
    assert (grown > 0) == (fold > 1)


def test_a_mirror_is_made_one_table_again(database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    p = project(tmp_path, database, monkeypatch, 10_000)
    p.source("UPDATE a SET x = x + 1", "DELETE FROM b WHERE x < 9", "INSERT INTO c VALUES (900, 900, 900)")
    p.catch_up()
    assert set(tails(p)) == {"a", "b", "c"}
    w = Warehouse(p.config, p.deployed)
    assert set(w.engine("duckdb").compact(w.tables("duckdb"), force=True)) == {"a", "b"}  # nothing was deleted in c
    w.close()
    assert set(tails(p)) == {"c"}
    p.assert_equal()
    p.source("TRUNCATE c", "UPDATE a SET x = 3")
    p.assert_equal()
    p.command("teardown", "--yes")


def test_an_index_that_has_too_many_rows_is_noticed_when_the_tail_is_folded(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    p = project(tmp_path, database, monkeypatch, 1)
    monkeypatch.setattr(indexes.Indexed, "rows", property(lambda self: -1))
    p.source("UPDATE a SET x = x + 1")
    with pytest.raises(indexes.Astray):
        p.catch_up()
    monkeypatch.undo()
    p.assert_equal()


@pytest.mark.parametrize("name", ["duckdb.tail", "duckdb.tail_folded"])
def test_a_fold_that_is_cut_off_is_done_again(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    p = project(tmp_path, database, monkeypatch, 1)
    p.source("UPDATE a SET x = x + 1", "DELETE FROM b WHERE x < 9")
    monkeypatch.setattr(failpoints, "ACTIVE", failpoints.Failpoints({name: (failpoints.Action.RAISE, 1)}))
    with pytest.raises(failpoints.FailpointReached):
        p.catch_up()
    monkeypatch.setattr(failpoints, "ACTIVE", failpoints.Failpoints({}))
    p.source("UPDATE a SET x = x + 1 WHERE id < 30")
    p.assert_equal()


def test_no_mirror_has_the_name_of_a_part_of_another() -> None:
    for name in ("t", "a__b", "x" * 63, "__rows__a", "public__a__b", "é" * 31, 'q"uo te'):
        for what in ("rows", "tail", "new"):
            made = named(name, what)
            assert "__" not in made and len(made.encode()) > 63
            duckdb.connect().execute(f"""CREATE TABLE "{made.replace('"', '""')}" (x int)""")


def test_what_is_left_of_a_mirror_that_was_being_dropped_is_in_nobodys_way(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    p = project(tmp_path, database, monkeypatch, 10_000)
    p.source("UPDATE a SET x = x + 1")
    p.catch_up()
    assert "a" in tails(p)
    w = Warehouse(p.config, p.deployed)
    w.engine("duckdb").con.execute("DROP VIEW base.a")  # type: ignore[attr-defined]  # and then it was killed
    w.close()
    w = Warehouse(p.config, p.deployed)
    engine = w.engine("duckdb")
    table = w.deployment.table("public.a")
    engine.create_mirror(table)
    tailed = engine.mirrors.tailed  # type: ignore[attr-defined]
    assert "a" not in tailed.mirrors
    tailed.begin(table)
    w.close()
    assert tails(p)["a"] == 0
