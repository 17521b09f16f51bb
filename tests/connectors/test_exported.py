"""JSON in exported files keeps its digits."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pytest

from compiler.ir import types
from compiler.ir.types import Type
from connectors.exported import converted


@pytest.mark.parametrize(("text", "written"), [
    ('{"b": 1, "a": [2, {"d": 1.50, "c": null}]}', '{"a": [2, {"c": null, "d": 1.5}], "b": 1}'),
    ('{"n": 12345678901234567890.123456789}', '{"n": 12345678901234567890.123456789}'),
    ("123456789012345678901234567890", "123456789012345678901234567890"), ('"ż"', '"\\u017c"'), ("null", "null"), (None, None)])
def test_objects_have_their_keys_in_order_and_numbers_their_digits(text: str | None, written: str | None) -> None:
    assert converted(pa.array([text], pa.string()), types.JSONB).to_pylist() == [written]


@pytest.mark.parametrize(("element", "text", "written"), [
    (types.INT8, "[9007199254740993, null]", [9007199254740993, None]), (types.numeric(20, 2), "[1.50]", [Decimal("1.50")]),
    (types.TEXT, '["a", null]', ["a", None]), (types.BOOL, "[true]", [True]), (types.JSONB, '[{"b": 1, "a": "x"}]', ['{"a": "x", "b": 1}'])])
def test_arrays_of_one_type_are_lists(element: Type, text: str, written: list[object]) -> None:
    assert converted(pa.array([text], pa.string()), Type("jsonb", element=element)).to_pylist() == [written]
