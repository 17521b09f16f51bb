"""A batch that changes columns which a view does not read does not touch it, and no view is another for it."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from compiler.maintain.program import Fetch, Statement
from connectors.duckdb import indexes, unchanged
from connectors.duckdb.held import Held
from connectors.duckdb.lending import Lending
from connectors.duckdb.statements import Statements
from pipelines.warehouse import Warehouse
from tests.project import Project
from tests.rules.test_rules import LOAD, PAGES, SCHEMA, statement

UPDATES = (
    "UPDATE r SET v = v + 1",
    "UPDATE r SET t = t || '!' WHERE id % 2 = 0",
    "UPDATE s SET k = k + 1 WHERE id < 6",
    "UPDATE r SET x = x / 2; UPDATE s SET w = w - 1",
    "UPDATE r SET k = 7 WHERE k IS NULL; UPDATE r SET k = NULL WHERE k = 2",
    "UPDATE r SET id = id + 1000 WHERE id > 20",
    "UPDATE r SET v = v + 1 WHERE k = 1; INSERT INTO s VALUES (900, 1, 1)",
    "UPDATE r SET v = NULL",
)


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The states that statements were run for, from now on."""
    out: list[str] = []
    one = Statements.run

    def noted(self: Statements, s: Statement) -> int:
        out.append(s.state)
        return one(self, s)

    monkeypatch.setattr(Statements, "run", noted)
    monkeypatch.setattr(unchanged, "OFTEN", 1)
    return out


def test_every_operator(database: str, tmp_path: Path, run: list[str]) -> None:
    p = Project.create(tmp_path, database, {})
    for page in PAGES:
        (p.home / "views" / f"{page.stem}.sql").write_text(statement(page))
    p.source(SCHEMA, LOAD)
    p.deploy()
    for commit in UPDATES:
        p.source(commit)
        p.assert_equal()


def test_only_who_reads_a_column_is_touched(database: str, tmp_path: Path, run: list[str]) -> None:
    views = {
        "sums": "SELECT g, sum(x) AS s FROM t GROUP BY g",
        "labels": "SELECT label, count(*) AS n FROM t GROUP BY label",
        "both": "SELECT label, sum(x) AS s FROM t GROUP BY label",
        "joined": "SELECT u.name, count(*) AS n FROM t JOIN u ON u.id = t.g GROUP BY u.name",
    }
    p = Project.create(tmp_path, database, views)
    p.source(
        "CREATE TABLE t (id int PRIMARY KEY, g int, x int, label text, seen timestamptz)",
        "CREATE TABLE u (id int PRIMARY KEY, name text)",
        "INSERT INTO t SELECT i, i % 7, i, 'l' || i % 3 FROM generate_series(1, 100) i",
        "INSERT INTO u SELECT i, 'u' || i FROM generate_series(0, 6) i",
    )
    p.deploy()
    w = Warehouse(p.config, p.deployed, read_only=True)
    states = {plan.view: {s.name for s in plan.states} for plan in w.plans("duckdb")}
    w.close()
    for change, touched in (
        ("UPDATE t SET x = x + 1", {"sums", "both"}),
        ("UPDATE t SET label = 'l' || id % 2", {"labels", "both"}),
        ("UPDATE t SET seen = now()", set[str]()),
        ("UPDATE t SET g = 1, seen = now() WHERE id < 10", {"sums", "joined"}),
        ("UPDATE u SET name = name || '!'; UPDATE t SET seen = now()", {"joined"}),
        ("UPDATE t SET seen = now(); DELETE FROM t WHERE id = 1", set(views)),
    ):
        p.source(change)
        run.clear()
        p.catch_up()
        assert {v for v, names in states.items() if names & set(run)} == touched, change
        p.assert_equal()


def test_values_that_are_equal_and_not_the_same(database: str, tmp_path: Path, run: list[str]) -> None:
    p = Project.create(
        tmp_path,
        database,
        {"spans": "SELECT id, span::text AS span FROM t", "longest": "SELECT max(span) AS longest FROM t"},
    )
    p.source("CREATE TABLE t (id int PRIMARY KEY, span interval)", "INSERT INTO t VALUES (1, '1 day'), (2, '1 hour')")
    p.deploy()
    p.source("UPDATE t SET span = '24 hours' WHERE id = 1")
    p.catch_up()
    assert run
    p.assert_equal()


def test_a_program_that_needs_more_than_has_landed_is_not_taken(database: str, tmp_path: Path, run: list[str]) -> None:
    """Where a table that is as it was has the rows beside a recursion evaluated whole, the rest reads Δ of another."""
    views = {
        "reached": "WITH RECURSIVE r(id, n) AS (SELECT u.b, m.most FROM (SELECT max(x) AS most FROM t) m LEFT JOIN u "
        "ON u.a = m.most UNION SELECT e.dst, r.n FROM r JOIN e ON e.src = r.id) SELECT id, n FROM r",
        "counts": "SELECT x, count(*) AS n FROM t GROUP BY x",
    }
    p = Project.create(tmp_path, database, views, strategy="split")
    p.source(
        "CREATE TABLE t (id int PRIMARY KEY, x int, note text)",
        "CREATE TABLE u (id int PRIMARY KEY, a int, b int)",
        "CREATE TABLE e (id int PRIMARY KEY, src int, dst int)",
        "INSERT INTO t SELECT i, i % 5, 'n' FROM generate_series(1, 20) i",
        "INSERT INTO u SELECT i, i % 10, i FROM generate_series(1, 30) i",
        "INSERT INTO e SELECT i, i, i + 1 FROM generate_series(1, 30) i",
    )
    p.deploy()
    for _ in range(3):
        p.source("BEGIN; UPDATE t SET note = note || '!'; UPDATE u SET a = (a + 1) % 10; COMMIT")
        p.assert_equal()


def test_an_index_that_lacks_a_path_leaves_the_look_up_to_sql(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a program asks for that was chosen after the index was made for the batch."""
    monkeypatch.setattr(indexes, "FEW", 0)
    con = duckdb.connect()
    con.execute("CREATE SCHEMA base; CREATE TABLE base.t AS SELECT i AS id, i % 3 AS x FROM range(10) r(i)")
    made = indexes.Indexes(con, 1 << 30, Held(con, Lending(con)))
    made.want("t", ["id"], ("id",))
    made.asked["t"] = 1 << 20
    made.make()
    assert made.fetch("found", Fetch("t", ("id",), ("id",), "SELECT 3::BIGINT AS _k0"))
    assert con.execute("SELECT id FROM found").fetchall() == [(3,)]
    assert not made.fetch("found", Fetch("t", ("x",), ("id",), "SELECT 1::BIGINT AS _k0"))
    assert not made.fetch("found", Fetch("t", ("id",), ("id", "x"), "SELECT 1::BIGINT AS _k0"))
