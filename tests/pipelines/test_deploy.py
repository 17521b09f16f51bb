"""deploy: idempotent, adds and drops to match views/, on a source that does not hold still, under any name."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest

from compiler.errors import TidemarkError
from compiler.maintain import naming
from compiler.maintain.plan import ViewPlan
from connectors.duckdb.states import States
from pipelines.asking.ask import ask
from pipelines.deploying.building import build, records
from pipelines.project import compile_project, read_views
from pipelines.warehouse import Warehouse
from tests.pipelines.test_bad_input import publications, slots
from tests.project import Project

TABLES = (
    "CREATE TABLE t (id int PRIMARY KEY, a int, b int)",
    "CREATE TABLE u (id int PRIMARY KEY, a int)",
    "INSERT INTO t SELECT g, g % 3, g FROM generate_series(1, 20) g",
    "INSERT INTO u SELECT g, g % 3 FROM generate_series(1, 5) g",
)
V = "SELECT a, count(*) AS n, sum(b) AS s FROM t GROUP BY a"
W = "SELECT u.id, t.b FROM u JOIN t ON t.a = u.a"


def created(home: Path, dsn: str, views: dict[str, str]) -> Project:
    p = Project.create(home, dsn, views)
    p.source(*TABLES)
    p.deploy()
    return p


def published(dsn: str) -> list[str]:
    with psycopg.connect(dsn) as c:
        return [r[0] for r in c.execute("SELECT tablename FROM pg_publication_tables ORDER BY 1").fetchall()]


def test_deploy_again_changes_nothing(database: str, tmp_path: Path) -> None:
    p = created(tmp_path, database, {"v": V, "w": W})
    file = p.config.warehouse_path / "deployment.json"
    before = (file.read_text(), slots(database), publications(database))
    p.source("INSERT INTO t VALUES (100, 1, 1)")
    p.deploy()
    p.deploy()
    assert (file.read_text(), slots(database), publications(database)) == before
    p.assert_equal()


def test_only_the_tables_that_views_read_are_published(database: str, tmp_path: Path) -> None:
    p = created(tmp_path, database, {"v": V})
    assert published(database) == ["t"]
    p.write({"w": W})
    p.deploy()
    assert published(database) == ["t", "u"]
    (tmp_path / "views" / "w.sql").unlink()
    p.deploy()
    assert published(database) == ["t"]


def test_views_are_added_dropped_and_changed(database: str, tmp_path: Path) -> None:
    p = created(tmp_path, database, {"v": V})
    p.source("UPDATE t SET b = b + 1")
    p.write({"v": "SELECT a, max(b) AS m FROM t GROUP BY a", "x": "SELECT DISTINCT a FROM t"})
    p.deploy()
    p.source("DELETE FROM t WHERE a = 1")
    p.assert_equal()
    assert ask(p.config, "DESCRIBE v", False).column("column_name").to_pylist() == ["a", "m"]
    (tmp_path / "views" / "v.sql").unlink()
    p.deploy()
    assert [v.name for v in p.deployed.views] == ["x"]
    assert p.command("query", "SELECT * FROM v").returncode == 1
    p.assert_equal()


REDEFINED = {
    "another condition": "SELECT id, a, b * 2 AS b FROM t WHERE b > 10",
    "other columns": "SELECT t.id, t.b + u.a AS c FROM t JOIN u ON u.id = t.a",
    "above an order": "SELECT id, row_number() OVER (ORDER BY b DESC, id) AS rn FROM t WHERE a > 0",
}


@pytest.mark.parametrize("case", REDEFINED)
def test_rows_of_an_earlier_definition_go(database: str, tmp_path: Path, case: str) -> None:
    p = created(tmp_path, database, {"v": "SELECT id, a, b FROM t WHERE b > 5", "w": "SELECT count(*) AS n FROM v"})
    p.source("UPDATE t SET b = b + 1")
    p.write({"v": REDEFINED[case]})
    p.deploy()
    p.assert_equal()
    p.source("UPDATE t SET b = b + 3, a = 2 WHERE id < 12")
    p.assert_equal()


def test_views_whose_names_are_alike_are_apart(database: str, tmp_path: Path) -> None:
    names = ["sales", "sal es", "sal_es", "продажи", "销售", "s" * 60 + "1", "s" * 60 + "2"]
    p = Project.create(tmp_path, database, {})
    for i, name in enumerate(names):
        (tmp_path / "views" / f"{i}.sql").write_text(
            f'CREATE MATERIALIZED VIEW "{name}" AS SELECT id, b + {i} AS b FROM t WHERE id > {i};'
        )
    p.source(*TABLES)
    p.deploy()
    p.source("UPDATE t SET b = b + 3 WHERE id < 12")
    p.assert_equal()


def test_names_that_differ_in_capitals_alone_are_refused(database: str, tmp_path: Path) -> None:
    p = created(tmp_path, database, {"v": V})
    p.source('CREATE TABLE "T" (id int PRIMARY KEY)')
    p.write({"w": 'SELECT id FROM "T"'})
    with pytest.raises(TidemarkError, match='the name of table "public.(t|T)" is too close to another'):
        p.deploy()
    p.write({"w": W})
    (tmp_path / "views" / "x.sql").write_text('CREATE MATERIALIZED VIEW "V" AS SELECT id FROM t;')
    with pytest.raises(TidemarkError, match='views "v" and "V" differ in capitals alone'):
        p.deploy()
    assert [v.name for v in p.deployed.views] == ["v"]


def test_a_deploy_that_fails_leaves_what_was_there(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    p = created(tmp_path, database, {"v": "SELECT id, a FROM t WHERE b > 5", "w": W})
    p.write({"v": "SELECT id, b FROM t", "x": V, "a": "SELECT id FROM t"})
    (tmp_path / "views" / "w.sql").unlink()
    real = States.create_view

    def broken(self: States, plan: ViewPlan) -> None:
        if plan.view == "x":
            raise TidemarkError("not this one")
        real(self, plan)

    with monkeypatch.context() as m:
        m.setattr(States, "create_view", broken)
        with pytest.raises(TidemarkError, match="not this one"):
            p.deploy()
    p.source("UPDATE t SET b = b + 3 WHERE id < 12")
    p.assert_equal()
    assert ask(p.config, "SELECT * FROM v", False).column_names == ["id", "a"]
    assert [v.name for v in p.deployed.views] == ["v", "w"]
    assert p.command("query", "SELECT * FROM a").returncode == 1
    p.deploy()
    p.assert_equal()
    assert ask(p.config, "SELECT * FROM v", False).column_names == ["id", "b"]


def test_views_of_another_version_are_set_aside_until_they_are_filled(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    p = created(tmp_path, database, {"v": V, "w": W})
    p.source("UPDATE t SET b = b + 3 WHERE id < 12")
    with monkeypatch.context() as m:
        m.setattr(naming, "digest", lambda _: "other")
        p.catch_up()
        assert all("another version" in v.error for v in p.deployed.views)
        p.deploy()
        p.assert_equal()
    p.deploy()
    assert all(not v.error for v in p.deployed.views)
    p.assert_equal()


def test_states_that_a_killed_deploy_left_are_filled_again(database: str, tmp_path: Path) -> None:
    p = created(tmp_path, database, {"v": V})
    p.write({"w": "SELECT id, b FROM t"})
    catalog = p.deployed.to_catalog()
    killed = replace(p.deployed, views=records(compile_project(read_views(tmp_path / "views"), catalog)))
    warehouse = Warehouse(p.config, killed)
    build(warehouse, lambda _: None, [])
    warehouse.close()
    p.source("UPDATE t SET b = b + 3 WHERE id < 12")
    p.catch_up()
    p.deploy()
    assert len(p.deployed.views) == 2
    p.assert_equal()


def test_all_views_may_be_dropped_and_come_back(database: str, tmp_path: Path) -> None:
    p = created(tmp_path, database, {"v": V})
    (tmp_path / "views" / "v.sql").unlink()
    p.deploy()
    p.source("UPDATE t SET a = 9 WHERE id < 5")
    p.write({"v": V})
    p.deploy()
    p.source("UPDATE t SET a = 8 WHERE id < 3")
    p.assert_equal()


def test_a_view_over_a_new_table_is_added_while_the_source_is_written_to(database: str, tmp_path: Path) -> None:
    p = created(tmp_path, database, {"v": V})
    stop, written = threading.Event(), 0

    def write() -> None:
        nonlocal written
        with psycopg.connect(database, autocommit=True) as c:
            while not stop.is_set():
                with c.transaction():
                    c.execute("INSERT INTO t VALUES (%s, %s, 1)", (1000 + written, written % 3))
                    c.execute("INSERT INTO u VALUES (%s, %s)", (1000 + written, written % 50))
                    c.execute("UPDATE u SET a = a + 1 WHERE id = %s", (1000 + written // 2,))
                    c.execute("DELETE FROM t WHERE id = %s", (1000 + written // 3,))
                written += 1

    writer = threading.Thread(target=write)
    writer.start()
    try:
        p.write({"w": "SELECT a, count(*) AS n FROM u GROUP BY a"})
        p.deploy()
        p.write({"both": W})
        p.deploy()
        p.assert_equal()
    finally:
        stop.set()
        writer.join()
    assert written > 0
    p.assert_equal()


def test_views_on_views_are_maintained_in_order(database: str, tmp_path: Path) -> None:
    p = created(
        tmp_path,
        database,
        {
            "a_last": "SELECT n, count(*) AS groups FROM m_middle GROUP BY n",
            "m_middle": "SELECT a, n FROM z_first WHERE n > 1",
            "z_first": V,
            "joined": "SELECT x.a, y.id FROM z_first x JOIN u y ON y.a = x.a",
        },
    )
    for s in (
        "UPDATE t SET a = 0 WHERE id < 8",
        "DELETE FROM t WHERE a = 2",
        "INSERT INTO t VALUES (99, 2, 1)",
        "UPDATE u SET a = 2",
    ):
        p.source(s)
        p.assert_equal()


def test_a_view_may_be_built_on_a_view_that_came_before(database: str, tmp_path: Path) -> None:
    p = created(tmp_path, database, {"v": V})
    p.source("DELETE FROM t WHERE id < 5")
    p.write({"top": "SELECT max(n) AS m FROM v"})
    p.deploy()
    p.source("DELETE FROM t WHERE a = 1")
    p.assert_equal()


def test_names_with_quotes_spaces_capitals_unicode_and_reserved_words(database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, {})
    p.source(
        'CREATE SCHEMA "My Schema"',
        "CREATE TYPE \"Stim mung\" AS ENUM ('gut', 'o''k')",
        'CREATE TABLE "My Schema"."Order\'s" ("select" int, "Größe" numeric(8,2), "a b" text, "c""d" "Stim mung", '
        '"e\'f" int, '
        'PRIMARY KEY ("select", "a b"))',
        'CREATE TABLE "table" ("group" int PRIMARY KEY, "ORDER" text)',
        'CREATE TABLE "日本" (id int PRIMARY KEY, "値" int)',
        "INSERT INTO \"My Schema\".\"Order's\" VALUES (1, 1.5, 'x', 'gut', 1)",
        "INSERT INTO \"table\" VALUES (1, 'a')",
        'INSERT INTO "日本" VALUES (1, 1)',
    )
    queries = {
        'Weird ""View""': 'SELECT "select", "Größe", "a b", "c""d", "e\'f" FROM "My Schema"."Order\'s"',
        "select": 'SELECT "ORDER" AS "from", count(*) AS "where" FROM "table" GROUP BY "ORDER"',
        "Ünï cödé": 'SELECT o."a b" AS "A ""B""", sum(j."値") AS "合計" FROM "My Schema"."Order\'s" o JOIN "日本" j ON '
        'j.id = o."select" GROUP BY 1',
        "on top": 'SELECT "from", max("where") AS "max" FROM "select" GROUP BY "from"',
    }
    for i, (name, query) in enumerate(queries.items()):
        (tmp_path / "views" / f"{i}.sql").write_text(f'CREATE MATERIALIZED VIEW "{name}" AS\n{query};\n')
    p.deploy()
    p.source(
        "INSERT INTO \"My Schema\".\"Order's\" VALUES (2, 2.25, 'y', 'o''k', 2)",
        'UPDATE "My Schema"."Order\'s" SET "a b" = \'z\' WHERE "select" = 1',
        'UPDATE "table" SET "ORDER" = \'b\'',
        "INSERT INTO \"table\" VALUES (2, 'b')",
        'INSERT INTO "日本" VALUES (2, 5)',
    )
    p.assert_equal()
    assert [v.view for v in p.verify() if not v.mirror] == ['Weird "View"', "select", "Ünï cödé", "on top"]
    got = ask(p.config, 'SELECT * FROM "Ünï cödé" ORDER BY 1', False).to_pylist()
    assert [(r['A "B"'], int(r["合計"])) for r in got] == [("y", 5), ("z", 1)]
    for args in (
        ("status",),
        ("explain", 'Weird "View"'),
        ("compile",),
        ("export", "--to", "out", "--format", "csv"),
        ("deploy",),
    ):
        done = p.command(*args)
        assert done.returncode == 0, (args, done.stderr)


def test_a_table_with_a_quote_in_its_name(database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, {"v": 'SELECT id, "x""y" FROM "a""b"'})
    p.source('CREATE TABLE "a""b" (id int PRIMARY KEY, "x""y" int)', 'INSERT INTO "a""b" VALUES (1, 1)')
    p.deploy()
    p.source('INSERT INTO "a""b" VALUES (2, 2)')
    p.assert_equal()


def test_two_schemas_may_hold_tables_of_one_name(database: str, tmp_path: Path) -> None:
    p = Project.create(
        tmp_path,
        database,
        {
            "v": "SELECT x.id, y.id AS other FROM s.t x JOIN public.t y ON x.id = y.id",
            "w": "SELECT count(*) AS n FROM s__t",
        },
    )
    p.source(
        "CREATE SCHEMA s",
        "CREATE TABLE s.t (id int PRIMARY KEY)",
        "CREATE TABLE t (id int PRIMARY KEY)",
        "CREATE TABLE s__t (id int PRIMARY KEY)",
        "INSERT INTO s.t VALUES (1)",
    )
    p.deploy()
    p.source("INSERT INTO t VALUES (1), (2)", "INSERT INTO s.t VALUES (2), (3)", "INSERT INTO s__t VALUES (7)")
    p.assert_equal()


def test_teardown_leaves_nothing(database: str, tmp_path: Path) -> None:
    p = created(tmp_path, database, {"v": V})
    assert p.command("teardown").returncode == 2
    assert len(slots(database)) == 1
    assert p.command("teardown", "--yes").returncode == 0
    assert slots(database) == [] and publications(database) == []
    assert not (p.config.warehouse_path / "tidemark.duckdb").exists()
    p.deploy()
    p.assert_equal()


def test_a_view_that_may_differ_from_postgres_is_warned_of(database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, {"parts": "SELECT id, j -> 'k' AS k FROM t", "plain": "SELECT id FROM t"})
    p.source("CREATE TABLE t (id int PRIMARY KEY, j json)")
    done = p.command("deploy")
    assert done.returncode == 0, done.stderr
    assert 'warning: view "parts" may differ from Postgres: it reads parts of json' in done.stderr
    assert '"plain"' not in done.stderr
