"""CAST of values as Postgres does it."""

from __future__ import annotations

from compiler.bind.coerce import number_of_field, untyped_number
from compiler.errors import InvalidSql, UnsupportedSql
from compiler.ir import types
from compiler.ir.scalar import Call, Lit, Scalar, cast
from compiler.ir.types import Type
from compiler.opaque import is_printed_number


def explicit_cast(x: Scalar, t: Type) -> Scalar:
    """CAST as Postgres does it, checked for casts Postgres does not have."""
    s = x.type
    if t == Type("bpchar") and (types.is_string(s) or s.name == "unknown"):
        t = types.BLANKS
    if is_printed_number(s) and types.is_number(t):
        return _number_of_text(cast(x, types.TEXT), t)
    if s.name == "unknown":
        if t.name == "numeric" and isinstance(x, Lit) and isinstance(x.value, str):
            if t.precision == types.MAX_PRECISION:
                return untyped_number(x)
            return cast(number_of_field(x, t), t)
        return cast(x, t)
    if t.name == "numeric" and t.scale == types.UNBOUNDED_SCALE and t.precision == types.MAX_PRECISION:
        if types.is_exact(s):
            return x if types.is_numeric(s) else cast(x, types.as_numeric(s))
        if types.is_float(s):
            return Call("cast", (x,), types.varying(types.numeric(38, 15)))
    if (
        s.name == "bool"
        and types.is_number(t)
        and t.name != "int4"
        or types.is_number(s)
        and t.name == "bool"
        and s.name != "int4"
    ):
        raise InvalidSql(f"cannot cast type {s} to {t}", code="cannot_coerce")
    if t.name in types.TEMPORALS | {"time", "interval"} and types.is_number(s):
        raise InvalidSql(f"cannot cast type {s} to {t}", code="cannot_coerce")
    return cast(x, t)


def _number_of_text(printed: Scalar, t: Type) -> Scalar:
    """A numeric that is kept as it is printed, as a number. Raises UnsupportedSql where that has no scale."""
    if t == types.numeric():
        raise UnsupportedSql(
            "cast to numeric of a column that is kept as text needs a scale",
            code="unsupported_cast",
            detail="Digits that no number here holds would be lost.",
            hint="Give it one, to which values are rounded: x::numeric(38, 12).",
        )
    return cast(cast(printed, types.numeric(types.MAX_PRECISION, 0)), t) if types.is_integer(t) else cast(printed, t)
