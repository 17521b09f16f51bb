"""Whether the source's tables are still those that were deployed, as far as its catalog tells."""

from __future__ import annotations

import psycopg

from compiler.catalog import Column, Table
from connectors.changed import TableChanged, changed, gone, replaced, retyped, same_type
from connectors.postgres.catalog import Found, Labels, definitions, fields_now, find_tables, labels_now, labels_of
from connectors.postgres.composites import Composite, composite_of, shape
from connectors.postgres.origin import RESYNC, Origin


def alterations(conn: psycopg.Connection, deployed: list[Table]) -> list[TableChanged]:
    """What is no longer as it was deployed: tables that were replaced or have another key, and columns that went
    away, are others, or are of another type or an enum with other labels."""
    return _alterations(conn, deployed, find_tables(conn, deployed))


def check_tables(conn: psycopg.Connection, deployed: list[Table]) -> dict[tuple[str, str], Found]:
    """The tables as they are. Raises the first of their alterations, but for enums that were given more labels, and
    columns that went away: events tell of these."""
    now = find_tables(conn, deployed)
    for e in _alterations(conn, deployed, now):
        if e.labels or e.expressions is not None:
            continue
        there = now[e.table.now].columns if e.table is not None and e.columns else {}
        if not e.columns or any(c in there for c in e.columns):
            raise e
    return now


SENT = """
SELECT c.oid::bigint, p.schemaname::text, p.tablename::text FROM pg_publication_tables p
JOIN pg_namespace n ON n.nspname = p.schemaname JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = p.tablename
WHERE p.pubname = %s AND to_jsonb(p) ->> 'rowfilter' IS NULL
"""


def check_publication(conn: psycopg.Connection, name: str, deployed: list[Table]) -> list[TableChanged]:
    """The tables that the publication sends no longer, or not all rows of: their changes are not in the stream. Raises
    TableChanged where it sends none as it did."""
    row = conn.execute(
        "SELECT pubinsert AND pubupdate AND pubdelete AND pubtruncate, pubviaroot FROM pg_publication WHERE pubname = "
        "%s",
        (name,),
    ).fetchone()
    sent = conn.execute(SENT, (name,)).fetchall()
    oids, names = {oid for oid, _, _ in sent}, {(schema, table) for _, schema, table in sent}
    if row is None or not all(row):
        what = "no longer sends every kind of change, or sends partitions under their own names"
        raise TableChanged(
            f'the publication "{name}" {"is gone" if row is None else what}',
            code="publication_changed",
            detail="Changes that it left out cannot be had any more.",
            hint=RESYNC,
        )
    return [
        changed(t, f'the publication "{name}" does not send all of "{".".join(t.now)}"', "Its changes are not known.")
        for t in deployed
        if t.oid not in oids and t.now not in names
    ]


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
    there = {*now.values()}  # whatever their tables are called by now
    return None if own != origin.publication else {t for t, mark in origin.tables if mark not in there}


def check_marks(
    conn: psycopg.Connection, publication: str, origin: Origin, deployed: list[Table]
) -> list[TableChanged]:
    """The tables that were taken out of the publication and put back: what it left out in between is not in the stream.
    Raises TableChanged where that may be all of them."""
    found = altered_between(conn, publication, origin) if deployed else set()
    if found is None:
        raise TableChanged(
            f'the publication "{publication}" was altered, and put back',
            code="publication_changed",
            detail="Changes that were made in between may not have been sent.",
            hint=RESYNC,
        )
    return [
        changed(
            t,
            f'the publication "{publication}" left out "{t.schema}.{t.name}" for a while',
            "Changes that were made in between were not sent.",
        )
        for t in deployed
        if f"{t.schema}.{t.name}" in found
    ]


def _alterations(
    conn: psycopg.Connection, deployed: list[Table], now: dict[tuple[str, str], Found]
) -> list[TableChanged]:
    enums, fields = labels_now(conn, deployed), fields_now(conn, deployed)
    names = {found.oid: name for name, found in now.items()}
    out = _recomputed(conn, deployed)
    for t in deployed:
        to = names.get(t.oid) if t.now not in now else None
        out += _altered(t, now.get(to or t.now), enums, to)
        out += [e for c in t.columns if (e := _refielded(t, c, fields)) is not None]
    return out


def _recomputed(conn: psycopg.Connection, deployed: list[Table]) -> list[TableChanged]:
    """The tables of which a generated column has another expression than it had, or is none any more."""
    some = [t for t in deployed if t.oid and t.expressions]
    now = definitions(conn, [t.oid for t in some]) if some else {}
    out = []
    for t in some:
        there = {*now.get(t.oid, {}).values()}
        if gone := [g for g in t.expressions if g.definition and g.definition not in there]:
            error = changed(
                t,
                f'the generated column "{gone[0].name}" of "{t.schema}.{t.name}" has another expression, or none',
                "What views make of it was computed by the one that it had.",
            )
            error.expressions = tuple(g for g in t.expressions if g not in gone)
            out.append(error)
    return out


def _altered(
    was: Table, found: Found | None, enums: dict[int, Labels], called: tuple[str, str] | None
) -> list[TableChanged]:
    """`called`: how the table was found, where not under the name that it had."""
    if found is None or was.oid not in (0, found.oid):
        return [replaced(was)]
    out = []
    if called is not None:
        out = [replaced(was)]
        out[0].detail = f'It is called "{".".join(called)}" now.'
        out[0].table_called = called
    whole = _other_form(was, found)
    if whole is not None:
        return [*out, whole]
    return [*out, *(e for c in was.columns if (e := _other_column(was, c, found, enums)))]


def _other_form(was: Table, found: Found) -> TableChanged | None:
    name = f'"{was.schema}.{was.name}"'
    if found.inherited:
        return changed(
            was,
            f"a table inherits from {name} now",
            "Its rows are in the views' answers too, and Postgres sends them under their own name.",
            "Let no table inherit from it, or take it out of the views.",
        )
    if was.oid and was.deferrable != found.deferrable:
        kind = "deferrable" if found.deferrable else "immediate"
        return changed(was, f"the primary key of {name} was made {kind}", "Old images are looked up in another way.")
    if was.key and not _same_key(was, found):
        return changed(
            was,
            f"the primary key of {name} was altered",
            f"It was ({', '.join(was.key)}), and is ({', '.join(found.key)}).",
        )
    return None


def _same_key(was: Table, found: Found) -> bool:
    """Whether the key has the same columns, whatever they are called."""
    places = {c.name: c.place for c in was.columns}
    if all(places.get(k) for k in was.key):
        return {places[k] for k in was.key} == {found.columns[k][0] for k in found.key}
    return set(found.key) == set(was.key)


def _other_column(was: Table, c: Column, found: Found, enums: dict[int, Labels]) -> TableChanged | None:
    named = {place: n for n, (place, _, _) in found.columns.items()}
    if c.now not in found.columns:
        error = gone(was, (c.name,))
        if c.place in named:
            error.detail = f'It is called "{named[c.place]}" now.'
            _, oid, modifier = found.columns[named[c.place]]
            same = same_type(c, oid, modifier) and _relabelled(was, c, enums) is None
            error.called = named[c.place] if same else ""
        return error
    place, oid, modifier = found.columns[c.now]
    if c.place not in (0, place):
        return changed(
            was,
            f'column "{c.name}" of "{was.schema}.{was.name}" is not the one that was deployed',
            "It was renamed, or dropped and added again.",
            columns=(c.name,),
        )
    if not same_type(c, oid, modifier):
        return retyped(was, c)
    return _relabelled(was, c, enums)


def _relabelled(was: Table, c: Column, enums: dict[int, Labels]) -> TableChanged | None:
    before, now = labels_of(c.type), enums.get(c.oid)
    if before is None or now is None or now.labels == before:
        return None
    error = changed(
        was,
        f'the enum "{c.source_type.removesuffix("[]")}" has other labels than when it was deployed',
        "Its order, and the text of its values, are part of what is kept.",
        columns=(c.name,),
    )
    error.labels = now.labels if now.has_more_than(before) else ()
    return error


def _refielded(was: Table, c: Column, now: dict[int, Composite]) -> TableChanged | None:
    before = composite_of(c.type)
    if not before.fields or c.oid not in now or shape(before) == shape(now[c.oid]):
        return None
    return changed(
        was,
        f'the composite type "{c.source_type.removesuffix("[]")}" has other attributes than when it was deployed',
        f'Values of column "{c.name}" of "{was.schema}.{was.name}" are printed with other fields by now.',
        columns=(c.name,),
    )


def more_labels(conn: psycopg.Connection, tables: list[Table]) -> list[TableChanged]:
    """Of columns that nobody watches, the enums that were given more labels: views may name these."""
    enums = labels_now(conn, tables)
    found = (_relabelled(t, c, enums) for t in tables for c in t.columns)
    return [e for e in found if e is not None and e.labels]
