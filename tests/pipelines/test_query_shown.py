"""What `query` prints of values that Python would write in ways of its own."""

from __future__ import annotations

import json
from pathlib import Path

import psycopg
import pytest

from compiler.formats.intervals import interval_text, parse_interval
from pipelines.asking.ask import ask
from tests.project import Project


def test_values_are_shown_as_psql_shows_them(database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, {"v": "SELECT id, b, i, f, l FROM t"})
    p.source(
        "CREATE TABLE t (id int PRIMARY KEY, b bytea, i interval, f float8, l interval[])",
        r"INSERT INTO t VALUES (1, '\x00ff', '1 mon 2 days -03:00', 'NaN', '{1 day,NULL}')",
    )
    p.deploy()
    row = {"id": 1, "b": r"\x00ff", "i": "1 mon 2 days -03:00:00", "f": "NaN", "l": ["1 day", None]}
    assert json.loads(p.command("query", "SELECT * FROM v", "--format", "json").stdout) == row
    assert (
        p.command("query", "SELECT id, b, i, f FROM v", "--format", "csv").stdout.splitlines()[1]
        == r"1,\x00ff,1 mon 2 days -03:00:00,NaN"
    )


@pytest.mark.parametrize(
    "text",
    [
        "0",
        "1 year 2 mons -3 days 4:05:06.7",
        "-1 year -1 day",
        "-1 mon 1 day",
        "-00:00:00.000001",
        "13 mons",
        "-14 mons 100:00",
    ],
)
def test_intervals_are_printed_as_postgres_prints_them(text: str, database: str) -> None:
    with psycopg.connect(database) as c:
        row = c.execute("SELECT %s::interval::text", (text,)).fetchone()
    assert row is not None and interval_text(*parse_interval(text)) == row[0]


def test_a_recursion_over_groups_comes_to_its_end(database: str, tmp_path: Path) -> None:
    """DuckDB 1.5.5 with the optimizers of a warehouse ends it too early."""
    p = Project.create(tmp_path, database, {"pairs": "SELECT id, part FROM t"})
    p.source(
        "CREATE TABLE t (id int, part int, PRIMARY KEY (id, part))",
        "INSERT INTO t SELECT i, p FROM generate_series(1, 40) i, generate_series(1, 3) p",
    )
    p.deploy()
    sql = (
        "WITH RECURSIVE r AS (SELECT 1 AS k UNION ALL SELECT r.k + 1 FROM r JOIN (SELECT id FROM pairs GROUP BY id) s "
        "ON s.id = r.k WHERE r.k < 15) SELECT max(k) AS k FROM r"
    )
    for _ in range(5):
        assert ask(p.config, sql, wait=False).to_pylist() == [{"k": 15}]
