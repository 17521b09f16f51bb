"""What is refused is refused with a reason, in the words of the query."""

from __future__ import annotations

import pytest

from compiler.catalog import read_schema
from compiler.errors import CompilerBug, InvalidSql, UnsupportedSql
from compiler.ir.relation import Filter, Scan
from compiler.ir.scalar import Col, Outer, equal
from compiler.ir.types import INT4
from compiler.ir.verify import verify
from compiler.parse import parse_query
from compiler.view import compile_view

SCHEMA = "CREATE TABLE t (id int PRIMARY KEY, g int, b bytea, x text)"


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        ("SELECT FROM t", "without columns"),
        ("SELECT (t.*)::text AS x FROM t", "a whole row as a value"),
        ("SELECT (SELECT (t.*)::text) AS x FROM t", "a whole row as a value"),
        ("SELECT (SELECT (t.*)::text) FROM t", "a whole row as a value"),
        ("SELECT t AS x FROM t", "the whole row of"),
        ("SELECT length(x, 'UTF8') AS n FROM t", "does not exist"),
        ("SELECT length(b, 'LATIN1') AS n FROM t", "other than UTF8"),
        ("SELECT sum(g) OVER (ORDER BY id ROWS g PRECEDING) AS s FROM t", "must not contain variables"),
    ],
)
def test_the_reason_is_told(sql: str, reason: str) -> None:
    with pytest.raises((InvalidSql, UnsupportedSql), match=reason):
        compile_view("v", parse_query(sql), read_schema(SCHEMA))


def test_no_column_of_an_outer_query_is_left_after_normalization() -> None:
    rows = Scan("public.t", (Col("id", INT4),), ("id",))
    with pytest.raises(CompilerBug, match="Outer is left in Filter"):
        verify(Filter(rows, equal(Col("id", INT4), Outer("id", INT4))))
