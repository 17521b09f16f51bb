"""Every key of a view of which no copy is kept is computed by the source."""

from __future__ import annotations

from pathlib import Path

import duckdb
import psycopg
import pytest

from compiler.errors import TidemarkError
from pipelines.asking.ask import ask
from tests.pipelines.running import running
from tests.pipelines.test_no_mirrors import project, source
from tests.project import Project

TYPES = (
    "CREATE TABLE kinds (id int PRIMARY KEY, price numeric(9, 3), wide numeric, f float8, at timestamptz, day date, "
    "flag bool, tags text[], raw bytea, doc jsonb, gap interval, u uuid)",
    "INSERT INTO kinds SELECT i, i * 1.5, i / 8.0, CASE WHEN i = 3 THEN 'NaN' ELSE i / 3.0 END, "
    "'2024-02-29 12:00+00'::timestamptz + i * interval '1 h', date '2024-01-01' + i, i % 2 = 0, ARRAY['a', NULL, ''], "
    "decode(md5(i::text), 'hex'), jsonb_build_object('i', i), interval '1 mon 2 days' * i, "
    "md5(i::text)::uuid FROM generate_series(1, 9) i",
    "INSERT INTO kinds (id) VALUES (10)",
)
KINDS = "SELECT id, price, wide, f, at, day, flag, tags, raw, doc, gap, u FROM kinds"


def every(p: Project) -> list[tuple[object, ...]]:
    return sorted((r for k in range(1, 51) for r in source(p, k)), key=str)


def rows(p: Project, sql: str, wait: bool = False) -> list[tuple[object, ...]]:
    return sorted((tuple(r.values()) for r in ask(p.config, sql, wait=wait, every_key=True).to_pylist()), key=str)


def test_it_is_as_the_source_has_it(database: str, tmp_path: Path) -> None:
    p = project(tmp_path, database, others={"weights": "SELECT weight, count(*) AS n FROM vote GROUP BY weight"})
    p.source("UPDATE vote SET article = 3 WHERE id < 9")
    assert rows(p, "SELECT * FROM votes") == every(p)
    assert rows(p, "SELECT count(*) FROM votes v, weights w") == [(50 * 7,)]
    said: list[str] = []
    ask(p.config, "SELECT count(*) FROM votes v, weights w", wait=False, every_key=True, told=said.append)
    assert "agree from" in said[0]
    recursive = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3) "
    assert rows(p, f"{recursive} SELECT count(*) FROM votes, n, weights") == [(50 * 3 * 7,)]
    with running(p):
        p.source("DELETE FROM vote WHERE article = 4")
        assert rows(p, "SELECT * FROM votes", wait=True) == every(p)
        done = p.command("export", "votes", "--to", str(tmp_path / "out"), "--all")
        assert done.returncode == 0, done.stderr
    with duckdb.connect() as c:
        found = c.execute(f"SELECT * FROM '{tmp_path}/out/votes.parquet'").fetchall()
    assert sorted(found, key=str) == every(p)


def test_values_are_what_keys_have(database: str, tmp_path: Path) -> None:
    """Of every type as the same key has it that was asked for."""
    p = Project.create(tmp_path, database, {}, "duckdb")
    said = "WITH (strategy = 'partial', key = 'id', keep_mirrors = false)"
    (tmp_path / "views" / "kinds_of.sql").write_text(f"CREATE MATERIALIZED VIEW kinds_of {said} AS {KINDS};\n")
    p.source(*TYPES)
    p.deploy()
    asked = ask(
        p.config, "SELECT * FROM kinds_of WHERE id BETWEEN 1 AND 10 AND id IN (1,2,3,4,5,6,7,8,9,10)", wait=False
    )
    whole = ask(p.config, "SELECT * FROM kinds_of", wait=False, every_key=True)
    assert asked.schema == whole.schema
    assert sorted(map(str, asked.to_pylist())) == sorted(map(str, whole.to_pylist()))


def test_a_key_is_called_anything(database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, {}, "duckdb")
    said = "WITH (strategy = 'partial', key = 'a{b}')"
    (tmp_path / "views" / "odd_of.sql").write_text(
        f'CREATE MATERIALIZED VIEW odd_of {said} AS SELECT id AS "a{{b}}", note FROM odd;\n'
    )
    p.source("CREATE TABLE odd (id int PRIMARY KEY, note text)", "INSERT INTO odd VALUES (1, 'x')")
    p.deploy()
    got = ask(p.config, 'SELECT note FROM odd_of WHERE "a{b}" = 1', wait=False)
    assert got.to_pylist() == [{"note": "x"}]


def test_what_the_source_cannot_compute_is_told(database: str, tmp_path: Path) -> None:
    p = project(tmp_path, database)
    with psycopg.connect(database, autocommit=True) as c:
        c.execute("ALTER TABLE vote RENAME weight TO heavy")
    with pytest.raises(TidemarkError, match="could not compute"):
        rows(p, "SELECT * FROM votes")
