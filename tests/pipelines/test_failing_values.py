"""What may fail on a value is computed for rows alone that a FILTER lets through; one view that fails says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.project import Project

SCHEMA = (
    "CREATE TABLE t (id int PRIMARY KEY, k text, x numeric(10,2), s text, big bigint, f float8, r real, sm int)",
    "INSERT INTO t VALUES (1, 'a', 2, '5', 7, 3, 1.5, 2), (2, 'b', 3, '6', 8, 4, 2.5, 3)",
)
BAD = (
    "INSERT INTO t VALUES (3, 'a', 0, 'n/a', 5000000000, 1e12, 'NaN', 99), "
    "(4, 'b', -1, '', -9223372036854775808, '-Infinity', 'Infinity', -1), (5, 'a', NULL, NULL, NULL, NULL, NULL, NULL)",
    "UPDATE t SET x = x + 1, k = 'c', f = 5 WHERE id IN (1, 4)",
    "UPDATE t SET s = '12x', big = 9223372036854775807 WHERE id = 1",
    "DELETE FROM t WHERE id = 3",
)
GUARDED = {
    "ln": "sum(ln(x)) FILTER (WHERE x > 0)",
    "ln_avg": "avg(ln(x::float8)) FILTER (WHERE x > 0)",
    "ln_list": "array_agg(round(ln(x), 3) ORDER BY ln(x), id) FILTER (WHERE x > 0)",
    "sqrt": "max(sqrt(f)) FILTER (WHERE f >= 0)",
    "acos": "min(acos(f)) FILTER (WHERE f BETWEEN -1 AND 1)",
    "median": "percentile_cont(0.5) WITHIN GROUP (ORDER BY s::float8) FILTER (WHERE s ~ '^\\d+$')",
    "disc": "percentile_disc(0.5) WITHIN GROUP (ORDER BY s::int) FILTER (WHERE s ~ '^\\d+$')",
    "mode": "mode() WITHIN GROUP (ORDER BY s::int) FILTER (WHERE s ~ '^\\d+$')",
    "narrow": "max(big::int) FILTER (WHERE abs(big / 2) < 100)",
    "twice": "sum(big * 2) FILTER (WHERE big BETWEEN 0 AND 100)",
    "short": "sum((sm * 1000)::smallint) FILTER (WHERE sm BETWEEN 1 AND 12)",
    "date": "max(make_date(2024, sm, 1)) FILTER (WHERE sm BETWEEN 1 AND 12)",
    "chr": "string_agg(chr(sm + 64), ',' ORDER BY sm) FILTER (WHERE sm BETWEEN 1 AND 12)",
    "number": "sum(r::numeric(20,3)) FILTER (WHERE r < 1000)",
    "rounded": "count(f::int) FILTER (WHERE f < 1e6 AND f > 0)",
    "object": "jsonb_object_agg(id, s::int) FILTER (WHERE s ~ '^\\d+$')",
}


@pytest.mark.parametrize("strategy", ["auto", "higher_order", "split"])
def test_a_filter_guards_what_is_aggregated(strategy: str, database: str, tmp_path: Path) -> None:
    views = {f"v_{n}": f"SELECT k, {call} AS a FROM t GROUP BY k" for n, call in GUARDED.items()}
    views["w"] = "SELECT id, sum(f::int) FILTER (WHERE f < 100 AND f > 0) OVER (ORDER BY id) AS a FROM t"
    views["both"] = (
        "SELECT id, x > 0 AND ln(x) > 0.5 AS a, sm > 0 AND sm < 12 AND make_date(2024, sm, 1) > '2024-02-01' b FROM t"
    )
    p = Project.create(tmp_path, database, views, strategy=strategy)
    p.source(*SCHEMA)
    p.deploy()
    p.assert_equal()
    for change in BAD:
        p.source(change)
        p.catch_up()
        p.assert_equal()


def test_a_view_that_cannot_be_read_leaves_the_others_compared(database: str, tmp_path: Path) -> None:
    bad = {f"bad{i}": f"SELECT id, (f + {i})::int AS n FROM t ORDER BY id LIMIT 3" for i in range(2)}
    read = {f"late{i}": f"SELECT id, sum((f + {i})::int) OVER (ORDER BY id) AS s FROM t" for i in range(3)}
    p = Project.create(tmp_path, database, bad | read | {"z": "SELECT k, count(*) AS n FROM t GROUP BY k"})
    p.source(*SCHEMA)
    p.deploy()
    p.assert_equal()
    p.source("UPDATE t SET f = 1e12 WHERE id = 2")
    p.catch_up()
    found = {v.view: v for v in p.verify()}
    assert found["z"].equal and found["public.t"].equal
    assert all(found[v].error and not found[v].mendable for v in (*bad, *read)), [v.line() for v in found.values()]
