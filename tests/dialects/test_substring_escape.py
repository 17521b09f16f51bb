"""SUBSTRING with an escape is SQL's own kind of pattern: refused by name, not read as a regular expression."""

from __future__ import annotations

import pytest

from compiler.catalog import read_schema
from compiler.errors import UnsupportedSql
from compiler.parse import parse_query
from compiler.view import compile_view

SCHEMA = "CREATE TABLE d (k int PRIMARY KEY, t text);"


def test_a_pattern_with_an_escape_is_refused_by_name() -> None:
    with pytest.raises(UnsupportedSql, match="SUBSTRING with a pattern and an escape"):
        compile_view(
            "v", parse_query("""SELECT substring(t FROM '%#"l_#"%' FOR '#') AS s FROM d"""), read_schema(SCHEMA)
        )


@pytest.mark.parametrize(
    "sql", ["SELECT substring(t FROM 'l+') AS s FROM d", "SELECT substring(t FROM 2 FOR 3) AS s FROM d"]
)
def test_other_forms_are_accepted(sql: str) -> None:
    assert compile_view("v", parse_query(sql), read_schema(SCHEMA)).outputs
