"""Set-returning functions in FROM or SELECT: what columns each gives."""

from __future__ import annotations

from compiler.bind.coerce import coerce
from compiler.errors import InvalidSql, UnsupportedSql
from compiler.ir import types
from compiler.ir.scalar import Call, Lit, Scalar, cast
from compiler.ir.types import INT4, INT8, INTERVAL, JSONB, TEXT, TIMESTAMP, TIMESTAMPTZ, Type

Out = list[tuple[str, Type]]


def set_function(name: str, args: list[Scalar]) -> tuple[str, tuple[Scalar, ...], Out]:
    """(canonical function, arguments, output columns); raises UnsupportedSql."""
    if name == "generate_series":
        return _series(args)
    if name == "unnest":
        if len(args) > 1:
            raise UnsupportedSql("unnest of several arrays at once is not supported", code="unsupported_function",
                                 hint="Unnest one WITH ORDINALITY and subscript the others by it.")
        a = args[0]
        if a.type.name != "array":
            raise InvalidSql(f"function unnest({a.type}) does not exist", code="undefined_function")
        return "unnest", (a,), [("unnest", a.type.element or TEXT)]
    if name in ("jsonb_array_elements", "json_array_elements"):
        x = coerce(args[0], JSONB)
        return "json_elements", (x,), [("value", x.type)]
    if name in ("jsonb_array_elements_text", "json_array_elements_text"):
        return "json_elements_text", (coerce(args[0], JSONB),), [("value", TEXT)]
    if name in ("string_to_table", "regexp_split_to_table") and name == "string_to_table":
        arr = Call("string_to_array", (coerce(args[0], TEXT), coerce(args[1], TEXT)), types.array(TEXT))
        return "unnest", (arr,), [("string_to_table", TEXT)]
    if name == "jsonb_object_keys":
        return "json_keys", (coerce(args[0], JSONB),), [("jsonb_object_keys", TEXT)]
    if name in ("jsonb_each", "jsonb_each_text"):
        t = TEXT if name.endswith("text") else JSONB
        return "json_each_text" if t == TEXT else "json_each", (coerce(args[0], JSONB),), [("key", TEXT), ("value", t)]
    raise UnsupportedSql(f"function {name}() is not supported in FROM", code="unsupported_function")


def _series(args: list[Scalar]) -> tuple[str, tuple[Scalar, ...], Out]:
    start = args[0]
    if types.is_integer(start.type) or start.type.name == "unknown":
        t = INT8 if any(a.type.name == "int8" for a in args) else INT4
        step: Scalar = Lit(1, t) if len(args) < 3 else cast(args[2], t)
        return "series", (cast(args[0], t), cast(args[1], t), step), [("generate_series", t)]
    if start.type.name in types.TEMPORALS:
        if len(args) < 3:
            raise InvalidSql("generate_series of timestamps needs a step", code="undefined_function")
        t = TIMESTAMPTZ if start.type.name in ("timestamptz", "date") else TIMESTAMP
        if start.type.name == "timestamp" or (start.type.name == "date" and args[1].type.name == "timestamp"):
            t = TIMESTAMP
        return "series_time", (cast(args[0], t), cast(args[1], t), coerce(args[2], INTERVAL)), [("generate_series", t)]
    raise UnsupportedSql(f"generate_series over {start.type} is not supported", code="unsupported_function")
