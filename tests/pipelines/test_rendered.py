"""Answers as tables, CSV and JSON: each value under its own column, NULL told from nothing."""

from __future__ import annotations

import json

import pyarrow as pa

from pipelines.asking.ask import render

TWICE = pa.Table.from_arrays([pa.array([1, None]), pa.array(["a", ""]), pa.array([3, 4])], names=["n", "n", "m"])


def test_columns_of_one_name_keep_their_values() -> None:
    assert render(TWICE, "csv") == 'n,n,m\n1,a,3\n,"",4'
    assert json.loads(render(TWICE, "json").splitlines()[0]) == {"n": 1, "n_1": "a", "m": 3}
    assert render(TWICE, "table").splitlines()[2] == "1 | a | 3"


def test_a_name_that_is_made_is_no_other_column() -> None:
    t = pa.Table.from_arrays([pa.array([1]), pa.array([2]), pa.array([3])], names=["n", "n", "n_1"])
    assert json.loads(render(t, "json")) == {"n": 1, "n_2": 2, "n_1": 3}


def test_csv_quotes_what_needs_it() -> None:
    t = pa.table({"a b": ['x"y', "a,b", "two\nlines", " edge", None]})
    assert render(t, "csv") == 'a b\n"x""y"\n"a,b"\n"two\nlines"\n" edge"\n'


def test_no_columns_and_no_rows() -> None:
    assert render(pa.table({"a": pa.array([], pa.int64())}), "table") == "a\n-\n(0 rows)"
    assert render(pa.table({"a": pa.array([], pa.int64())}), "csv") == "a"
