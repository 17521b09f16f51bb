"""Rows that an order finds equal: what hangs on them is a function of the rows, kept or computed afresh, and the
same on both engines."""

from __future__ import annotations

from pathlib import Path

import pytest

from compiler.catalog import read_schema
from compiler.parse import parse_query
from compiler.view import compile_view
from pipelines.asking.ask import ask
from tests.project import Project

SCHEMA = "CREATE TABLE t (x text, v int, id int PRIMARY KEY, g int, o int, i interval); CREATE TABLE b (g int, v int)"
FULL = "ALTER TABLE b REPLICA IDENTITY FULL"
LOAD = (
    "INSERT INTO t SELECT 'x' || (99 - i), 50 - i, i, i % 3, i / 6, CASE i % 2 WHEN 0 THEN '1 day' ELSE '24:00' "
    "END::interval "
    "FROM generate_series(1, 24) i",
    "INSERT INTO b SELECT i % 2, i % 5 FROM generate_series(1, 12) i",
)
COMMITS = (
    "UPDATE t SET x = x || '!' WHERE id % 4 = 1",
    "UPDATE t SET v = v + 1, o = o WHERE g = 1",
    "DELETE FROM t WHERE id = 6; INSERT INTO t VALUES ('x0', 7, 0, 0, 1, '1 day'); UPDATE b SET v = v + 1 WHERE v = 2",
    "UPDATE t SET g = 2 WHERE id IN (3, 9); DELETE FROM b WHERE v = 1",
)
PICKED = {
    "of_all": "SELECT id, first_value(v) OVER w AS f, last_value(v) OVER w AS l, nth_value(v, 2) OVER w AS n FROM t "
    "WINDOW w AS (PARTITION BY g)",
    "of_peers": "SELECT id, first_value(v) OVER w AS f, last_value(v) OVER w AS l, nth_value(v, 3) OVER w AS n FROM t "
    "WINDOW w AS (PARTITION BY g ORDER BY o)",
    "of_frames": "SELECT id, first_value(v) OVER w AS f, last_value(v) OVER w AS l FROM t "
    "WINDOW w AS (PARTITION BY g ORDER BY o RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING)",
    "of_groups": "SELECT id, first_value(v) OVER w AS f, last_value(v) OVER w AS l, nth_value(v, 2) OVER w AS n FROM t "
    "WINDOW w AS (PARTITION BY g ORDER BY o GROUPS BETWEEN 1 PRECEDING AND CURRENT ROW EXCLUDE CURRENT ROW)",
    "numbered": "SELECT id, row_number() OVER w AS r, ntile(3) OVER w AS t, lag(v) OVER w AS a, lead(x) OVER w AS b "
    "FROM t "
    "WINDOW w AS (PARTITION BY g ORDER BY o)",
    "running": "SELECT id, sum(v) OVER (PARTITION BY g ORDER BY o ROWS UNBOUNDED PRECEDING) AS s FROM t",
    "listed": "SELECT g, array_agg(v) AS a, string_agg(x, ',' ORDER BY o) AS s FROM t GROUP BY g",
    "first_of_each": "SELECT DISTINCT ON (g, o) g, o, id, x FROM t ORDER BY g, o",
    "first_rows": "SELECT id, x FROM t ORDER BY o LIMIT 5",
}
FORMS = {
    "by_length": "SELECT v, row_number() OVER (PARTITION BY g ORDER BY i) AS n FROM (SELECT g, i, v % 2 AS v FROM t) q",
    "bags": "SELECT v, last_value(v) OVER (PARTITION BY g) AS l, row_number() OVER (PARTITION BY g) AS n FROM b",
}
COUNTED = {f"{n}_counted": f"SELECT count(*) AS n FROM ({q}) q" for n, q in {**PICKED, **FORMS}.items()}


def rows(p: Project, view: str) -> list[tuple[object, ...]]:
    return sorted((tuple(r.values()) for r in ask(p.config, f"SELECT * FROM {view}", False).to_pylist()), key=repr)


def test_ties_are_kept_as_they_would_be_computed_afresh(database: str, tmp_path: Path) -> None:
    views = {**PICKED, **FORMS, **COUNTED}
    p = Project.create(tmp_path / "kept", database, views)
    p.source(SCHEMA, FULL, *LOAD)
    p.deploy()
    for commit in COMMITS:
        p.source(commit)
        p.catch_up()
        wrong = [r.line() for r in p.verify() if r.view in COUNTED and not r.equal]
        assert not wrong, wrong
    kept = {v: rows(p, v) for v in views}
    assert p.command("teardown", "--yes").returncode == 0
    p.deploy()
    assert {v: rows(p, v) for v in views} == kept


def test_ties_of_rows_in_the_order_of_their_key_are_those_of_postgres(database: str, tmp_path: Path) -> None:
    """Which it sorts no more where they come in order."""
    p = Project.create(
        tmp_path, database, {n: q for n, q in PICKED.items() if n not in ("first_of_each", "first_rows")}
    )
    p.source(
        SCHEMA,
        FULL,
        "INSERT INTO t SELECT 'x' || (99 - i), 50 - i, i, i / 8, i / 3, '1 day' FROM generate_series(1, 24) i",
    )
    p.deploy()
    p.assert_equal()
    p.source("INSERT INTO t SELECT 'y' || (99 - i), 50 - i, i, i / 8, i / 3, '1 day' FROM generate_series(25, 40) i")
    p.assert_equal()


@pytest.mark.slow
@pytest.mark.spark
def test_ties_are_the_same_on_both_engines(database: str, tmp_path: Path) -> None:
    views = {
        **{n: PICKED[n] for n in ("of_peers", "of_groups", "listed")},
        **FORMS,
        "counted": COUNTED["of_peers_counted"],
    }
    one, other = (Project.create(tmp_path / e, database, views, e) for e in ("duckdb", "spark"))
    one.source(SCHEMA, FULL, *LOAD)
    found = []
    for p in (one, other):
        p.deploy()
    for commit in COMMITS[2:]:
        one.source(commit)
        for p in (one, other):
            p.catch_up()
    for p in (one, other):
        found.append({v: rows(p, v) for v in views})
        assert p.command("teardown", "--yes").returncode == 0
    assert found[0] == found[1]


KEYED = (
    "CREATE TABLE t (id int PRIMARY KEY, g int, o int, v int, x text, UNIQUE (g, o)); CREATE TABLE u (id int PRIMARY "
    "KEY, t int)"
)


@pytest.mark.parametrize(
    ("sql", "told"),
    [
        ("SELECT g, row_number() OVER (PARTITION BY g ORDER BY o) AS n FROM t", "row_number"),
        ("SELECT g, row_number() OVER (PARTITION BY g ORDER BY o, id) AS n FROM t", ""),
        ("SELECT u.id, ntile(3) OVER (ORDER BY u.id) AS n FROM u JOIN t ON t.id = u.t", ""),
        ("SELECT u.id, ntile(3) OVER (ORDER BY t.id) AS n FROM u JOIN t ON t.id = u.t", "ntile"),
        ("SELECT id, last_value(v) OVER (PARTITION BY g) AS l FROM t", "last_value"),
        ("SELECT id, last_value(o) OVER (PARTITION BY g ORDER BY o) AS l FROM t", ""),
        (
            "SELECT id, sum(v) OVER (ORDER BY o ROWS UNBOUNDED PRECEDING) AS s, sum(v) OVER (ORDER BY o) AS r FROM t",
            "sum",
        ),
        ("SELECT id, rank() OVER (ORDER BY o) AS r, sum(v) OVER (PARTITION BY g ORDER BY o) AS s FROM t", ""),
        ("SELECT g, array_agg(v) AS a FROM t GROUP BY g", "array_agg"),
        ("SELECT g, array_agg(v ORDER BY v) AS a, string_agg(x, ',' ORDER BY id) AS s FROM t GROUP BY g", ""),
        ("SELECT g, json_agg(v ORDER BY o) AS a FROM t GROUP BY g", "string_agg or json_agg"),
        ("SELECT g, jsonb_object_agg(id, v) AS a FROM t GROUP BY g", ""),
        ("SELECT id, g FROM t ORDER BY g LIMIT 3", "LIMIT"),
        ("SELECT id, g FROM t ORDER BY g, id DESC LIMIT 3", ""),
        ("SELECT g FROM t ORDER BY g LIMIT 3", ""),
        ("SELECT g, id FROM t ORDER BY g FETCH FIRST 3 ROWS WITH TIES", ""),
        ("SELECT g, max(v) AS m FROM t GROUP BY g ORDER BY g LIMIT 3", ""),
        ("SELECT DISTINCT ON (g) g, v FROM t ORDER BY g, o", "DISTINCT ON"),
        ("SELECT DISTINCT ON (g) g, v FROM t ORDER BY g, o, id", ""),
    ],
)
def test_deploy_warns_of_what_hangs_on_ties(sql: str, told: str) -> None:
    plan = compile_view("v", parse_query(sql), read_schema(KEYED))
    assert plan.hangs_on_ties == bool(told)
    assert [w.split("(")[1].split(")")[0] for w in plan.warnings if "leaves ties" in w] == ([told] if told else [])
