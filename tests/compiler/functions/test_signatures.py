"""Calls are those of functions that Postgres has: the tables against a server, and what is refused."""

from __future__ import annotations

import psycopg
import pytest

from compiler import compile_view
from compiler.bind.functions import RULES
from compiler.catalog import read_schema
from compiler.errors import InvalidSql
from compiler.functions.signatures import Routine, implicit, signatures, volatile
from compiler.parse import parse_view
from dialects.duckdb import DUCKDB
from dialects.spark import SPARK

SCHEMA = (
    "CREATE TABLE t (id int PRIMARY KEY, k int, v text, c char(4), n numeric(8,2), "
    "f real, a int[], j jsonb, d date, b bytea)"
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
)


def compiled(call: str) -> None:
    view = parse_view(f"CREATE MATERIALIZED VIEW q AS SELECT {call} AS x FROM t")
    compile_view("q", view.query, read_schema(SCHEMA), {})


def exists(dsn: str, call: str) -> bool:
    with psycopg.connect(dsn, autocommit=True) as c:
        c.execute(f"DROP TABLE IF EXISTS t; {SCHEMA}")
        try:
            c.execute(f"SELECT {call} AS x FROM t")
        except psycopg.errors.UndefinedFunction:
            return False
    return True


@pytest.mark.parametrize("call", REFUSED)
def test_a_call_of_no_function_is_refused(call: str, database: str) -> None:
    assert not exists(database, call)
    with pytest.raises(InvalidSql) as e:
        compiled(call)
    assert e.value.code == "undefined_function", e.value.report()


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
            (n, tuple(a or ()), d)
            for n, a, d in c.execute(
                "SELECT proname, (SELECT array_agg(t.typname::text ORDER BY o) FROM unnest(proargtypes::oid[]) "
                "WITH ORDINALITY u(ty, o) JOIN pg_type t ON t.oid = ty), pronargdefaults FROM pg_proc "
                "WHERE pronamespace = 'pg_catalog'::regnamespace"
            )
        }
        casts = set(
            c.execute(
                "SELECT castsource::regtype::oid::bigint, s.typname, t.typname FROM pg_cast "
                "JOIN pg_type s ON s.oid = castsource JOIN pg_type t ON t.oid = casttarget WHERE castcontext = 'i'"
            )
        )
    assert [s for one in signatures().values() for s in one if (s.name, s.arguments, s.defaults) not in have] == []
    assert {(a, b) for a, bs in implicit().items() for b in bs} <= {(a, b) for _, a, b in casts}
