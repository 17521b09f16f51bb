"""Views that may lag, and what moves them and what they read."""

from __future__ import annotations

import random
from collections.abc import Iterable
from pathlib import Path

import duckdb

from compiler.maintain.paced import paths
from connectors.postgres.connection import current_lsn
from pipelines.applying.capture import Capture
from pipelines.applying.catching_up import limits
from pipelines.warehouse import Warehouse
from tests.project import Project

SCHEMA = (
    "CREATE TABLE t (id int PRIMARY KEY, g int, x numeric(10,2), note text)",
    "CREATE TABLE u (id int PRIMARY KEY, g int, y numeric(10,4))",
    "CREATE TABLE w (g int, z float8)",
    "ALTER TABLE w REPLICA IDENTITY FULL",
    "INSERT INTO t SELECT i, i % 5, i * 1.5, 'n' || i FROM generate_series(1, 60) i",
    "INSERT INTO u SELECT i, i % 7, i * 0.25 FROM generate_series(1, 40) i",
    "INSERT INTO w SELECT i % 3, i * 0.5 FROM generate_series(1, 20) i",
)
VIEWS = {
    "totals": "SELECT g, count(*) AS n, sum(x) AS s FROM t GROUP BY g",
    "whole": "SELECT count(*) AS n, sum(x) AS s, max(x) AS m FROM t WHERE g > 1",
    "joined": "SELECT t.g, sum(t.x * u.y) AS s FROM t JOIN u ON u.g = t.g GROUP BY t.g",
    "above_average": "SELECT id, x FROM t WHERE x > (SELECT avg(x) FROM t)",
    "best": "SELECT g, s FROM (SELECT g, sum(x) AS s FROM t GROUP BY g) a "
    "WHERE s = (SELECT max(s) FROM (SELECT g, sum(x) AS s FROM t GROUP BY g) b)",
    "above": "SELECT n, count(*) AS groups FROM (SELECT g, count(*) AS n FROM t GROUP BY g) x GROUP BY n",
    "met": "SELECT u.id, x.s FROM u LEFT JOIN (SELECT g, sum(x) AS s FROM t GROUP BY g) x ON x.g = u.g",
    "most": "SELECT g, max(x) AS most, string_agg(note, ',' ORDER BY id) AS notes FROM t GROUP BY g "
    "ORDER BY most DESC LIMIT 3",
    "ranked": "SELECT id, rank() OVER (PARTITION BY g ORDER BY x DESC) AS r FROM t",
    "ranks": "SELECT g, max(z) AS z FROM (SELECT t.g, rank() OVER (PARTITION BY t.g % 2 ORDER BY y.a, t.id) AS z "
    "FROM t JOIN (SELECT id, avg(x::float8 / 3) OVER (PARTITION BY g) AS a FROM t) y USING (id)) q GROUP BY g",
    "keyless": "SELECT w.g, count(*) AS n, sum(z) AS s FROM w LEFT JOIN u ON u.g = w.g GROUP BY w.g",
    "met_by": "SELECT id FROM t WHERE EXISTS (SELECT 1 FROM w WHERE w.g = t.id)",
    "tri": "SELECT k.id, (WITH RECURSIVE f(n, s) AS (SELECT 1, 0 UNION ALL SELECT n + 1, s + n FROM f WHERE n <= k.g) "
    "SELECT max(s) FROM f) AS tri FROM t k",
    "absent": "SELECT g FROM w WHERE NOT EXISTS (SELECT 1 FROM t WHERE t.g = w.g) EXCEPT ALL SELECT g FROM u",
}
COMMITS = (
    "INSERT INTO t VALUES (101, 2, 5.5, 'x'), (102, NULL, NULL, NULL), (103, 77, 1, ''); INSERT INTO w VALUES (9, 1)",
    "UPDATE t SET g = g + 1 WHERE id % 3 = 0; UPDATE u SET y = y + 1.0001 WHERE g = 2",
    "UPDATE t SET note = note || '!' WHERE id < 20; DELETE FROM w WHERE z > 8",
    "DELETE FROM t WHERE g = 2; DELETE FROM u WHERE id < 9; UPDATE w SET z = z + 1 WHERE g = 1",
    "DELETE FROM t; INSERT INTO t VALUES (1, 1, 1, 'a'), (2, 1, 1, 'b')",
    "TRUNCATE u",
    "INSERT INTO u VALUES (1, 1, 1.5), (2, 1, NULL); UPDATE t SET x = x + 1, g = 3 WHERE id = 2",
)


def project(
    database: str,
    home: Path,
    lag: str = "1 h",
    views: dict[str, str] = VIEWS,
    engine: str = "duckdb",
    local_memory: str = "none",
) -> Project:
    p = Project.create(home, database, {}, engine, local_memory=local_memory)
    p.write(views, f"target_lag = '{lag}'")
    p.source(*SCHEMA)
    return p


def take_in(p: Project) -> None:
    """Apply what was committed, and finish nothing."""
    w = Warehouse(p.config, p.deployed)
    try:
        capture = Capture(w, limits(p.config))
        try:
            capture.catch_up(current_lsn(p.dsn))
        finally:
            capture.close()
    finally:
        w.close()


def rows(p: Project, view: str) -> list[tuple[object, ...]]:
    """What readers see of a view, without finishing it."""
    files = [f for name in ("tidemark.duckdb", "delta/local.duckdb") if (f := p.config.warehouse_path / name).exists()]
    with duckdb.connect(str(files[0]), read_only=True) as c:
        return sorted(c.execute(f'SELECT * FROM "{view}"').fetchall(), key=repr)


def some_paths(p: Project, chance: random.Random) -> None:
    """States take what waits of some of their inputs; not those that readers of any view see."""
    w = Warehouse(p.config, p.deployed)
    try:
        for v in VIEWS:
            seen = w.cohort(v).shown
            inner = [x for x in paths(w.view(v)[1].states) if x.state not in seen]
            for x in chance.sample(inner, chance.randint(0, len(inner))):
                w.engine(next(iter(w.used_engines()))).paced.take([w.taking(v, x.state, [x.source])])
    finally:
        w.close()


def assert_any_order(p: Project, commits: Iterable[str], chance: random.Random) -> None:
    """What readers see is as of the time at which it was finished, whatever states take meanwhile."""
    for commit in commits:
        before = {v: rows(p, v) for v in VIEWS}
        p.source(commit)
        take_in(p)
        some_paths(p, chance)
        assert {v: rows(p, v) for v in VIEWS} == before
        if chance.random() < 0.5:
            p.assert_equal()
    p.assert_equal()
