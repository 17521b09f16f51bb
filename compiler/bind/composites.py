"""Composite values, which are carried as Postgres prints them: their fields are read from that text."""

from __future__ import annotations

from compiler.errors import InvalidSql, UnsupportedSql
from compiler.ir.scalar import Call, Lit, Scalar, cast, conj, is_null, negate, null
from compiler.ir.types import BOOL, DATE, INT4, TEXT, Field, Type, numeric
from compiler.opaque import varies

FIELD = "composite_field"  # (text, which, of how many), counted from 1: its text, NULL where it is


def is_composite(t: Type) -> bool:
    """Whether the fields of a type are known."""
    return bool(t.fields)


def fields(e: Scalar) -> list[tuple[str, Scalar]]:
    """The fields of a composite value, each of its type; NULL where there is no value."""
    return [(f.name, _field(e, i, f)) for i, f in enumerate(e.type.fields, 1)]


def field(e: Scalar, name: str) -> Scalar:
    """One of them. Raises InvalidSql where the type has none of this name."""
    for i, f in enumerate(e.type.fields, 1):
        if f.name == name:
            return _field(e, i, f)
    raise InvalidSql(f'column "{name}" not found in data type {e.type}', code="undefined_column")


def _field(e: Scalar, which: int, f: Field) -> Scalar:
    if f.type.name == "array":
        raise UnsupportedSql(
            f'the field "{f.name}" of {e.type}, which is an array, is not supported',
            code="unsupported_type",
            detail=f"A value of type {e.type} is carried as the text Postgres prints for it.",
            hint="Compute it in the source, into a column of its own.",
        )
    shown = _shown(e, which)
    if f.type == numeric():
        shown = Call("kept_number", (shown,), TEXT)
    return cast(shown if f.type != DATE else Call("era_of_date", (shown,), TEXT), f.type)


def _shown(e: Scalar, which: int) -> Scalar:
    return Call(FIELD, (cast(e, TEXT), Lit(which, INT4), Lit(len(e.type.fields), INT4)), TEXT)


def null_test(e: Scalar, negated: bool) -> Scalar:
    """IS [NOT] NULL: whether every field is, or none. A value that is not there has none that is not NULL."""
    tests = [is_null(_shown(e, i)) for i in range(1, len(e.type.fields) + 1)]
    return conj([negate(t) for t in tests] if negated else tests)


def operator(op: str, a: Scalar, b: Scalar) -> Scalar:
    """= and <> of two values of one type, NULL where one is not there; fields that are both NULL are equal. Raises
    UnsupportedSql for their order, and where equal values may be written in two ways."""
    literal = next((x for x in (a, b) if x.type.name == "unknown"), None)
    if isinstance(literal, Lit) and literal.value is None:
        return null(BOOL)
    if literal is not None:
        raise UnsupportedSql(
            f"{op} of {(b if literal is a else a).type} and a literal is not supported",
            code="unsupported_operator",
            hint="Compare its fields: (a).x.",
        )
    if a.type != b.type:
        raise InvalidSql(f"operator does not exist: {a.type} {op} {b.type}", code="undefined_operator")
    if op not in ("=", "<>") or varies(a.type):
        raise UnsupportedSql(
            f"{op} of {a.type} is not supported",
            code="unsupported_operator",
            hint="Compare its fields: (a).x.",
        )
    return Call(op, (cast(a, TEXT), cast(b, TEXT)), BOOL)
