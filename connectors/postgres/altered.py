"""Whether the source's tables are still those that were deployed, as far as its catalog tells."""

from __future__ import annotations

import psycopg

from compiler.catalog import Table
from connectors.changed import AGAIN, TableChanged, replaced, retyped, same_type
from connectors.postgres.catalog import Found, altered_enum, enums_of, find_tables


def check_tables(conn: psycopg.Connection, deployed: list[Table]) -> dict[tuple[str, str], Found]:
    """The tables as they are. Raises TableChanged for one replaced, a key or a column's type altered, and an enum with other labels."""
    now = find_tables(conn, deployed)
    enum = altered_enum(conn, enums_of(deployed))
    if enum:
        raise TableChanged(f'the enum "{enum}" has other labels than when it was deployed', code="table_changed",
                           detail="Its order, and the text of its values, are part of what is kept.", hint=AGAIN)
    for t in deployed:
        found = now.get((t.schema, t.name))
        if found is None or t.oid not in (0, found.oid):
            raise replaced(t)
        _check(t, found)
    return now


def _check(was: Table, found: Found) -> None:
    name = f'"{was.schema}.{was.name}"'
    if was.key and set(found.key) != set(was.key):
        raise TableChanged(f"the primary key of {name} was altered", code="table_changed",
                           detail=f"It was ({', '.join(was.key)}), and is ({', '.join(found.key)}).", hint=AGAIN)
    for c in was.columns:
        if c.name not in found.columns:
            continue  # the stream will tell, when it comes to it
        place, oid, modifier = found.columns[c.name]
        if c.place not in (0, place):
            raise TableChanged(f'column "{c.name}" of {name} is not the one that was deployed', code="table_changed",
                               detail="It was renamed, or dropped and added again.", hint=AGAIN)
        if not same_type(c, oid, modifier):
            raise retyped(was, c)
