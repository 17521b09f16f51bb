"""Mirrors in DuckDB: a table's rows as they are now, and views that give them as they were before the batch.

`base.<table>` holds the rows at the frontier. Within a batch it has already taken the changes, so it is the table
AFTER; BEFORE is the same less what the batch did, which is in the temp table `batch_<table>`. A table without a key
keeps equal rows once, with a weight.
"""

from __future__ import annotations

import functools

from compiler.catalog import Table
from compiler.ir.types import Type
from compiler.spelling import ident
from compiler.spelling.duckdb import storage, type_name

SCHEMAS = ("base", "before", "before_rows", "state", "pg", "meta")


@functools.cache
def q(name: str) -> str:
    """A name, quoted where it has to be."""
    return ident(name).sql("duckdb")


def columns(t: Table, prefix: str = "") -> str:
    return ", ".join(f"{prefix}{q(c.name)}" for c in t.columns)


def batch(t: Table) -> str:
    """The temp table with the batch's rows, as deltas."""
    return batch_of(t.mirror)


def batch_of(mirror: str) -> str:
    return q(f"batch_{mirror}")


def on_key(names: tuple[str, ...], left: str, right: str) -> str:
    return " AND ".join(f"{left}.{q(k)} = {right}.{q(k)}" for k in names)


def of_several_forms(t: Type) -> bool:
    """Whether two values may be equal and be shown in two ways, as 1 day and 24 hours. (0 and -0 stay one: the
    storage keeps the sign of one.)"""
    return (t.element or t).name == "interval"


def written(t: Table, prefix: str = "") -> list[str]:
    """What tells such values apart."""
    return [f"CAST({prefix}{q(c.name)} AS VARCHAR)" for c in t.columns if of_several_forms(c.type)]


def grouping(t: Table) -> str:
    """What equal rows of a table without a key are one by."""
    return ", ".join([columns(t), *written(t)])


def same_row(t: Table, left: str, right: str) -> str:
    pairs = [(f"{left}.{q(c.name)}", f"{right}.{q(c.name)}") for c in t.columns]
    pairs += zip(written(t, f"{left}."), written(t, f"{right}."), strict=True)
    return " AND ".join(f"{a} IS NOT DISTINCT FROM {b}" for a, b in pairs)


def table(t: Table, name: str) -> str:
    stored = ", ".join(f"{q(c.name)} {type_name(c.type)}{storage(c.type)}" for c in t.columns)
    return f"CREATE TABLE base.{name} ({stored}{'' if t.key else ', _weight BIGINT'})"


def rewrite(t: Table) -> list[str]:
    """The same rows in a new table: deleted ones leave the file, and scans are as fast as after the first copy."""
    name, new = q(t.mirror), q(f"{t.mirror} rewritten")
    return [
        table(t, new),
        f"INSERT INTO base.{new} SELECT * FROM base.{name}",
        f"DROP TABLE base.{name}",
        f"ALTER TABLE base.{new} RENAME TO {name}",
    ]


def create(t: Table) -> list[str]:
    """Statements that make a table's mirror."""
    return [table(t, q(t.mirror)), *before(t)]


def before(t: Table) -> list[str]:
    """What tells a mirror, whatever its base is, as it was before a batch."""
    name, cols = q(t.mirror), columns(t)
    body = ", ".join(f"{q(c.name)} {type_name(c.type)}" for c in t.columns)
    return [
        f"CREATE OR REPLACE TEMP TABLE {batch(t)} ({body}, _weight BIGINT)",
        f"CREATE VIEW before.{name} AS SELECT {cols}, {'1' if t.key else '_weight'} AS _weight FROM base.{name} "
        f"UNION ALL SELECT {cols}, -_weight FROM {batch(t)}",
        f"CREATE VIEW before_rows.{name} AS {_rows_before(t)}",
    ]


def _rows_before(t: Table) -> str:
    """The mirror before the batch with no negative weight."""
    name, cols = q(t.mirror), columns(t)
    if not t.key:
        return (
            f"SELECT {cols}, sum(_weight)::BIGINT AS _weight FROM before.{name} GROUP BY {grouping(t)} HAVING "
            f"sum(_weight) > 0"
        )
    return (
        f"SELECT {columns(t, 'b.')} FROM base.{name} b ANTI JOIN (SELECT * FROM {batch(t)} WHERE _weight > 0) n "
        f"ON {on_key(t.key, 'b', 'n')} UNION ALL SELECT {cols} FROM {batch(t)} WHERE _weight < 0"
    )


def drop(mirror: str) -> list[str]:
    name = q(mirror)
    return [
        *(f"DROP VIEW IF EXISTS {s}.{name}" for s in ("before", "before_rows")),
        f"DROP TABLE IF EXISTS base.{name}",
    ]
