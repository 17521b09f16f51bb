"""The fields of composite types, of what is a column's type, or a domain or an array over one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import psycopg

from compiler.catalog import parse_type
from compiler.ir.types import COMPOSITE, VARYING_PARTS, Field, Type, innermost, numeric
from compiler.opaque import FOLDED, varies

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
  a.attname::text, a.attnum, a.atttypid::bigint, base.name, base.is_enum
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
SPELLED = {"float4", "float8", "interval", "json", "jsonb"}  # whose equal values may be written in two ways


@dataclass
class _Reached:
    of: int | None
    attributes: list[tuple[str, int, int, str, bool]]


def composites(
    conn: psycopg.Connection, oids: Iterable[int], enums: Mapping[str, tuple[str, ...]]
) -> dict[int, tuple[Field, ...]]:
    """By the oid of a type, the fields of the composite that it is, or is over; without the types that are none."""
    reached: dict[int, _Reached] = {}
    for oid, of, name, place, its, printed, is_enum in conn.execute(REACHED, (sorted(set(oids)),)).fetchall():
        r = reached.setdefault(oid, _Reached(of, []))
        if name is not None:
            r.attributes.append((name, place, its, printed, is_enum))
    known: dict[int, tuple[Field, ...]] = {}

    def fields(oid: int) -> tuple[Field, ...]:
        if oid not in known:
            r = reached[oid]
            known[oid] = fields(r.of) if r.of else tuple(field(*a) for a in r.attributes)
        return known[oid]

    def field(name: str, place: int, oid: int, printed: str, is_enum: bool) -> Field:
        bare = printed.strip('"')
        t = parse_type(f'"{bare}"' if is_enum else printed, enums)
        return Field(name, with_fields(t, fields(oid)), place, oid)

    return {oid: found for oid in oids if (found := fields(oid))}


def with_fields(t: Type, fields: tuple[Field, ...]) -> Type:
    """The type, or what it is an array of, as a composite; as it is without fields."""
    if not fields:
        return t
    if t.element is not None:
        return replace(t, element=with_fields(t.element, fields))
    varying = any(_varies(f.type) for f in fields)
    return replace(t, labels=(*t.labels, COMPOSITE, *([VARYING_PARTS] if varying else [])), fields=fields)


def _varies(t: Type) -> bool:
    """Whether equal values of a field may be written in two ways."""
    of = innermost(t)
    free = of == numeric() or of.name == "bpchar" and of.precision is None
    return of.name in SPELLED or free or of.name == "opaque" and (of.labels[0] in FOLDED or varies(of))


def fields_of(t: Type) -> tuple[Field, ...]:
    """Those of a composite, or of what an array is of."""
    return innermost(t).fields


def shape(fields: Iterable[Field]) -> tuple[object, ...]:
    """What tells fields from others: names, places and types, within them too."""
    return tuple((f.name, f.place, f.oid, shape(fields_of(f.type))) for f in fields)
