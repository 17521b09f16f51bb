"""What files hold for types they have no words for."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pytest

from compiler.ir import types
from compiler.ir.types import Type
from connectors.duckdb.values import exported
from connectors.exported import converted, declared, packed_shapes, shape, shapes, shared, unpacked_shapes
from tests.memory import warehouse


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ('{"b": 1, "a": [2, {"d": 1.50, "c": null}]}', '{"a": [2, {"c": null, "d": 1.5}], "b": 1}'),
        ('{"n": 12345678901234567890.123456789}', '{"n": 12345678901234567890.123456789}'),
        (None, None),
    ],
)
def test_objects_have_their_keys_in_order_and_numbers_their_digits(text: str | None, written: str | None) -> None:
    assert converted(pa.array([text], pa.string()), shape([text])).to_pylist() == [written]


@pytest.mark.parametrize(
    ("element", "text", "written"),
    [
        (types.INT8, "[9007199254740993, null]", [9007199254740993, None]),
        (types.numeric(20, 2), "[1.50]", [Decimal("1.50")]),
        (types.TEXT, '["a", null]', ["a", None]),
        (types.BOOL, "[true]", [True]),
    ],
)
def test_arrays_of_one_type_are_lists(element: Type, text: str, written: list[object]) -> None:
    assert converted(pa.array([text], pa.string()), declared(Type("jsonb", element=element))).to_pylist() == [written]


@pytest.mark.parametrize(
    ("texts", "written"),
    [
        (["1", "2.50", "null", None], [1.0, 2.5, None, None]),
        (["1", "7"], [1, 7]),
        (['"a"', '"b c"'], ["a", "b c"]),
        (["true", "null"], [True, None]),
        (['{"b": 1, "a": 2}', "null"], ['{"a": 2, "b": 1}', None]),
        (["[1, 2]", "[]", "[null, 3]"], [[1, 2], [], [None, 3]]),
        (["[[1], [2, 3]]", "[]"], [[[1], [2, 3]], []]),
        (['[{"b": 1, "a": "x"}]', "[]"], [['{"a": "x", "b": 1}'], []]),
        (["12345678901234567890.123"], [1.2345678901234567e19]),
        ([None], [None]),
        ([], []),
        (["1", '"a"', "2.50", "[1]", "123456789012345678901"], ["1", '"a"', "2.5e0", "[1]", "1.2345678901234568e+20"]),
        (["1", "[1]"], ["1", "[1]"]),
        (['{"a": 1}', '"x"'], ['{"a": 1}', '"x"']),
        (['["a"]', "[1]"], ['["a"]', "[1]"]),
    ],
)
def test_a_column_has_the_type_its_values_share(texts: list[str | None], written: list[object]) -> None:
    column = pa.array(texts, pa.string())
    batch = pa.RecordBatch.from_arrays([column], names=["j"])
    apart = [shapes(batch.slice(i, 1), ["j"], {})["j"] for i in range(len(texts))]
    kind = shapes(batch, ["j"], {})["j"]
    for other in apart:
        assert shared(kind, other) == kind
    assert unpacked_shapes([packed_shapes(batch.slice(i, 1)).column(0)[0].as_py() for i in range(len(texts))], 1) == [
        kind
    ]
    assert converted(column, kind).to_pylist() == written


@pytest.mark.parametrize(
    ("t", "value", "written"),
    [
        (types.FLOAT4, "0.1::FLOAT", 0.1),
        (types.FLOAT4, "12.34::FLOAT", 12.34),
        (types.FLOAT4, "'-inf'::FLOAT", float("-inf")),
        (types.FLOAT4, "NULL::FLOAT", None),
        (types.FLOAT4, "255455.625::FLOAT", 255455.62),
        (types.FLOAT4, "1234567890::FLOAT", 1234567900.0),
        (types.array(types.FLOAT4), "[0.1, NULL]::FLOAT[]", [0.1, None]),
    ],
)
def test_a_real_has_the_digits_that_are_shown(t: Type, value: str, written: object) -> None:
    got = warehouse([]).execute(f"SELECT {exported('x', t)} FROM (SELECT {value} AS x)").fetchone()
    assert got == (written,)
