"""Partial views as users meet them: keys arrive when they are asked for, follow the source, and leave."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pyarrow as pa
import pytest

from compiler.errors import TidemarkError
from compiler.ir.scalar import Col
from compiler.ir.types import INT4
from compiler.maintain.asked import Asked
from pipelines.asking.ask import ask
from pipelines.asking.client import connect_running
from pipelines.asking.keys import wanted
from pipelines.asking.query import Asker
from pipelines.asking.reading import LocalReader
from pipelines.asking.uses import Uses
from pipelines.warehouse import Warehouse
from tests.pipelines.running import running, until
from tests.project import Project

FEED = """CREATE MATERIALIZED VIEW feed WITH (strategy = 'partial', key = 'who'{more}) AS
SELECT p.who, p.id AS post, p.title, (SELECT count(*) FROM comment c WHERE c.post = p.id) AS comments FROM post p"""
SUMS = """CREATE MATERIALIZED VIEW sums WITH (strategy = 'partial', key = 'id'{more}) AS
SELECT id, sum(amount) AS s, count(*) AS n FROM account GROUP BY id"""


def project(home: Path, dsn: str, engine: str = "duckdb", feed: str = "", sums: str = "") -> Project:
    p = Project.create(
        home, dsn, {"posts": "SELECT who, count(*) AS n FROM post GROUP BY who"}, engine, local_memory="2GB"
    )
    (p.home / "views" / "feed.sql").write_text(FEED.format(more=feed))
    (p.home / "views" / "sums.sql").write_text(SUMS.format(more=sums))
    p.source(
        "CREATE TABLE post (id int PRIMARY KEY, who int, title text)",
        "CREATE TABLE comment (id int PRIMARY KEY, post int, body text)",
        "CREATE TABLE account (id int, part int, amount int, PRIMARY KEY (id, part))",
        "INSERT INTO post SELECT i, i % 20, 'post ' || i FROM generate_series(1, 200) i",
        "INSERT INTO comment SELECT i, i % 150, 'c' FROM generate_series(1, 600) i",
        "INSERT INTO account SELECT i, p, 100 FROM generate_series(1, 40) i, generate_series(1, 3) p",
    )
    p.deploy()
    return p


def rows(p: Project, sql: str, every_key: bool = False) -> list[tuple[object, ...]]:
    found = ask(p.config, sql, wait=False, every_key=every_key)
    return sorted((tuple(r.values()) for r in found.to_pylist()), key=str)


def kept(p: Project) -> dict[str, int]:
    """How many keys each partial view has."""
    w = Warehouse(p.config, p.deployed, read_only=True)
    try:
        return {
            v.name: w.engine(v.engine).asked_for(plan.asked).num_rows
            for v in p.deployed.views
            if (plan := w.view(v.name)[1]).asked is not None
        }
    finally:
        w.close()


@pytest.mark.parametrize("engine", ["duckdb", "spark"])
def test_keys_arrive_when_they_are_asked_for_and_follow_the_source(engine: str, database: str, tmp_path: Path) -> None:
    p = project(tmp_path, database, engine)
    assert kept(p) == {"feed": 0, "sums": 0}
    some = rows(p, "SELECT * FROM feed WHERE who = 7")
    assert some == rows(p, "SELECT * FROM feed WHERE who = 7", every_key=True) and len(some) == 10
    assert kept(p) == {"feed": 1, "sums": 0}
    assert rows(p, "SELECT who, n FROM posts JOIN (SELECT DISTINCT who FROM feed WHERE who IN (3, 4, 99)) USING (who)")
    assert kept(p) == {"feed": 4, "sums": 0}  # one of which there is nothing
    p.source(
        "UPDATE post SET who = 7 WHERE id = 30",
        "INSERT INTO comment SELECT 1000 + i, i, 'new' FROM generate_series(1, 60) i",
        "DELETE FROM post WHERE id = 47",
        "INSERT INTO post VALUES (500, 99, 'the first'), (501, 12, 'of nobody')",
    )
    p.catch_up()
    p.assert_equal()
    assert rows(p, "SELECT post, comments FROM feed WHERE who = 99") == [(500, 0)]
    assert kept(p)["feed"] == 4
    p.source("TRUNCATE comment")
    p.catch_up()
    p.assert_equal()
    assert rows(p, "SELECT sum(comments)::INT FROM feed WHERE who = 7") == [(0,)]


def test_columns_that_a_join_does_not_read_need_not_be_kept(database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, {}, "duckdb")
    (p.home / "views" / "votes.sql").write_text(
        "CREATE MATERIALIZED VIEW votes WITH (strategy = 'partial', key = 'id') AS SELECT a.id, count(v.id) AS n "
        "FROM article a LEFT JOIN vote v ON v.article = a.id GROUP BY a.id"
    )
    p.source(
        "CREATE TABLE article (id int PRIMARY KEY, body text)",
        "CREATE TABLE vote (id int PRIMARY KEY, article int, why text)",
        "INSERT INTO article VALUES (1, 'a'), (2, 'b')",
        "INSERT INTO vote VALUES (1, 1, 'x'), (2, 1, 'y')",
    )
    p.deploy()
    assert rows(p, "SELECT * FROM votes WHERE id IN (1, 2)") == [(1, 2), (2, 0)]
    p.source("DELETE FROM vote WHERE id = 2", "UPDATE vote SET why = 'z'")
    p.catch_up()
    p.assert_equal()


QUERIES = [  # which are answered from the keys that they ask for
    "SELECT * FROM feed WHERE who = 7",
    "SELECT * FROM Feed f WHERE 7 = F.who AND comments > 1",
    "SELECT * FROM feed WHERE who IN (1, 2) OR who = 3",
    "SELECT * FROM feed WHERE who IN (1, '2', -3, 4::bigint, 5::bigint, 1 + 5, NULL)",
    "SELECT * FROM feed WHERE who = 1 OR who = '2' OR who = 3 OR who IN (4, '5')",
    "SELECT * FROM named WHERE name IN ('abc', 'it''s', 'ABC')",
    "SELECT * FROM feed WHERE who = ANY([1, 2])",
    "SELECT * FROM feed WHERE who IS NOT DISTINCT FROM 5",
    "SELECT * FROM feed WHERE (who = 3 AND post > 4) OR who = 4 AND post > 10",
    "SELECT p.who, s.s FROM posts p JOIN feed f ON f.who = p.who JOIN sums s ON s.id = f.who",
    "SELECT f.post FROM sums s JOIN feed f ON s.id = f.who WHERE f.who = 3",
    "SELECT count(*) FROM feed a, feed b, sums s WHERE a.who = b.who AND b.who = s.id AND s.id = 3",
    "SELECT * FROM feed f JOIN posts p ON p.who + 1 = f.who WHERE p.n IS NOT NULL",
    "SELECT post AS who FROM feed WHERE who = 3",
    "SELECT * FROM named WHERE name IN (SELECT upper(n.name) FROM named n WHERE n.name = 'abc')",
    "SELECT * FROM named WHERE name = NULL",
    "SELECT * FROM feed WHERE who = '11'",
    "SELECT * FROM feed WHERE who = 7.0 OR who = 7.5",
    "SELECT * FROM feed WHERE who IN (SELECT who FROM posts WHERE n > 10)",
    "WITH big AS (SELECT who FROM posts WHERE n > 10) SELECT f.* FROM feed f JOIN big USING (who) WHERE post > 9",
    "SELECT p.who, f.post FROM posts p LEFT JOIN feed f ON f.who = p.who AND p.n > 10",
    "SELECT p.who, p.n FROM posts p ANTI JOIN feed f ON f.who = p.who AND f.comments > 4",
    "SELECT p.who FROM feed f RIGHT JOIN posts p ON f.who = p.who WHERE p.who < 3",
    "SELECT f.post, s.s FROM feed f JOIN sums s ON s.id = f.who WHERE f.who IN (1, 2)",
    "SELECT f.post, s.s FROM feed f JOIN sums s ON s.id = f.post WHERE f.who IN (1, 2)",
    "SELECT count(*) FROM feed a JOIN feed b ON a.who = b.who WHERE a.who = 4",
    "SELECT * FROM feed WHERE who = 1 UNION ALL SELECT * FROM feed WHERE who = 2",
    "SELECT * FROM (SELECT * FROM feed WHERE who = 1) x WHERE post > 3",
    "SELECT * FROM feed, generate_series(1, 3) g(i) WHERE who = g.i",
    "SELECT * FROM feed WHERE who = (SELECT max(who) FROM posts)",
    "SELECT who FROM feed WHERE who = NULL",
    "SELECT p.who, (SELECT count(*) FROM feed WHERE who = 3) AS n FROM posts p",
    "WITH feed AS (SELECT 1 AS who) SELECT * FROM feed WHERE who = 1",
]
REFUSED = [  # which ask for no key, or for one that cannot be told beforehand
    "SELECT * FROM feed",
    "SELECT * FROM feed WHERE post = 3",
    "SELECT * FROM feed WHERE who > 3",
    "SELECT * FROM feed WHERE who = 3 OR post = 4",
    "SELECT * FROM feed WHERE NOT who = 3",
    "SELECT * FROM feed WHERE who IS NULL",
    "SELECT * FROM feed WHERE who = post",
    "SELECT * FROM main.feed WHERE who = 3",
    "SELECT * FROM feed f LEFT JOIN posts p ON f.who = p.who",
    "SELECT * FROM feed f FULL JOIN posts p ON f.who = p.who",
    "SELECT * FROM posts p RIGHT JOIN feed f ON f.who = p.who",
    "SELECT * FROM feed f ANTI JOIN posts p ON f.who = p.who",
    "SELECT p.who, (SELECT count(*) FROM feed f WHERE f.who = p.who) FROM posts p",
    "SELECT * FROM feed WHERE who IN (SELECT id FROM sums WHERE id = feed.post)",
    "SELECT * FROM feed WHERE who = (random() * 20)::INT",
    "SELECT * FROM feed WHERE who IN (SELECT who FROM posts LIMIT 3)",
    "SELECT * FROM feed WHERE who IN (SELECT who FROM posts USING SAMPLE 3)",
    "SELECT * FROM feed WHERE who = 7.0::DOUBLE",
    "SELECT f.post, s.s FROM feed f JOIN sums s ON s.id = f.who",
    "SELECT count(*) FROM feed a JOIN feed b ON a.who = b.who",
    "SELECT * FROM feed f, feed g WHERE f.who = g.post AND g.who = f.post",
    "WITH x AS (SELECT * FROM feed f JOIN sums s ON f.who = s.id) SELECT count(*) FROM x",
    "WITH RECURSIVE r AS (SELECT 1 AS k UNION SELECT f.post FROM feed f JOIN r ON f.who = r.k) SELECT * FROM r",
    "SELECT f.* FROM posts p LEFT JOIN (SELECT 3 AS k) a ON p.who = a.k JOIN feed f ON f.who = coalesce(a.k, 7)",
    "SELECT p.who FROM posts p LEFT JOIN (SELECT 3 AS k) a ON p.who = a.k LEFT JOIN feed f ON f.who = coalesce(a.k, 7)",
    "SELECT * FROM named WHERE name = 'ABC' COLLATE NOCASE",
    "SELECT * FROM named n JOIN (SELECT 'abc' COLLATE NOCASE AS x) y ON y.x = n.name",
    "SELECT * FROM feed WHERE who IS NOT DISTINCT FROM NULL",
    "SELECT * FROM posts p JOIN feed f ON p.who IS NOT DISTINCT FROM f.who",
    "SELECT p.* FROM posts p LEFT JOIN feed f ON p.n = f.post WHERE f.who IS NOT DISTINCT FROM (SELECT NULL::INT)",
    "SELECT * FROM feed WHERE who = ALL (SELECT who FROM posts WHERE false)",
    "SELECT * FROM feed WHERE who = ALL ([4])",
    "SELECT p.who, f.post FROM posts p ASOF JOIN feed f ON p.who >= f.post WHERE f.who = 3",
    "SELECT * FROM posts p POSITIONAL JOIN feed f WHERE f.who = 3",
    "SELECT * FROM feed f(post, who, a, b) WHERE f.who = 103",
    "SELECT * FROM feed UNPIVOT (who FOR name IN (post, who)) WHERE who = 103",
    "SELECT * FROM feed WHERE who = CASE WHEN 'abc' ~ 'b' THEN 3 ELSE 4 END",
    "SELECT * FROM feed f JOIN posts p ON p.who = f.who WHERE NOT (p.who::VARCHAR ~ '1')",
    "SELECT * FROM feed f, (SELECT f.post % 20 AS k) l WHERE f.who = l.k",
    "SELECT * FROM feed f WHERE f.who = f['post']",
    "SELECT * FROM feed WHERE who IN (FROM range(3))",
    "SELECT * FROM feed WHERE who IN (SELECT first(who) FROM posts)",
    "SELECT * FROM feed WHERE who IN (SELECT DISTINCT ON (n) who FROM posts)",
    "SELECT * FROM feed WHERE who IN (SELECT row_number() OVER () FROM posts)",
    "SELECT * FROM (SELECT * FROM feed) x WHERE who = 1",
    "SELECT * FROM named WHERE name = 'abc' OR name = 1",
    "SELECT * FROM named WHERE name IN ('abc', 1)",
    "SELECT * FROM sums WHERE id = 7 OR id = 8::DOUBLE",
]


@pytest.fixture(scope="module")
def deployed(tmp_path_factory: pytest.TempPathFactory, server: str) -> Project:
    with psycopg.connect(server, autocommit=True) as c:
        c.execute("CREATE DATABASE partial_queries")
    dsn = psycopg.conninfo.make_conninfo(server, dbname="partial_queries")
    p = project(tmp_path_factory.mktemp("partial"), dsn)
    (p.home / "views" / "named.sql").write_text(
        "CREATE MATERIALIZED VIEW named WITH (strategy = 'partial', key = 'name') AS SELECT id, name FROM person"
    )
    p.source(
        "CREATE TABLE person (id int PRIMARY KEY, name text)",
        "INSERT INTO person VALUES (1, 'abc'), (2, 'ABC'), (3, 'Abc'), (4, NULL)",
        "INSERT INTO post VALUES (900, NULL, 'of nobody')",
    )
    p.deploy()
    return p


@pytest.fixture
def untouched(deployed: Project) -> Iterator[Project]:
    """With no key kept."""
    files = {f: f.read_bytes() for f in deployed.config.warehouse_path.glob("tidemark.duckdb*")}
    yield deployed
    for f in deployed.config.warehouse_path.glob("tidemark.duckdb*"):
        f.unlink()
    for f, content in files.items():
        f.write_bytes(content)


@pytest.mark.parametrize("sql", QUERIES)
def test_a_query_by_key_is_what_it_is_over_all_keys(sql: str, untouched: Project) -> None:
    assert rows(untouched, sql) == rows(untouched, sql, every_key=True)


@pytest.mark.parametrize("of", ["{}", "'{}'", "-{}", "{}::bigint", "DATE '2026-01-01' + {}"])
def test_a_list_of_a_thousand_keys_is_one_list(of: str) -> None:
    """Literals of a kind are; each of other expressions is looked at by itself."""
    several = "+" in of
    every = ", ".join(of.format(i) for i in range(100 if several else 1000))
    (found,) = wanted(f"SELECT * FROM v WHERE k IN ({every})", {"v": Asked("v", (Col("k", INT4),))}, {"v": ["k"]})
    assert len(found.parts) == (100 if several else 0)
    assert found.query.count("SELECT") < (1000 if several else 5)


@pytest.mark.parametrize("sql", REFUSED)
def test_a_query_that_asks_for_no_key_is_refused(sql: str, deployed: Project) -> None:
    with pytest.raises(TidemarkError) as e:
        rows(deployed, sql)
    assert e.value.code == "partial_needs_key" and e.value.hint


@pytest.mark.parametrize(
    ("options", "query", "said"),
    [
        ("key = 'n'", "SELECT g, count(*) AS n FROM t GROUP BY g", "it is the result of an aggregate"),
        ("key = 'g'", "SELECT g, id FROM t ORDER BY id LIMIT 3", "LIMIT"),
        ("key = 'r'", "SELECT id, rank() OVER (PARTITION BY g ORDER BY id) AS r FROM t", "a window"),
        ("key = 'id'", "SELECT id, rank() OVER (PARTITION BY g ORDER BY id) AS r FROM t", "partitioned by other"),
        ("key = 'u'", "SELECT t.id, u.id AS u FROM t LEFT JOIN t u ON u.id = t.g", "outer join"),
        ("key = 'e'", "SELECT id, unnest(ARRAY[1, g]) AS e FROM t", "array"),
        ("key = 's'", "SELECT t.id, t.g + u.g AS s FROM t JOIN t u ON u.id = t.g", "several tables"),
        ("key = 'one'", "SELECT 1 AS one", "reads no table"),
        ("key = 'f'", "SELECT id, g::float8 AS f FROM t", "may be written in several ways"),
        ("key = 'q'", "SELECT id, g / 7.0 AS q FROM t", "may be written in several ways"),
        ("key = 'goo'", "SELECT id, g FROM t", "has no column"),
        ("memory = '1 MB'", "SELECT id, g FROM t", "says no key"),
        ("key = 'id', memory = 'much'", "SELECT id, g FROM t", "is no size"),
    ],
)
def test_a_view_that_cannot_be_partial_is_refused_with_the_reason(
    options: str, query: str, said: str, database: str, tmp_path: Path
) -> None:
    p = Project.create(tmp_path, database, {})
    (p.home / "views" / "v.sql").write_text(
        f"CREATE MATERIALIZED VIEW v WITH (strategy = 'partial', {options}) AS {query}"
    )
    p.source("CREATE TABLE t (id int PRIMARY KEY, g int)")
    with pytest.raises(TidemarkError) as e:
        p.deploy()
    assert said in f"{e.value.message} {e.value.detail}", (e.value.message, e.value.detail)


def test_a_key_of_a_view_that_is_not_partial_is_refused(database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, {})
    (p.home / "views" / "v.sql").write_text("CREATE MATERIALIZED VIEW v WITH (key = 'id') AS SELECT id FROM t")
    p.source("CREATE TABLE t (id int PRIMARY KEY, g int)")
    with pytest.raises(TidemarkError, match="is not partial"):
        p.deploy()


def test_a_deploy_keeps_the_keys_of_views_that_stay(database: str, tmp_path: Path) -> None:
    p = project(tmp_path, database)
    rows(p, "SELECT * FROM feed WHERE who IN (1, 2)")
    rows(p, "SELECT * FROM sums WHERE id IN (1, 2, 3)")
    p.write({"more": "SELECT count(*) AS n FROM comment"})
    p.deploy()
    assert kept(p) == {"feed": 2, "sums": 3}
    (p.home / "views" / "sums.sql").write_text(SUMS.format(more="").replace("count(*)", "max(amount)"))
    p.deploy()  # the same key, another query: filled for the keys that were asked for
    assert kept(p) == {"feed": 2, "sums": 3}
    p.source("UPDATE account SET amount = 7 WHERE id = 2")
    p.catch_up()
    p.assert_equal()
    assert rows(p, "SELECT s FROM sums WHERE id = 2") == [(21,)]
    (p.home / "views" / "sums.sql").unlink()
    (p.home / "views" / "feed.sql").write_text(FEED.format(more="").replace("key = 'who'", "key = 'post'"))
    p.deploy()
    assert kept(p) == {"feed": 0}
    assert rows(p, "SELECT who FROM feed WHERE post = 8") == [(8,)]
    p.assert_equal()


@pytest.mark.parametrize("engine", ["duckdb", "spark", "both"])
def test_no_reader_sees_a_torn_key_while_keys_come_and_go(engine: str, database: str, tmp_path: Path) -> None:
    """Money moves between accounts, readers ask for pairs of them, and there is room for few: what is moved within a
    pair never shows."""
    on = ", engine = 'spark'" if engine == "both" else ""  # which then takes its batches on a thread of its own
    p = project(tmp_path, database, "duckdb" if engine == "both" else engine, sums=f", memory = '1 KB'{on}")
    stop, wrong, asked = threading.Event(), [], [0]

    def move() -> None:
        with psycopg.connect(p.dsn, autocommit=True) as c:
            i = 0
            while not stop.is_set():
                a = 1 + 2 * (i % 20)
                c.execute(
                    "UPDATE account SET amount = amount + CASE WHEN id = %s THEN 5 ELSE -5 END WHERE id IN (%s, %s)",
                    (a, a, a + 1),
                )
                i += 1

    def read(seed: int) -> None:
        running_ = connect_running(p.config.warehouse_path)
        assert running_ is not None
        with running_:
            i = seed
            while not stop.is_set():
                a = 1 + 2 * (i % 20)
                got = running_.query(
                    f"SELECT sum(s)::BIGINT AS s, count(*) AS n FROM sums WHERE id IN ({a}, {a + 1})"
                ).to_pylist()
                asked[0] += 1
                if got != [{"s": 600, "n": 2}]:
                    wrong.append((a, got))
                i += 7

    with running(p):
        threads = [threading.Thread(target=move), *(threading.Thread(target=read, args=(n,)) for n in range(3))]
        for t in threads:
            t.start()
        state = connect_running(p.config.warehouse_path)
        assert state is not None

        def enough() -> bool:
            shot = state.state()["partial"].get("sums")  # none before the first batch
            return bool(shot and asked[0] > 100 and shot["evicted"] > 0 and shot["misses"] > 40)

        with state:
            try:
                until(enough, "keys come and go", 120)
            finally:
                stop.set()
                for t in threads:
                    t.join()
    assert not wrong, wrong[:3]
    p.catch_up()
    p.assert_equal()


def test_the_keys_that_are_asked_for_least_leave() -> None:
    uses = Uses()
    uses.asked("v", [("a",), ("b",), ("a",)], 2)
    weights = pa.table({"c0": ["a", "b", "c", "d"], "bytes": [10, 10, 10, 10]})
    uses.wait("v", [("d",)])
    assert uses.rarest("v", weights, 15)["c0"].to_pylist() == ["c", "b"]
    uses.released("v", [("d",)])
    assert uses.rarest("v", weights, 5)["c0"].to_pylist() in (["c"], ["d"], ["b"])
    assert "a" not in uses.rarest("v", weights, 25)["c0"].to_pylist()


def test_a_key_that_cannot_be_filled_is_not_waited_for(database: str, tmp_path: Path) -> None:
    """Else it could never leave, should it be filled later."""
    p = project(tmp_path, database)
    w = Warehouse(p.config, p.deployed)

    def fails(view: str, keys: pa.Table) -> int:
        raise TidemarkError("the disk is full")

    asker = Asker(fails)
    try:
        with pytest.raises(TidemarkError, match="the disk is full"):
            LocalReader(w, asker).query("SELECT * FROM feed WHERE who = 3")
        assert not asker.uses.waiting
    finally:
        w.close()


def test_a_key_is_kept_before_the_pipeline_is_killed(database: str, tmp_path: Path) -> None:
    p = project(tmp_path, database)
    with running(p) as process:
        assert rows(p, "SELECT count(*) FROM feed WHERE who = 5") == [(10,)]
        process.kill()
        process.wait()
        until(lambda: process.poll() is not None, "it is gone")
    assert kept(p)["feed"] == 1
    p.source("DELETE FROM post WHERE who = 5 AND id > 100")
    p.catch_up()
    p.assert_equal()


def test_keys_of_times_are_the_same_where_the_machine_is_elsewhere(database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, {})
    (p.home / "views" / "moments.sql").write_text(
        "CREATE MATERIALIZED VIEW moments WITH (strategy = 'partial', key = 'moment', memory = '1 MB') AS "
        "SELECT moment, count(*) AS n FROM event GROUP BY moment"
    )
    p.source(
        "CREATE TABLE event (id int PRIMARY KEY, moment timestamptz)",
        "INSERT INTO event SELECT i, '1800-01-01 00:00:00+00'::timestamptz + i % 2 * interval '28 s' "
        "FROM generate_series(1, 6) i",
    )
    p.deploy()
    for _ in range(3):
        done = subprocess.run(
            [sys.executable, "-m", "pipelines.cli", "query", "--format", "csv"]
            + ["SELECT n FROM moments WHERE moment = '1800-01-01 00:00:00+00'::timestamptz"],
            cwd=p.home,
            env={**os.environ, "TZ": "Europe/Berlin"},
            text=True,
            capture_output=True,
        )
        assert done.stdout.split() == ["n", "3"], done.stderr
    assert kept(p) == {"moments": 1}


def test_a_partial_view_that_executors_would_keep_is_refused_before_anything_is_copied(
    database: str, tmp_path: Path
) -> None:
    p = Project.create(tmp_path, database, {"v": "SELECT id, k FROM t"}, engine="spark", local_memory="none")
    p.write({"p": "SELECT id, k FROM t"}, "strategy = 'partial', key = 'k'")
    p.source("CREATE TABLE t (id int PRIMARY KEY, k int)")
    with pytest.raises(TidemarkError, match='view "p" is partial'):
        p.deploy()
    assert not (tmp_path / "warehouse" / "deployment.json").exists()
