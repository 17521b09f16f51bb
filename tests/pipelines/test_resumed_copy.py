"""A first copy that is killed goes on where it was: ranges that are there are not read again, and everything is as of
one LSN at its end."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import psycopg
import pyarrow as pa
import pytest

from connectors.postgres import ranges
from pipelines.deploying import initial_copy
from tests.project import Project

SMALL = "from connectors.postgres import ranges; ranges.PAGES = 4; from pipelines.cli import main; main()"
VIEWS = {
    "sums": "SELECT k, count(*) AS n, sum(v) AS s FROM big GROUP BY k",
    "pairs": "SELECT b.id, b.v, o.name FROM big b JOIN other o ON o.id = b.k",
    "texts": "SELECT id, md5(body) AS body FROM text_rows",
}


def project(home: Path, dsn: str) -> Project:
    p = Project.create(home, dsn, VIEWS)
    p.source(
        "CREATE TABLE big (id int PRIMARY KEY, k int, v int)",
        "CREATE TABLE other (id int PRIMARY KEY, name text)",
        "CREATE TABLE text_rows (id int PRIMARY KEY, kind int, body text)",
        "ALTER TABLE text_rows ALTER body SET STORAGE EXTERNAL",
        "INSERT INTO big SELECT i, i % 7, i FROM generate_series(1, 8000) i",
        "INSERT INTO other SELECT i, 'other ' || i FROM generate_series(0, 9) i",
        "INSERT INTO text_rows SELECT i, i % 3, repeat(md5(i::text), 100) FROM generate_series(1, 50) i",
    )
    return p


def deployed(p: Project, failpoint: str = "", *options: str) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-c", SMALL, "deploy", *options],
        cwd=p.home,
        text=True,
        capture_output=True,
        env={**os.environ, "TIDEMARK_FAILPOINTS": failpoint},
    )
    return done.returncode, done.stdout + done.stderr


def copied(p: Project, folder: str = "") -> list[int]:
    """The ranges of `big` that are there, in a folder of the warehouse."""
    with duckdb.connect(str(p.config.warehouse_path / folder / "tidemark.duckdb"), read_only=True) as con:
        found = con.execute("SELECT number FROM meta.copied_ranges WHERE mirror = 'big' ORDER BY 1").fetchall()
        return [n for (n,) in found]


def slots(p: Project) -> int:
    with psycopg.connect(p.dsn) as c:
        row = c.execute("SELECT count(*) FROM pg_replication_slots WHERE database = current_database()").fetchone()
        return int(row[0]) if row else 0


CHANGES = (
    "UPDATE big SET v = v + 1 WHERE id % 5 = 0",  # which moves rows to other pages
    "DELETE FROM big WHERE id % 11 = 0",
    "UPDATE big SET id = -id WHERE id % 13 = 0 AND id BETWEEN 1 AND 8000",
    "INSERT INTO big SELECT 20000 + i, 3, i FROM generate_series(1, 500) i ON CONFLICT DO NOTHING",
    "UPDATE text_rows SET kind = 9 WHERE id % 4 = 0",
    "INSERT INTO other VALUES (50, 'new') ON CONFLICT DO NOTHING",
)


def test_each_range_is_copied_once(database: str, tmp_path: Path) -> None:
    p = project(tmp_path, database)
    seen: list[list[int]] = []
    for hit in (3, 4, 2):
        code, said = deployed(p, f"snapshot.range=kill:{hit}")
        assert code == -9, said
        seen.append(copied(p))
        p.source(*CHANGES)
    assert all(set(a) < set(b) for a, b in zip(seen, seen[1:], strict=False)), seen
    assert all(len(set(s)) == len(s) for s in seen)
    code, said = deployed(p)
    assert code == 0, said
    p.catch_up()
    p.assert_equal()
    p.source(*CHANGES[:1])
    p.catch_up()
    p.assert_equal()
    assert slots(p) == 1


@pytest.mark.parametrize("where", ["deploy.copied", "deploy.met", "deploy.filled", "capture.applied", "duckdb.landed"])
def test_it_goes_on_from_each_step(where: str, database: str, tmp_path: Path) -> None:
    p = project(tmp_path, database)
    assert deployed(p, "snapshot.range=kill:3")[0] == -9
    p.source(*CHANGES)
    assert deployed(p, f"{where}=kill:1")[0] == -9
    p.source(*CHANGES)
    code, said = deployed(p)
    assert code == 0, said
    p.catch_up()
    p.assert_equal()
    assert slots(p) == 1


def test_it_goes_on_while_rows_change(database: str, tmp_path: Path) -> None:
    p = project(tmp_path, database)
    over = threading.Event()

    def write() -> None:
        n = 0
        with psycopg.connect(p.dsn, autocommit=True) as c:
            while not over.is_set():
                n += 1
                c.execute("UPDATE big SET v = v + 1, k = (k + 1) %% 9 WHERE id %% 97 = %s", (n % 97,))
                free = "NOT EXISTS (SELECT FROM big b WHERE b.id = -big.id)"
                c.execute(f"UPDATE big SET id = -id WHERE id = %s AND {free}", (n % 8000,))
                c.execute("DELETE FROM big WHERE id = %s", (n * 31 % 8000,))
                c.execute("INSERT INTO big VALUES (%s, 1, 1) ON CONFLICT (id) DO NOTHING", (n * 17 % 9000,))
                c.execute("UPDATE text_rows SET kind = kind + 1, id = -id WHERE id = %s", (n % 60,))

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for hit in (2, 3, 4):
            assert deployed(p, f"snapshot.range=kill:{hit}")[0] == -9
        code, said = deployed(p)
        assert code == 0, said
    finally:
        over.set()
        writer.join()
    p.catch_up()
    p.assert_equal()


@pytest.mark.parametrize(
    "change",
    [
        "TRUNCATE big",
        "VACUUM FULL big",
        "ALTER TABLE big ADD more int",
        "ALTER TABLE big ALTER v TYPE bigint",
        "DROP TABLE other; CREATE TABLE other (id int PRIMARY KEY, name text)",
        "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE database = current_database()",
        "UPDATE text_rows SET body = body || 'x'; ALTER TABLE text_rows DROP CONSTRAINT text_rows_pkey; ALTER TABLE "
        "text_rows REPLICA IDENTITY FULL",
    ],
)
def test_it_begins_anew_where_what_is_there_is_of_no_use(change: str, database: str, tmp_path: Path) -> None:
    p = project(tmp_path, database)
    assert deployed(p, "snapshot.range=kill:3")[0] == -9
    p.source(*change.split("; "))
    code, said = deployed(p)
    assert code == 0, said
    p.source(*CHANGES)
    p.catch_up()
    p.assert_equal()
    assert slots(p) == 1


def test_other_views_begin_it_anew(database: str, tmp_path: Path) -> None:
    p = project(tmp_path, database)
    assert deployed(p, "snapshot.range=kill:3")[0] == -9
    p.write(
        {
            "more": "SELECT v % 3 AS m, count(*) AS n FROM big GROUP BY 1",
            "kinds": "SELECT kind, count(*) AS n FROM text_rows GROUP BY kind",
        }
    )
    code, said = deployed(p)
    assert code == 0, said
    p.catch_up()
    p.assert_equal()
    assert slots(p) == 1


def test_a_value_that_does_not_fit_in_a_range(database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranges, "PAGES", 4)
    p = Project.create(
        tmp_path, database, {"a": "SELECT id, v FROM wide", "n": "SELECT count(*) AS n, max(k) AS k FROM wide"}
    )
    p.source(
        "CREATE TABLE wide (id int PRIMARY KEY, k int, v numeric)",
        "INSERT INTO wide SELECT i, i, i FROM generate_series(1, 5000) i",
        "UPDATE wide SET v = 1e40 WHERE id = 4000",
    )
    done = p.deploy(keep_going=True)
    assert [v.name for v in done.views if v.error] == ["a"]
    p.catch_up()
    assert all(v.equal for v in p.verify())


def test_it_goes_on_when_the_source_is_back(database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    p = project(tmp_path, database)
    monkeypatch.setattr(ranges, "PAGES", 4)
    read, left = initial_copy.copy_table, [4]

    def cut(*args: Any) -> Iterator[pa.Table]:
        left[0] -= 1
        if left[0] < 0:
            raise psycopg.OperationalError("the connection was lost")
        return read(*args)

    monkeypatch.setattr(initial_copy, "copy_table", cut)
    with pytest.raises(psycopg.OperationalError):
        p.deploy()
    assert slots(p) == 1
    p.source(*CHANGES)
    left[0] = 1000
    p.deploy()
    assert 900 < left[0] < 1000 - 5
    p.catch_up()
    p.assert_equal()
    assert slots(p) == 1
