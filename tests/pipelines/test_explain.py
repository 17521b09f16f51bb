"""explain: rules, states with their sizes, and the why."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from compiler.catalog import read_schema
from compiler.parse import parse_query
from compiler.view import compile_view
from tests.project import Project


def test_states_are_shown_with_rows_and_bytes_once_deployed(database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, {"totals": "SELECT k, count(*) AS n, max(v) AS m FROM t GROUP BY k"})
    p.source(
        "CREATE TABLE t (id int PRIMARY KEY, k int, v int)",
        "INSERT INTO t SELECT i, i % 7, i FROM generate_series(1, 1000) i",
    )
    before = p.command("explain", "totals")
    assert before.returncode == 0, before.stderr
    assert "not deployed" in before.stdout
    p.deploy()
    told = p.command("explain", "totals", "--format", "json")
    (state,) = json.loads(told.stdout)["states"]
    assert state["rows"] == 7
    assert state["bytes"] > 0
    assert "7 rows" in p.command("explain", "totals").stdout


@pytest.mark.parametrize(
    "query",
    [
        "SELECT id FROM t WHERE v > (SELECT avg(v) FROM t)",
        "SELECT id, (SELECT w FROM u WHERE id = 1) AS w FROM t",
        "SELECT id, CASE WHEN EXISTS (SELECT 1 FROM u) THEN v END AS v FROM t",
        "SELECT id FROM t WHERE EXISTS (SELECT 1 FROM u)",
        "SELECT k, sum(v) AS s FROM t GROUP BY k HAVING sum(v) > (SELECT max(w) FROM u)",
        "SELECT t.id, v - m AS d FROM t CROSS JOIN (SELECT max(w) AS m FROM u) x",
    ],
)
def test_a_value_that_all_rows_read_is_told_of(query: str) -> None:
    assert [n for n in notes(query) if n.endswith("when it changes, all of them may change")]


@pytest.mark.parametrize(
    "query",
    [
        "SELECT id FROM t WHERE v > (SELECT avg(w) FROM u WHERE u.id = t.k)",
        "SELECT id FROM t WHERE v = (SELECT max(v) FROM t)",
        "SELECT id FROM t WHERE k IN (SELECT id FROM u)",
        "SELECT t.id, u.id AS other FROM t JOIN u ON u.w < t.v",
        "SELECT id, (SELECT 7) AS seven FROM t",
    ],
)
def test_a_value_of_some_rows_is_not(query: str) -> None:
    assert notes(query) == []


def notes(query: str) -> list[str]:
    catalog = read_schema(
        "CREATE TABLE t (id int PRIMARY KEY, k int, v int); CREATE TABLE u (id int PRIMARY KEY, w int);"
    )
    return compile_view("v", parse_query(query), catalog).notes


def test_it_names_what_leaves_nothing_to_do_by_itself(tmp_path: Path) -> None:
    query = "SELECT p.name, min(c.x) AS m FROM p JOIN c ON c.p = p.id GROUP BY p.name"
    p = Project.create(tmp_path, "host=nowhere", {"v": query})
    (tmp_path / "schema.sql").write_text(
        "CREATE TABLE p (id int PRIMARY KEY, name text); CREATE TABLE c (id int PRIMARY KEY, p int, x int);"
    )
    told = p.command("explain", "v", "--schema", "schema.sql")
    assert told.returncode == 0, told.stderr
    lines = [x for x in told.stdout.splitlines() if "nothing to do where" in x]
    assert any("fetched_p_by_name" in x for x in lines)  # groups that lost their least, if there are any
    assert not any("fetched_c_by_p_" in x for x in lines)  # old children of changed parents: children changed, too
