"""Generated columns, which Postgres does not send, are computed from those that it sends."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipelines.deploying.heal import heal
from tests.pipelines.renames import stopped
from tests.project import Project

SCHEMA = (
    "CREATE TABLE item (id int PRIMARY KEY, price numeric(10,2), total numeric(12,1) GENERATED ALWAYS AS (price * qty) "
    "STORED, qty int, name text, lowered text GENERATED ALWAYS AS (lower(name) || '!') STORED, "
    "words tsvector GENERATED ALWAYS AS (to_tsvector('english', name)) STORED)",
    "CREATE TABLE plain (id int PRIMARY KEY, at timestamp, day date GENERATED ALWAYS AS (at::date) STORED)",
    "INSERT INTO item (id, price, qty, name) SELECT i, i * 1.15, i % 7, 'Name ' || i FROM generate_series(1, 60) i",
    "INSERT INTO plain (id, at) SELECT i, timestamp '2024-01-01' + i * interval '7 h' FROM generate_series(1, 60) i",
)
VIEWS = {
    "totals": "SELECT qty, sum(total) AS s, max(lowered) AS m FROM item GROUP BY qty",
    "days": "SELECT day, count(*) AS n FROM plain GROUP BY day",
    "every": "SELECT * FROM plain",
    "whole": "TABLE plain",
    "rows_of": "SELECT p.id, to_jsonb(p) AS j FROM plain p",
    "named": "SELECT x, z FROM plain AS p (x, y, z)",
    "joined": "SELECT i.id, i.total, p.day FROM item i LEFT JOIN plain p ON p.id = i.total",
    "windows": "SELECT id, rank() OVER (PARTITION BY lowered ORDER BY total, id) AS r FROM item",
}
CHANGES = (
    "UPDATE item SET price = price + 0.37 WHERE id % 3 = 0",
    "UPDATE item SET qty = NULL, name = upper(name) WHERE id % 11 = 0",
    "DELETE FROM item WHERE id % 7 = 0",
    "UPDATE plain SET at = at + interval '1 day' WHERE id % 2 = 0",
    "INSERT INTO plain (id, at) VALUES (500, 'infinity'), (501, NULL), (502, '0044-03-15 BC')",
    "UPDATE item SET id = id + 1000 WHERE id < 9",
)


@pytest.mark.parametrize("engine, memory", [("duckdb", "0"), ("spark", "2GB")])
def test_they_are_computed(engine: str, memory: str, database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, VIEWS, engine=engine, local_memory=memory)
    p.source(*SCHEMA)
    p.deploy()
    for change in CHANGES:
        p.source(change)
    p.assert_equal()
    p.source("ALTER TABLE item RENAME price TO cost", "UPDATE item SET cost = cost + 1")
    p.assert_equal()
    p.write({"more": "SELECT id, total FROM item WHERE cost > 3"})
    (p.home / "views" / "windows.sql").unlink()
    p.deploy()
    p.source("UPDATE item SET cost = cost * 2")
    p.assert_equal()
    assert stopped(p) == set()


@pytest.mark.parametrize(
    "query", ["SELECT * FROM item", "SELECT words FROM item", "SELECT to_jsonb(i) AS j FROM item i"]
)
def test_what_cannot_be_computed_is_refused_where_it_is_read(query: str, database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, {"v": query})
    p.source(*SCHEMA)
    done = p.command("deploy")
    assert done.returncode == 1 and "words" in done.stderr and "is not supported" in done.stderr, done.stderr


def test_an_expression_that_is_another_one(database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, {**VIEWS, "others": "SELECT id, price FROM item"})
    p.source(*SCHEMA)
    p.deploy()
    p.source("ALTER TABLE item ALTER total DROP EXPRESSION", "UPDATE item SET total = 5 WHERE id = 8")
    p.source("ALTER TABLE plain DROP day", "UPDATE plain SET at = at + interval '1 day'", *CHANGES[:2])
    p.catch_up()
    assert stopped(p) == {"totals", "days", "named", "every", "whole", "rows_of", "joined", "windows"}
    for name in ("days", "every", "whole", "rows_of", "named", "joined"):
        (p.home / "views" / f"{name}.sql").unlink()
    p.deploy()
    assert stopped(p) == set()
    p.source("UPDATE item SET total = 7 WHERE id = 9")
    p.assert_equal()


def test_what_nobody_reads_stops_nothing(database: str, tmp_path: Path) -> None:
    views = {
        "others": "SELECT id, price FROM item",
        "prices": "SELECT qty, sum(price) AS s, count(*) AS n FROM item GROUP BY qty",
        "times": "SELECT max(at) AS m, count(*) AS n FROM plain",
    }
    p = Project.create(tmp_path, database, views)
    p.source(*SCHEMA)
    p.deploy()
    p.source("ALTER TABLE item ALTER total DROP EXPRESSION", "ALTER TABLE plain DROP day", *CHANGES[:4])
    p.assert_equal()
    assert stopped(p) == set()
    heal(p.config, lambda *_: None, lambda *_: None)
    p.assert_equal()
