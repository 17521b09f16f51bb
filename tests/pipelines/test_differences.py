"""What deploy warns of: divisions, keys of jsonb and intervals, the sign of a float's zero, and text that is read."""

from __future__ import annotations

import pytest

from compiler.catalog import read_schema
from compiler.parse import parse_query
from compiler.view import compile_view

SCHEMA = "CREATE TABLE t (k int PRIMARY KEY, a int, b int, c numeric(10,2));"


def warnings_of(sql: str, schema: str = SCHEMA) -> list[str]:
    return compile_view("v", parse_query(sql), read_schema(schema)).warnings


@pytest.mark.parametrize(
    ("sql", "divisors"),
    [
        ("SELECT k, a / b AS x FROM t", ["b"]),
        ("SELECT k, a / b AS x, a % b AS y, a / nullif(c, 0) AS z FROM t", ["b"]),
        ("SELECT k, a / 7 AS x, CASE WHEN b <> 0 THEN a / b END AS y FROM t", []),
        ("SELECT k, a / b AS x FROM t WHERE b > 0", []),
        ("SELECT k, a / b AS x FROM t WHERE b > -3", ["b"]),
        ("SELECT k, a / b AS x FROM t WHERE b <> 5 AND c >= 1", ["b"]),
        ("SELECT k, a / c AS x FROM t WHERE b <> 5 AND c >= 1", []),
        ("SELECT a, sum(b) / count(*) AS x, avg(c) AS y FROM t GROUP BY a", []),
        ("SELECT a, sum(b) / count(b) AS x FROM t GROUP BY a", ["count"]),
        ("SELECT k FROM t WHERE a > (SELECT sum(x.a) / sum(x.b) FROM t x WHERE x.k < t.k)", ["sum_2"]),
    ],
)
def test_divisors_that_may_be_zero_are_named(sql: str, divisors: list[str]) -> None:
    warnings = warnings_of(sql)
    assert [w.split(":")[0] for w in warnings] == [f"it divides by {d}" for d in divisors]


@pytest.mark.parametrize(
    ("sql", "warned"),
    [
        ("SELECT j, count(*) AS n FROM d GROUP BY j", True),
        ("SELECT DISTINCT j FROM d", True),
        ("SELECT j ->> 'a' AS a, count(*) AS n FROM d GROUP BY 1", False),
        ("SELECT j FROM d", False),
    ],
)
def test_keys_of_jsonb_are_warned_of(sql: str, warned: bool) -> None:
    warnings = warnings_of(sql, "CREATE TABLE d (k int PRIMARY KEY, j jsonb);")
    assert any("12.50 as 12.5" in w for w in warnings) == warned


@pytest.mark.parametrize(
    ("sql", "warned"),
    [
        ("SELECT i, count(*) AS n FROM d GROUP BY i", True),
        ("SELECT l FROM d EXCEPT SELECT l FROM d WHERE k > 3", True),
        ("SELECT max(i) AS i FROM d", True),
        ("SELECT k, sum(i) AS i FROM d GROUP BY k", False),
        ("SELECT i, l FROM d", False),
    ],
)
def test_keys_of_intervals_are_warned_of(sql: str, warned: bool) -> None:
    schema = "CREATE TABLE d (k int PRIMARY KEY, i interval, l interval[]);"
    assert any("1 day to 24:00" in w for w in warnings_of(sql, schema)) == warned


@pytest.mark.parametrize(
    ("sql", "warned"),
    [
        ("SELECT k, f::text AS t FROM d", True),
        ("SELECT k, 'a' || f AS t FROM d", True),
        (
            "SELECT a, string_agg(f::text, ',' ORDER BY k) AS t FROM (SELECT k, k % 3 AS a, r AS f FROM d) x GROUP BY "
            "a",
            True,
        ),
        ("SELECT k, to_jsonb(f) AS j FROM d", True),
        ("SELECT k, l::text AS t FROM d", True),
        ("SELECT jsonb_agg(f ORDER BY k) AS j FROM d", True),
        ("SELECT k, f, CASE WHEN f > 0 THEN 'more' END AS t FROM d", False),
        ("SELECT f, max(r) AS r, k::text AS t FROM d GROUP BY f, k", False),
    ],
)
def test_signs_of_zero_are_warned_of(sql: str, warned: bool) -> None:
    schema = "CREATE TABLE d (k int PRIMARY KEY, f float8, r real, l float8[]);"
    assert any("0 and -0" in w for w in warnings_of(sql, schema)) == warned


@pytest.mark.parametrize(
    ("sql", "warned"),
    [
        ("SELECT k, t::timestamp AS x FROM d", True),
        ("SELECT k FROM d WHERE t::bytea = u::bytea", True),
        ("SELECT k, t::text[] AS x FROM d", True),
        ("SELECT k, z AT TIME ZONE t AS x FROM d", True),
        ("SELECT k, '2024-02-29'::timestamp AS x, t::int AS i, z AT TIME ZONE 'Europe/Oslo' AS y FROM d", False),
    ],
)
def test_text_that_is_read_is_warned_of(sql: str, warned: bool) -> None:
    schema = "CREATE TABLE d (k int PRIMARY KEY, t text, u text, z timestamptz);"
    told = warnings_of(sql, schema)
    assert any(w.startswith(("it casts text", "it takes time zones")) for w in told) == warned


@pytest.mark.parametrize(
    ("sql", "warned"),
    [
        ("SELECT sum(r) AS s FROM d", True),
        ("SELECT k, sum(r) OVER (ORDER BY k) AS s FROM d", True),
        ("SELECT sum(r::float8) AS s, avg(r) AS a, max(r) AS m, sum(f) AS f FROM d", False),
    ],
)
def test_sums_of_reals_are_warned_of(sql: str, warned: bool) -> None:
    schema = "CREATE TABLE d (k int PRIMARY KEY, f float8, r real);"
    assert any("adds reals" in w for w in warnings_of(sql, schema)) == warned


def test_variances_that_may_not_fit_are_warned_of() -> None:
    schema = "CREATE TABLE d (k int PRIMARY KEY, b bigint);"
    assert any("more than 22 digits" in w for w in warnings_of("SELECT variance(b) AS v FROM d", schema))
    assert warnings_of("SELECT stddev_pop(b) AS s, variance(k) AS v FROM d", schema) == []


@pytest.mark.parametrize(
    ("sql", "warned"),
    [
        ("SELECT k FROM t WHERE c / 7 * 7 = c", True),
        ("SELECT k, ceil(a / 3.0 * 3.0) AS x FROM t", True),
        ("SELECT a FROM t GROUP BY a HAVING avg(c) * count(*) = sum(c)", True),
        (
            "SELECT a FROM (SELECT a, c / sum(c) OVER (PARTITION BY a) AS share FROM t) x GROUP BY a HAVING "
            "sum(share) = 1",
            True,
        ),
        ("SELECT k FROM (SELECT k, c / 7 * 7 AS x FROM t) y WHERE x = 3", True),
        ("SELECT k FROM t WHERE c > (SELECT avg(c) FROM t)", False),
        ("SELECT k, round(c / 7 * 7, 2) AS x FROM t", False),
        ("SELECT k, c / 7 * 7 AS x, c * 7 > 3 AS y FROM t", False),
    ],
)
def test_what_is_computed_from_quotients_and_compared_is_warned_of(sql: str, warned: bool) -> None:
    assert any("x / 3 * 3" in w for w in warnings_of(sql)) == warned


@pytest.mark.parametrize(
    ("sql", "warned"),
    [
        ("SELECT j::jsonb AS j FROM d", True),
        ("SELECT t::jsonb -> 'a' AS j FROM d", True),
        ("SELECT json_build_object('b', k, 'a', t)::jsonb AS j FROM d", False),
        ("SELECT json_agg(d ORDER BY k)::jsonb AS j FROM (SELECT k, t FROM d) d", False),
        ("SELECT json_build_object('b', j)::jsonb AS j FROM d", True),
    ],
)
def test_json_that_stays_as_it_is_written_is_warned_of(sql: str, warned: bool) -> None:
    schema = "CREATE TABLE d (k int PRIMARY KEY, j json, t text);"
    assert any("casts text or json" in w for w in warnings_of(sql, schema)) == warned
