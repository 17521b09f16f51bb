"""Partial views without mirrors: the rows of keys that are asked for are read from the source, each key in a snapshot
of its own, and follow the stream from there."""

from __future__ import annotations

import os
import random
import threading
import time
from pathlib import Path

import duckdb
import psycopg
import pytest

from compiler.errors import TidemarkError
from pipelines.applying import upquery
from pipelines.applying.capture import current_lsn
from pipelines.asking.ask import ask
from pipelines.asking.client import connect_running
from pipelines.showing.embedded import EmbeddedPostgres
from pipelines.verifying.verify import verify
from pipelines.warehouse import Warehouse
from tests.pipelines.interleaved import assert_interleaved
from tests.pipelines.running import running, until
from tests.project import Project

VOTES = """CREATE MATERIALIZED VIEW votes WITH (strategy = 'partial', key = 'id', keep_mirrors = false{more}) AS
SELECT a.id, a.title, count(v.id) AS n, sum(v.weight) AS s, max(v.weight) AS top
FROM article a LEFT JOIN vote v ON v.article = a.id GROUP BY a.id, a.title"""


def project(
    home: Path,
    dsn: str,
    more: str = "",
    others: dict[str, str] | None = None,
    engine: str = "duckdb",
    memory: str = "2GB",
) -> Project:
    p = Project.create(home, dsn, others or {}, engine, local_memory=memory)
    (p.home / "views" / "votes.sql").write_text(VOTES.format(more=more))
    p.source(
        "CREATE TABLE article (id int PRIMARY KEY, title text, body text)",
        "CREATE TABLE vote (id int PRIMARY KEY, article int, weight int, why text)",
        "INSERT INTO article SELECT i, 'title ' || i, repeat('x', 100) FROM generate_series(1, 50) i",
        "INSERT INTO vote SELECT i, i % 60, i % 7, 'because' FROM generate_series(1, 600) i",
    )
    p.deploy()
    return p


def rows(p: Project, sql: str, wait: bool = False) -> list[tuple[object, ...]]:
    return sorted((tuple(r.values()) for r in ask(p.config, sql, wait=wait).to_pylist()), key=str)


def kept(p: Project) -> dict[str, int]:
    """Rows of each mirror."""
    w = Warehouse(p.config, p.deployed, read_only=True)
    try:
        return {t.name: w.engine(e).read_mirror(t).num_rows for e in w.used_engines() for t in w.tables(e)}
    finally:
        w.close()


def source(p: Project, key: int) -> list[tuple[object, ...]]:
    with psycopg.connect(p.dsn) as c:
        return c.execute(
            "SELECT a.id, a.title, count(v.id) AS n, sum(v.weight) AS s, max(v.weight) AS top FROM article a LEFT JOIN "
            "vote v ON v.article = a.id WHERE a.id = %s GROUP BY a.id, a.title",
            (key,),
        ).fetchall()


def test_keys_are_read_from_the_source_and_follow_the_stream(database: str, tmp_path: Path) -> None:
    p = project(tmp_path, database)
    assert kept(p) == {"article": 0, "vote": 0}
    assert rows(p, "SELECT * FROM votes WHERE id = 7") == source(p, 7)
    assert kept(p) == {"article": 1, "vote": 10}
    p.source(
        "UPDATE vote SET article = 7 WHERE id IN (1, 2)",  # from a key that nobody asked for
        "UPDATE vote SET article = 8 WHERE id = 67",  # to one
        "INSERT INTO vote VALUES (1000, 7, 50, 'new'), (1001, 9, 50, 'new')",
        "DELETE FROM vote WHERE id = 127",
        "UPDATE article SET title = 'other' WHERE id = 7",
    )
    p.catch_up()
    assert rows(p, "SELECT * FROM votes WHERE id = 7") == source(p, 7)
    p.assert_equal()
    assert kept(p) == {"article": 1, "vote": 11}
    assert rows(p, "SELECT * FROM votes WHERE id IN (8, 9, 777)") == sorted(source(p, 8) + source(p, 9), key=str)
    p.source("UPDATE vote SET article = 9 WHERE article = 8", "DELETE FROM article WHERE id = 7")
    p.catch_up()
    p.assert_equal()
    assert rows(p, "SELECT * FROM votes WHERE id IN (7, 8, 9)") == sorted(source(p, 8) + source(p, 9), key=str)
    p.source("TRUNCATE vote")
    p.catch_up()
    p.assert_equal()
    assert kept(p)["vote"] == 0


def test_what_a_key_was_read_with_is_not_taken_twice(database: str, tmp_path: Path) -> None:
    """Keys that arrive before the stream is as far as the snapshot that they were read in."""
    p = project(tmp_path, database)
    p.source("INSERT INTO vote VALUES (2000, 5, 100, 'x')", "DELETE FROM vote WHERE id = 65")
    assert rows(p, "SELECT * FROM votes WHERE id = 5") == source(p, 5)
    p.source(
        "UPDATE vote SET weight = 3 WHERE id = 5",
        "TRUNCATE article",
        "INSERT INTO article VALUES (5, 'again', 'b'), (6, 'six', 'b')",
    )
    assert rows(p, "SELECT * FROM votes WHERE id = 6") == source(p, 6)
    p.catch_up()
    p.assert_equal()
    assert rows(p, "SELECT * FROM votes WHERE id IN (5, 6)") == sorted(source(p, 5) + source(p, 6), key=str)


def test_a_key_agrees_with_others_from_an_lsn_on(database: str, tmp_path: Path) -> None:
    p = project(tmp_path, database)
    rows(p, "SELECT * FROM votes WHERE id = 1")
    p.source("UPDATE vote SET article = 2 WHERE article = 1", "INSERT INTO vote VALUES (3000, 1, 1, 'x')")
    said: list[str] = []
    ask(p.config, "SELECT * FROM votes WHERE id = 2", wait=False, told=said.append)
    assert "agree from" in said[0]
    said.clear()
    ask(p.config, "SELECT * FROM votes WHERE id = 1", wait=False, told=said.append)
    assert "agree from" in said[0]  # some of its rows went to the other
    both = "SELECT * FROM votes WHERE id IN (1, 2)"
    assert rows(p, both, wait=True) == sorted(source(p, 1) + source(p, 2), key=str)
    said.clear()
    ask(p.config, both, wait=False, told=said.append)
    assert said == []
    p.assert_equal()


def test_values_that_are_not_sent_of_rows_that_come_from_elsewhere(database: str, tmp_path: Path) -> None:
    p = project(tmp_path, database)
    (p.home / "views" / "texts.sql").write_text(
        "CREATE MATERIALIZED VIEW texts WITH (strategy = 'partial', key = 'kind', keep_mirrors = false) AS "
        "SELECT kind, id, md5(body) AS body FROM text"
    )
    big = "(SELECT string_agg(md5(i::text || {}), '') FROM generate_series(1, 500) i)"
    p.source(
        "CREATE TABLE text (id int PRIMARY KEY, kind int, body text)",
        "ALTER TABLE text ALTER body SET STORAGE EXTERNAL",
        *(f"INSERT INTO text VALUES ({n}, {n % 3}, {big.format(n)})" for n in range(12)),
    )
    p.deploy()
    some = "SELECT * FROM texts WHERE kind IN (0, 1)"
    assert len(rows(p, some)) == 8
    p.source("UPDATE text SET kind = 1 WHERE id IN (2, 3)", "UPDATE text SET kind = 1 WHERE id = 4")
    p.catch_up()
    p.assert_equal()
    with psycopg.connect(p.dsn) as c:
        now = sorted(c.execute("SELECT kind, id, md5(body) FROM text WHERE kind < 2").fetchall(), key=str)
    assert rows(p, some) == now
    p.assert_equal()


@pytest.mark.parametrize("seed", range(3))
def test_whatever_commits_and_whoever_asks_meanwhile(seed: int, database: str, tmp_path: Path) -> None:
    """Writers with long transactions, askers and evictions beside a pipeline; then all keys equal the source."""
    p = project(tmp_path, database, more=", memory = '40kB'")
    over = threading.Event()
    failed: list[BaseException] = []

    def write(n: int) -> None:
        r = random.Random(seed * 100 + n)
        with psycopg.connect(p.dsn) as c:
            while not over.is_set():
                for _ in range(r.randint(1, 6)):
                    k, v = r.randint(1, 50), r.randint(1, 700)
                    c.execute(
                        r.choice(
                            [
                                f"UPDATE vote SET article = {k} WHERE id = {v}",
                                f"UPDATE vote SET weight = weight + 1 WHERE id = {v}",
                                f"INSERT INTO vote VALUES ({v}, {k}, 1, 'n') ON CONFLICT (id) DO NOTHING",
                                f"DELETE FROM vote WHERE id = {v}",
                                f"UPDATE article SET title = 'at {v}' WHERE id = {k}",
                                f"SAVEPOINT s; UPDATE vote SET article = {k} WHERE id = {v}; ROLLBACK TO s",
                                f"SELECT pg_sleep({r.random() / 20})",
                            ]
                        )
                    )
                c.commit() if r.random() < 0.9 else c.rollback()

    def asked(n: int) -> None:
        r = random.Random(seed * 100 + 50 + n)
        while not over.is_set():
            keys = ", ".join(str(r.randint(1, 50)) for _ in range(r.randint(1, 4)))
            ask(p.config, f"SELECT * FROM votes WHERE id IN ({keys})", wait=r.random() < 0.2)

    def guarded(work: object, n: int) -> None:
        try:
            work(n)  # type: ignore[operator]
        except psycopg.errors.DeadlockDetected:
            guarded(work, n + 10)
        except BaseException as e:
            failed.append(e)

    with running(p):
        threads = [threading.Thread(target=guarded, args=(w, n)) for w in (write, asked) for n in range(3)]
        for t in threads:
            t.start()
        over.wait(10)
        over.set()
        for t in threads:
            t.join()
        assert not failed, failed
        every = "SELECT * FROM votes WHERE id IN (SELECT unnest(range(1, 51)))"
        got = rows(p, every, wait=True)
        assert got == sorted((r for k in range(1, 51) for r in source(p, k)), key=str)
        p.assert_equal()


@pytest.mark.parametrize("sequences", [40, 10_000])
def test_upqueries_and_commits_in_random_order(sequences: int, database: str, tmp_path: Path) -> None:
    assert_interleaved(project(tmp_path, database), range(sequences))


def keyed(p: Project) -> set[str]:
    """The tables of which the rows of some keys alone are kept."""
    return {t for of in p.deployed.by_key.values() for t in of}


def test_a_table_that_another_view_reads_is_mirrored_whole(database: str, tmp_path: Path) -> None:
    p = project(tmp_path, database)
    some = "SELECT * FROM votes WHERE id IN (3, 4)"
    rows(p, some)
    assert keyed(p) == {"public.article", "public.vote"}
    p.source("UPDATE vote SET article = 3 WHERE id < 9")
    p.write({"weights": "SELECT weight, count(*) AS n FROM vote GROUP BY weight"})
    p.deploy()
    assert keyed(p) == {"public.article"} and kept(p)["vote"] == 600
    assert rows(p, some) == sorted(source(p, 3) + source(p, 4), key=str)
    p.source("UPDATE vote SET article = 4 WHERE id BETWEEN 5 AND 20", "DELETE FROM vote WHERE id = 6")
    p.catch_up()
    p.assert_equal()
    (p.home / "views" / "weights.sql").unlink()
    p.deploy()
    assert keyed(p) == {"public.article", "public.vote"} and kept(p) == {"article": 0, "vote": 0}
    assert rows(p, some) == sorted(source(p, 3) + source(p, 4), key=str)
    p.source("UPDATE vote SET article = 3 WHERE id BETWEEN 5 AND 20")
    p.catch_up()
    p.assert_equal()


def test_a_view_that_changes_reads_its_keys_again(database: str, tmp_path: Path) -> None:
    p = project(tmp_path, database)
    some = "SELECT * FROM votes WHERE id IN (3, 4)"
    before = rows(p, some)
    p.source("UPDATE vote SET weight = weight + 1 WHERE article = 3")
    (p.home / "views" / "votes.sql").write_text(
        VOTES.format(more="").replace("max(v.weight)", "max(v.weight) AS most, min(v.why)")
    )
    p.deploy()
    assert [r[:4] for r in rows(p, some)] != [r[:4] for r in before]
    p.source("UPDATE vote SET why = 'a' WHERE article = 4")
    p.catch_up()
    p.assert_equal()
    assert [r[5] for r in rows(p, some)] == ["because", "a"]
    (p.home / "views" / "votes.sql").write_text(VOTES.format(more=""))
    p.deploy()  # it reads less: what is there will do
    p.source("UPDATE vote SET article = 4 WHERE article = 3")
    p.catch_up()
    p.assert_equal()


def test_what_is_altered_in_the_source_sets_it_aside_until_it_is_deployed(database: str, tmp_path: Path) -> None:
    p = project(tmp_path, database)
    some = "SELECT * FROM votes WHERE id IN (3, 4)"
    rows(p, some)
    p.source("ALTER TABLE vote DROP COLUMN why", "ALTER TABLE vote ADD more int", "UPDATE vote SET weight = 2")
    p.catch_up()
    p.assert_equal()
    p.source("ALTER TABLE vote ALTER weight TYPE bigint", "UPDATE vote SET article = 3 WHERE article = 5")
    p.catch_up()
    assert "votes" in {v.name for v in p.deployed.views if v.error}
    p.deploy()
    assert rows(p, some) == sorted(source(p, 3) + source(p, 4), key=str)
    p.source("UPDATE vote SET article = 4 WHERE article = 6")
    p.catch_up()
    p.assert_equal()


def test_a_repair_reads_keys_again(database: str, tmp_path: Path) -> None:
    p = project(tmp_path, database)
    some = "SELECT * FROM votes WHERE id IN (3, 4)"
    assert rows(p, some, wait=True) == sorted(source(p, 3) + source(p, 4), key=str)
    assert kept(p) == {"article": 2, "vote": 20}
    with duckdb.connect(str(p.config.warehouse_path / "tidemark.duckdb")) as con:
        con.execute("DELETE FROM base.vote WHERE id = (SELECT min(id) FROM base.vote)")
    checked = p.verify()
    assert "public.vote" in {v.view for v in checked if not v.equal}, checked
    assert all(v.equal for v in verify(p.config, [], repair=True))
    assert rows(p, some) == sorted(source(p, 3) + source(p, 4), key=str)
    p.source("UPDATE vote SET article = 3 WHERE id < 90")
    p.catch_up()
    p.assert_equal()


def test_who_waits_without_a_pipeline_reads_a_key_once(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the source writes all the time, what is read is always later than the stream."""
    p = project(tmp_path, database)
    some, read = "SELECT * FROM votes WHERE id IN (3, 4)", []

    def fill(*args: object) -> int:
        read.append(args[1])
        p.source("CREATE TABLE IF NOT EXISTS other (i int)", "INSERT INTO other VALUES (1)")
        p.source("UPDATE vote SET weight = weight + 1 WHERE article = 3")
        return upquery.fill(*args)  # type: ignore[arg-type]

    monkeypatch.setattr("pipelines.asking.ask.fill", fill)
    assert rows(p, some, wait=True) == sorted(source(p, 3) + source(p, 4), key=str)
    assert read == ["votes"]
    assert kept(p) == {"article": 2, "vote": 20}
    p.assert_equal()


def test_it_cannot_be_read_without_a_key(database: str, tmp_path: Path) -> None:
    p = project(tmp_path, database)
    with pytest.raises(TidemarkError, match="has to ask for keys"):
        ask(p.config, "SELECT * FROM votes", wait=False)


@pytest.mark.parametrize(
    "view, why",
    [
        ("WITH (keep_mirrors = false) AS SELECT id FROM vote", "is not partial"),
        ("WITH (strategy = 'partial', key = 'id', keep_mirrors = 'no') AS SELECT id FROM vote", "keep_mirrors = 'no'"),
        (
            "WITH (strategy = 'partial', key = 'k', keep_mirrors = false) AS SELECT id + 1 AS k, why FROM vote",
            "cannot be partial by",
        ),
    ],
)
def test_what_cannot_be_without_mirrors(view: str, why: str, database: str, tmp_path: Path) -> None:
    p = project(tmp_path, database)
    (p.home / "views" / "bad.sql").write_text(f"CREATE MATERIALIZED VIEW bad {view}")
    with pytest.raises(TidemarkError, match=why):
        p.deploy()


def test_each_kind_of_key(database: str, tmp_path: Path) -> None:
    """Of several columns and types, by a replica identity of all columns, with NULLs and quotes."""
    p = Project.create(tmp_path, database, {}, "duckdb")
    (p.home / "views" / "sums.sql").write_text(
        "CREATE MATERIALIZED VIEW sums WITH (strategy = 'partial', key = 'a, b, c', keep_mirrors = false) AS "
        "SELECT a, b, c, count(*) AS n, array_agg(id ORDER BY id) AS ids FROM fact GROUP BY a, b, c"
    )
    p.source(
        "CREATE TYPE mood AS ENUM ('sad', 'so ''so''')",
        "CREATE TABLE fact (id uuid PRIMARY KEY, a text, b numeric(8,2), c mood, d date)",
        "ALTER TABLE fact REPLICA IDENTITY FULL",
        "INSERT INTO fact SELECT md5(i::text)::uuid, (ARRAY['x', 'it''s \"q\"', 'é\\', NULL])[i % 4 + 1], i % 3 + 0.5, "
        "(ARRAY['sad', 'so ''so''']::mood[])[i % 2 + 1] FROM generate_series(1, 200) i",
    )
    p.deploy()
    some = (
        "SELECT * FROM sums WHERE a IN ('it''s \"q\"', 'é\\', 'x') AND b IN (0.5, 1.50) AND c IN ('sad', 'so ''so''')"
    )
    with psycopg.connect(p.dsn) as c:
        n = c.execute("SELECT count(*) FROM fact WHERE a IS NOT NULL AND b < 2 AND c IS NOT NULL").fetchone()
    assert n is not None and sum(int(str(r[3])) for r in rows(p, some)) == n[0]
    p.source(
        "UPDATE fact SET c = 'sad', a = 'x' WHERE b = 2.5",
        "UPDATE fact SET b = 0.5 WHERE b = 2.5 AND a = 'x'",
        "UPDATE fact SET id = md5(id::text)::uuid WHERE a = 'x'",
    )
    p.catch_up()
    p.assert_equal()
    with psycopg.connect(p.dsn) as c:
        n = c.execute("SELECT count(*) FROM fact WHERE a IS NOT NULL AND b < 2 AND c IS NOT NULL").fetchone()
    assert n is not None and sum(int(str(r[3])) for r in rows(p, some)) == n[0]


@pytest.mark.skipif("TIDEMARK_TEST_DSN" in os.environ, reason="sets what all of a server's commits wait for")
@pytest.mark.parametrize("later", [False, True])
def test_a_commit_that_waits_for_a_standby_is_not_missed(later: bool, tmp_path: Path) -> None:
    """It is in the stream, was passed over, and nobody sees it yet. `later`: another process did that, and another
    commit came after it."""
    with EmbeddedPostgres() as pg:
        p = project(tmp_path, pg.dsn)
        some = "SELECT * FROM votes WHERE id = 3"
        with psycopg.connect(pg.dsn, autocommit=True) as own:
            own.execute("SET synchronous_commit = 'local'")
            own.execute("ALTER SYSTEM SET synchronous_standby_names = 'nobody'")
            own.execute("SELECT pg_reload_conf()")
            time.sleep(0.5)
            held = threading.Thread(target=p.source, args=("UPDATE vote SET article = 3 WHERE article = 9",))
            held.start()
            time.sleep(0.5)
            own.execute("UPDATE vote SET weight = 1 WHERE id = 8")
            with running(p):
                until(lambda: frontier(p) >= current_lsn(p.dsn), "the stream is read")
                if not later:
                    with pytest.raises(TidemarkError, match="could not be read"):
                        ask(p.config, some, wait=False)
            upquery.FORMER.clear()
            with pytest.raises(TidemarkError, match="could not be read"):
                ask(p.config, some, wait=False)
            assert kept(p)["vote"] == 0
            own.execute("ALTER SYSTEM RESET synchronous_standby_names")
            own.execute("SELECT pg_reload_conf()")
            held.join()
        assert rows(p, some) == source(p, 3) and kept(p)["vote"] == 20
        p.source("UPDATE vote SET weight = 5 WHERE article = 3")
        p.catch_up()
        p.assert_equal()


def frontier(p: Project) -> int:
    reader = connect_running(p.config.warehouse_path)
    assert reader is not None
    with reader:
        return min(reader.frontiers().values())
