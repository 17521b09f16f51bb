"""Operators on typed operands: result types and coercions as Postgres has them."""

from __future__ import annotations

from compiler.bind import composites, ranges
from compiler.bind.coerce import coerce, untyped_number, without_blanks
from compiler.errors import InvalidSql, UnsupportedSql
from compiler.ir import types
from compiler.ir.scalar import Call, Lit, Scalar, cast, columns
from compiler.ir.types import (
    BOOL,
    BYTEA,
    DATE,
    FLOAT8,
    INT4,
    INTERVAL,
    JSONB,
    TEXT,
    TIME,
    TIMESTAMP,
    TIMESTAMPTZ,
    Type,
    innermost,
)
from compiler.opaque import is_opaque, unsupported


def meet(a: Scalar, b: Scalar) -> tuple[Scalar, Scalar]:
    """Give untyped literals the type of the other side; text and text meet as they are."""
    if a.type.name == "unknown" and b.type.name == "unknown":
        return cast(a, TEXT), cast(b, TEXT)
    if a.type.name == "unknown":
        return _literal(a, b.type), b
    if b.type.name == "unknown":
        return a, _literal(b, a.type)
    return a, b


def _literal(e: Scalar, t: Type) -> Scalar:
    if t.name == "numeric" and isinstance(e, Lit) and isinstance(e.value, str):
        return untyped_number(e)
    if t.name in ("varchar", "bpchar", "blanks"):
        return cast(e, TEXT) if t.name == "varchar" else cast(e, Type("bpchar"))
    return cast(e, types.unlimited(t))


def compare(op: str, a: Scalar, b: Scalar) -> Scalar:
    """A comparison of two operands at the type in which Postgres compares them. Raises InvalidSql where it has no such
    operator, UnsupportedSql for orders that engines do not share."""
    if ranges.spans(a.type) or ranges.spans(b.type):
        return ranges.operator(op, a, b)
    if composites.is_composite(a.type) or composites.is_composite(b.type):
        return composites.operator(op, a, b)
    a, b = map(without_blanks, meet(a, b))
    x, y = a.type, b.type
    ok = (types.is_number(x) and types.is_number(y)) or (types.is_string(x) and types.is_string(y)) or x.name == y.name
    ok = ok or (x.name in types.TEMPORALS and y.name in types.TEMPORALS)
    if not ok:
        raise no_operator(x, op, y)
    if x.name == "json" or (x.name == "array" and y.name != "array"):
        raise InvalidSql(f"operator does not exist: {x} {op} {y}", code="undefined_operator")
    if x.name == "jsonb":
        if op not in ("=", "<>"):
            raise UnsupportedSql(
                f"{op} of jsonb is not supported",
                code="unsupported_operator",
                hint="Compare a part of it: (a ->> 'key')::int.",
            )
        same = Call("json_equal", (a, b), BOOL)
        return same if op == "=" else Call("not", (same,), BOOL)
    if types.is_number(x) and types.is_number(y) and types.is_float(x) != types.is_float(y):
        a, b = cast(a, FLOAT8), cast(b, FLOAT8)
    elif x.name in types.TEMPORALS and x.name != y.name:
        t = TIMESTAMPTZ if "timestamptz" in (x.name, y.name) else TIMESTAMP
        a, b = cast(a, t), cast(b, t)
    elif types.is_string(x) and x.name != y.name and "bpchar" in (x.name, y.name):
        t = (
            Type("bpchar") if {x.name, y.name} == {"bpchar", "varchar"} else TEXT
        )  # blanks at the end of a varchar count no more
        a, b = (v if v.type.name == t.name else cast(v, t) for v in (a, b))
    if x.name == "array" and "jsonb" in (innermost(x).name, innermost(y).name):
        raise UnsupportedSql(
            f"{op} of jsonb[] is not supported", code="unsupported_operator", hint="Compare its elements: x[1]."
        )
    if op not in ("=", "<>"):
        kind = x if innermost(x).name == "enum" else y
        a, b = ordinal(a, kind), ordinal(b, kind)
    return Call(op, (a, b), BOOL)


def ordinal(e: Scalar, kind: Type | None = None) -> Scalar:
    """An enum's place in its declared order, or those of an array's enums; other types order by themselves."""
    t = kind or e.type
    if t.name == "array" and innermost(t).name in ("jsonb", "interval"):
        raise UnsupportedSql(f"the order of {t} is not supported", code="unsupported_operator")
    if innermost(t).name != "enum":
        return e
    labels = tuple(Lit(x, TEXT) for x in innermost(t).labels)
    if e.type.name == "array":
        return Call("enum_ordinals", (e, *labels), types.array(INT4))
    return Call("enum_ordinal", (e, *labels), INT4)


def label(place: Scalar, t: Type) -> Scalar:
    """The label at a place of an enum's declared order."""
    return cast(
        Call("array_get", (Call("array", tuple(Lit(x, TEXT) for x in t.labels), types.array(TEXT)), place), TEXT), t
    )


def arithmetic_type(op: str, x: Type, y: Type) -> Type:
    t = _arithmetic_type(op, x, y)
    return types.varying(t) if types.is_varying(x) or types.is_varying(y) else t


def _arithmetic_type(op: str, x: Type, y: Type) -> Type:
    if types.is_float(x) or types.is_float(y):
        return types.FLOAT4 if x.name == y.name == "float4" else FLOAT8
    if types.is_integer(x) and types.is_integer(y):
        return x if types.INTEGERS[x.name] >= types.INTEGERS[y.name] else y
    (w1, s1), (w2, s2) = types.digits(x), types.digits(y)
    if op in "+-":
        scale = max(s1, s2)
        return types.numeric(max(w1, w2) + 1 + scale, scale)
    if op == "*":
        scale = s1 + s2 if s1 + s2 <= types.PRODUCT_SCALE_LIMIT else types.QUOTIENT_SCALE
        if w1 + w2 + scale > types.MAX_PRECISION:  # digits before the point come first
            scale = min(scale, types.QUOTIENT_SCALE)
        return types.numeric(w1 + w2 + scale, scale)
    if op == "/":
        return types.numeric(38, max(types.QUOTIENT_SCALE, s1, s2))
    scale = max(s1, s2)
    return types.numeric(max(w1, w2) + scale, scale)


TEMPORAL: dict[tuple[str, str, str], Type] = {
    ("+", "date", "int"): DATE,
    ("+", "int", "date"): DATE,
    ("-", "date", "int"): DATE,
    ("-", "date", "date"): INT4,
    ("+", "date", "interval"): TIMESTAMP,
    ("-", "date", "interval"): TIMESTAMP,
    ("+", "interval", "date"): TIMESTAMP,
    ("+", "date", "time"): TIMESTAMP,
    ("+", "time", "date"): TIMESTAMP,
    ("+", "timestamp", "interval"): TIMESTAMP,
    ("-", "timestamp", "interval"): TIMESTAMP,
    ("+", "interval", "timestamp"): TIMESTAMP,
    ("+", "timestamptz", "interval"): TIMESTAMPTZ,
    ("-", "timestamptz", "interval"): TIMESTAMPTZ,
    ("+", "interval", "timestamptz"): TIMESTAMPTZ,
    ("+", "timestamp", "time"): TIMESTAMP,
    ("+", "time", "timestamp"): TIMESTAMP,
    ("-", "timestamp", "time"): TIMESTAMP,
    ("+", "timestamptz", "time"): TIMESTAMPTZ,
    ("+", "time", "timestamptz"): TIMESTAMPTZ,
    ("-", "timestamptz", "time"): TIMESTAMPTZ,
    ("-", "timestamp", "timestamp"): INTERVAL,
    ("-", "timestamptz", "timestamptz"): INTERVAL,
    ("-", "timestamp", "date"): INTERVAL,
    ("-", "date", "timestamp"): INTERVAL,
    ("-", "timestamptz", "timestamp"): INTERVAL,
    ("-", "timestamp", "timestamptz"): INTERVAL,
    ("-", "timestamptz", "date"): INTERVAL,
    ("-", "date", "timestamptz"): INTERVAL,
    ("+", "time", "interval"): TIME,
    ("-", "time", "interval"): TIME,
    ("-", "time", "time"): INTERVAL,
    ("+", "interval", "interval"): INTERVAL,
    ("-", "interval", "interval"): INTERVAL,
    ("*", "interval", "int"): INTERVAL,
    ("*", "int", "interval"): INTERVAL,
    ("*", "interval", "number"): INTERVAL,
    ("*", "number", "interval"): INTERVAL,
    ("/", "interval", "int"): INTERVAL,
    ("/", "interval", "number"): INTERVAL,
}


def _family(t: Type) -> str:
    return "int" if types.is_integer(t) else "number" if types.is_number(t) else t.name


def binary(op: str, a: Scalar, b: Scalar) -> Scalar:
    """a op b for +, −, *, /, %; raises InvalidSql where Postgres has no such operator."""
    if a.type.name == "unknown" and b.type.name == "unknown":
        a, b = cast(a, INT4), cast(b, INT4)
    if ranges.spans(a.type) or ranges.spans(b.type):
        return ranges.arithmetic(op, a, b)
    for x, y, flip in ((a, b, True), (b, a, False)):
        if x.type.name == "unknown":
            t = y.type
            if t.name == "jsonb" and op == "-" and not flip:
                x = cast(x, TEXT)
                a, b = y, x
                continue
            if t.name in types.TEMPORALS | {"time"}:
                t = INTERVAL if op == "+" else t
            elif t.name == "interval" and op in "*/":
                t = FLOAT8
            x = _literal(x, t)
            a, b = (x, y) if flip else (y, x)
    if types.is_number(a.type) and types.is_number(b.type):
        return _numeric(op, a, b)
    if op == "-" and a.type.name == "jsonb":
        from compiler.bind.json_edit import minus

        return minus(a, b)
    result = TEMPORAL.get((op, _family(a.type), _family(b.type)))
    if result is None:
        raise no_operator(a.type, op, b.type)
    return _temporal(op, a, b, result)


def _numeric(op: str, a: Scalar, b: Scalar) -> Scalar:
    t = arithmetic_type(op, a.type, b.type)
    if types.is_float(t):
        return Call(op, (cast(a, t), cast(b, t)), t)
    if op == "/" and types.is_numeric(t):
        return Call("/", (a, b), t)
    if (
        op == "*"
        and types.is_numeric(t)
        and types.digits(a.type)[1] + types.digits(b.type)[1] > types.PRODUCT_SCALE_LIMIT
    ):
        return cast(Call("*", (cast(a, FLOAT8), cast(b, FLOAT8)), FLOAT8), t)
    return Call(op, (a, b), t)


def _temporal(op: str, a: Scalar, b: Scalar, t: Type) -> Scalar:
    if op == "-" and t == INTERVAL and a.type.name in types.TEMPORALS:
        u = TIMESTAMPTZ if "timestamptz" in (a.type.name, b.type.name) else TIMESTAMP
        return Call("-", (cast(a, u), cast(b, u)), t)
    if (
        op == "+"
        and b.type.name in ("date", "timestamp", "timestamptz")
        and a.type.name in ("interval", "int4", "int8", "int2", "time")
    ):
        a, b = b, a
    if b.type.name == "time" and t.name != "interval":
        b = Call("-", (b, Lit("00:00:00", TIME)), INTERVAL)
    if t == TIMESTAMP and a.type.name == "date":
        a = cast(a, TIMESTAMP)
    if t == INTERVAL and op == "*" and b.type.name == "interval":
        a, b = b, a
    return Call(op, (a, b), t)


def no_operator(x: Type, op: str, y: Type) -> InvalidSql | UnsupportedSql:
    if is_opaque(x) or is_opaque(y):
        return unsupported(x if is_opaque(x) else y, op)
    return InvalidSql(
        f"operator does not exist: {x} {op} {y}", code="undefined_operator", hint="You might need a cast."
    )


def concat(a: Scalar, b: Scalar) -> Scalar:
    """a || b, of no arrays; raises InvalidSql where neither is text."""
    names = {a.type.name, b.type.name}
    if names in ({"jsonb"}, {"jsonb", "unknown"}):
        return Call("json_concat", (cast(a, JSONB), cast(b, JSONB)), JSONB)
    if names in ({"bytea"}, {"bytea", "unknown"}):
        return Call("||", (cast(a, BYTEA), cast(b, BYTEA)), BYTEA)
    if not names & {"text", "varchar", "bpchar", "blanks", "name", "unknown", "opaque"}:
        raise no_operator(a.type, "||", b.type)
    return Call("||", (cast(a, TEXT), cast(b, TEXT)), TEXT)


def in_values(x: Scalar, items: list[Scalar]) -> Scalar:
    """x IN of a list of values."""
    if x.type.name == "unknown":
        x = coerce(x, next((i.type for i in items if i.type.name != "unknown"), TEXT))
    constants = [i for i in items if not columns(i)]
    if x.type.name == "float4" and len(constants) > 1:  # Postgres makes an array of them, and its type that of x
        t = types.common([x.type, *(i.type for i in constants)])
        items = [cast(i, t) if i in constants and t is not None else i for i in items]
    parts = [compare("=", x, i) for i in items]
    if all(isinstance(p, Call) and p.fn == "=" and p.args[0] == x for p in parts):
        return Call("in", (x, *[p.args[1] for p in parts]), BOOL)  # type: ignore[attr-defined]
    return Call("or", tuple(parts), BOOL) if len(parts) > 1 else parts[0]
