"""Whether the source's tables are still those that were deployed, as far as its catalog tells."""

from __future__ import annotations

import psycopg

from compiler.catalog import Table
from connectors.changed import AGAIN, TableChanged, replaced, retyped, same_type
from connectors.postgres.catalog import Found, altered_enum, find_tables
from connectors.postgres.origin import RESYNC, Origin


def check_tables(conn: psycopg.Connection, deployed: list[Table]) -> dict[tuple[str, str], Found]:
    """The tables as they are. Raises TableChanged for one replaced, a key or a column's type altered, and an enum
    with other labels."""
    now = find_tables(conn, deployed)
    enum = altered_enum(conn, deployed)
    if enum:
        raise TableChanged(
            f'the enum "{enum}" has other labels than when it was deployed',
            code="table_changed",
            detail="Its order, and the text of its values, are part of what is kept.",
            hint=AGAIN,
        )
    for t in deployed:
        found = now.get((t.schema, t.name))
        if found is None or t.oid not in (0, found.oid):
            raise replaced(t)
        _check(t, found)
    return now


def check_publication(conn: psycopg.Connection, name: str, deployed: list[Table]) -> None:
    """Raises where the publication is not as it was made: changes that it left out are not in the stream."""
    row = conn.execute(
        "SELECT pubinsert AND pubupdate AND pubdelete AND pubtruncate, pubviaroot FROM pg_publication WHERE pubname = "
        "%s",
        (name,),
    ).fetchone()
    sent = conn.execute(
        "SELECT schemaname, tablename, to_jsonb(p) ->> 'rowfilter' FROM pg_publication_tables p WHERE pubname = %s",
        (name,),
    ).fetchall()
    missing = {(t.schema, t.name) for t in deployed} - {(schema, table) for schema, table, rows in sent if rows is None}
    if row is None:
        what = "is gone"
    elif not all(row):
        what = "no longer sends every kind of change, or sends partitions under their own names"
    elif missing:
        what = 'does not send all of "{}.{}"'.format(*min(missing))
    else:
        return
    raise TableChanged(
        f'the publication "{name}" {what}',
        code="publication_changed",
        detail="Changes that it left out cannot be had any more.",
        hint=RESYNC,
    )


MARKS = """
SELECT p.oid::text || ':' || p.xmin::text, n.nspname || '.' || c.relname, r.oid::text
FROM pg_publication p LEFT JOIN pg_publication_rel r ON r.prpubid = p.oid LEFT JOIN pg_class c ON c.oid = r.prrelid
LEFT JOIN pg_namespace n ON n.oid = c.relnamespace WHERE p.pubname = %s
"""


def marks(conn: psycopg.Connection, publication: str) -> tuple[str, dict[str, str]]:
    """What tells a publication from one that was altered and put back: its own mark, and that of each table in it."""
    rows = conn.execute(MARKS, (publication,)).fetchall()
    return (rows[0][0] if rows else ""), {table: mark for _, table, mark in rows if table is not None}


def altered_between(conn: psycopg.Connection, publication: str, origin: Origin) -> set[str] | None:
    """The tables whose changes the publication may have left out for a while; None where that may be all of them."""
    if not origin.publication:
        return set()
    own, now = marks(conn, publication)
    return None if own != origin.publication else {t for t, mark in origin.tables if now.get(t) != mark}


def check_marks(conn: psycopg.Connection, publication: str, origin: Origin, deployed: list[Table]) -> None:
    """Raises where the publication was altered and put back: what it left out in between is not in the stream."""
    found = altered_between(conn, publication, origin)
    concerned = {f"{t.schema}.{t.name}" for t in deployed} & (
        found if found is not None else {t for t, _ in origin.tables}
    )
    if concerned:
        raise TableChanged(
            f'the publication "{publication}" was altered, and put back',
            code="publication_changed",
            detail=f"Changes of {', '.join(sorted(concerned))} that were made in between may not have been sent.",
            hint=RESYNC,
        )


def _check(was: Table, found: Found) -> None:
    name = f'"{was.schema}.{was.name}"'
    if found.inherited:
        raise TableChanged(
            f"a table inherits from {name} now",
            code="table_changed",
            detail="Its rows are in the views' answers too, and Postgres sends them under their own name.",
            hint="Let no table inherit from it, or take it out of the views.",
        )
    if was.oid and was.deferrable != found.deferrable:
        raise TableChanged(
            f"the primary key of {name} was made {'deferrable' if found.deferrable else 'immediate'}",
            code="table_changed",
            detail="Old images are looked up in another way.",
            hint=AGAIN,
        )
    if was.key and set(found.key) != set(was.key):
        raise TableChanged(
            f"the primary key of {name} was altered",
            code="table_changed",
            detail=f"It was ({', '.join(was.key)}), and is ({', '.join(found.key)}).",
            hint=AGAIN,
        )
    for c in was.columns:
        if c.name not in found.columns:
            continue  # the stream will tell, when it comes to it
        place, oid, modifier = found.columns[c.name]
        if c.place not in (0, place):
            raise TableChanged(
                f'column "{c.name}" of {name} is not the one that was deployed',
                code="table_changed",
                detail="It was renamed, or dropped and added again.",
                hint=AGAIN,
            )
        if not same_type(c, oid, modifier):
            raise retyped(was, c)
