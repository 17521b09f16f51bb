"""Partial views without mirrors: the rows of keys that are asked for are read from the source, each key in a snapshot
of its own, and follow the stream from there."""

from __future__ import annotations

import random
import threading
from pathlib import Path

import psycopg
import pytest

from pipelines.applying.capture import Capture
from pipelines.applying.catching_up import limits
from pipelines.asking.ask import ask
from pipelines.warehouse import Warehouse
from tests.pipelines.interleaved import Interleaving
from tests.pipelines.running import running
from tests.project import Project

VOTES = """CREATE MATERIALIZED VIEW votes WITH (strategy = 'partial', key = 'id', keep_mirrors = false{more}) AS
SELECT a.id, a.title, count(v.id) AS n, sum(v.weight) AS s, max(v.weight) AS top
FROM article a LEFT JOIN vote v ON v.article = a.id GROUP BY a.id, a.title"""


def project(home: Path, dsn: str, more: str = "", others: dict[str, str] | None = None) -> Project:
    p = Project.create(home, dsn, others or {}, "duckdb")
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
        return {t.name: w.engine("duckdb").read_mirror(t).num_rows for t in w.tables("duckdb")}
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
    """Whatever commits between the snapshot of a key and its way through the stream, nothing is counted twice or
    missed."""
    p = project(tmp_path, database)
    p.source(
        "DELETE FROM vote", "DELETE FROM article", "INSERT INTO article SELECT i, 't' FROM generate_series(0, 5) i"
    )
    p.catch_up()
    warehouse = Warehouse(p.config, p.deployed)
    capture = Capture(warehouse, limits(p.config))
    try:
        for seed in range(sequences):
            one = Interleaving(p.dsn, warehouse, capture, seed)
            try:
                one.play()
                ours, theirs = one.answers()
                assert ours == theirs, "\n".join([f"seed {seed}", *one.done])
                assert not one.strangers()
            finally:
                one.close()
    finally:
        capture.close()
        warehouse.close()
