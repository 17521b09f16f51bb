"""jsonb compared, searched and changed: by parts that every engine has, where the shape is known when the view is
compiled.

A jsonb value is the text that Postgres prints for it, so two are equal when their texts are, but for zeros at the
end of numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from compiler.bind.coerce import coerce
from compiler.errors import InvalidSql, UnsupportedSql
from compiler.formats import json_text
from compiler.ir import types
from compiler.ir.relation import Filter, Unnest, Values
from compiler.ir.scalar import (
    Call,
    Col,
    Lit,
    Outer,
    Scalar,
    case,
    cast,
    conj,
    is_null,
    null,
    read_literal,
    transform,
    walk,
)
from compiler.ir.subquery import ExistsSub, Sub
from compiler.ir.types import BOOL, INT4, JSONB, TEXT, Type

Fresh = Callable[[str], str]


def no(what: str, hint: str = "") -> UnsupportedSql:
    return UnsupportedSql(f"{what} is not supported", code="unsupported_function", hint=hint)


def step(x: Scalar, key: Scalar, as_text: bool) -> Scalar:
    """One step of a path: a key of an object or a place of an array."""
    t = TEXT if as_text else Type(x.type.name)
    if not isinstance(key, Lit):
        raise no("a path that is not a constant", "Use -> with the key.")
    return Call("json_step", (x, key, Lit(as_text, BOOL)), t)


def path(e: Scalar) -> list[str]:
    """The steps of a constant text[] path."""
    if isinstance(e, Lit) and isinstance(e.value, str):
        if e.type.name == "unknown":
            read_literal(e, types.array(TEXT))
        inside = e.value.strip().removeprefix("{").removesuffix("}")
        return [s.strip().strip('"') for s in inside.split(",")] if inside.strip() else []
    if isinstance(e, Call) and e.fn == "array" and all(isinstance(a, Lit) for a in e.args):
        return [str(a.value) for a in e.args]  # type: ignore[attr-defined]
    raise no("a path that is not a constant")


def typeof(x: Scalar) -> Scalar:
    return Call("json_typeof", (x,), TEXT)


def is_kind(x: Scalar, kind: str) -> Scalar:
    return Call("=", (typeof(x), Lit(kind, TEXT)), BOOL)


def read(e: Scalar) -> Any:
    """The value of a constant jsonb; raises UnsupportedSql where it is none."""
    if not isinstance(e, Lit) or not isinstance(e.value, str):
        raise no("@> with a right side that is not a constant", "Compare the parts: a -> 'key' = …")
    try:
        return json_text.read(e.value)
    except ValueError as x:
        raise InvalidSql(f'invalid input syntax for type json: "{e.value}"', code="invalid_text") from x


def contains(x: Scalar, part: Scalar, fresh: Fresh) -> Scalar:
    """x @> part, taken apart by the constant part; NULL where x is."""
    value = read(part)
    got = _contains(x, value, fresh)
    if not isinstance(value, (dict, list)):  # an array contains a scalar that is one of its elements
        got = Call("or", (got, _element(x, value, fresh)), BOOL)
    return case([(is_null(x), Lit(None, BOOL))], Call("coalesce", (got, Lit(False, BOOL)), BOOL), BOOL)


def _contains(x: Scalar, value: Any, fresh: Fresh) -> Scalar:
    if isinstance(value, dict):
        inside = [_contains(Call("json_get", (x, Lit(k, TEXT)), JSONB), v, fresh) for k, v in value.items()]
        return conj([is_kind(x, "object"), *(Call("coalesce", (p, Lit(False, BOOL)), BOOL) for p in inside)])
    if isinstance(value, list):
        return conj([is_kind(x, "array"), *(_element(x, v, fresh) for v in value)])
    return equal(x, Lit(_text(value), JSONB))


def _element(x: Scalar, value: Any, fresh: Fresh) -> Scalar:
    """An array has an element equal to a scalar, or one that contains an object or array."""
    if isinstance(value, (dict, list)):
        if any(isinstance(n, Sub) for n in walk(x)):
            raise no("@> with an object or array within an array, of a subquery", "Take the subquery in FROM.")
        items = case([(is_kind(x, "array"), x)], Lit(None, JSONB), JSONB)
        outer = transform(items, lambda n: Outer(n.name, n.type) if isinstance(n, Col) else None)
        item = Col(fresh("item"), JSONB)
        found = Filter(
            Unnest(Values((), ((),)), "json_elements", (outer,), (item,), None), _contains(item, value, fresh)
        )
        return ExistsSub(found)
    return Call("json_has_element", (x, Lit(_text(value), JSONB)), BOOL)


def _text(value: Any) -> str:
    return json_text.printed(value, lambda k: (len(k.encode()), k.encode()), str, False)


def equal(a: Scalar, b: Scalar) -> Scalar:
    return Call("json_equal", (a, b), BOOL)


def has_key(x: Scalar, key: Scalar) -> Scalar:
    """x ? key: a key of an object, a string in an array, or the string itself."""
    quoted = Call("json_quote", (key,), JSONB)
    found = Call(
        "or",
        (Call("json_has_key", (x, key), BOOL), Call("json_has_element", (x, quoted), BOOL), equal(x, quoted)),
        BOOL,
    )
    return case([(is_null(x), Lit(None, BOOL))], found, BOOL)


def put(x: Scalar, where: Scalar, new: Scalar, create: Scalar) -> Scalar:
    """jsonb_set along a constant path of keys; where the path leaves objects, nothing changes."""
    steps = path(where)
    if not isinstance(create, Lit) or any(s.lstrip("-").isdigit() for s in steps):
        raise no("jsonb_set at a place of an array")
    if isinstance(new, Lit) and new.value is None:
        return Lit(None, JSONB)
    null = Call("or", (is_null(x), is_null(new)), BOOL)
    return case([(null, Lit(None, JSONB))], _put(x, steps, new, bool(create.value)), JSONB)


def _put(x: Scalar, steps: list[str], new: Scalar, create: bool) -> Scalar:
    if not steps:
        return x
    key = Lit(steps[0], TEXT)
    has = Call("json_has_key", (x, key), BOOL)
    inner = new if len(steps) == 1 else _put(Call("json_get", (x, key), JSONB), steps[1:], new, create)
    changed = Call("json_concat", (x, Call("json_pair", (key, inner), JSONB)), JSONB)
    may = is_kind(x, "object") if create and len(steps) == 1 else conj([is_kind(x, "object"), has])
    return case([(may, changed)], x, JSONB)


def minus(x: Scalar, what: Scalar) -> Scalar:
    """x - key, x - place, x - keys."""
    if types.is_integer(what.type):
        return Call("json_minus_place", (x, coerce(what, INT4)), JSONB)
    keys = what if what.type.name == "array" else Call("array", (cast(what, TEXT),), types.array(TEXT))
    if isinstance(keys, Lit):
        keys = Call("array", tuple(Lit(k, TEXT) for k in path(keys)), types.array(TEXT))
    rest = Call("json_minus", (x, keys), JSONB)
    return rest if what.type.name == "array" else case([(is_null(what), null(JSONB))], rest, JSONB)


def minus_path(x: Scalar, where: Scalar) -> Scalar:
    """x #- path, along keys."""
    steps = path(where)
    if len(steps) == 1 and not steps[0].lstrip("-").isdigit():
        return case([(is_kind(x, "object"), minus(x, Lit(steps[0], TEXT)))], x, JSONB)
    if any(s.lstrip("-").isdigit() for s in steps) or not steps:
        raise no("#- at a place of an array")
    key = Lit(steps[0], TEXT)
    inner = minus_path(Call("json_get", (x, key), JSONB), Lit("{" + ",".join(steps[1:]) + "}", TEXT))
    changed = Call("json_concat", (x, Call("json_pair", (key, inner), JSONB)), JSONB)
    return case([(conj([is_kind(x, "object"), Call("json_has_key", (x, key), BOOL)]), changed)], x, JSONB)
