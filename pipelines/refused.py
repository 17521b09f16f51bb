"""Columns that are not kept.

A mirror has the columns that some view reads, and no others. Of those a column is refused, and no longer kept, that
has a value which the engine's type cannot hold, or was altered in the source: the views that read it are set aside, no
others. It is NULL in the mirror from then on; nothing that is maintained reads it. A table whose key is refused, or
which has no key, is not kept at all, nor is one that was replaced.

The next deploy of a view that reads a column which is not kept copies the table again.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pyarrow as pa

from compiler.catalog import Table
from compiler.maintain.facts import Facts
from compiler.maintain.plan import ViewPlan
from connectors.changed import TableChanged
from connectors.literal_rows import ValueOutOfRange
from pipelines.deployment import Deployment

ALL = ""  # in place of a column: the whole table
Refused = dict[str, dict[str, str]]


def qualified(t: Table) -> str:
    return f"{t.schema}.{t.name}"


def part(e: ValueOutOfRange) -> str:
    """What is not kept after it: the column, or ALL where rows can no longer be told apart without it."""
    t = e.table
    return e.column if t.key and e.column not in (*t.key, *t.identity_key) else ALL


def parts(e: ValueOutOfRange | TableChanged) -> list[str]:
    """The columns that are not kept after it, or ALL; nothing where it is not about a table, or of an enum that was
    given more labels."""
    if isinstance(e, ValueOutOfRange):
        return [part(e)]
    t = e.table
    if t is None or e.labels or e.expressions is not None:
        return []
    return [ALL] if not e.columns or not t.key or {*t.key, *t.identity_key} & {*e.columns} else list(e.columns)


def columns_read(plan: ViewPlan) -> dict[str, set[str]]:
    """Of each table, the columns that a view reads."""
    out: dict[str, set[str]] = {t: set() for t in plan.tables}
    for r in (*(s.definition for s in plan.states), plan.top):
        for table, columns in Facts(r).columns_used.items():
            out.setdefault(table, set()).update(columns)
    return out


def reads(plan: ViewPlan, table: str, column: str) -> bool:
    """Whether a view reads a column of a table; of ALL, whether it reads the table."""
    return table in plan.tables if column == ALL else column in columns_read(plan).get(table, ())


def to_keep(t: Table, plans: Iterable[ViewPlan]) -> list[str]:
    """The columns that a mirror has: what these views read of it, and its key. Where it has none, a row is all that
    tells it apart."""
    if not t.key:
        return [c.name for c in t.columns]
    wanted = {*t.key, *t.identity_key}.union(*(columns_read(p).get(qualified(t), set()) for p in plans))
    return [c.name for c in t.columns if c.name in wanted]


def lacking(d: Deployment, engine: str, plan: ViewPlan) -> dict[str, list[str]]:
    """Of the tables that a view reads, the columns that it reads and their mirrors do not have."""
    out = {}
    for table, columns in columns_read(plan).items():
        if table in d.tables.get(engine, []):
            names = d.columns.get(engine, {}).get(table)
            if names is not None and (gone := sorted(columns - {*names})):
                out[table] = gone
    return out


def kept(tables: Iterable[Table], refused: Refused) -> list[Table]:
    """The tables that are kept at all."""
    return [t for t in tables if ALL not in refused.get(qualified(t), {})]


def watched(d: Deployment) -> list[Table]:
    """The tables that some engine keeps, with the columns that some engine keeps of them."""
    out = []
    for t in d.catalog:
        name = qualified(t)
        kept = set()
        for e in (e for e, tables in d.tables.items() if name in tables):
            gone = d.refused.get(e, {}).get(name, {})
            if ALL not in gone:
                kept |= {c.name for c in d.mirrored(e, name).columns} - {*gone}
        if kept:
            out.append(replace(t, columns=tuple(c for c in t.columns if c.name in kept)))
    return out


def without(rows: pa.Table, t: Table, refused: Refused) -> pa.Table:
    """Rows of text columns c0…, with what is refused as NULL."""
    for i, c in enumerate(t.columns):
        at = rows.schema.get_field_index(f"c{i}")
        if at >= 0 and c.name in refused.get(qualified(t), {}):
            rows = rows.set_column(at, f"c{i}", pa.chunked_array([pa.nulls(rows.num_rows, rows.schema.field(at).type)]))
    return rows
