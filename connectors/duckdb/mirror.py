"""Mirrors in DuckDB: base and delta table of a source table, and the views that read them at a time."""

from __future__ import annotations

from compiler.catalog import Table
from dialects.dialect import ident
from dialects.duckdb import type_name

SCHEMAS = ("base", "delta", "before", "after", "before_rows", "after_rows", "state", "pg", "meta")


def q(name: str) -> str:
    return ident(name).sql("duckdb")


def columns(t: Table, prefix: str = "") -> str:
    return ", ".join(f"{prefix}{q(c.name)}" for c in t.columns)


def create(t: Table) -> list[str]:
    """CREATE statements for a table's mirror. A table without a key keeps equal rows once, with a weight."""
    name = q(t.mirror)
    body = ", ".join(f"{q(c.name)} {type_name(c.type)}" for c in t.columns)
    weight = "" if t.key else ", _weight BIGINT"
    out = [f"CREATE TABLE base.{name} ({body}{weight})",
           f"CREATE TABLE delta.{name} ({body}, _weight INTEGER, _lsn BIGINT, _seq BIGINT)"]
    cols, base_weight = columns(t), "1" if t.key else "_weight"
    for time, bound in (("before", " WHERE _lsn < getvariable('tidemark_frontier')"), ("after", "")):
        out.append(f"CREATE VIEW {time}.{name} AS SELECT {cols}, {base_weight} AS _weight FROM base.{name} "
                   f"UNION ALL SELECT {cols}, _weight FROM delta.{name}{bound}")
        out.append(f"CREATE VIEW {time}_rows.{name} AS {rows(t, bound)}")
    return out


def rows(t: Table, bound: str) -> str:
    """The mirror in positive form: base rows that the log did not take away, and rows it added."""
    name, cols = q(t.mirror), columns(t)
    net = f"net AS (SELECT {cols}, sum(_weight) AS _weight FROM delta.{name}{bound} GROUP BY ALL HAVING sum(_weight) <> 0)"
    if t.key:
        on = " AND ".join(f"b.{q(k)} = n.{q(k)}" for k in t.key)
        return (f"WITH {net} SELECT {columns(t, 'b.')} FROM base.{name} b ANTI JOIN (SELECT * FROM net WHERE _weight < 0) n "
                f"ON {on} UNION ALL SELECT {cols} FROM net WHERE _weight > 0")
    on = " AND ".join(f"b.{q(c.name)} IS NOT DISTINCT FROM n.{q(c.name)}" for c in t.columns)
    return (f"WITH {net} SELECT {columns(t, 'b.')}, b._weight + coalesce(n._weight, 0) AS _weight FROM base.{name} b "
            f"LEFT JOIN (SELECT * FROM net WHERE _weight < 0) n ON {on} WHERE b._weight + coalesce(n._weight, 0) > 0 "
            f"UNION ALL SELECT {cols}, _weight FROM net WHERE _weight > 0")


def drop(mirror: str) -> list[str]:
    name = q(mirror)
    views = [f"DROP VIEW IF EXISTS {s}.{name}" for s in ("before", "after", "before_rows", "after_rows")]
    return [*views, f"DROP TABLE IF EXISTS base.{name}", f"DROP TABLE IF EXISTS delta.{name}"]


def compact(t: Table) -> list[str]:
    """Fold the log into the base; the answer of every reader stays the same."""
    name, cols = q(t.mirror), columns(t)
    if not t.key:
        return [f"CREATE OR REPLACE TEMP TABLE folded AS SELECT {cols}, sum(_weight)::BIGINT AS _weight FROM after.{name} "
                "GROUP BY ALL HAVING sum(_weight) <> 0",
                f"DELETE FROM base.{name}", f"INSERT INTO base.{name} SELECT * FROM folded", "DROP TABLE folded",
                f"DELETE FROM delta.{name}"]
    on = " AND ".join(f"b.{q(k)} = n.{q(k)}" for k in t.key)
    return [f"CREATE OR REPLACE TEMP TABLE folded AS SELECT {cols}, sum(_weight) AS _weight FROM delta.{name} "
            "GROUP BY ALL HAVING sum(_weight) <> 0",
            f"DELETE FROM base.{name} b USING folded n WHERE n._weight < 0 AND {on}",
            f"INSERT INTO base.{name} SELECT {cols} FROM folded WHERE _weight > 0", "DROP TABLE folded",
            f"DELETE FROM delta.{name}"]
