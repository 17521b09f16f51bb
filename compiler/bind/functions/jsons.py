"""Functions that take JSON apart or put parts into it."""

from __future__ import annotations

from compiler.bind import json_edit
from compiler.bind.coerce import coerce
from compiler.bind.functions.rules import Rule, fixed
from compiler.ir import types
from compiler.ir.scalar import Lit, Scalar, cast
from compiler.ir.types import INT4, JSON, JSONB, TEXT, Type


def _path(kind: Type, as_text: bool) -> Rule:
    def rule(args: list[Scalar]) -> Scalar:
        x, keys = coerce(args[0], kind), args[1:]
        for i, k in enumerate(keys):
            last = i == len(keys) - 1
            x = json_edit.step(x, cast(k, TEXT), as_text and last)
        return x

    return rule


RULES: dict[str, Rule] = {
    "jsonb_array_length": fixed("json_array_length", INT4, JSONB),
    "json_array_length": fixed("json_array_length", INT4, types.JSON),
    "jsonb_typeof": fixed("json_typeof", TEXT, JSONB),
    "json_typeof": fixed("json_typeof", TEXT, JSON),
    "jsonb_extract_path": _path(JSONB, False),
    "json_extract_path": _path(JSON, False),
    "jsonb_extract_path_text": _path(JSONB, True),
    "json_extract_path_text": _path(JSON, True),
    "jsonb_object_field": _path(JSONB, False),
    "jsonb_object_field_text": _path(JSONB, True),
    "jsonb_set": lambda a: json_edit.put(
        coerce(a[0], JSONB),
        a[1],
        coerce(a[2], JSONB),
        coerce(a[3], types.BOOL) if len(a) > 3 else Lit(True, types.BOOL),
    ),
}
