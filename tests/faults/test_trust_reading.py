"""What a trial from outside found of reading: it wrote, read files, and said equal of what was not."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from compiler.errors import TidemarkError
from pipelines.asking.client import connect_running
from pipelines.warehouse import Warehouse
from tests.faults.trust import VIEWS, T
from tests.pipelines.running import running
from tests.project import Project


@pytest.mark.parametrize(
    "sql",
    [
        "EXPLAIN ANALYZE DELETE FROM base.t",
        "EXPLAIN ANALYZE UPDATE meta.frontier SET lsn = 0",
        "COPY totals TO '{home}/out.csv'",
        "SELECT * FROM read_text('{home}/tidemark.toml')",
        "SELECT * FROM '{home}/tidemark.toml'",
        "SELECT * FROM read_csv('/etc/passwd')",
        "SELECT * FROM glob('/etc/*')",
        "SELECT * FROM base.t",
        "SELECT * FROM meta.frontier",
        "FROM query('DELETE FROM base.t')",
        'SELECT * FROM (WITH "/etc/passwd" AS (SELECT 1) SELECT 1), "/etc/passwd"',
        "ATTACH '{home}/x.db'",
        "PRAGMA database_list",
        "SELECT 1; SELECT 2",
        "WITH x AS (DELETE FROM base.t RETURNING *) SELECT * FROM x",
        "SET memory_limit = '1GB'",
        "CHECKPOINT",
        "INSTALL httpfs",
        "SELECT (SELECT content FROM read_blob('/etc/passwd'))",
        "SELECT * FROM duckdb_settings()",
    ],
)
@pytest.mark.parametrize("on", [False, True], ids=["stopped", "running"])
def test_05_a_query_reads_views_and_nothing_else(deployed_once: Project, sql: str, on: bool) -> None:
    p = deployed_once
    sql = sql.format(home=p.home)
    if on:
        reader = connect_running(p.config.warehouse_path)
        assert reader is not None
        with reader, pytest.raises(TidemarkError) as e:
            reader.query(sql)
        assert e.value.code in ("read_only", "undefined_view", "syntax_error", "query_failed")
        return
    from pipelines.asking.read_only import checked

    with pytest.raises(TidemarkError):
        checked(sql, set(VIEWS), False)
    assert not (p.home / "out.csv").exists()


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM totals",
        "FROM totals t JOIN sums s USING (a) SELECT t.a, s.s",
        "EXPLAIN SELECT * FROM totals",
        "EXPLAIN ANALYZE SELECT * FROM totals",
        "WITH x AS (SELECT * FROM main.totals) SELECT * FROM x",
        'SELECT * FROM "Totals", range(3) r',
        "DESCRIBE totals",
        "SUMMARIZE totals",
        "TABLE totals",
        "VALUES (1)",
        "SELECT unnest([1, 2]) AS x",
    ],
)
def test_05_queries_over_views_are_answered(deployed_once: Project, sql: str) -> None:
    reader = connect_running(deployed_once.config.warehouse_path)
    assert reader is not None
    with reader:
        assert reader.query(sql).num_rows > 0


def test_05_internals_are_read_when_asked_for(deployed_once: Project) -> None:
    reader = connect_running(deployed_once.config.warehouse_path)
    assert reader is not None
    with reader:
        assert reader.query("SELECT * FROM base.t", internal=True).num_rows == 30
        for sql in (
            "SELECT * FROM read_text('/etc/passwd')",
            "EXPLAIN ANALYZE DELETE FROM base.t",
            "SELECT * FROM '/etc/passwd'",
        ):
            with pytest.raises(TidemarkError):
                reader.query(sql, internal=True)


@pytest.fixture(scope="module")
def deployed_once(server: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    """One that runs, for tests that change nothing."""
    with psycopg.connect(server, autocommit=True) as c:
        c.execute("DROP DATABASE IF EXISTS trust_read")
        c.execute("CREATE DATABASE trust_read")
    project = Project.create(
        tmp_path_factory.mktemp("read"), psycopg.conninfo.make_conninfo(server, dbname="trust_read"), VIEWS
    )
    project.source(*T)
    project.deploy()
    with running(project):
        yield project
    assert project.command("teardown", "--yes").returncode == 0
    with psycopg.connect(server, autocommit=True) as c:
        c.execute("DROP DATABASE trust_read WITH (FORCE)")


def test_05_verify_compares_mirrors_and_repair_mends_them_from_the_source(p: Project) -> None:
    warehouse = Warehouse(p.config, p.deployed)
    warehouse.engine("duckdb").con.execute("DELETE FROM base.t WHERE id = 7")  # type: ignore[attr-defined]
    warehouse.close()
    done = p.command("verify")
    assert done.returncode == 1 and "table public.t on duckdb: DIFFERS, 1 rows missing" in done.stdout, done
    done = p.command("verify", "--repair")
    assert done.returncode == 0, done
    p.source("UPDATE t SET a = a + 1 WHERE id IN (6, 7)")
    p.assert_equal()


def test_05_a_state_that_was_changed_is_mended_too(p: Project) -> None:
    warehouse = Warehouse(p.config, p.deployed)
    state = warehouse.view("totals")[1].states[-1].name
    warehouse.engine("duckdb").con.execute(f'UPDATE state."{state}" SET _count = _count + 1')  # type: ignore[attr-defined]
    warehouse.close()
    assert p.command("verify").returncode == 1
    assert p.command("verify", "--repair").returncode == 0
    p.assert_equal()
