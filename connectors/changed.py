"""Source tables that are no longer what was deployed, as the stream tells it."""

from __future__ import annotations

from compiler.catalog import Column, Table
from compiler.errors import TidemarkError
from connectors.postgres.pgoutput import Relation

TEXTS = {25, 1043}  # the oids of text and varchar
AGAIN = "Run: tidemark deploy --resync"


class TableChanged(TidemarkError):
    """The source's table is no longer the one that was deployed."""


def check_identity(table: Table, relations: list[Relation]) -> None:
    """Old images that are keys have to be the key the mirror is looked up by; whole ones hold every key."""
    for r in relations:
        sent = {n for n, k in zip(r.columns, r.keys, strict=True) if k}
        if r.identity != "f" and sent != set(table.identity_key):
            raise TableChanged(
                f'the replica identity of "{table.schema}.{table.name}" was altered',
                code="table_changed",
                detail=f"Its changes now name rows by ({', '.join(sorted(sent))}), not by "
                f"({', '.join(table.identity_key)}).",
                hint="Set it back, or run: tidemark deploy --resync",
            )


def check_columns(table: Table, r: Relation) -> None:
    """Raises TableChanged for a column that went away, has another type or another name."""
    missing = [c.name for c in table.columns if c.name not in r.columns]
    if missing:
        raise TableChanged(
            f'table "{table.schema}.{table.name}" no longer has column "{missing[0]}"',
            code="table_changed",
            detail="The source's table was altered after it was deployed.",
            hint="Change the views that read it, then run: tidemark deploy --resync",
        )
    order = [r.columns.index(c.name) for c in table.columns]
    for c, i in zip(table.columns, order, strict=True):
        if r.types and not same_type(c, *r.types[i]):
            raise retyped(table, c)
    if order != sorted(order):
        raise TableChanged(
            f'columns of table "{table.schema}.{table.name}" were renamed',
            code="table_changed",
            detail=f"They were {', '.join(c.name for c in table.columns)}, and are {', '.join(r.columns)}.",
            hint=AGAIN,
        )


def same_type(c: Column, oid: int, modifier: int) -> bool:
    """Whether values of the type are still read as they were; a varchar's length does not matter."""
    return not c.oid or (c.oid, c.modifier) == (oid, modifier) or {c.oid, oid} <= TEXTS


def replaced(t: Table) -> TableChanged:
    return TableChanged(
        f'"{t.schema}.{t.name}" is not the table that was deployed',
        code="table_changed",
        detail="It was renamed, or dropped and created again: the stream has the old table's changes.",
        hint=AGAIN,
    )


def retyped(t: Table, c: Column) -> TableChanged:
    return TableChanged(
        f'column "{c.name}" of "{t.schema}.{t.name}" has another type',
        code="table_changed",
        detail=f"It was {c.source_type} when it was deployed.",
        hint=AGAIN,
    )
