"""What a deployment keeps in the source: a publication and a slot."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import psycopg
from psycopg import sql

from compiler.catalog import Table
from compiler.errors import TidemarkError
from connectors.postgres.altered import marks
from connectors.postgres.catalog import find_tables
from connectors.postgres.connection import connect
from connectors.postgres.origin import Origin
from pipelines import deployment as deployments
from pipelines.deployment import Deployment

SLOTS = (
    "SELECT slot_name::text, active FROM pg_replication_slots WHERE database = current_database() AND slot_name ~ %s"
)
PUBLICATIONS = "SELECT pubname::text FROM pg_publication WHERE pubname ~ %s"
OURS = "^tidemark_[0-9a-f]{10}$"


def orphans(conn: psycopg.Connection, d: Deployment | None, used: Collection[str] = ()) -> list[str]:
    """SQL that drops slots and publications of Tidemark's making that are not this deployment's; they may be
    another's. Those `used` are not named."""
    mine = {*used, *((d.slot, d.publication) if d is not None else ())}
    out = [
        f"SELECT pg_drop_replication_slot('{name}');{'  -- it is in use' if active else ''}"
        for name, active in conn.execute(SLOTS, (OURS,)).fetchall()
        if name not in mine
    ]
    return out + [
        f'DROP PUBLICATION "{name}";' for (name,) in conn.execute(PUBLICATIONS, (OURS,)).fetchall() if name not in mine
    ]


def marked(conn: psycopg.Connection, d: Deployment, every: list[Table]) -> Origin:
    """The deployment's origin with the publication as it is now, which should have `every` table: one that is not in it
    is left out already. What was known of tables that were in it before stays."""
    own, named = marks(conn, d.publication)
    tables = {f"{t.schema}.{t.name}": named.get(".".join(t.now), "") for t in every}
    kept = {f"{t.schema}.{t.name}" for t in every}
    before = {t: mark for t, mark in d.origin.tables if t in kept}
    return replace(
        d.origin, publication=d.origin.publication or own, tables=tuple(sorted({**tables, **before}.items()))
    )


def publish(dsn: str, name: str, tables: list[Table], alter: bool = False) -> None:
    """Create the publication of just these tables, or make it so: then of those that there are, under the names that
    they have by now."""
    _publish(dsn, name, sorted(_there(dsn, tables) if alter else {t.now for t in tables}), alter)


def _there(dsn: str, tables: list[Table]) -> set[tuple[str, str]]:
    """What the source calls these tables; one that was replaced is the one that has its name."""
    with connect(dsn) as c:
        found = find_tables(c, tables)
    names = {f.oid: name for name, f in found.items()}
    return {names.get(t.oid, t.now) for t in tables if t.oid in names or t.now in found}


def _publish(dsn: str, name: str, tables: list[tuple[str, str]], alter: bool) -> None:
    listed = sql.SQL(", ").join(sql.Identifier(*t) for t in tables)
    with connect(dsn, patience=None) as c:
        try:
            if alter and tables:
                c.execute(sql.SQL("ALTER PUBLICATION {} SET TABLE {}").format(sql.Identifier(name), listed))
            elif not alter:
                c.execute(sql.SQL("DROP PUBLICATION IF EXISTS {}").format(sql.Identifier(name)))
                body = sql.SQL(" FOR TABLE {}").format(listed) if tables else sql.SQL("")
                c.execute(
                    sql.SQL("CREATE PUBLICATION {}{} WITH (publish_via_partition_root = true)").format(
                        sql.Identifier(name), body
                    )
                )
        except psycopg.Error as e:
            raise TidemarkError(
                "cannot publish the tables that the views read",
                detail=str(e).split("\n")[0],
                code="publication_failed",
                hint="The user must own the tables and have CREATE on the database.",
            ) from e


def publish_deployed(dsn: str, d: Deployment) -> None:
    """Let the publication have no tables but those that are deployed, whatever they are called by now."""
    with connect(dsn) as c:
        sent = c.execute(
            "SELECT c.oid::bigint, n.nspname, c.relname FROM pg_publication p JOIN pg_publication_rel r ON r.prpubid = "
            "p.oid JOIN pg_class c ON c.oid = r.prrelid JOIN pg_namespace n ON n.oid = c.relnamespace "
            "WHERE p.pubname = %s",
            (d.publication,),
        ).fetchall()
    oids, names = {t.oid for t in d.catalog}, {t.now for t in d.catalog}
    stay = [(schema, name) for oid, schema, name in sent if oid in oids or (schema, name) in names]
    if len(stay) < len(sent):
        _publish(dsn, d.publication, sorted(stay), alter=True)


def drop_former(dsn: str, path: Path, d: Deployment) -> None:
    """Slots and publications that the deployment took the place of: a copy that was killed at its end leaves them."""
    if not d.former:
        return
    with suppress(TidemarkError, psycopg.Error):  # tried again by the next command
        for name in d.former:
            _drop(dsn, name, name)
        d.former = []
        deployments.save(path, d)


def drop_source_objects(dsn: str, d: Deployment) -> None:
    """Slot and publication, if they are there, and those it took the place of."""
    for slot, publication in ((d.slot, d.publication), *((n, n) for n in d.former)):
        _drop(dsn, slot, publication)


def _drop(dsn: str, slot: str, publication: str) -> None:
    with connect(dsn) as c:
        c.execute(
            "SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots WHERE slot_name = %s AND active",
            (slot,),
        )
        for _ in range(50):
            row = c.execute("SELECT active FROM pg_replication_slots WHERE slot_name = %s", (slot,)).fetchone()
            if row is None or not row[0]:
                break
            c.execute("SELECT pg_sleep(0.1)")
        c.execute("SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE slot_name = %s", (slot,))
        c.execute(sql.SQL("DROP PUBLICATION IF EXISTS {}").format(sql.Identifier(publication)))
