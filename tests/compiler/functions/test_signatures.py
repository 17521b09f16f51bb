"""Calls are those of functions that Postgres has: the tables against a server, and what is refused."""

from __future__ import annotations

import psycopg
import pytest

from compiler.bind.functions import RULES
from compiler.catalog import read_schema
from compiler.errors import InvalidSql
from compiler.functions.signatures import Routine, implicit, signatures, volatile
from compiler.parse import parse_view
from compiler.view import compile_view
from dialects.duckdb import DUCKDB
from dialects.spark import SPARK

SCHEMA = (
    "CREATE TABLE t (id int PRIMARY KEY, k int, big bigint, v text, c char(4), n numeric(8,2), "
    "f real, a int[], words text[], j jsonb, d date, at time, ts timestamp, iv interval, b bytea, yes bool)"
)
REFUSED = (
    "upper(k)",
    "pi(k)",
    "abs(k, 7)",
    "abs(v)",
    "length(k)",
    "sum(n, k)",
    "sum(v)",
    "avg(d)",
    "sqrt(v)",
    "round(n, v)",
    "round(f, 2)",
    "lower(d)",
    "cardinality(k)",
    "array_length(a)",
    "array_position(a)",
    "jsonb_typeof(v)",
    "repeat(v, n)",
    "left(v)",
    "replace(v, v)",
    "date_trunc(k, d)",
    "min(j)",
    "bool_and(k)",
    "string_agg(k, v)",
    "count(k, v)",
    "trunc(v)",
    "md5(k)",
    "initcap(k)",
    "substring(k, 1)",
    "substring(k from 1)",
    "substring(v from 1 for n)",
    "position(k in v)",
    "trim(k)",
    "trim(b)",
    "trim(leading k from v)",
    "overlay(v placing k from 1)",
    "overlay(k placing v from 1)",
    "overlay(v placing v from n)",
    "now(k)",
    "age(k)",
    "k at time zone 'UTC'",
    "v at time zone 'UTC'",
    "(k, k) OVERLAPS (k, k)",
    "make_interval(days => n)",
    "make_interval(k, years => k)",
    "lag(k, v) over ()",
    "lag(k, big) over ()",
    "lag(k, 1, v) over ()",
    "lead(v, n) over ()",
    "first_value(k, k) over ()",
    "nth_value(k) over ()",
    "ntile(2.5) over ()",
    "row_number(k) over ()",
    "percentile_cont(v) within group (order by k)",
    "percentile_cont(0.5) within group (order by v)",
    "percentile_cont(0.5) within group (order by d)",
    "percentile_cont(0.5) within group (order by k, k)",
    "percentile_cont() within group (order by k, k)",
    "percentile_disc(iv) within group (order by k)",
    "percentile_disc(v) within group (order by v)",
    "mode() within group (order by v, k)",
    "mode(k) within group (order by v)",
    "array_append(a, v)",
    "array_prepend(v, a)",
    "array_remove(a, v)",
    "array_position(a, v)",
    "array_positions(a, v)",
    "array_replace(a, 1, v)",
    "array_append(words, k)",
    "array_append(k, k)",
    "array_cat(a, words)",
    "array_cat(a, k)",
    "array_append(a, a)",
    "cardinality(v)",
    "array_to_json(v)",
    "sum(k) within group (order by k)",
    "generate_series(k, v)",
    "generate_subscripts(k, 1)",
)
NO_OPERATOR = (
    "a || v",
    "v || a",
    "words || k",
    "a || words",
    "a || d",
    "k || k",
    "d || d",
    "iv || n",
    "yes || yes",
)
TAKEN = (
    "upper(c)",
    "upper(NULL)",
    "abs('7')",
    "round(n)",
    "round(k)",
    "round(k, 1)",
    "sqrt(k)",
    "sum(f)",
    "avg(k)",
    "length(b)",
    "array_length(a, 1)",
    "array_append(a, 1)",
    "concat(k, v, d, NULL)",
    "format('%s %s', k, d)",
    "date_trunc('month', d)",
    "min(d)",
    "max(a)",
    "string_agg(v, ',')",
    "string_agg(c, ',')",
    "greatest(k, n)",
    "jsonb_typeof(j)",
    "to_char(d, 'YYYY')",
    "age(d, d)",
    "mod(k, 3)",
    "power(k, n)",
    "concat_ws('-', k, n)",
    "jsonb_build_object('k', k, 'd', d)",
    "array_to_string(a, ',')",
    "substring(v from 2)",
    "substring(c, 2, k)",
    "substring('x' for 1.5)",
    "substring(v for '2')",
    "substring(v from 'x.')",
    "substring(b from '2')",
    "position('x' in v)",
    "position(c in v)",
    "trim(c)",
    "trim(both NULL from v)",
    "overlay(c placing v from 1 for 2)",
    "overlay('abc' placing 'x' from '1')",
    "age(d)",
    "age(ts)",
    "d at time zone 'UTC'",
    "(d, d) OVERLAPS (ts, iv)",
    "(d, NULL) OVERLAPS (d, d)",
    "make_interval(1, secs => 1.5)",
    "make_interval(days => k)",
    "lag(k) over (order by id)",
    "lag(k, '1') over (order by id)",
    "lag(k, 1, n) over (order by id)",
    "lag(v, 1, c) over (order by id)",
    "lead(v, 1, 'x') over (order by id)",
    "lead(d, k, NULL) over (order by id)",
    "first_value(c) over (order by id)",
    "nth_value(a, NULL) over (order by id)",
    "ntile('2') over (order by id)",
    "percentile_cont(0.5) within group (order by n)",
    "percentile_cont('0.5') within group (order by k)",
    "percentile_cont(1) within group (order by iv)",
    "percentile_cont(ARRAY[0.5, 1]) within group (order by f)",
    "percentile_disc(0.5) within group (order by v)",
    "mode() within group (order by c)",
    "array_append(words, c)",
    "array_append(words, 'x')",
    "array_append(NULL, k)",
    "array_append(NULL, NULL)",
    "array_append(a, big)",
    "array_position(a, n)",
    "array_positions(words, v)",
    "array_cat(a, '{1}')",
    "array_length('{1}'::int[], 1)",
    "a || 1",
    "a || big",
    "a || NULL",
    "a || '{1}'",
    "'{x}' || words",
    "words || c",
    "v || k",
    "'x' || yes",
    "b || 'x'",
    "b || v",
    "round('1', 1)",
    "sum(at)",
    "power(n, -1.5)",
    "generate_series('2020-01-01', d, iv)",
)


def compiled(call: str) -> None:
    view = parse_view(f"CREATE MATERIALIZED VIEW q AS SELECT {call} AS x FROM t")
    compile_view("q", view.query, read_schema(SCHEMA), {})


def exists(dsn: str, call: str) -> bool:
    with psycopg.connect(dsn, autocommit=True) as c:
        c.execute(f"DROP TABLE IF EXISTS t; {SCHEMA}")
        try:
            c.execute(f"SELECT {call} AS x FROM t")
        except psycopg.errors.UndefinedFunction:  # or operator
            return False
    return True


@pytest.mark.parametrize("call", REFUSED)
def test_a_call_of_no_function_is_refused(call: str, database: str) -> None:
    assert not exists(database, call)
    with pytest.raises(InvalidSql) as e:
        compiled(call)
    assert e.value.code == "undefined_function", e.value.report()


@pytest.mark.parametrize("call", NO_OPERATOR)
def test_an_operator_that_does_not_exist_is_refused(call: str, database: str) -> None:
    assert not exists(database, call)
    with pytest.raises(InvalidSql) as e:
        compiled(call)
    assert e.value.code == "undefined_operator", e.value.report()


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("SELECT grouping(k) FROM t", "arguments to GROUPING must be grouping expressions"),
        ("SELECT grouping(k), count(*) FROM t", "arguments to GROUPING must be grouping expressions"),
        ("SELECT k FROM t WHERE grouping(k) = 0", "grouping operations are not allowed in WHERE"),
        ("SELECT percentile_disc(n) WITHIN GROUP (ORDER BY k) FROM t", "must appear in the GROUP BY clause"),
        ("SELECT corr(k) WITHIN GROUP (ORDER BY k) FROM t", "corr is not an ordered-set aggregate"),
        ("SELECT to_jsonb('x') FROM t", "could not determine polymorphic type because input has type unknown"),
    ],
)
def test_words_are_those_of_postgres(query: str, words: str, database: str) -> None:
    with psycopg.connect(database, autocommit=True) as c:
        c.execute(SCHEMA)
        with pytest.raises(psycopg.Error, match=words):
            c.execute(query)
    with pytest.raises(InvalidSql, match=words):
        compile_view("q", parse_view(f"CREATE VIEW q AS {query}").query, read_schema(SCHEMA))


@pytest.mark.parametrize("call", TAKEN)
def test_a_call_of_a_function_is_taken(call: str, database: str) -> None:
    assert exists(database, call)
    compiled(call)


def test_what_is_called_as_its_row_says_is_spelled_in_every_dialect() -> None:
    plain = [
        name
        for name, rows in signatures().items()
        if any(s.routine is Routine.FUNCTION for s in rows) and name not in RULES and not volatile(name)
    ]
    assert "upper" in plain and "left" in plain
    elsewhere = {"json_to_record", "jsonb_to_record"}  # items of FROM
    assert {name for name in plain if name not in DUCKDB.functions} == elsewhere
    assert {name for name in plain if name not in SPARK.functions} == elsewhere | {
        "make_time"
    }  # it has no times of day


def test_every_row_is_the_servers_own(database: str) -> None:
    """Of a newer server, whose functions are these and more."""
    with psycopg.connect(database) as c:
        have = {
            (n, tuple(a or ()), *rest)
            for n, a, *rest in c.execute(
                "SELECT proname, (SELECT array_agg(t.typname::text ORDER BY o) FROM unnest(proargtypes::oid[]) "
                "WITH ORDINALITY u(ty, o) JOIN pg_type t ON t.oid = ty), pronargdefaults, provariadic <> 0, "
                "CASE provolatile WHEN 'i' THEN 'immutable' WHEN 's' THEN 'stable' ELSE 'volatile' END, r.typname "
                "FROM pg_proc p JOIN pg_type r ON r.oid = prorettype WHERE pronamespace = 'pg_catalog'::regnamespace"
            )
        }
        casts = set(
            c.execute(
                "SELECT castsource::regtype::oid::bigint, s.typname, t.typname FROM pg_cast "
                "JOIN pg_type s ON s.oid = castsource JOIN pg_type t ON t.oid = casttarget WHERE castcontext = 'i'"
            )
        )
    told = [s for one in signatures().values() for s in one]
    assert [s for s in told if (s.name, s.arguments, s.defaults, s.variadic, s.volatility, s.result) not in have] == []
    assert {(a, b) for a, bs in implicit().items() for b in bs} <= {(a, b) for _, a, b in casts}
