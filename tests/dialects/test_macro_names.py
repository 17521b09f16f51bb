"""A macro is a file; a view's columns may have the names that macros use within: k, v, s."""

from __future__ import annotations

import string
from pathlib import Path

import duckdb
import pytest

from dialects import macros

CALLS = (
    """pg.json_concat('{"b": 1}', '{"1": "ab"}')""",
    """pg.json_minus('{"1": "ab", "c": 2}', ['1'])""",
    """pg.json_minus('["a", "b"]', ['a'])""",
    """pg.json_minus_place('["a", "b"]', 1)""",
    "pg.json_elements('[1, 2]')",
    "pg.json_has_element('[1, 2]', '1')",
    "pg.json_sorted(['b', 'aa', 'a'])",
    """pg.json_at('{"a": {"b": 1}}', pg.json_key('a'))""",
    "pg.interval_text(INTERVAL '40 days 01:02:03.5')",
    "pg.interval_over(INTERVAL '3 months', 2)",
    "pg.interval_times(INTERVAL '3 months', 1.5)",
    "pg.float_text(1e20)",
    "pg.exact(0.1)",
    "list_transform(['a', 'b c'], lambda v: pg.array_quoted(v))",
    "list_transform(['a'], lambda v: pg.pad_right(v, 3, 'x'))",
    "pg.initcap('ab cd')",
    "pg.percentile_at([1.0, 2.0, 4.0], 0.5)",
    "pg.any_of([NULL, TRUE])",
    "pg.slice([1, 2, 3], 2, 3)",
)


@pytest.fixture(scope="module")
def con() -> duckdb.DuckDBPyConnection:
    con = duckdb.connect()
    con.execute("CREATE SCHEMA pg")
    for statement in macros.created("duckdb"):
        con.execute(statement)
    for letter in string.ascii_lowercase:
        for i, value in enumerate(("'zz'", "7", "['q']", "{'k': 1, 'n': 2}")):
            con.execute(f"CREATE TABLE {letter}_{i} AS SELECT {value} AS {letter}")
    return con


@pytest.mark.parametrize("call", CALLS)
def test_a_column_with_the_name_of_a_variable_changes_nothing(con: duckdb.DuckDBPyConnection, call: str) -> None:
    want = con.execute(f"SELECT {call}").fetchall()[0][0]
    for letter in string.ascii_lowercase:
        for i in range(4):
            (got,) = con.execute(f"SELECT s.{letter}, {call} FROM {letter}_{i} AS s").fetchall()
            assert got[1] == want, letter


@pytest.mark.parametrize("engine", ["duckdb", "spark"])
def test_a_macro_is_the_file_of_its_name(engine: str) -> None:
    folder = Path(macros.__file__).parent / engine / "macros"
    assert {n.removeprefix("pg.") for n in macros.read(engine)} == {f.stem for f in folder.iterdir()}
