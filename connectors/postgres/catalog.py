"""The source's catalog: tables, columns, types, keys, replica identity."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import psycopg

from compiler.catalog import Catalog, Column, Generated, Table, parse_type
from compiler.ir.types import Type
from compiler.opaque import as_printed
from connectors.postgres.composites import Composite, composite_of, composites, told_apart, with_fields
from connectors.postgres.files import noted, stored

TABLES = """
SELECT n.nspname, c.relname, c.relreplident::text, c.oid::bigint,
       coalesce((SELECT array_agg(a.attname::text ORDER BY k.ord)
                 FROM pg_index i, unnest(i.indkey::int2[]) WITH ORDINALITY k(attnum, ord), pg_attribute a
                 WHERE i.indrelid = c.oid AND i.indisprimary AND k.ord <= i.indnkeyatts AND a.attrelid = c.oid AND
                   a.attnum = k.attnum), '{}'),
       coalesce((SELECT array_agg(a.attname::text ORDER BY k.ord)
                 FROM pg_index i, unnest(i.indkey::int2[]) WITH ORDINALITY k(attnum, ord), pg_attribute a
                 WHERE i.indrelid = c.oid AND i.indisreplident AND k.ord <= i.indnkeyatts AND a.attrelid = c.oid AND
                   a.attnum = k.attnum), '{}'),
       coalesce((SELECT array_agg(a.attname::text ORDER BY a.attnum) FROM pg_attribute a
                 WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated <> ''), '{}'),
       (SELECT bool_and(CASE WHEN l.relpersistence <> 'p' OR l.relkind <> 'r' THEN false
               WHEN l.relreplident NOT IN (c.relreplident, 'f') THEN false WHEN l.relreplident = 'n'
         THEN false
                WHEN l.relreplident = 'd' THEN EXISTS (SELECT FROM pg_index i WHERE i.indrelid = l.oid AND
                  i.indisprimary
                                                       AND i.indimmediate AND i.indisvalid) ELSE true END)
        FROM (WITH RECURSIVE t (oid) AS (SELECT c.oid UNION ALL SELECT i.inhrelid FROM pg_inherits i JOIN t ON
          i.inhparent = t.oid)
              SELECT oid FROM t) p JOIN pg_class l ON l.oid = p.oid AND l.relkind <> 'p'),
       EXISTS (SELECT FROM pg_index i WHERE i.indrelid = c.oid AND i.indisprimary AND NOT i.indimmediate),
       CASE WHEN c.relpersistence <> 'p' THEN 'unlogged' WHEN c.relkind = 'p' THEN 'partitions'
            WHEN EXISTS (SELECT FROM pg_inherits i WHERE i.inhparent = c.oid) THEN 'inheritance' ELSE '' END
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p') AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname NOT LIKE 'pg\\_%%'
  AND NOT coalesce(c.relispartition, false)
"""

COLUMNS = """
SELECT a.attrelid::bigint, a.attnum, a.atttypid::bigint, a.atttypmod, a.attname, format_type(a.atttypid, a.atttypmod),
  a.attnotnull, t.typtype = 'e',
  base.name, a.attndims,
  CASE WHEN a.attgenerated <> '' THEN pg_get_expr(x.adbin, x.adrelid) END, x.oid::bigint
FROM pg_attribute a LEFT JOIN pg_attrdef x ON x.adrelid = a.attrelid AND x.adnum = a.attnum AND a.attgenerated <> ''
JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_type t ON t.oid = a.atttypid
CROSS JOIN LATERAL (
  WITH RECURSIVE over (oid, modifier) AS (
    SELECT a.atttypid, a.atttypmod
    UNION ALL SELECT d.typbasetype, d.typtypmod FROM over JOIN pg_type d ON d.oid = over.oid AND d.typtype = 'd')
  SELECT format_type(over.oid, over.modifier) AS name
  FROM over JOIN pg_type b ON b.oid = over.oid AND b.typtype <> 'd') base
WHERE a.attnum > 0 AND NOT a.attisdropped AND c.relkind IN ('r', 'p')
  AND n.nspname NOT IN ('pg_catalog', 'information_schema')
ORDER BY a.attrelid, a.attnum
"""

FIND = """
WITH w AS (
  SELECT c.oid FROM unnest(%s::text[], %s::text[]) named (schema, name) JOIN pg_namespace n ON n.nspname = named.schema
  JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = named.name
  UNION SELECT o FROM unnest(%s::oid[]) o)
SELECT n.nspname::text, c.relname::text, c.oid::bigint,
       coalesce((SELECT array_agg(k.attname::text) FROM pg_index i JOIN pg_attribute k ON k.attrelid = i.indrelid
         AND k.attnum = ANY ((i.indkey::int2[])[:i.indnkeyatts - 1])
                 WHERE i.indrelid = c.oid AND i.indisprimary), '{}'),
       a.attname, a.attnum, a.atttypid::bigint, a.atttypmod, a.attnotnull, c.relreplident::text,
       EXISTS (SELECT FROM pg_index i WHERE i.indrelid = c.oid AND i.indisprimary AND NOT i.indimmediate),
       c.relkind = 'r' AND EXISTS (SELECT FROM pg_inherits i WHERE i.inhparent = c.oid)
FROM w JOIN pg_class c ON c.oid = w.oid AND c.relkind IN ('r', 'p') AND NOT coalesce(c.relispartition, false)
JOIN pg_namespace n ON n.oid = c.relnamespace
LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
"""

ENUMS = """
SELECT trim('"' FROM format_type(t.oid, NULL)), array_agg(e.enumlabel::text ORDER BY e.enumsortorder)
FROM pg_enum e JOIN pg_type t ON t.oid = e.enumtypid GROUP BY t.oid
"""

# those that a database has made, over what has equal values that are written in two ways, and their multiranges
RANGES = """
SELECT format_type(t.oid, NULL) FROM pg_range r JOIN pg_type b ON b.oid = r.rngsubtype
JOIN pg_type t ON t.oid = r.rngtypid OR t.oid = (to_jsonb(r) ->> 'rngmultitypid')::oid
WHERE t.oid >= 16384 AND (b.typtype <> 'b' OR b.typcategory = 'A'
  OR b.typname IN ('numeric', 'float4', 'float8', 'interval', 'citext', 'bpchar', 'json', 'jsonb'))
"""

LABELS = """
WITH RECURSIVE of (oid, base) AS (
  SELECT o, o FROM unnest(%s::oid[]) o
  UNION
  SELECT of.oid, CASE WHEN t.typtype = 'd' THEN t.typbasetype ELSE t.typelem END FROM of JOIN pg_type t ON t.oid =
    of.base
  WHERE t.typtype = 'd' OR t.typcategory = 'A' AND t.typelem <> 0)
SELECT of.oid::bigint, array_agg(e.enumlabel::text ORDER BY e.enumsortorder),
  array_agg(e.oid::bigint ORDER BY e.enumsortorder)
FROM of JOIN pg_enum e ON e.enumtypid = of.base GROUP BY of.oid
"""

IDENTITY = {"d": "default", "f": "full", "i": "index", "n": "nothing"}


@dataclass(frozen=True)
class Labels:
    """An enum's, in their order, and the oids of their entries."""

    labels: tuple[str, ...]
    oids: tuple[int, ...]

    def has_more_than(self, before: tuple[str, ...]) -> bool:
        """Whether it was given labels, and nothing else. A label that is renamed keeps its entry, so that what looks
        new is older than others."""
        kept = [(x, oid) for x, oid in zip(self.labels, self.oids, strict=True) if x in before]
        new = [oid for x, oid in zip(self.labels, self.oids, strict=True) if x not in before]
        return tuple(x for x, _ in kept) == before and min(new, default=1) > max((oid for _, oid in kept), default=0)


def labels_of(t: Type) -> tuple[str, ...] | None:
    """An enum's, or those of what an array is of; None of other types."""
    kind = t.element if t.name == "array" and t.element is not None else t
    return kind.labels if kind.name == "enum" else None


def labels_now(conn: psycopg.Connection, tables: list[Table]) -> dict[int, Labels]:
    """By the oid of a column's type, those of enums, and of arrays or domains of them."""
    wanted = {c.oid for t in tables for c in t.columns if labels_of(c.type) is not None}
    if not wanted:
        return {}
    rows = conn.execute(LABELS, (list(wanted),)).fetchall()
    return {oid: Labels(tuple(labels), tuple(oids)) for oid, labels, oids in rows}


def fields_now(conn: psycopg.Connection, tables: list[Table]) -> dict[int, Composite]:
    """By the oid of a column's type, composites, and those of arrays or domains of them."""
    wanted = {c.oid for t in tables for c in t.columns if composite_of(c.type).fields}
    return composites(conn, wanted, _enums(conn)) if wanted else {}


@dataclass(frozen=True)
class Found:
    """A table as it is now: the key's columns, each column's (attnum, atttypid, atttypmod), and which are NOT NULL."""

    oid: int
    key: tuple[str, ...]
    identity: str
    deferrable: bool
    inherited: bool
    columns: dict[str, tuple[int, int, int]] = field(default_factory=dict)
    not_null: set[str] = field(default_factory=set)


def find_tables(conn: psycopg.Connection, tables: list[Table]) -> dict[tuple[str, str], Found]:
    """Those of the tables that there are, by schema and name in the source: what has their names, and they themselves
    under others. All is of one moment: a table that is renamed meanwhile is found either way."""
    out: dict[tuple[str, str], Found] = {}
    named = [t.now for t in tables]
    rows = conn.execute(FIND, ([s for s, _ in named], [n for _, n in named], [t.oid for t in tables])).fetchall()
    for schema, name, oid, key, column, place, of, modifier, not_null, identity, deferrable, inherited in rows:
        found = out.setdefault((schema, name), Found(oid, tuple(key), IDENTITY[identity], deferrable, inherited))
        if column is not None:
            found.columns[column] = (place, of, modifier)
        if not_null:
            found.not_null.add(column)
    return out


def definitions(conn: psycopg.Connection, tables: Iterable[int]) -> dict[int, dict[str, int]]:
    """By oid of the table and name, the server's numbers of the expressions of generated columns."""
    out: dict[int, dict[str, int]] = {}
    for oid, name, number in conn.execute(
        "SELECT a.attrelid::bigint, a.attname::text, x.oid::bigint FROM pg_attribute a JOIN pg_attrdef x ON "
        "x.adrelid = a.attrelid AND x.adnum = a.attnum WHERE a.attgenerated <> '' AND NOT a.attisdropped AND "
        "a.attrelid = ANY (%s::oid[])",
        (list(tables),),
    ).fetchall():
        out.setdefault(oid, {})[name] = number
    return out


def every_column(conn: psycopg.Connection, table: int) -> dict[int, str]:
    """The columns of the table with an oid: attnum → name, in their order."""
    rows = conn.execute(
        "SELECT attnum, attname::text FROM pg_attribute WHERE attrelid = %s::oid AND attnum > 0 AND NOT attisdropped "
        "ORDER BY attnum",
        (table,),
    ).fetchall()
    return dict(rows)


def sent_columns(conn: psycopg.Connection, table: int) -> dict[int, str]:
    """The columns of the table with an oid that a stream sends: attnum → name, in the stream's order."""
    rows = conn.execute(
        "SELECT attnum, attname::text FROM pg_attribute WHERE attrelid = %s::oid AND attnum > 0 AND NOT attisdropped "
        "AND attgenerated = '' ORDER BY attnum",
        (table,),
    ).fetchall()
    return dict(rows)


def _enums(conn: psycopg.Connection) -> dict[str, tuple[str, ...]]:
    return {n: tuple(ls) for n, ls in conn.execute(ENUMS).fetchall()}


def load_catalog(conn: psycopg.Connection) -> Catalog:
    """Everything views may read, from the server."""
    enums, ranges = _enums(conn), {n.strip('"') for (n,) in conn.execute(RANGES).fetchall()}
    columns: dict[int, list[Column]] = {}
    expressions: dict[int, list[Generated]] = {}
    rows = conn.execute(COLUMNS).fetchall()
    fields = composites(conn, {of for _, _, of, *_ in rows}, enums, ranges)
    for oid, place, of, modifier, name, source, not_null, is_enum, base, dimensions, expression, definition in rows:
        if expression is not None:
            after = len(columns.get(oid, ()))
            expressions.setdefault(oid, []).append(Generated(name, expression, source, after, definition))
            continue
        t = told_apart(parse_type(f'"{source.strip(chr(34))}"' if is_enum else base, enums), ranges)
        t = with_fields(t, fields.get(of, Composite()))
        if dimensions > 1:  # no engine has lists of one type that are as deep as a value says
            t = as_printed(t, dimensions)
        columns.setdefault(oid, []).append(
            Column(name, t, not_null, source.strip('"') if is_enum else source, place, of, modifier, over=base)
        )
    path = [r[0] for r in conn.execute("SELECT unnest(current_schemas(false))::text").fetchall()] or ["public"]
    tables = {}
    for schema, name, ident, oid, key, index, generated, identified, deferrable, form in conn.execute(
        TABLES
    ).fetchall():
        identity = IDENTITY[ident]
        identity_key = tuple(index) if identity == "index" else tuple(key)
        if identified is False or identity == "default" and not key:
            identity = "nothing"
        tables[(schema, name)] = Table(
            schema,
            name,
            tuple(columns.get(oid, ())),
            tuple(key),
            identity,
            identity_key,
            tuple(generated),
            form,
            oid,
            deferrable,
            expressions=tuple(expressions.get(oid, ())),
        )
    where = stored(conn, [t.oid for t in tables.values()])
    return Catalog({k: noted(t, where[t.oid]) if t.oid in where else t for k, t in tables.items()}, tuple(path))
