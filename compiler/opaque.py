"""Values that are carried as Postgres prints them: what may be asked of them.

Those of unknown types (money, inet, ranges …) can be shown, counted, grouped, tested for NULL and turned into text:
any operator or function would be the text's own. JSON has functions, but its order is not that of its text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from compiler.errors import UnsupportedSql
from compiler.ir.parts import scalars
from compiler.ir.relation import Agg, Aggregate, Fixpoint, Order, Relation, TopK, Unnest, Window
from compiler.ir.relation import walk as relations
from compiler.ir.scalar import Call, Lit, Scalar, walk
from compiler.ir.subquery import AnySub, Sub
from compiler.ir.types import COMPOSITE, VARYING_PARTS, Type, innermost, numeric

CALLS = {"coalesce", "case", "is_null", "num_nulls", "num_nonnulls", "array"}
AGGREGATES = {"count", "array_agg", "any_value"}
WINDOWS = {*AGGREGATES, "lag", "lead", "first_value", "last_value", "nth_value"}
ORDERING = {"<", "<=", ">", ">=", "greatest", "least"}
COMPARING = {"=", "<>", "same", "in", "array_has", "array_contains_all", "array_overlap", "array_position"} | {
    "array_positions",
    "array_remove",
    "array_replace",
    "array_any",
    "array_all",
}
UNORDERED = {"opaque", "json", "jsonb"}
FOLDED = {"citext", "numrange", "nummultirange"}  # whose equal values are not equal as text
NUMERIC = re.compile(r"numeric(\(\d+,-?\d+\))?")  # that are declared to be kept so
SPELLED = {"float4", "float8", "interval", "json", "jsonb"}  # whose equal values may be written in two ways
MASKED = {"inet", "cidr"}  # their text cast shows the mask that their output leaves out


def check(r: Relation) -> None:
    """Raise UnsupportedSql where a view asks more of such a value."""
    for n in every(r):
        for e in scalars(n):
            for s in walk(e):
                if isinstance(s, Call):
                    _call(s)
                elif isinstance(s, AnySub):
                    _any(s)
                elif isinstance(s, Lit) and s.value is not None and _unread(s.type):
                    refuse(s.type, "a literal")
        if isinstance(n, Unnest) and any(is_nested(a.type) for a in n.args):
            _refuse_nested("unnest")
        for o in _orders(n):
            if o.expr.type.name in UNORDERED or is_opaque(innermost(o.expr.type)):
                refuse(innermost(o.expr.type), "ORDER BY")
        for k in _grouped(n):
            if varies(k.type):
                refuse(k.type, "GROUP BY, PARTITION BY or DISTINCT")
        if isinstance(n, Aggregate | Window):
            for _, a in n.aggs if isinstance(n, Aggregate) else n.calls:
                for x in a.args:
                    if isinstance(a, Agg) and a.distinct and varies(x.type):
                        refuse(x.type, f"{a.fn}(DISTINCT …)")
                    if is_opaque(innermost(x.type)) and a.fn not in (
                        AGGREGATES if isinstance(n, Aggregate) else WINDOWS
                    ):
                        refuse(innermost(x.type), a.fn)


def _grouped(n: Relation) -> Iterator[Scalar]:
    """What rows are brought together by."""
    if isinstance(n, Aggregate):
        yield from (e for _, e in n.keys)
    if isinstance(n, Window):
        yield from n.partition
    if isinstance(n, Fixpoint) and n.distinct:
        yield from n.schema


def every(r: Relation) -> Iterator[Relation]:
    """The relations of a query, those of its subqueries too."""
    for n in relations(r):
        yield n
        for e in scalars(n):
            for s in walk(e):
                if isinstance(s, Sub):
                    yield from every(s.query)


def is_opaque(t: Type) -> bool:
    return t.name == "opaque"


def is_printed_number(t: Type) -> bool:
    """Whether values are numerics that are kept as Postgres prints them."""
    return is_opaque(t) and NUMERIC.fullmatch(t.labels[0]) is not None


def _unread(t: Type) -> bool:
    """Whether literals of the type would stay as they are written, which is not how it prints them."""
    return COMPOSITE in t.labels[1:] or is_printed_number(t)


def varies(t: Type) -> bool:
    """Whether equal values may not be equal as text."""
    of = innermost(t)
    return is_opaque(of) and (of.labels[0] in FOLDED or VARYING_PARTS in of.labels)


def spelled_in_two_ways(t: Type) -> bool:
    """Whether equal values, or what an array has, may be written in two ways."""
    of = innermost(t)
    free = of == numeric() or of.name == "bpchar" and of.precision is None
    return of.name in SPELLED or free or of.name == "opaque" and (of.labels[0] in FOLDED or varies(of))


def as_printed(t: Type, dimensions: int) -> Type:
    """An array of so many dimensions, which is carried as Postgres prints it."""
    name = f"{t.element or t}{'[]' * dimensions}"
    return Type("opaque", labels=(name, *([VARYING_PARTS] if spelled_in_two_ways(t) else [])))


def is_nested(t: Type) -> bool:
    """An array of arrays, which Postgres takes for one of two dimensions: it can be shown and no more."""
    return t.name == "array" and t.element is not None and t.element.name == "array"


def _refuse_nested(what: str) -> None:
    raise UnsupportedSql(
        f"{what} of an array of two dimensions is not supported",
        code="unsupported_type",
        detail="Arrays made of arrays are kept as lists of lists.",
        hint="Collect rows of their elements: unnest them first.",
    )


def _any(s: AnySub) -> None:
    """IN and its like compare with each row's columns."""
    for x in (*s.args, *s.query.schema):
        if varies(x.type) or s.op not in ("=", "<>") and is_opaque(innermost(x.type)):
            refuse(innermost(x.type), f"{s.op} of a subquery's rows")


def _array(c: Call) -> None:
    """Lists of such values are compared as lists of their text."""
    for of in (innermost(a.type) for a in c.args if a.type.name == "array"):
        if is_opaque(of) and (c.fn in ORDERING or c.fn in COMPARING and varies(of)):
            refuse(of, c.fn)


def _call(c: Call) -> None:
    _array(c)
    if c.fn not in CALLS and any(is_nested(a.type) for a in c.args) and not (c.fn == "cast" and is_nested(c.type)):
        _refuse_nested("the text" if c.fn == "cast" else c.fn)
    found = next((a.type for a in c.args if is_opaque(a.type)), None)
    if found is None or c.fn in CALLS:
        return
    if c.fn != "cast" or c.type.name not in ("text", "varchar", "opaque") or found.labels[0] in MASKED:
        refuse(found, f"{c.fn} to {c.type}" if c.fn == "cast" else c.fn)


def _orders(n: Relation) -> Iterator[Order]:
    if isinstance(n, TopK):
        yield from n.order
    if isinstance(n, Aggregate | Window):
        for _, a in n.aggs if isinstance(n, Aggregate) else n.calls:
            yield from a.order


def refuse(t: Type, what: str) -> None:
    raise unsupported(t, what)


def unsupported(t: Type, what: str) -> UnsupportedSql:
    """The error that refuses it."""
    return UnsupportedSql(
        f"{what} of {t} is not supported",
        code="unsupported_type",
        detail=f"A value of type {t} is carried as the text Postgres prints for it.",
        hint="Order by a part of it: (a ->> 'key')::int."
        if t.name in ("json", "jsonb")
        else "Say which number it is: nullif(x::text, 'NaN')::numeric(20, 2), or x::float8."
        if is_printed_number(t)
        else "Compute it in the source, into a column of another type.",
    )
