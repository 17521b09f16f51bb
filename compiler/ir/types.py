"""Types of values: Postgres' own, with the scale of every numeric decided at compile time.

A numeric carries the precision and scale it is stored with. Postgres decides the scale of a quotient from the
values; here it is fixed (`QUOTIENT_SCALE`), wide enough that results agree to at least twelve significant digits.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

MAX_PRECISION = 38
UNBOUNDED_SCALE = 12  # numeric without precision and scale: 26 digits before the point, 12 after
QUOTIENT_SCALE = 18
PRODUCT_SCALE_LIMIT = 24


@dataclass(frozen=True, slots=True)
class Type:
    """A Postgres type. `name` is the catalog name (int4, numeric, timestamptz, …); arrays are `array` of `element`,
    and JSON that is known to be an array has the type of its elements there. `labels`: an enum's, or what else a
    type is known by, as of a numeric that its scale varies from value to value. `title`: an enum's name, for
    people. `fields`: a composite type's, in their order, and `ever`, how many it has had."""

    name: str
    precision: int | None = None
    scale: int | None = None
    element: Type | None = None
    labels: tuple[str, ...] = ()
    title: str = field(default="", compare=False, repr=False)
    fields: tuple[Field, ...] = field(default=(), compare=False, repr=False)
    ever: int = field(default=0, compare=False, repr=False)

    def __repr__(self) -> str:
        """Of an enum without its labels: they may become more, and are told where a definition hangs on their order."""
        labels = () if self.name == "enum" else self.labels
        return (
            f"Type(name={self.name!r}, precision={self.precision!r}, scale={self.scale!r}, element={self.element!r}, "
            f"labels={labels!r})"
        )

    def __str__(self) -> str:
        if self.name == "numeric" and self.precision is not None:
            return f"numeric({self.precision},{self.scale})"
        if self.name == "bpchar" and self.precision is not None:
            return f"char({self.precision})"
        if self.name == "array":
            return f"{self.element}[]"
        if self.name == "opaque":
            return self.labels[0]
        return {
            "int2": "smallint",
            "blanks": "bpchar",
            "int4": "integer",
            "int8": "bigint",
            "float8": "double precision",
            "float4": "real",
            "bool": "boolean",
        }.get(self.name, self.name)


@dataclass(frozen=True, slots=True)
class Field:
    """Of a composite type. `place` and `oid` are attnum and atttypid of the server's."""

    name: str
    type: Type
    place: int = 0
    oid: int = 0


COMPOSITE = "composite"  # a label of types that have fields
VARYING_PARTS = "varying parts"  # of those of which equal values may be shown in two ways
BOOL = Type("bool")
INT2 = Type("int2")
INT4 = Type("int4")
INT8 = Type("int8")
FLOAT4 = Type("float4")
FLOAT8 = Type("float8")
TEXT = Type("text")
DATE = Type("date")
TIME = Type("time")
TIMESTAMP = Type("timestamp")
TIMESTAMPTZ = Type("timestamptz")
INTERVAL = Type("interval")
JSON = Type("json")
JSONB = Type("jsonb")
UUID = Type("uuid")
BYTEA = Type("bytea")
UNKNOWN = Type("unknown")  # an untyped literal or NULL
BLANKS = Type(
    "blanks"
)  # a bpchar whose values keep the blanks at their ends, each its own, as char(n) and a literal beside it

INTEGERS = {"int2": 5, "int4": 10, "int8": 19}
WIDTHS = {"int2": 16, "int4": 32, "int8": 64}  # bits
FLOATS = {"float4", "float8"}
STRINGS = {"text", "varchar", "bpchar", "blanks", "enum", "name", "citext"}
TEMPORALS = {"date", "timestamp", "timestamptz"}


def numeric(precision: int = MAX_PRECISION, scale: int = UNBOUNDED_SCALE) -> Type:
    """numeric(precision, scale), kept within 38 digits."""
    return Type("numeric", min(max(precision, scale, 1), MAX_PRECISION), scale)


def varying(t: Type) -> Type:
    """A numeric whose values come with scales of their own, up to that of `t`: their text cannot be told from the
    type."""
    return replace(t, labels=("varying",)) if t.name == "numeric" else t


def is_varying(t: Type) -> bool:
    return t.name == "numeric" and bool(t.labels)


def has_fixed_scale(t: Type) -> bool:
    """Whether each value of an exact type is shown with the digits after the point that the type says."""
    if is_integer(t):
        return True
    return is_numeric(t) and not is_varying(t) and t != numeric() and (t.scale or 0) < QUOTIENT_SCALE - 2


def array(element: Type) -> Type:
    return Type("array", element=element)


def innermost(t: Type) -> Type:
    """The type itself, or that of an array's elements."""
    return t.element if t.name == "array" and t.element is not None else t


def is_integer(t: Type) -> bool:
    return t.name in INTEGERS


def is_numeric(t: Type) -> bool:
    return t.name == "numeric"


def is_exact(t: Type) -> bool:
    return is_integer(t) or is_numeric(t)


def is_float(t: Type) -> bool:
    return t.name in FLOATS


def is_number(t: Type) -> bool:
    return is_exact(t) or is_float(t)


def is_string(t: Type) -> bool:
    return t.name in STRINGS


def is_padded(t: Type) -> bool:
    """A char(n): kept without the blanks at its end, shown with them."""
    return t.name == "bpchar" and bool(t.precision)


def unlimited(t: Type) -> Type:
    """The type that an untyped literal has beside `t`: char(n) and varchar(n) without their length, in arrays too."""
    if t.name == "array" and t.element is not None:
        return array(unlimited(t.element))
    return Type(t.name) if t.name in ("bpchar", "varchar") else t


def as_numeric(t: Type) -> Type:
    """The numeric type that holds every value of an exact type."""
    if is_integer(t):
        return numeric(INTEGERS[t.name], 0)
    return t if is_numeric(t) else numeric()


def digits(t: Type) -> tuple[int, int]:
    """(digits before the point, digits after it) of an exact type."""
    n = as_numeric(t)
    assert n.precision is not None and n.scale is not None
    return n.precision - n.scale, n.scale


def sum_type(t: Type) -> Type:
    """The type of SUM over a column, as Postgres has it."""
    if t.name in ("int2", "int4"):
        return INT8
    if t.name == "int8":
        return numeric(MAX_PRECISION, 0)
    if is_numeric(t):
        out = numeric(MAX_PRECISION, digits(t)[1])
        return varying(out) if is_varying(t) else out
    return t


def common(types: list[Type]) -> Type | None:
    """The type that CASE, COALESCE, UNION or VALUES give to branches of these types; None where there is none."""
    typed = [t for t in types if t.name != "unknown"]
    if not typed:
        return TEXT if types else None
    if all(t == typed[0] for t in typed):
        return typed[0]
    if all(is_number(t) for t in typed):
        if any(t.name == "float8" for t in typed):
            return FLOAT8
        if any(map(is_float, typed)):
            return FLOAT4
        if any(map(is_numeric, typed)):
            whole = max(digits(t)[0] for t in typed)
            scale = max(digits(t)[1] for t in typed)
            out = numeric(whole + scale, scale)
            return out if all(digits(t)[1] == scale and not is_varying(t) for t in typed) else varying(out)
        return max(typed, key=lambda t: INTEGERS[t.name])
    if all(is_string(t) for t in typed):
        first = typed[0].name
        return BLANKS if first in ("bpchar", "blanks") else Type(first) if first == "varchar" else TEXT
    if all(t.name in TEMPORALS for t in typed):
        return TIMESTAMPTZ if any(t.name == "timestamptz" for t in typed) else TIMESTAMP
    if all(t.name in ("json", "jsonb") for t in typed):
        return JSON if all(t.name == "json" for t in typed) else JSONB
    if all(t.name == "array" for t in typed):
        inner = common([t.element or TEXT for t in typed])
        return array(inner) if inner else None
    return None
