"""Rows of a table without a key, as often as their weight says, whatever their columns are called."""

from __future__ import annotations

import pyarrow as pa

from connectors.spark.reading import repeated


def test_columns_keep_their_names() -> None:
    got = repeated(pa.table({"n": [7, 8, 9], 'a"b': ["x", "y", "z"], "_weight": [2, 1, 0]}))
    assert got.column_names == ["n", 'a"b']
    assert sorted(got.to_pylist(), key=str) == [{"n": 7, 'a"b': "x"}, {"n": 7, 'a"b': "x"}, {"n": 8, 'a"b': "y"}]
