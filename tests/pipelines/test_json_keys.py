"""Rows that are brought together by jsonb show its numbers in one form; to verify, equal values are equal."""

from __future__ import annotations

from pathlib import Path

from tests.project import Project


def test_numbers_of_one_form_are_no_difference(database: str, tmp_path: Path) -> None:
    p = Project.create(
        tmp_path,
        database,
        {
            "each": "SELECT DISTINCT doc FROM t",
            "counted": "SELECT doc -> 'a' AS a, count(*) AS n FROM t GROUP BY doc -> 'a'",
            "both": "SELECT doc FROM t UNION SELECT jsonb_build_object('a', x) FROM t",
            "plain": "SELECT id, doc FROM t",
        },
    )
    p.source(
        "CREATE TABLE t (id int PRIMARY KEY, doc jsonb, x numeric(12,4))",
        """INSERT INTO t VALUES (1, '{"a": 2.0}', 2), (2, '{"a": 2}', 0), (3, '{"a": [1.50, "2.0"]}', 7.5)""",
    )
    p.deploy()
    p.assert_equal()
    p.source("""UPDATE t SET doc = '{"a": 3.00}' WHERE id = 2""", "DELETE FROM t WHERE id = 1")
    p.catch_up()
    p.assert_equal()
    p.source("""UPDATE t SET doc = '{"a": 3.01}' WHERE id = 2""")
    found = {v.view: v.equal for v in p.verify()}
    assert all(found.values())
