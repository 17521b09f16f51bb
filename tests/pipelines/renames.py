"""Tables and views for what is renamed after it was deployed."""

from __future__ import annotations

from pathlib import Path

from tests.project import Project

VIEWS = {
    "sums": "SELECT g, count(*) AS n, sum(v) AS s FROM t GROUP BY g",
    "every": "SELECT * FROM t",
    "qualified": "SELECT public.t.id, t.v FROM public.t WHERE EXISTS (SELECT FROM public.t x WHERE x.v > t.v)",
    "joined": 'SELECT a.v, u.w FROM t AS a JOIN "Other".t AS u ON u.id = a.id',
    "above": "SELECT s, count(*) AS n FROM sums GROUP BY s",
    "shadowed": "WITH t AS (SELECT id FROM u) SELECT t.id, v FROM t JOIN public.t x USING (id)",
    "last": "SELECT id, v FROM (SELECT * FROM t ORDER BY v DESC, id LIMIT 3) t",
    "keyed": "SELECT id, v, count(*) AS n FROM t GROUP BY id",
    "star": "SELECT public.t.* FROM public.t",
    "hidden": "SELECT v FROM t WHERE id IN (WITH t AS (SELECT 2 AS id) SELECT id FROM t)",
    "rest": "SELECT id FROM u",
}
SCHEMA = (
    "CREATE TABLE t (id int PRIMARY KEY, g int, v int, spare text)",
    'CREATE SCHEMA "Other"',
    'CREATE TABLE "Other".t (id int PRIMARY KEY, w int)',
    "CREATE TABLE u (id int PRIMARY KEY)",
    "INSERT INTO t SELECT i, i % 5, i, 'x' FROM generate_series(1, 60) i",
    'INSERT INTO "Other".t SELECT i, -i FROM generate_series(1, 60) i',
    "INSERT INTO u SELECT i FROM generate_series(1, 30) i",
)
RENAMES = (
    "ALTER TABLE t RENAME v TO value",
    "ALTER TABLE t RENAME id TO number",
    'ALTER TABLE t RENAME g TO "of group"',
    'ALTER TABLE "Other".t RENAME w TO v',
)
BEFORE = ("UPDATE t SET v = v + 1 WHERE g = 2", "DELETE FROM t WHERE id = 7", "INSERT INTO t VALUES (100, 1, 5)")
AFTER = (
    'UPDATE t SET value = value + 3 WHERE "of group" = 1',
    "DELETE FROM t WHERE number % 9 = 0",
    "UPDATE t SET number = number + 500 WHERE number < 5",
    "INSERT INTO t SELECT i, i % 4, i FROM generate_series(200, 230) i",
    'UPDATE "Other".t SET v = 3 WHERE id = 20',
)
OFTEN = "INSERT INTO t VALUES ({0}, {0}, {0}, 'y')"


def project(home: Path, dsn: str, engine: str = "duckdb", memory: str = "0") -> Project:
    p = Project.create(home, dsn, VIEWS, engine, local_memory=memory)
    p.source(*SCHEMA)
    p.deploy()
    return p


def small(home: Path, dsn: str, views: dict[str, str], memory: str = "0") -> Project:
    """One over `t` and `u` alone."""
    p = Project.create(home, dsn, views, local_memory=memory)
    p.source(SCHEMA[0], *SCHEMA[3:5])
    p.deploy()
    return p


def stopped(p: Project) -> set[str]:
    return {v.name for v in p.deployed.views if v.error}
