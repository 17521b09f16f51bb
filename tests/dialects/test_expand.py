"""Macros put in place of their calls: each argument once, no variable of a lambda caught."""

from __future__ import annotations

import sqlglot

from dialects.expand import Macros, expand

MACROS: Macros = {
    "twice": (("x",), "x + x"),
    "added": (("l", "x"), "TRANSFORM(l, v -> v + x)"),
    "quadruple": (("y",), "twice(twice(y))"),
    "tagged": (("k",), "NAMED_STRUCT('k', k)"),
}


def expanded(sql: str) -> str:
    return expand(sqlglot.parse_one(sql, read="spark"), MACROS, "spark").sql("spark")


def test_an_argument_used_twice_is_computed_once() -> None:
    got = expanded("SELECT twice(f(a)) FROM t")
    assert got.upper().count("F(A)") == 1
    assert "TRANSFORM" in got


def test_a_column_is_put_where_it_is_used() -> None:
    assert expanded("SELECT twice(a) FROM t") == "SELECT (a + a) FROM t"


def test_an_arguments_variable_is_not_caught_by_the_bodys_lambda() -> None:
    got = expanded("SELECT TRANSFORM(a, v -> added(b, v)) FROM t")
    inner = sqlglot.parse_one(got, read="spark")
    names = [p.name for n in inner.find_all(sqlglot.exp.Lambda) for p in n.expressions]
    assert len(set(names)) == 2 and "v" in names


def test_macros_within_macros_are_expanded_too() -> None:
    got = expanded("SELECT quadruple(a) FROM t")
    assert "twice" not in got and "quadruple" not in got


def test_a_fields_name_is_not_a_variable() -> None:
    assert "AS k" in expanded("SELECT TRANSFORM(l, k -> tagged(k)) FROM t")
