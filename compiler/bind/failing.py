"""What may fail on a value: engines compute it for rows, too, that a condition beside it leaves out."""

from __future__ import annotations

from dataclasses import replace

from compiler.ir import types
from compiler.ir.relation import Agg
from compiler.ir.scalar import Call, Lit, Scalar, case, conj, walk
from compiler.ir.types import BOOL, Type

TOTAL = frozenset(
    ("=", "<>", "<", "<=", ">", ">=", "and", "or", "not", "same", "in", "like", "ilike", "regex", "iregex")
    + ("is_null", "is_true", "is_false", "num_nulls", "num_nonnulls", "isfinite")
    + ("case", "coalesce", "nullif", "greatest", "least", "enum_ordinal", "enum_ordinals")
    + ("/", "%", "neg", "sign", "ceil", "floor", "bit_and", "bit_or", "bit_xor")
    + ("||", "concat", "concat_ws", "lower", "upper", "initcap", "length", "octet_length", "btrim", "ltrim", "rtrim")
    + ("left", "right", "reverse", "replace", "starts_with", "strpos", "translate", "md5", "ascii", "with_blanks")
    + ("array", "array_get", "array_has", "array_length", "array_to_string", "cardinality", "array_position")
    + ("json_get", "json_text", "json_has_key", "composite_field", "date_trunc", "at_zone")
)  # functions that give a value, or NULL, for all values; division by zero gives NULL here
SUMS = frozenset(("+", "-", "*"))  # integers and times leave the range of their type, in practice no others do


def may_fail(e: Scalar) -> bool:
    """Whether computing it may fail on some value."""
    return any(isinstance(x, Call) and not _total(x) for x in walk(e))


def _total(c: Call) -> bool:
    if c.fn == "cast":
        return isinstance(c.args[0], Lit) or _fits(c.args[0].type, c.type)
    if c.fn in SUMS:
        return types.is_numeric(c.type) or types.is_float(c.type)
    return c.fn in TOTAL


def _fits(a: Type, b: Type) -> bool:
    """Whether every value of one type is one of the other, or is rounded to one."""
    if types.is_string(b) or a.name == b.name and not types.is_numeric(a) and a.name != "array":
        return True
    if types.is_float(b):
        return types.is_number(a) and (b.name == "float8" or not types.is_float(a))
    if types.is_integer(b):
        return a.name == "bool" or types.is_integer(a) and types.WIDTHS[a.name] <= types.WIDTHS[b.name]
    if types.is_numeric(b) and types.is_exact(a):
        (p, s), (q, r) = types.digits(a), types.digits(b)
        return p - s <= q - r
    return a.name in types.TEMPORALS and b.name in ("timestamp", "timestamptz") and a.name != "date"


def under_filter(a: Agg) -> Agg:
    """The aggregate, with what may fail computed for rows alone that its FILTER lets through."""
    keep = a.filter
    if keep is None:
        return a
    order = tuple(replace(o, expr=_guarded(keep, o.expr)) for o in a.order)
    return replace(a, args=tuple(_guarded(keep, x) for x in a.args), order=order)


def _guarded(keep: Scalar, e: Scalar) -> Scalar:
    return case([(keep, e)], Lit(None, e.type), e.type) if may_fail(e) else e


def in_order(parts: list[Scalar]) -> Scalar:
    """AND of conditions of which a later one may fail on what an earlier one leaves out."""
    out = parts[-1]
    for p in reversed(parts[:-1]):
        both = conj([p, out])
        out = case([(Call("is_false", (p,), BOOL), Lit(False, BOOL))], both, BOOL) if may_fail(out) else both
    return out
