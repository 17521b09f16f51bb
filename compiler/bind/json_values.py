"""JSON values made from SQL's: to_json, build functions and the pieces of JSON aggregates, as text in Postgres' form.

A jsonb value is kept as the text Postgres prints for it. An array made by an aggregate remembers the type of its
elements.
"""

from __future__ import annotations

import json

from compiler.bind.coerce import coerce, no_function, padded
from compiler.bind.composites import fields, is_composite
from compiler.errors import InvalidSql, UnsupportedSql
from compiler.ir import types
from compiler.ir.scalar import Call, Lit, Scalar, case, cast, is_null, null
from compiler.ir.types import BOOL, INT4, JSON, JSONB, TEXT, Type
from compiler.opaque import is_printed_number

NULL = Lit("null", TEXT)
AGGREGATES = {"json_agg": JSON, "jsonb_agg": JSONB}
OBJECTS = {"json_object_agg": JSON, "jsonb_object_agg": JSONB}


def text(*parts: Scalar | str) -> Scalar:
    """The parts joined; NULL when one is."""
    out: Scalar | None = None
    for p in parts:
        x = Lit(p, TEXT) if isinstance(p, str) else p
        out = x if out is None else Call("||", (out, x), TEXT)
    assert out is not None
    return out


def from_shown(shown: Scalar, target: Type) -> Scalar:
    """A text that is in Postgres' form as JSON: unlike a user's cast, nothing to warn of."""
    return Call("json_made", (shown,), target) if target.name == "jsonb" else cast(shown, target)


def element(e: Scalar, target: Type) -> Scalar:
    """A value as JSON text; 'null' for NULL."""
    return Call("coalesce", (value(e, target), NULL), TEXT)


def value(e: Scalar, target: Type) -> Scalar:
    """A value as JSON text; NULL for NULL."""
    e = padded(coerce(e, TEXT))
    t = e.type
    if is_composite(t):
        return case([(is_null(e), null(TEXT))], cast(row(target, fields(e)), TEXT), TEXT)
    if t == types.numeric():
        raise UnsupportedSql(
            "the digits of a numeric without a scale in JSON depend on how each value was written",
            code="unsupported_cast",
            hint="Round it first: round(x, 2), or give the column a scale: numeric(12, 2).",
        )
    if (
        types.is_float(t) and target.name == "jsonb"
    ):  # a numeric there, made of the digits that are shown, and zero has no sign
        digits = e if t == types.FLOAT8 else cast(cast(e, TEXT), types.FLOAT8)
        e = Call("+", (digits, Lit("0", types.FLOAT8)), types.FLOAT8)
    if types.is_float(t):
        shown = cast(e, TEXT)
        return _number(shown, Call("number_plain", (shown,), TEXT) if target.name == "jsonb" else shown)
    if is_printed_number(t):  # of any number of digits, in jsonb too
        return _number(cast(e, TEXT), cast(e, TEXT))
    if types.is_number(t) or t.name == "bool":
        return cast(e, TEXT)
    if t.name in ("json", "jsonb"):
        if t.name == "json" and target.name == "jsonb":
            raise UnsupportedSql(
                "json within jsonb is not supported", code="unsupported_function", hint="Cast the column in the source."
            )
        return cast(e, TEXT)
    if t.name in ("timestamp", "timestamptz"):
        return text('"', _moment(e), '"')
    if t.name == "array":
        if t.element == types.BOOL:
            e = cast(e, types.array(TEXT))
        elif t.element is None or not (types.is_exact(t.element) or types.is_string(t.element)):
            raise UnsupportedSql(f"{t} as JSON is not supported", code="unsupported_function")
        elif types.is_string(t.element):
            e = Call(
                "json_list", (Call("array_padded", (e,), t) if types.is_padded(t.element) else e,), types.array(TEXT)
            )
        inner = Call("array_to_string", (e, Lit(", " if target.name == "jsonb" else ",", TEXT), NULL), TEXT)
        return text("[", inner, "]")
    return Call("json_quote", (cast(e, TEXT),), TEXT)


def _number(shown: Scalar, otherwise: Scalar) -> Scalar:
    """A number's text as JSON, which has no NaN and no infinity."""
    special = Call("in", (shown, *(Lit(x, TEXT) for x in ("NaN", "Infinity", "-Infinity"))), types.BOOL)
    return case([(special, text('"', shown, '"'))], otherwise, TEXT)


def _moment(e: Scalar) -> Scalar:
    """A time as JSON has it: 2024-02-29T10:00:00+00:00, 0044-03-15T10:00:00 BC, infinity."""
    shown, zone = cast(e, TEXT), ":00" if e.type.name == "timestamptz" else ""

    def replaced(x: Scalar, old: str, new: str) -> Scalar:
        return Call("replace", (x, Lit(old, TEXT), Lit(new, TEXT)), TEXT)

    joined = replaced(replaced(shown, " BC", ""), " ", "T")
    era = Call("=", (Call("right", (shown, Lit(3, INT4)), TEXT), Lit(" BC", TEXT)), BOOL)
    before = case([(era, text(joined, f"{zone} BC"))], text(joined, zone) if zone else joined, TEXT)
    return case([(Call("isfinite", (e,), BOOL), before)], shown, TEXT) if zone else before


def to_json(target: Type, args: list[Scalar]) -> Scalar:
    (x,) = args
    if x.type.name == "unknown":
        raise InvalidSql(
            "could not determine polymorphic type because input has type unknown", code="datatype_mismatch"
        )
    return from_shown(value(x, target), target)


def array_to_json(target: Type, args: list[Scalar]) -> Scalar:
    if args[0].type.name not in ("array", "unknown"):
        raise no_function("array_to_json", args)
    return to_json(target, args)


def build_array(target: Type, args: list[Scalar]) -> Scalar:
    parts: list[Scalar | str] = ["["]
    for i, a in enumerate(args):
        parts += [", "] * (i > 0) + [element(a, target)]
    return from_shown(text(*parts, "]"), Type(target.name, element=_common(args)))


def build_object(target: Type, args: list[Scalar]) -> Scalar:
    """jsonb orders keys by length and then by bytes, and keeps the last of equal ones."""
    if len(args) % 2:
        raise InvalidSql("argument list must have even number of elements", code="invalid_parameter_value")
    pairs: list[tuple[str, Scalar]] = []
    for k, v in zip(args[::2], args[1::2], strict=True):
        if not isinstance(k, Lit):
            return _of_computed_keys(target, args)
        if k.value is None:
            raise InvalidSql("argument 1: key must not be null", code="null_value_not_allowed")
        pairs.append((str(k.value), v))
    if target.name == "jsonb":
        pairs = sorted(dict(pairs).items(), key=lambda p: (len(p[0].encode()), p[0].encode()))
    between = ": " if target.name == "jsonb" else " : "
    parts: list[Scalar | str] = ["{"]
    for i, (key, v) in enumerate(pairs):
        parts += [(", " if i else "") + _quoted(key) + between, element(v, target)]
    return from_shown(text(*parts, "}"), target)


def _of_computed_keys(target: Type, args: list[Scalar]) -> Scalar:
    members = [member(cast(padded(k), TEXT), v, target) for k, v in zip(args[::2], args[1::2], strict=True)]
    if target == JSON:
        return cast(text("{", *[x for m in members for x in (", ", m)][1:], "}"), target)
    objects: list[Scalar] = [from_shown(text("{", m, "}"), target) for m in members]
    whole = objects[0]
    for o in objects[1:]:
        whole = Call("json_concat", (whole, o), JSONB)
    return whole


def member(key: Scalar, v: Scalar, target: Type) -> Scalar:
    """A member of an object, as text."""
    return text(Call("json_quote", (key,), TEXT), ": " if target.name == "jsonb" else " : ", element(v, target))


def object_of(target: Type, members: Scalar) -> Scalar:
    """The object of these members: json's as joined texts, jsonb's as a list of texts, of which the first of equal
    keys is kept."""
    return cast(text("{ ", members, " }"), target) if target == JSON else Call("json_members", (members,), JSONB)


def row(target: Type, columns: list[tuple[str, Scalar]]) -> Scalar:
    """A row of a table as an object."""
    if target.name == "jsonb":
        return build_object(target, [x for n, c in columns for x in (Lit(n, TEXT), c)])
    parts: list[Scalar | str] = []
    for i, (n, c) in enumerate(columns):
        parts += [("," if i else "{") + _quoted(n) + ":", element(c, target)]
    return cast(text(*parts, "}"), JSON)


def array_of(target: Type, items: Scalar, element: Type) -> Scalar:
    """The array whose elements' texts are joined in `items`; NULL when that is."""
    return from_shown(text("[", items, "]"), Type(target.name, element=element))


def array_of_values(target: Type, items: Scalar) -> Scalar:
    """The JSON array of an SQL array's elements."""
    return from_shown(value(items, JSONB), Type(target.name, element=items.type.element))


def _common(args: list[Scalar]) -> Type | None:
    return args[0].type if args and all(a.type == args[0].type for a in args) else None


def _quoted(key: str) -> str:
    return json.dumps(key, ensure_ascii=False)
