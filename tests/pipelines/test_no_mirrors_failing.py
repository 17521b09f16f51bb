"""Partial views without mirrors, where something goes wrong: a deploy that fails or is killed, a source that loses what
a key was read from, views that are set aside, keys that no value can be."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from contextlib import nullcontext
from pathlib import Path

import duckdb
import psycopg
import pytest

from compiler.errors import TidemarkError
from pipelines.asking.ask import ask
from pipelines.deploying import building, redeploy
from pipelines.deploying.heal import heal
from pipelines.showing import embedded
from pipelines.showing.embedded import EmbeddedPostgres
from tests.pipelines.running import running
from tests.pipelines.test_no_mirrors import VOTES, keyed, project, rows, source
from tests.project import Project

SOME = "SELECT * FROM votes WHERE id IN (3, 4)"
TEXTS = {
    "mirrors": VOTES.replace(", keep_mirrors = false", ""),
    "none": VOTES,
    "other key": VOTES.replace("key = 'id'", "key = 'id, title'"),
    "other name": VOTES.replace("VIEW votes", "VIEW ballots"),
    "more": VOTES.replace("max(v.weight) AS top", "max(v.weight) AS top, min(v.why) AS why"),
}


def written(p: Project, what: str) -> None:
    (p.home / "views" / "votes.sql").write_text(TEXTS[what].format(more=""))


def is_right(p: Project) -> None:
    assert [r[:5] for r in rows(p, SOME)] == sorted(source(p, 3) + source(p, 4), key=str)


def keyed_views(home: Path, dsn: str, views: dict[str, str], *statements: str) -> Project:
    p = Project.create(home, dsn, {}, "duckdb")
    for name, query in views.items():
        (p.home / "views" / f"{name}.sql").write_text(
            f"CREATE MATERIALIZED VIEW {name} WITH (strategy = 'partial', key = 'k', keep_mirrors = false) AS {query}"
        )
    p.source(*statements)
    p.deploy()
    return p


@pytest.mark.parametrize("beside", [False, True])
def test_what_was_open_when_a_table_was_published_is_not_missed(beside: bool, database: str, tmp_path: Path) -> None:
    """`beside` a pipeline that runs, with another table that is copied for it."""
    p = project(tmp_path, database)
    p.source("CREATE TABLE item (id int PRIMARY KEY, k int, v int)", "INSERT INTO item VALUES (1, 1, 1), (2, 1, 2)")
    (p.home / "views" / "items.sql").write_text(
        "CREATE MATERIALIZED VIEW items WITH (strategy = 'partial', key = 'k', keep_mirrors = false) AS "
        "SELECT k, count(*) AS n, sum(v) AS s FROM item GROUP BY k"
    )
    if beside:
        p.source("CREATE TABLE other (id int PRIMARY KEY)", "INSERT INTO other VALUES (1)")
        p.write({"others": "SELECT id FROM other"})
    asked: list[object] = []
    with running(p, batch=60) if beside else nullcontext(), psycopg.connect(p.dsn) as c, psycopg.connect(p.dsn) as w:
        c.execute("INSERT INTO item VALUES (4, 1, 7)")  # before anything is published or copied
        c.commit()

        def deployed() -> None:
            p.deploy()
            asked.extend(rows(p, "SELECT * FROM items WHERE k = 1"))

        def published() -> bool:
            found = c.execute("SELECT 1 FROM pg_publication_tables WHERE tablename = 'item'").fetchall()
            c.commit()
            return bool(found)

        deploying = threading.Thread(target=deployed)
        if not beside:
            w.execute("INSERT INTO item VALUES (3, 1, 100)")
            w.execute("UPDATE item SET v = 50 WHERE id = 1")
            deploying.start()
        else:  # once what is copied beside it is there, and before the other table is published
            deploying.start()
            while not (p.config.warehouse_path / "arriving" / "ready").exists() and not published():
                w.rollback()
                w.execute("INSERT INTO item VALUES (3, 1, 100)")
                w.execute("UPDATE item SET v = 50 WHERE id = 1")
        time.sleep(3)
        assert not asked  # it waits
        w.commit()
        deploying.join()
    p.catch_up()
    p.assert_equal()
    assert rows(p, "SELECT * FROM items WHERE k = 1") == [(1, 4, 159)]


@pytest.mark.parametrize(
    "was, becomes",
    [
        ("mirrors", "none"),
        ("none", "other key"),
        ("none", "mirrors"),
        ("none", "other name"),
        ("other key", "none"),
        ("none", "more"),
    ],
)
@pytest.mark.parametrize("killed", [False, True])
def test_a_deploy_that_fails_leaves_nothing_that_is_believed(
    was: str, becomes: str, killed: bool, database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is kept afterwards is right, or is said not to be kept; and the next deploy mends it."""
    p = project(tmp_path, database)
    written(p, was)
    p.deploy()
    ask_some = SOME + (" AND title IN ('title 3', 'title 4')" if was == "other key" else "")
    rows(p, ask_some)
    written(p, becomes)
    if killed:
        monkeypatch.setenv("TIDEMARK_FAILPOINTS", "redeploy.built=kill")
        assert p.command("deploy").returncode == -signal.SIGKILL
        monkeypatch.delenv("TIDEMARK_FAILPOINTS")
    else:
        with monkeypatch.context() as m:
            m.setattr(redeploy, "build", lambda *_: (_ for _ in ()).throw(TidemarkError("it cannot be built")))
            with pytest.raises(TidemarkError, match="cannot be built"):
                p.deploy()
    p.source("UPDATE vote SET article = 3 WHERE id < 20", "UPDATE vote SET weight = 9 WHERE article = 4")
    p.catch_up()
    if not p.deployed.views[0].error:
        assert rows(p, ask_some) == sorted(source(p, 3) + source(p, 4), key=str)
        p.assert_equal()
    p.deploy()
    p.source("UPDATE vote SET article = 4 WHERE id < 9")
    p.catch_up()
    name = "ballots" if becomes == "other name" else "votes"
    again = SOME.replace("votes", name) + (" AND title IN ('title 3', 'title 4')" if becomes == "other key" else "")
    assert [r[:5] for r in rows(p, again)] == sorted(source(p, 3) + source(p, 4), key=str)
    p.assert_equal()


@pytest.mark.skipif("TIDEMARK_TEST_DSN" in os.environ, reason="crashes the server")
def test_a_key_that_was_read_of_what_the_source_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("wal_writer_delay", "10s"), ("synchronous_commit", "off"), ("full_page_writes", "off")):
        monkeypatch.setitem(embedded.SETTINGS, name, value)
    with EmbeddedPostgres() as pg:
        p = project(tmp_path, pg.dsn)
        p.catch_up()
        with psycopg.connect(pg.dsn, autocommit=True) as c:
            c.execute("CHECKPOINT")
            c.execute("SET synchronous_commit = on")
            c.execute("CREATE TABLE flushed (a int)")
            c.execute("SET synchronous_commit = off")
            c.execute("UPDATE vote SET weight = 100 WHERE article = 3")
        rows(p, SOME)
        assert pg.process is not None
        args = pg.process.args
        pg.process.send_signal(signal.SIGQUIT)
        pg.process.wait(30)
        pg.process = subprocess.Popen(
            args,
            user="postgres" if os.getuid() == 0 else None,
            cwd=str(pg.folder),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for _ in range(100):
            try:
                psycopg.connect(pg.dsn).close()
                break
            except psycopg.OperationalError:
                time.sleep(0.1)
        with psycopg.connect(pg.dsn, autocommit=True) as c:
            c.execute("SET synchronous_commit = on")
            c.execute("UPDATE vote SET weight = 7 WHERE id = 3")
        p.catch_up()
        is_right(p)
        p.assert_equal()


def test_a_key_may_stay_for_more_transactions_than_ids_go_round(database: str, tmp_path: Path) -> None:
    p = project(tmp_path, database)
    p.catch_up()
    rows(p, SOME)
    with duckdb.connect(str(p.config.warehouse_path / "tidemark.duckdb")) as con:
        found = con.execute("SELECT table_name FROM duckdb_tables() WHERE table_name LIKE 'pg_asked%'").fetchone()
        assert found is not None
        moved = (1 << 31) - 10  # as if it had been read so many transactions ago
        con.execute(
            f'UPDATE base."{found[0]}" SET _seen_high = _seen_high + {moved}, _seen_low = _seen_low + {moved}, '
            "_seen_running = '', _seen_lsn = 1"
        )
    p.source("UPDATE vote SET weight = 1000 WHERE article = 3")
    p.catch_up()
    is_right(p)
    p.assert_equal()


def test_a_key_leaves_of_a_view_that_is_set_aside(database: str, tmp_path: Path) -> None:
    p = keyed_views(
        tmp_path,
        database,
        {"v": "SELECT k, id, x, md5(y) AS y FROM t"},
        "CREATE TABLE t (id int PRIMARY KEY, k int, x int, y text)",
        "ALTER TABLE t ALTER y SET STORAGE EXTERNAL",
        "INSERT INTO t SELECT i, i % 3, i, repeat(md5(i::text), 100) FROM generate_series(1, 9) i",
        "CREATE TABLE other (id int PRIMARY KEY)",
    )
    p.write({"o": "SELECT id FROM other"})
    p.deploy()
    p.catch_up()
    rows(p, "SELECT id FROM v WHERE k IN (0, 1)")
    p.source("INSERT INTO other VALUES (5)")
    p.catch_up()
    p.source("ALTER TABLE t ALTER x TYPE bigint", "UPDATE t SET x = 5 WHERE id = 1")
    p.catch_up()
    assert [v.name for v in p.deployed.views if v.error] == ["v"]
    p.source("UPDATE t SET k = 1 WHERE id = 2", "INSERT INTO other VALUES (1)")
    p.catch_up()
    assert rows(p, "SELECT * FROM o") == [(1,), (5,)]
    p.deploy()
    assert rows(p, "SELECT id FROM v WHERE k = 1") == [(1,), (2,), (4,), (7,)]
    p.catch_up()
    p.assert_equal()


def test_a_table_that_tells_rows_by_another_key_is_mirrored_whole(database: str, tmp_path: Path) -> None:
    p = keyed_views(
        tmp_path,
        database,
        {"v": "SELECT t.k, t.id, u.w FROM t JOIN u ON u.k = t.k"},
        "CREATE TABLE t (id int PRIMARY KEY, other int NOT NULL UNIQUE, k int)",
        "ALTER TABLE t REPLICA IDENTITY USING INDEX t_other_key",
        "CREATE TABLE u (k int PRIMARY KEY, w int)",
        "INSERT INTO t SELECT i, i, i % 3 FROM generate_series(1, 9) i",
        "INSERT INTO u VALUES (1, 10), (2, 20)",
    )
    assert keyed(p) == {"public.u"}
    rows(p, "SELECT * FROM v WHERE k = 1")
    p.source("DELETE FROM t WHERE id = 1", "INSERT INTO t VALUES (1, 100, 2)")
    p.catch_up()
    assert rows(p, "SELECT id FROM v WHERE k IN (1, 2)") == [(1,), (2,), (4,), (5,), (7,), (8,)]
    p.assert_equal()


def test_one_of_two_views_that_were_set_aside_is_filled_again(database: str, tmp_path: Path) -> None:
    p = keyed_views(
        tmp_path,
        database,
        {"v": "SELECT k, sum(x) AS s FROM t GROUP BY k", "w": "SELECT k, sum(x) AS s FROM u GROUP BY k"},
        "CREATE TABLE t (id int PRIMARY KEY, k int, x int)",
        "CREATE TABLE u (id int PRIMARY KEY, k int, x int)",
        "INSERT INTO t SELECT i, i % 5, i FROM generate_series(1, 20) i",
        "INSERT INTO u SELECT i, i % 5, i FROM generate_series(1, 20) i",
    )
    rows(p, "SELECT * FROM v WHERE k = 1")
    rows(p, "SELECT * FROM w WHERE k = 1")
    p.source("ALTER TABLE t ALTER x TYPE bigint", "ALTER TABLE u DROP COLUMN x", "UPDATE t SET x = 5 WHERE id = 1")
    p.source("INSERT INTO u VALUES (100, 1)")
    p.catch_up()
    heal(p.config, lambda *_: None, lambda _: None)
    assert [v.name for v in p.deployed.views if v.error] == ["w"]
    p.source("UPDATE t SET x = 6 WHERE id = 1", "UPDATE u SET k = 2 WHERE id = 1")
    p.catch_up()
    assert rows(p, "SELECT * FROM v WHERE k = 1") == [(1, 6 + 6 + 11 + 16)]
    assert all(r.equal for r in p.verify() if r.view != "w")


def test_a_view_that_cannot_be_filled_is_left_out(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    p = project(tmp_path, database)
    rows(p, SOME)
    written(p, "more")
    with monkeypatch.context() as m:
        m.setattr(building, "fill", lambda engine, states, say: {s.name: TidemarkError("no") for s in states})
        p.deploy(keep_going=True)
    p.source("UPDATE vote SET article = 3 WHERE id < 20")
    p.catch_up()
    p.deploy()
    is_right(p)
    p.catch_up()
    p.assert_equal()


def test_the_first_view_of_an_engine(database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, {}, "duckdb")
    p.source(
        "CREATE TABLE t (id int PRIMARY KEY, k int, x int)",
        "INSERT INTO t SELECT i, i % 5, i FROM generate_series(1, 20) i",
    )
    p.deploy()
    p.source("UPDATE t SET x = 3 WHERE id = 1")
    (p.home / "views" / "v.sql").write_text(
        "CREATE MATERIALIZED VIEW v WITH (strategy = 'partial', key = 'k', keep_mirrors = false) AS "
        "SELECT k, sum(x) AS s FROM t GROUP BY k"
    )
    p.deploy()
    assert rows(p, "SELECT * FROM v WHERE k = 1") == [(1, 3 + 6 + 11 + 16)]
    p.source("UPDATE t SET x = 30 WHERE id = 1", "UPDATE t SET k = 1 WHERE id = 2")
    p.catch_up()
    p.assert_equal()
    assert rows(p, "SELECT * FROM v WHERE k = 1") == [(1, 30 + 6 + 11 + 16 + 2)]


@pytest.mark.parametrize(
    "made, kind, values, asked, found",
    [
        ("CREATE TYPE \"Mood\" AS ENUM ('a', 'b')", '"Mood"', "'a', 'b'", "'a', 'none'", 1),
        ("CREATE TYPE \"My S\".mood AS ENUM ('a', 'b')", '"My S".mood', "'a', 'b'", "'none'", 0),
        ("SELECT 1", "varchar(3)", "'abc', 'b'", "'abcdef', chr(0), 'b'", 1),
        ("SELECT 1", "date", "'2020-01-01', '0044-03-15 BC'", "DATE '5880000-01-01', DATE '2020-01-01'", 1),
        ("SELECT 1", "date", "'0044-03-15 BC', 'infinity'", "DATE '0044-03-15 (BC)', DATE 'infinity'", 2),
    ],
)
def test_keys_that_are_no_values(
    made: str, kind: str, values: str, asked: str, found: int, database: str, tmp_path: Path
) -> None:
    p = keyed_views(
        tmp_path,
        database,
        {"v": "SELECT k, count(*) AS n FROM t GROUP BY k"},
        'CREATE SCHEMA "My S"',
        made,
        f"CREATE TABLE t (id serial PRIMARY KEY, k {kind})",
        *(f"INSERT INTO t (k) VALUES ({v})" for v in values.split(", ")),
    )
    assert len(rows(p, f"SELECT n FROM v WHERE k IN ({asked})")) == found
    p.source("UPDATE t SET id = id + 10")
    p.catch_up()
    p.assert_equal()


def test_a_table_that_is_locked_is_not_waited_for(database: str, tmp_path: Path) -> None:
    p = project(tmp_path, database)
    with running(p), psycopg.connect(p.dsn) as c:
        rows(p, SOME)
        c.execute("LOCK TABLE vote IN ACCESS EXCLUSIVE MODE")
        with pytest.raises(TidemarkError, match="is locked"):
            ask(p.config, "SELECT * FROM votes WHERE id = 9", wait=False)
        c.rollback()
        assert rows(p, "SELECT * FROM votes WHERE id = 9") == source(p, 9)
