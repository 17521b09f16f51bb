"""Whether what a deployment reads in the source is still what was deployed."""

from __future__ import annotations

import time
from dataclasses import replace

import psycopg

from compiler.catalog import Table
from connectors.changed import TableChanged, replaced
from connectors.postgres.altered import alterations, check_marks, check_publication, more_labels
from connectors.postgres.catalog import sent_columns
from connectors.postgres.connection import connect
from connectors.postgres.files import moved, vanished
from connectors.postgres.origin import check_slot
from pipelines.carried import called
from pipelines.deployment import CATALOG, Deployment
from pipelines.refused import ALL, parts, qualified, watched

TRIES, PAUSE = 100, 0.02  # to find what the stream had in the catalog; seconds


def check_source(dsn: str, d: Deployment, frontier: int | None = None) -> list[TableChanged]:
    """What was altered of the tables. Raises TableChanged for the publication, and SourceReplaced for a slot that is
    not where the views are.

    `frontier`: what every engine holds; where it is not given, the slot's place is not compared.
    """
    with connect(dsn) as conn:
        check_slot(conn, d.slot, frontier)
        return check_deployed(conn, d)


def check_deployed(conn: psycopg.Connection, d: Deployment) -> list[TableChanged]:
    """What was altered of the tables and columns that are kept, and which of them the publication left out. Raises
    TableChanged where that may be any.

    Where rows are elsewhere and still the same, as after VACUUM FULL, this is noted in `d`.
    """
    for attempt in range(2):
        tables = watched(d)
        found = alterations(conn, tables)
        gone = {e.table for e in found if ALL in parts(e) and not e.renamed}
        tables = called([t for t in tables if t not in gone], found)
        try:
            unsent = check_publication(conn, d.publication, tables)
            sent = _without(tables, unsent)
            unsent += check_marks(conn, d.publication, d.origin, sent)
        except TableChanged:  # a table may have been dropped between the two questions
            if attempt:
                raise
            continue
        if not unsent:
            break
    tables = _without(tables, unsent)
    others, noted = moved(conn, tables)
    if noted:
        note(d, noted)
    found += more_labels(conn, _unwatched(d))
    return [*found, *unsent, *others]


def _without(tables: list[Table], found: list[TableChanged]) -> list[Table]:
    those = {e.table for e in found}
    return [t for t in tables if t not in those]


def check_parts(conn: psycopg.Connection, d: Deployment, announced: list[int]) -> list[TableChanged]:
    """The tables that are kept of which the stream, that told these forms, had rows of a part that is gone."""
    gone: list[TableChanged] = []
    for _ in range(TRIES):  # a commit may be in the stream a moment before others see it
        kept = {qualified(t) for t in watched(d)}
        gone = [e for e in vanished(conn, d.catalog, announced) if e.table is not None and qualified(e.table) in kept]
        if not gone:
            break
        time.sleep(PAUSE)
    return gone


def _unwatched(d: Deployment) -> list[Table]:
    """The tables with the columns that no engine keeps."""
    kept = {qualified(t): {c.name for c in t.columns} for t in watched(d)}
    return [
        replace(t, columns=tuple(c for c in t.columns if c.name not in kept.get(qualified(t), set())))
        for t in d.catalog
    ]


def note(d: Deployment, noted: list[Table]) -> None:
    """Put the notes of these tables, which may lack columns, in the place of the former ones. The list is replaced, not
    changed: another thread may be saving it."""
    anew = {qualified(t): t for t in noted}
    with CATALOG:
        d.catalog = [_noted(t, anew[qualified(t)]) if qualified(t) in anew else t for t in d.catalog]


def note_gone(d: Deployment, noted: list[Table]) -> None:
    """The same of the columns that these lack by now."""
    anew = {t.oid: t.gone for t in noted}
    with CATALOG:
        d.catalog = [replace(t, gone=anew[t.oid]) if t.oid in anew else t for t in d.catalog]


def _noted(t: Table, again: Table) -> Table:
    altered = {c.name: c.altered for c in again.columns}
    columns = tuple(replace(c, altered=altered.get(c.name, c.altered)) for c in t.columns)
    return replace(t, columns=columns, files=again.files, links=again.links)


def explained(dsn: str, change: TableChanged) -> list[TableChanged]:
    """What the catalog says of a table that the stream had in another form than it was deployed in.

    The stream tells columns by their names alone. Which of these are the columns that were deployed is the catalog's
    to say: a column that by now has another name than the stream shows in its place is not certain, and is refused.
    """
    table = change.table
    if table is None:
        raise change
    with connect(dsn) as conn, conn.transaction():  # both answers are of one moment
        conn.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        found = alterations(conn, [table])
        now = sent_columns(conn, table.oid)
    if change.told_by_name and change.between and not any(ALL in parts(e) for e in found if not e.renamed):
        again = replaced(table)
        called_now = next((e.table_called for e in found if e.table_called is not None), table.now)
        again.table_called, again.between = called_now, change.between
        found.append(again)
    if change.received:
        change.columns = (*change.columns, *_uncertain(table, change.received, now))
    return [*found, change]


def _uncertain(table: Table, received: tuple[str, ...], now: dict[int, str]) -> list[str]:
    """The columns of which the catalog does not say the same as the stream; dropped ones may still have been there."""
    dropped = {c.place: c.name for c in table.columns if c.place not in now and c.name in received}
    here = dict(zip(received, (name for _, name in sorted({**now, **dropped}.items())), strict=False))
    return [c.name for c in table.columns if c.name in received and here.get(c.name) != c.name]
