"""A branch that is not taken is not computed: what a subquery in it casts may be no number."""

from __future__ import annotations

from pathlib import Path

from tests.project import Project

NUMBER = r"txt ~ '^\d+$'"
VIEWS = {
    "found": f"SELECT id, CASE WHEN {NUMBER} THEN EXISTS (SELECT FROM u WHERE u.n = t.txt::int) END AS v FROM t",
    "one_of": f"SELECT id, CASE WHEN {NUMBER} THEN txt::int IN (SELECT n FROM u) END AS v FROM t",
    "above_all": f"SELECT id, CASE WHEN {NUMBER} THEN txt::int > ALL (SELECT n - 1 FROM u WHERE u.id <= t.txt::int) "
    "END AS v FROM t",
    "counted": f"SELECT id, CASE WHEN NOT {NUMBER} THEN -1 ELSE (SELECT count(*) FROM u WHERE u.n > t.txt::int) END "
    "AS v FROM t",
    "otherwise": "SELECT id, coalesce(other, (SELECT max(u.id) FROM u WHERE u.n = t.txt::int)) AS v FROM t",
    "kept": f"SELECT id FROM t WHERE CASE WHEN {NUMBER} THEN EXISTS (SELECT FROM u WHERE u.n = t.txt::int) ELSE true "
    "END",
    "summed": f"SELECT sum(CASE WHEN {NUMBER} THEN (SELECT count(*) FROM u WHERE u.n = t.txt::int) END) AS v FROM t",
    "twice": f"SELECT id, CASE WHEN {NUMBER} THEN (SELECT count(*) FROM u WHERE u.n >= length(t.txt)) ELSE "
    "(SELECT count(*) FROM u WHERE u.n >= length(t.txt)) + 1 END AS v FROM t",
    "beside": "SELECT t.id, x.v FROM t LEFT JOIN LATERAL (SELECT count(*) AS v FROM u WHERE u.n = t.txt::int) x ON "
    f"true WHERE t.{NUMBER}",
    "some_beside": "SELECT t.id, x.v FROM t LEFT JOIN LATERAL (SELECT count(*) AS v FROM u WHERE u.n = t.txt::int) x "
    f"ON x.v > 0 WHERE t.{NUMBER}",
    "each_beside": "SELECT t.id, l FROM t LEFT JOIN LATERAL jsonb_array_elements_text(j) l ON l <> '2' "
    "WHERE jsonb_typeof(j) = 'array'",
    "then_joined": "SELECT t.id, x.v, w.n FROM t CROSS JOIN LATERAL (SELECT max(u.id) AS v FROM u WHERE u.n = "
    f"t.txt::int) x LEFT JOIN u w ON w.id = t.id WHERE t.{NUMBER}",
    "within": "SELECT id, (SELECT sum(CASE WHEN u.n > t.id THEN (SELECT count(*) FROM u w WHERE w.n = u.n + t.id - 2)"
    " ELSE u.id END) FROM u WHERE u.id <= t.id + 2) AS v FROM t",
    "within_both": f"SELECT id, CASE WHEN {NUMBER} THEN (SELECT sum(CASE WHEN u.n >= t.txt::int THEN (SELECT count(*) "
    "FROM u w WHERE w.n <= t.txt::int + u.id) ELSE -1 END) FROM u WHERE u.n IS NOT NULL) END AS v FROM t",
    "or_else": "SELECT id, (SELECT string_agg(coalesce(nullif(t.txt, 'x'), (SELECT max(w.n)::text FROM u w WHERE "
    "w.id >= u.id), 'none'), ',' ORDER BY u.id) FROM u WHERE u.n > t.id) AS v FROM t",
    "in_lateral": "SELECT t.id, x.v FROM t CROSS JOIN LATERAL (SELECT CASE WHEN t.other > 10 THEN (SELECT max(n) FROM "
    "u WHERE u.id < t.other) ELSE (SELECT min(n) FROM u WHERE u.id > t.id - 3) END AS v) x",
    "elements": "SELECT id, CASE WHEN jsonb_typeof(j) = 'array' THEN (SELECT string_agg(x, ',' ORDER BY x) FROM "
    "jsonb_array_elements_text(j) x) END AS v FROM t",
}
SCHEMA = (
    "CREATE TABLE t (id int PRIMARY KEY, txt text, other int, j jsonb)",
    "CREATE TABLE u (id int PRIMARY KEY, n int)",
    "INSERT INTO t VALUES (1, '12', NULL, '[1]'), (2, 'x', 20, '7'), (3, '7', NULL, '[2, 3]'), (4, NULL, NULL, NULL)",
    "INSERT INTO u VALUES (1, 12), (2, 7), (3, 1)",
)
BATCHES = (
    "INSERT INTO t VALUES (5, 'y', 50, '\"s\"'), (6, '12', 60, '[]')",
    "UPDATE t SET txt = '12x', other = 1, j = '5' WHERE id = 1",
    "INSERT INTO u VALUES (4, 7), (5, NULL)",
    "UPDATE t SET txt = '7', j = '[\"q\"]' WHERE id = 2",
    "DELETE FROM u WHERE n = 7",
)


def test_what_is_not_reached_is_not_computed(database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, VIEWS)
    p.source(*SCHEMA)
    p.deploy()
    p.assert_equal()
    for batch in BATCHES:
        p.source(batch)
        p.assert_equal()


def test_whether_a_row_of_fields_is_null_goes_by_each_of_them(database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, {"v": "SELECT id FROM t WHERE a IS NOT NULL", "w": "SELECT id, a FROM t"})
    p.source(
        "CREATE TYPE pair AS (a int, b int)",
        "CREATE DOMAIN pairs AS pair",
        "CREATE TABLE t (id int PRIMARY KEY, a pairs)",
        "INSERT INTO t VALUES (1, '(1,2)'), (2, '(,)'), (3, NULL), (4, '(1,)')",
    )
    p.deploy()
    p.assert_equal()
    p.source("UPDATE t SET a = '(,5)' WHERE id = 2", "UPDATE t SET a = '(3,4)' WHERE id > 2")
    p.assert_equal()
