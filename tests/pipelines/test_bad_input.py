"""Everything a user can get wrong: message, detail and hint, the exit code, and nothing changed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from compiler.errors import TidemarkError
from tests.connectors.fresh import fresh_database
from tests.project import Project

TABLE = "CREATE TABLE t (id int PRIMARY KEY, a int, b text)"
GOOD = "SELECT a, count(*) AS n FROM t GROUP BY a"

BAD_SQL = {
    "malformed-array": ("SELECT '{}'::jsonb ?| 'abc' AS x", 'malformed array literal: "abc"', ""),
    "syntax": ("SELECT a FROM (t", 'syntax error at or near ";"', "LINE 2: SELECT a FROM (t;"),
    "syntax-after-a-query": (
        "SELECT a FROM t WHERE a = 1 GIVE UP",
        'syntax error at or near "GIVE"',
        "views/bad.sql:2:29: ",
    ),
    "no-query": ("", 'syntax error at or near ";"', "LINE 2: ;"),
    "syntax-of-another-engine": (
        "SELECT * EXCLUDE (a) FROM t",
        'syntax error at or near "EXCLUDE"',
        "views/bad.sql:2:10: ",
    ),
    "literal": ("SELECT a FROM t WHERE a = 'x'", 'invalid input syntax for type integer: "x"', "views/bad.sql:2:27: "),
    "unknown-table": ("SELECT a FROM tt", 'relation "tt" does not exist', '"t"'),
    "unknown-column": ("SELECT aa FROM t", 'column "aa" does not exist', '"a"'),
    "unknown-qualified-column": ("SELECT x.zz FROM t x", 'column "x.zz" does not exist', ""),
    "repeated-column": ("SELECT a, a FROM t", 'column "a" specified more than once', "hint:"),
    "random": ("SELECT random() AS r FROM t", "random()", "hint:"),
    "uuid": ("SELECT gen_random_uuid() AS r FROM t", "gen_random_uuid()", "hint:"),
    "tablesample": ("SELECT a FROM t TABLESAMPLE SYSTEM (10)", "TABLESAMPLE", ""),
    "unknown-function": ("SELECT frobnicate(a) AS f FROM t", "frobnicate", ""),
    "type-mismatch": ("SELECT a + b AS c FROM t", "operator does not exist", ""),
    "not-grouped": ("SELECT a, b, count(*) AS n FROM t GROUP BY a", '"b" must appear in the GROUP BY', ""),
    "self-reference": ("SELECT a FROM bad", 'relation "bad" does not exist', "hint:"),
    "where-not-boolean": ("SELECT a FROM t WHERE a", "must be type boolean", ""),
    "nested-aggregate": ("SELECT sum(count(*)) AS s FROM t", "aggregate", ""),
    "ambiguous": ("SELECT a FROM t x JOIN t y ON x.id = y.id", 'column reference "a" is ambiguous', ""),
}


def slots(dsn: str) -> list[str]:
    with psycopg.connect(dsn) as c:
        return [
            r[0]
            for r in c.execute(
                "SELECT slot_name FROM pg_replication_slots WHERE database = current_database()"
            ).fetchall()
        ]


def publications(dsn: str) -> list[str]:
    with psycopg.connect(dsn) as c:
        return [r[0] for r in c.execute("SELECT pubname FROM pg_publication").fetchall()]


def untouched(p: Project) -> None:
    assert slots(p.dsn) == [] and publications(p.dsn) == []
    assert not p.config.warehouse_path.exists() or not list(p.config.warehouse_path.glob("*.duckdb"))


@pytest.fixture(scope="module")
def bad(server: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    with fresh_database(server, "bad") as dsn:
        p = Project.create(tmp_path_factory.mktemp("bad"), dsn, {"bad": "SELECT 1"})
        p.source(TABLE)
        yield p


@pytest.mark.parametrize("case", BAD_SQL)
def test_bad_view_sql_is_refused_and_changes_nothing(bad: Project, case: str) -> None:
    query, message, more = BAD_SQL[case]
    bad.write({"bad": query})
    with pytest.raises(TidemarkError) as e:
        bad.deploy()
    assert message in str(e.value) and more in str(e.value)
    assert (e.value.exit_code, getattr(e.value, "view", None)) == (1, "bad")
    untouched(bad)


def test_a_refused_view_ends_the_command_with_1_and_names_the_view(bad: Project) -> None:
    bad.write({"bad": "SELECT random() AS r FROM t"})
    done = bad.command("deploy")
    assert done.returncode == 1 and done.stderr.startswith('error: view "bad": ') and "Traceback" not in done.stderr
    assert "\ndetail: " in done.stderr and "\nhint: " in done.stderr


def test_a_bad_view_leaves_a_deployment_as_it_was(database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, {"good": GOOD})
    p.source(TABLE, "INSERT INTO t VALUES (1, 1, 'x')")
    p.deploy()
    before = (p.config.warehouse_path / "deployment.json").read_text()
    p.write({"bad": "SELECT nope FROM t", "also_good": "SELECT id FROM t"})
    assert p.command("deploy").returncode == 1
    assert (p.config.warehouse_path / "deployment.json").read_text() == before
    p.assert_equal()


def test_one_bad_view_does_not_stop_the_others_when_told_to_keep_going(database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, {"bad": "SELECT nope FROM t", "good": GOOD, "worse": "SELECT FROM WHERE"})
    p.source(TABLE, "INSERT INTO t VALUES (1, 1, 'x')")
    done = p.command("deploy", "--keep-going", "--json")
    told = {v["view"]: v for v in json.loads(done.stdout)["views"]}
    assert {n: v["accepted"] for n, v in told.items()} == {"bad": False, "good": True, "worse": False}
    assert 'column "nope" does not exist' in told["bad"]["reason"]["message"]
    assert [v.name for v in p.deployed.views] == ["good"]
    assert p.command("deploy", "--keep-going").returncode == 1
    p.assert_equal()


def test_two_files_may_not_define_one_view(database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, {"v": GOOD})
    p.source(TABLE)
    (tmp_path / "views" / "w.sql").write_text("CREATE MATERIALIZED VIEW v AS SELECT 1 AS x;")
    done = p.command("deploy")
    assert done.returncode == 1 and '"v" is defined twice' in done.stderr and "w.sql" in done.stderr
    untouched(p)


@pytest.mark.parametrize(
    ("with_", "words"),
    [
        ("engin = 'duckdb'", 'unknown option "engin"'),
        ("engine = 'oracle'", '"oracle"'),
        ("refresh = 'sometimes'", '"sometimes"'),
    ],
)
def test_an_unknown_view_option_is_refused(database: str, tmp_path: Path, with_: str, words: str) -> None:
    p = Project.create(tmp_path, database, {})
    p.source(TABLE)
    (tmp_path / "views" / "v.sql").write_text(f"CREATE MATERIALIZED VIEW v WITH ({with_}) AS {GOOD};")
    done = p.command("deploy")
    assert done.returncode == 1 and words in done.stderr and "hint:" in done.stderr
    untouched(p)


def test_an_unknown_configuration_key_is_a_usage_error(database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, {"v": GOOD})
    (tmp_path / "tidemark.toml").write_text(f'[source]\ndsn = "{database}"\n[defaults]\nengin = "duckdb"\n')
    done = p.command("deploy")
    assert done.returncode == 2 and '"defaults.engin"' in done.stderr and '"engine"' in done.stderr
    assert slots(database) == []


def test_an_unknown_command_or_option_is_a_usage_error(database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, {"v": GOOD})
    assert p.command("deplay").returncode == 2
    assert p.command("deploy", "--sideways").returncode == 2


@pytest.mark.parametrize("args", [("deploy",), ("check",)])
def test_an_unreachable_source_hides_the_password(tmp_path: Path, args: tuple[str, ...]) -> None:
    p = Project.create(tmp_path, "host=127.0.0.1 port=1 user=u password=hunter2 dbname=d", {"v": GOOD})
    done = p.command(*args)
    assert done.returncode == 3
    assert (
        "cannot connect to the source u@127.0.0.1:1/d" in done.stderr
        and "detail:" in done.stderr
        and "hint:" in done.stderr
    )
    assert "hunter2" not in done.stderr and "Traceback" not in done.stderr
    assert not (tmp_path / "warehouse").exists()


def test_a_database_that_does_not_exist_is_unreachable(server: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, psycopg.conninfo.make_conninfo(server, dbname="no_such_database"), {"v": GOOD})
    done = p.command("deploy")
    assert done.returncode == 3 and "no_such_database" in done.stderr and "hint:" in done.stderr


@pytest.mark.parametrize(
    "args", [("run", "--once"), ("status",), ("query", "SELECT 1"), ("verify",), ("export", "--to", "out")]
)
def test_what_needs_a_deployment_says_deploy_first(database: str, tmp_path: Path, args: tuple[str, ...]) -> None:
    p = Project.create(tmp_path, database, {"v": GOOD})
    done = p.command(*args)
    assert done.returncode == 1 and "nothing is deployed" in done.stderr and "tidemark deploy" in done.stderr


def test_a_table_without_replica_identity_is_refused(database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, {"v": "SELECT a FROM k"})
    p.source("CREATE TABLE k (a int)")
    done = p.command("deploy")
    assert (
        done.returncode == 1
        and '"public.k" has no replica identity' in done.stderr
        and "REPLICA IDENTITY FULL" in done.stderr
    )
    untouched(p)
    assert p.command("check").returncode == 1


def test_a_query_that_fails_says_why(database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, {"v": GOOD})
    p.source(TABLE)
    p.deploy()
    for sql, words in [
        ("SELECT nope FROM v", "nope"),
        ("SELEC", "syntax error"),
        ("DELETE FROM v", ""),
        ("DROP VIEW v", ""),
    ]:
        done = p.command("query", sql)
        assert done.returncode == 1 and words in done.stderr and "Traceback" not in done.stderr, (sql, done)
    p.assert_equal()
    done = p.command("verify", "w")
    assert done.returncode == 1 and '"w" is not deployed' in done.stderr
