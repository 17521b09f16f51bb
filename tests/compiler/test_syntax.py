"""Syntax errors are Postgres' own: its words and its place."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from compiler import syntax
from compiler.catalog import read_schema
from compiler.errors import InvalidSql, Place, UnsupportedSql
from compiler.parse import locate, parse_query, parse_view
from compiler.view import compile_view
from tests.connectors.fresh import fresh_database

HEAD = "CREATE MATERIALIZED VIEW v WITH (fillfactor = 50) AS\n"
WRONG = [
    "SELECT a FROM (t",
    "SELECT a FROM t WHERE a = 1 GIVE UP",
    "SELECT a, FROM t",
    "SELECT a FROM t WHERE",
    "SELEC a FROM t",
    "",
    "SELECT 'abc",
    'SELECT "" FROM t',
    "SELECT a FROM t ORDER BY a ORDER BY a",
    "SELECT a FROM t GROUP a",
    "SELECT CASE WHEN a THEN 1 FROM t",
    "SELECT a FROM t JOIN u",
    "SELECT é, 'ü' FROM t WHERE )",
    "SELECT * EXCLUDE (a) FROM t",
    "SELECT a FROM t QUALIFY row_number() OVER () = 1",
    "SELECT a == 1 FROM t x y",
    "SELECT a FROM t LIMIT 1, 2",
    "SELECT [1, 2]",
    "SELECT {'a': 1}",
    "SELECT a FROM t; SELEC",
    "SELECT a FROM 't'",
    "SELECT `a` FROM t WHERE",
    "SELECT 1x FROM t",
    "SELECT a FROM t -- )\nWHERE a IN ()",
    "SELECT /* a",
    "SELECT $$a",
    "SELECT U&'\\0'",
]


@pytest.fixture(scope="module")
def source(server: str) -> Iterator[psycopg.Connection]:
    with fresh_database(server, "syntax") as dsn, psycopg.connect(dsn, autocommit=True) as c:
        yield c


@pytest.mark.parametrize("query", WRONG)
def test_a_syntax_error_is_told_as_postgres_tells_it(source: psycopg.Connection, query: str) -> None:
    with pytest.raises(psycopg.errors.SyntaxError) as theirs:
        source.execute(HEAD + query)
    with pytest.raises(InvalidSql) as mine:
        parse_view(HEAD + query)
    assert mine.value.message == theirs.value.diag.message_primary
    assert (mine.value.at or 0) + 1 == int(theirs.value.diag.statement_position or 0)


def test_a_view_may_be_called_by_a_word_of_the_grammar_and_its_errors_keep_their_place() -> None:
    text = "/* select */ CREATE MATERIALIZED VIEW select AS SELECT a FROM t WHERE )"
    with pytest.raises(InvalidSql) as e:
        parse_view(text)
    assert e.value.at == text.index(")")
    assert parse_view(text.replace(" WHERE )", "")).name == "select"


def test_options_of_a_view_are_syntax_of_postgres() -> None:
    options = "engine = 'duckdb', refresh = 'incremental strict'"
    view = parse_view(f"CREATE MATERIALIZED VIEW v (a, b) WITH ({options}) AS SELECT 1, 2;")
    assert (view.name, view.options) == ("v", {"engine": "duckdb", "refresh": "incremental strict"})


def test_what_postgres_takes_and_the_tree_has_not_is_not_supported() -> None:
    with pytest.raises(UnsupportedSql, match="uses syntax that is not supported"):
        parse_query("SELECT order_status 'new' AS x")


@pytest.mark.parametrize("alias", ["m", "d", "h", "s", "y", "w", "q", "months", "week"])
def test_a_word_after_interval_is_an_alias(alias: str) -> None:
    plan = compile_view("v", parse_query(f"SELECT x::interval {alias} FROM t"), read_schema("CREATE TABLE t (x text)"))
    assert [name for name, _ in plan.outputs] == [alias]


def test_without_the_parser_the_text_is_refused_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(syntax, "pgparse", None)
    with pytest.raises(InvalidSql, match="does not parse") as e:
        parse_view("CREATE MATERIALIZED VIEW v AS SELECT a FROM (t", "v.sql")
    assert "line" in e.value.detail


def test_a_place_is_shown_as_psql_shows_it() -> None:
    text = "-- one\nCREATE MATERIALIZED VIEW v AS\n\tSELECT a FROM nope"
    e = InvalidSql('relation "nope" does not exist')
    e.at = text.index("nope")
    assert str(locate(e, "views/v.sql", text)) == (
        'views/v.sql:3:16: relation "nope" does not exist\nLINE 3:  SELECT a FROM nope\n                       ^'
    )


@pytest.mark.parametrize("before", [0, 59, 61, 300])
@pytest.mark.parametrize("after", [0, 60, 300])
def test_of_a_long_line_the_part_around_the_place_is_shown(before: int, after: int) -> None:
    text = "x" * before + "?" + "y" * after
    line, caret = Place.of("f", text, before).shown().split("\n")
    assert line[len(caret) - 1] == "?" and len(line) <= 130
