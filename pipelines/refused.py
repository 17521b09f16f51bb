"""Columns that are no longer kept: one with a value that the engine's type cannot hold, and one that was altered in
the source. The views that read it are set aside, no others.

A refused column is NULL in the mirror from then on; nothing that is maintained reads it. A table whose key is
refused, or which has no key, is not kept at all, nor is one that was replaced. The next deploy of a view that reads
such a column copies the table again.
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
    """The columns that are not kept after it, or ALL; nothing where it is not about a table."""
    if isinstance(e, ValueOutOfRange):
        return [part(e)]
    t = e.table
    if t is None:
        return []
    return [ALL] if not e.columns or not t.key or {*t.key, *t.identity_key} & {*e.columns} else list(e.columns)


def reads(plan: ViewPlan, table: str, column: str) -> bool:
    """Whether a view reads a column of a table; of ALL, whether it reads the table."""
    if column == ALL:
        return table in plan.tables
    return any(column in Facts(r).columns_used.get(table, ()) for r in (*(s.definition for s in plan.states), plan.top))


def kept(tables: Iterable[Table], refused: Refused) -> list[Table]:
    """The tables that are kept at all."""
    return [t for t in tables if ALL not in refused.get(qualified(t), {})]


def watched(d: Deployment) -> list[Table]:
    """The tables that some engine keeps, with the columns that some engine keeps of them."""
    out = []
    for t in d.catalog:
        name = qualified(t)
        gone = [d.refused.get(e, {}).get(name, {}) for e, tables in d.tables.items() if name in tables]
        gone = [g for g in gone if ALL not in g]
        if gone:
            out.append(replace(t, columns=tuple(c for c in t.columns if not all(c.name in g for g in gone))))
    return out


def without(rows: pa.Table, t: Table, refused: Refused) -> pa.Table:
    """Rows of text columns c0…, with what is refused as NULL."""
    for i, c in enumerate(t.columns):
        at = rows.schema.get_field_index(f"c{i}")
        if at >= 0 and c.name in refused.get(qualified(t), {}):
            rows = rows.set_column(at, f"c{i}", pa.chunked_array([pa.nulls(rows.num_rows, rows.schema.field(at).type)]))
    return rows
