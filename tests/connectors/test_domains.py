"""Columns of a domain are columns of the type that it is over, whichever domains lie between."""

from __future__ import annotations

from pathlib import Path

from tests.project import Project

VIEWS = {
    "letters": "SELECT id, upper(plain) AS plain, upper(twice) AS twice FROM t",
    "numbers": "SELECT twice, sum(price * 2) AS price, max(n + 1) AS n FROM t GROUP BY twice",
    "moods": "SELECT m, count(*) AS n FROM t GROUP BY m",
    "lists": "SELECT id, xs[1] AS x FROM t",
}


def test_a_domain_is_what_it_is_over(database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, VIEWS)
    p.source(
        "CREATE TYPE mood AS ENUM ('sad', 'ok')",
        "CREATE DOMAIN letters AS varchar(20)",
        "CREATE DOMAIN few_letters AS letters CHECK (length(VALUE) < 10)",
        "CREATE DOMAIN price AS numeric(12, 2)",
        "CREATE DOMAIN low_price AS price",
        "CREATE DOMAIN count_of AS int",
        "CREATE DOMAIN small_count AS count_of",
        "CREATE DOMAIN feeling AS mood",
        "CREATE DOMAIN numbers AS int[]",
        "CREATE TABLE t (id int PRIMARY KEY, plain letters, twice few_letters, price low_price, n small_count, "
        "m feeling, xs numbers)",
        "INSERT INTO t SELECT g, 'a' || g, 'b' || g % 3, g / 4.0, g, 'ok', ARRAY[g] FROM generate_series(1, 20) g",
    )
    p.deploy()
    p.assert_equal()
    p.source("UPDATE t SET twice = 'c', price = 7.25, n = n + 1, m = 'sad' WHERE id < 5", "DELETE FROM t WHERE id = 20")
    p.catch_up()
    p.assert_equal()
