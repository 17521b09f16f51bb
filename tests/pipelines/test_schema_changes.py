"""Tables that are altered after they were deployed: what no view uses stops nothing, what a view uses stops that view
alone, and the next deploy copies the table that is concerned and no other."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable
from contextlib import nullcontext
from pathlib import Path

import psycopg
import pytest

from compiler.catalog import Column, Table
from compiler.ir.types import TEXT
from pipelines.applying.unaltered import _uncertain
from pipelines.asking.status import status
from tests.pipelines.running import running, until
from tests.pipelines.schema_changes import ALTERED, FORMS, PUBLISHED, ever_stopped
from tests.pipelines.schema_changes_page import written
from tests.project import Project

VIEWS = {
    "by_a": "SELECT a, count(*) AS n FROM t GROUP BY a",
    "by_b": "SELECT b, count(*) AS n, max(id) AS m FROM t GROUP BY b",
    "joined": "SELECT t.id, t.a, u.v FROM t JOIN u ON u.k = t.a",
    "moods": "SELECT mood, count(*) AS n FROM t GROUP BY mood",
    "best": "SELECT max(mood) AS m FROM t",
    "spots": "SELECT id, (p).x, (p).y FROM t",
    "other": "SELECT k, v FROM u",
}
SCHEMA = (
    "CREATE TYPE mood AS ENUM ('sad', 'ok')",
    "CREATE TYPE place AS (x int, y text)",
    "CREATE TABLE t (id int PRIMARY KEY, a int NOT NULL, b int, unused text, mood mood, p place)",
    "CREATE TABLE u (k int PRIMARY KEY, v text, spare int)",
    "INSERT INTO t SELECT g, g % 5, g % 7, 'x' || g, 'ok', (g, 'y, ' || g)::place FROM generate_series(1, 50) g",
    "INSERT INTO u SELECT g, 'v' || g FROM generate_series(0, 9) g",
)
BEFORE = ("UPDATE t SET a = a + 1, b = b + 1 WHERE id % 3 = 0", "DELETE FROM t WHERE id % 11 = 0")
AFTER = (
    "UPDATE t SET id = id + 100 WHERE id % 4 = 1",
    "DELETE FROM t WHERE id % 13 = 0",
    "UPDATE u SET v = 'changed' WHERE k < 4",
    "DELETE FROM u WHERE k = 2",
)


def of(case: str, text: str) -> str:
    """Statements for the tables of a case: each has its own."""
    i = list(ALTERED).index(case)
    return re.sub(r"\b(t|u|mood|place)(?=\b|_)", rf"\g<1>{i}", text)


def views(case: str, queries: dict[str, str]) -> dict[str, str]:
    i = list(ALTERED).index(case)
    return {f"{name}_{i}": of(case, query) for name, query in queries.items()}


def project(database: str, home: Path, cases: Iterable[str], memory: str = "") -> Project:
    """Each case with its views over its tables; with `memory` on Spark, by the driver."""
    every = {n: q for case in cases for n, q in views(case, VIEWS).items()}
    p = Project.create(home, database, every, engine="spark" if memory else "duckdb", local_memory=memory or "none")
    p.source(*(of(case, statement) for case in cases for statement in SCHEMA))
    p.deploy()
    return p


def stopped(p: Project) -> dict[str, str]:
    return {v.name: v.error for v in p.deployed.views if v.error}


def assert_others_equal(p: Project, stops: set[str]) -> None:
    told = {r.view: r for r in p.verify()}
    assert {n for n, r in told.items() if not r.equal} == stops, [r.line() for r in told.values() if not r.equal]


def follow(p: Project, cases: Iterable[str], twice: pytest.LogCaptureFixture | None = None) -> None:
    """Alter the table of each case among its changes; what stops, and what the next deploy makes of it. Where a run
    comes between, the next one fills again what it can."""
    for case in cases:
        p.source(*(of(case, x) for x in (*BEFORE, ALTERED[case][0])))
    if twice is not None:
        p.catch_up()
    p.source(*(of(case, x) for case in cases for x in AFTER))
    p.catch_up()
    stops = set(stopped(p))
    seen = stops if twice is None else ever_stopped(twice)
    assert seen == {n for case in cases for n in views(case, dict.fromkeys(ALTERED[case][1], ""))}
    assert all("noticed at " in why for why in stopped(p).values())
    assert_others_equal(p, stops)
    more = ("INSERT INTO u VALUES (77, 'later')", "UPDATE u SET k = k + 1000 WHERE k > 7")
    p.source(*(of(case, x) for case in cases for x in more))
    assert_others_equal(p, stops)
    for case in cases:
        p.write(views(case, ALTERED[case][2]))
    p.deploy()
    assert stopped(p) == {}
    p.assert_equal()
    last = ("DELETE FROM t WHERE id % 2 = 0", "UPDATE u SET v = v || '!'", "DELETE FROM u WHERE k = 1")
    p.source(*(of(case, x) for case in cases for x in last))
    p.assert_equal()


def test_what_is_altered_stops_the_views_that_read_it_and_a_deploy_mends_them(database: str, tmp_path: Path) -> None:
    follow(project(database, tmp_path, ALTERED), ALTERED)


@pytest.mark.parametrize("some", range(2))
def test_a_running_pipeline_follows_and_deploys(some: int, database: str, tmp_path: Path) -> None:
    cases = list(ALTERED)[some::2]
    p = project(database, tmp_path, cases)
    with running(p) as process:
        for case in cases:
            p.source(*(of(case, x) for x in (*BEFORE, ALTERED[case][0], *AFTER)))
        other = views(cases[0], {"other": ""})
        done = p.command("query", "--wait", f"SELECT count(*) FROM {min(other)}")
        assert done.returncode == 0, done.stderr
        stops = {n for case in cases for n in views(case, dict.fromkeys(ALTERED[case][1], ""))}
        seen: set[str] = set()  # the pipeline fills them again after a while

        def noticed() -> bool:
            seen.update(stopped(p))
            return seen >= stops

        until(noticed, f"{stops} stop", 60)
        assert seen == stops
        for case in cases:
            p.write(views(case, ALTERED[case][2]))
        p.deploy()
        assert stopped(p) == {}
        p.assert_equal()
        last = ("DELETE FROM t WHERE id % 2 = 0", "UPDATE u SET v = v || '!'", "DELETE FROM u WHERE k = 1")
        p.source(*(of(case, x) for case in cases for x in last))
        p.assert_equal()
        assert process.poll() is None


@pytest.mark.parametrize("runs", [False, True], ids=["stopped", "running"])
def test_what_is_altered_and_concerns_no_view_stops_none(runs: bool, database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, VIEWS)
    p.source(*SCHEMA)
    p.deploy()
    with running(p) if runs else nullcontext() as process:
        for i, form in enumerate((*FORMS, *PUBLISHED), 100):
            p.source(*form.format(p=f'"{p.deployed.publication}"').split("; "))
            name = _called(p, "t")
            p.source(
                f"INSERT INTO {name} (id, a, b, mood) VALUES ({i}, {i % 5}, {i % 7}, 'sad')",
                f"UPDATE {name} SET a = (a + 1) % 9 WHERE id % 7 = {i % 7}",
                f"UPDATE {name} SET p.x = {i} WHERE id = {i - 3}",
            )
            if not runs:
                p.catch_up()
            if i % 10 == 0 or re.search(r"\bb\b", form):  # with a rewrite before the next look it would be in doubt
                p.assert_equal()
            assert stopped(p) == {}, form
        p.assert_equal()
        assert process is None or process.poll() is None


def _called(p: Project, table: str) -> str:
    """A table by the name that it has by now."""
    oid = next(t.oid for t in p.deployed.catalog if t.name == table)
    with psycopg.connect(p.dsn) as c:
        row = c.execute("SELECT %s::oid::regclass::text", (oid,)).fetchone()
    assert row is not None
    return str(row[0])


def test_the_page_of_schema_changes_is_what_is_tested() -> None:
    page = Path(__file__).parents[2] / "docs" / "schema-changes.md"
    assert page.read_text() == written(), "write it again: python -m tests.pipelines.schema_changes_page"


def test_what_the_catalog_tells_first_is_followed_too(
    database: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    cases = ("drop", "rename", "retype", "passed on", "labels", "identity", "renamed and replaced")
    p = project(database, tmp_path, cases)
    follow(p, cases, caplog)


def test_what_is_kept_by_the_driver_follows_too(database: str, tmp_path: Path) -> None:
    cases = ("drop unused", "retype", "swapped", "replaced", "key", "added again")
    follow(project(database, tmp_path, cases, "2GB"), cases)


def test_a_running_pipeline_goes_on(database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, VIEWS)
    p.source(*SCHEMA)
    p.deploy()
    with running(p) as process:
        p.source("ALTER TABLE t DROP unused", "UPDATE t SET a = a + 1")
        p.source("ALTER TABLE t DROP b", "UPDATE t SET a = a + 1", "INSERT INTO u VALUES (50, 'new')")
        until(lambda: "50,new" in p.command("query", "SELECT * FROM other", "--format", "csv", "--wait").stdout, "u")
        assert process.poll() is None
        told = p.command("status").stdout
        assert 'no longer has column "b": It was dropped or renamed after it was deployed, noticed at ' in told, told
        p.source("ALTER TABLE u ADD more int", "ALTER TABLE u DROP more", "ALTER TABLE u DROP spare")
        done = p.command("verify", "by_a", "joined", "other")  # which knows of it before the pipeline does
        assert done.returncode == 0, done.stdout + done.stderr
        failed = p.command("query", "SELECT * FROM by_b")
        assert failed.returncode == 1 and "is set aside" in failed.stderr, failed.stderr


def test_both_engines_follow_while_they_run(database: str, tmp_path: Path) -> None:
    """Spark's batches are applied on a thread of their own: it comes to rest before a view is set aside there."""
    p = Project.create(tmp_path, database, VIEWS, local_memory="2GB")
    on = "WITH (engine = 'spark')"
    for name, query in VIEWS.items():
        (p.home / "views" / f"{name}_spark.sql").write_text(f"CREATE MATERIALIZED VIEW {name}_spark {on} AS {query};\n")
    p.source(*SCHEMA)
    p.deploy()
    stop = threading.Event()

    def write() -> None:
        i = 1000
        while not stop.is_set():
            i += 1
            p.source(f"INSERT INTO t (id, a) VALUES ({i}, {i % 5})", f"UPDATE t SET a = a + 1 WHERE id = {i - 7}")

    writer = threading.Thread(target=write)
    with running(p) as process:
        writer.start()
        try:
            for change in ("DROP unused", "RENAME b TO c", "ADD b int DEFAULT 9", "ADD more int"):
                p.source(f"ALTER TABLE t {change}")
                done = p.command("verify", "by_a", "by_a_spark", "other", "joined_spark")
                assert done.returncode == 0, done.stdout + done.stderr
        finally:
            stop.set()
            writer.join()
        assert process.poll() is None, process.communicate()[1]
    assert set(stopped(p)) <= {"by_b", "by_b_spark"}  # where one look found b at another column
    p.deploy()
    p.assert_equal()


def test_a_view_of_all_columns_is_what_they_were_until_the_next_deploy(database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, {"every": "SELECT * FROM t", "n": "SELECT count(*) AS n FROM t"})
    p.source("CREATE TABLE t (id int PRIMARY KEY, a int)", "INSERT INTO t VALUES (1, 1)")
    p.deploy()
    p.source("ALTER TABLE t ADD b int DEFAULT 5", "INSERT INTO t VALUES (2, 2, 2)")
    p.catch_up()
    assert p.command("query", "SELECT * FROM every ORDER BY id", "--format", "csv").stdout.split() == [
        "id,a",
        "1,1",
        "2,2",
    ]
    p.deploy()
    assert p.command("query", "SELECT * FROM every ORDER BY id", "--format", "csv").stdout.split() == [
        "id,a,b",
        "1,1,5",
        "2,2,2",
    ]
    p.source("ALTER TABLE t DROP a")
    p.deploy()
    p.source("INSERT INTO t VALUES (3, 3)")
    p.assert_equal()


def test_a_table_without_a_key_that_sends_no_old_images_stops_its_views(database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, {"k": "SELECT a, count(*) AS n FROM k GROUP BY a", "o": "SELECT id FROM o"})
    p.source(
        "CREATE TABLE k (a int)",
        "ALTER TABLE k REPLICA IDENTITY FULL",
        "CREATE TABLE o (id int PRIMARY KEY)",
        "INSERT INTO k VALUES (1), (1), (2)",
    )
    p.deploy()
    p.source(
        "ALTER TABLE k ADD id serial PRIMARY KEY",
        "ALTER TABLE k REPLICA IDENTITY DEFAULT",
        "DELETE FROM k WHERE a = 1",
        "INSERT INTO o VALUES (1)",
    )
    p.catch_up()
    assert set(stopped(p)) == {"k"} and "is no longer FULL" in stopped(p)["k"]
    assert_others_equal(p, {"k"})
    p.deploy()
    p.source("INSERT INTO k VALUES (5)", "DELETE FROM k WHERE a = 2")
    p.assert_equal()


def test_a_table_that_is_gone_is_forgotten_with_its_views(database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, VIEWS)
    p.source(*SCHEMA)
    p.deploy()
    p.source("DROP TABLE u")
    p.catch_up()
    assert set(stopped(p)) == {"joined", "other"}
    for name in ("joined", "other"):
        (p.home / "views" / f"{name}.sql").unlink()
    p.source("CREATE TABLE fresh (id int PRIMARY KEY)", "INSERT INTO fresh VALUES (1)")
    p.write({"added": "SELECT id FROM fresh"})
    p.deploy()
    p.source(*BEFORE)
    p.assert_equal()
    assert status(p.config).refused.get("duckdb", {}) == {}


@pytest.mark.parametrize(
    ("told", "now", "uncertain"),
    [
        ("id a b c", {1: "id", 2: "a", 3: "b", 4: "c", 5: "more"}, ""),
        ("id a c", {1: "id", 2: "a", 4: "c"}, ""),  # b was dropped
        ("id a c", {1: "id", 2: "x", 4: "c"}, "a"),  # and a was renamed later
        ("id x b c", {1: "id", 2: "x", 4: "c"}, ""),  # a was renamed, and b was dropped later
        ("id b x c", {1: "id", 2: "a", 3: "b", 4: "c"}, "b"),  # names went round, and back
        ("id b a c", {1: "id", 2: "a", 3: "b", 4: "c"}, "a b"),
        ("id a b c", {1: "id", 2: "b", 3: "c"}, "a b"),  # later c was dropped, and names handed down
    ],
)
def test_what_stream_and_catalog_do_not_tell_alike_is_not_certain(
    told: str, now: dict[int, str], uncertain: str
) -> None:
    columns = tuple(Column(n, TEXT, place=i) for i, n in enumerate(("id", "a", "b", "c"), 1))
    table = Table("public", "t", columns, ("id",), oid=1)
    assert _uncertain(table, tuple(told.split()), now) == uncertain.split()
