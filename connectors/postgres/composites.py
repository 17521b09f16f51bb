"""The fields of composite types, of what is a column's type, or a domain or an array over one."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

import psycopg

from compiler.catalog import parse_type
from compiler.ir.types import COMPOSITE, VARYING_PARTS, Field, Type, innermost
from compiler.opaque import spelled_in_two_ways

# Of each type that is met on the way down: the one that a domain or an array is of, or the fields of a composite.
REACHED = """
WITH RECURSIVE reached (oid) AS (
  SELECT o FROM unnest(%s::oid[]) o
  UNION
  SELECT next.oid FROM reached JOIN pg_type t ON t.oid = reached.oid CROSS JOIN LATERAL (
    SELECT t.typbasetype WHERE t.typtype = 'd'
    UNION ALL SELECT t.typelem WHERE t.typcategory = 'A' AND t.typelem <> 0
    UNION ALL SELECT a.atttypid FROM pg_attribute a
      WHERE t.typtype = 'c' AND a.attrelid = t.typrelid AND a.attnum > 0 AND NOT a.attisdropped) AS next (oid))
SELECT t.oid::bigint, CASE WHEN t.typtype = 'd' THEN t.typbasetype WHEN t.typcategory = 'A' THEN t.typelem END::bigint,
  a.attname::text, a.attnum, a.atttypid::bigint, base.name, base.is_enum,
  coalesce((SELECT c.relnatts FROM pg_class c WHERE c.oid = t.typrelid), 0)
FROM reached JOIN pg_type t ON t.oid = reached.oid
LEFT JOIN pg_attribute a ON t.typtype = 'c' AND a.attrelid = t.typrelid AND a.attnum > 0 AND NOT a.attisdropped
LEFT JOIN LATERAL (
  WITH RECURSIVE over (oid, modifier) AS (
    SELECT a.atttypid, a.atttypmod
    UNION ALL SELECT d.typbasetype, d.typtypmod FROM over JOIN pg_type d ON d.oid = over.oid AND d.typtype = 'd')
  SELECT format_type(over.oid, over.modifier) AS name, b.typtype = 'e' AS is_enum
  FROM over JOIN pg_type b ON b.oid = over.oid AND b.typtype <> 'd') base ON a.attnum IS NOT NULL
ORDER BY t.oid, a.attnum
"""


@dataclass(frozen=True)
class Composite:
    """The fields of a type, and how many it has had."""

    fields: tuple[Field, ...] = ()
    ever: int = 0


@dataclass
class _Reached:
    of: int | None
    ever: int
    attributes: list[tuple[str, int, int, str, bool]]


def composites(
    conn: psycopg.Connection,
    oids: Iterable[int],
    enums: Mapping[str, tuple[str, ...]],
    varying: Collection[str] = (),
) -> dict[int, Composite]:
    """By the oid of a type, the composite that it is, or is over; without the types that are none. The types `varying`
    have equal values that are written in two ways."""
    reached: dict[int, _Reached] = {}
    for oid, of, name, place, its, printed, is_enum, ever in conn.execute(REACHED, (sorted(set(oids)),)).fetchall():
        r = reached.setdefault(oid, _Reached(of, ever, []))
        if name is not None:
            r.attributes.append((name, place, its, printed, is_enum))
    known: dict[int, Composite] = {}

    def fields(oid: int) -> Composite:
        """Of one that is gone by now none."""
        if oid not in known:
            r = reached.get(oid, _Reached(None, 0, []))
            known[oid] = fields(r.of) if r.of else Composite(tuple(field(*a) for a in r.attributes), r.ever)
        return known[oid]

    def field(name: str, place: int, oid: int, printed: str, is_enum: bool) -> Field:
        bare = printed.strip('"')
        t = told_apart(parse_type(f'"{bare}"' if is_enum else printed, enums), varying)
        return Field(name, with_fields(t, fields(oid)), place, oid)

    return {oid: found for oid in oids if (found := fields(oid)).fields}


def told_apart(t: Type, varying: Collection[str]) -> Type:
    """The type, marked where it is one of those, or what it is an array of is."""
    if t.element is not None:
        return replace(t, element=told_apart(t.element, varying))
    return replace(t, labels=(*t.labels, VARYING_PARTS)) if t.name == "opaque" and t.labels[0] in varying else t


def with_fields(t: Type, c: Composite) -> Type:
    """The type, or what it is an array of, as a composite; as it is without fields."""
    if not c.fields:
        return t
    if t.element is not None:
        return replace(t, element=with_fields(t.element, c))
    varying = any(spelled_in_two_ways(f.type) for f in c.fields)
    labels = (*t.labels, COMPOSITE, *([VARYING_PARTS] if varying else []))
    return replace(t, labels=labels, fields=c.fields, ever=c.ever)


def composite_of(t: Type) -> Composite:
    """What a type is, or what an array is of."""
    of = innermost(t)
    return Composite(of.fields, of.ever)


def shape(c: Composite) -> tuple[object, ...]:
    """What tells a composite from others: names, places and types of its fields, with enums' labels, within them too;
    and how many it has had."""
    parts = [(f.name, f.place, f.oid, _labels(f.type), shape(composite_of(f.type))) for f in c.fields]
    return (c.ever, *parts) if parts else ()


def _labels(t: Type) -> tuple[str, ...]:
    of = innermost(t)
    return of.labels if of.name == "enum" else ()
