"""check: what about the source would stop or hurt a deployment, why it matters, and the SQL that mends it."""

from __future__ import annotations

from dataclasses import dataclass

import psycopg

from compiler.catalog import Catalog


@dataclass(frozen=True)
class Finding:
    """`level`: ok, warning or error."""

    level: str
    what: str
    why: str = ""
    mend: str = ""

    def lines(self) -> str:
        out = f"{self.level}: {self.what}"
        if self.why:
            out += f"\n  why: {self.why}"
        if self.mend:
            out += f"\n  mend: {self.mend}"
        return out


def _one(conn: psycopg.Connection, sql: str, *args: object) -> tuple:  # type: ignore[type-arg]
    row = conn.execute(sql, args).fetchone()
    assert row is not None
    return row


def preflight(conn: psycopg.Connection, catalog: Catalog, tables: set[str], deployed_slot: str | None) -> list[Finding]:
    """Findings for the tables (schema-qualified) that the views read."""
    return [
        *_server(conn, deployed_slot),
        *_rights(conn, catalog, tables),
        *_tables(catalog, tables),
        *_wal(conn, deployed_slot),
    ]


def _server(conn: psycopg.Connection, slot: str | None) -> list[Finding]:
    level, slots, senders = _one(
        conn,
        "SELECT current_setting('wal_level'), current_setting('max_replication_slots')::int, "
        "current_setting('max_wal_senders')::int",
    )
    out = [
        Finding("ok", f"wal_level is {level}")
        if level == "logical"
        else Finding(
            "error",
            f"wal_level is {level}",
            "Logical replication needs wal_level = logical.",
            "ALTER SYSTEM SET wal_level = 'logical';  -- then restart Postgres",
        )
    ]
    used = _one(conn, "SELECT count(*) FROM pg_replication_slots")[0]
    free = slots - used
    need = 1 if slot else 2
    if free >= need:
        out.append(Finding("ok", f"{free} of {slots} replication slots are free"))
    else:
        out.append(
            Finding(
                "error" if free < 1 and not slot else "warning",
                f"{free} of {slots} replication slots are free",
                "One is kept by the deployment, a second is used for a moment by a deploy that adds tables.",
                "SELECT slot_name, active FROM pg_replication_slots;  -- drop what is not used, or "
                f"ALTER SYSTEM SET max_replication_slots = {slots + 4};",
            )
        )
    busy = _one(conn, "SELECT count(*) FROM pg_stat_replication")[0]
    if senders - busy >= 2:
        out.append(Finding("ok", f"{senders - busy} of {senders} WAL senders are free"))
    else:
        out.append(
            Finding(
                "error",
                f"{senders - busy} of {senders} WAL senders are free",
                "Streaming takes one.",
                f"ALTER SYSTEM SET max_wal_senders = {senders + 4};  -- then restart Postgres",
            )
        )
    collate = _one(conn, "SELECT datcollate FROM pg_database WHERE datname = current_database()")[0]
    if collate.split(".")[0] not in ("C", "POSIX"):
        out.append(
            Finding(
                "warning",
                f"the database's collation is {collate}",
                "The engines order text by code point: ORDER BY, MIN and MAX of text can differ from Postgres.",
                'Use COLLATE "C" in the view\'s ORDER BY, or a source database with collation C.',
            )
        )
    return out


def _rights(conn: psycopg.Connection, catalog: Catalog, tables: set[str]) -> list[Finding]:
    user, replicate, superuser, create = _one(
        conn,
        "SELECT current_user, rolreplication, rolsuper, has_database_privilege(current_database(), 'CREATE') "
        "FROM pg_roles WHERE rolname = current_user",
    )
    out = []
    if replicate or superuser:
        out.append(Finding("ok", f"user {user} may replicate"))
    else:
        out.append(
            Finding(
                "error",
                f"user {user} may not replicate",
                "Streaming needs the REPLICATION attribute.",
                f'ALTER ROLE "{user}" REPLICATION;',
            )
        )
    if not create:
        out.append(
            Finding(
                "error",
                f"user {user} may not create a publication",
                "It needs CREATE on the database.",
                f'GRANT CREATE ON DATABASE "{conn.info.dbname}" TO "{user}";',
            )
        )
    for t in catalog.tables.values():
        name = f"{t.schema}.{t.name}"
        if name not in tables:
            continue
        read, owner = _one(
            conn,
            "SELECT has_table_privilege(oid, 'SELECT'), pg_has_role(relowner, 'USAGE') FROM pg_class "
            "WHERE oid = %s::oid",
            t.oid,
        )
        if not read:
            out.append(
                Finding(
                    "error",
                    f"user {user} may not read {name}",
                    "The first copy reads it.",
                    f'GRANT SELECT ON {t.quoted} TO "{user}";',
                )
            )
        if not owner:
            out.append(
                Finding(
                    "error",
                    f"user {user} does not own {name}",
                    "Only its owner can add a table to a publication.",
                    "tidemark check --grants prints what is needed.",
                )
            )
    return out


def _tables(catalog: Catalog, tables: set[str]) -> list[Finding]:
    out = []
    for t in catalog.tables.values():
        name = f"{t.schema}.{t.name}"
        if name not in tables:
            continue
        quoted = t.quoted
        if t.identity == "nothing" and t.deferrable:
            out.append(
                Finding(
                    "error",
                    f"the primary key of {name} is deferrable",
                    "Postgres takes it for no replica identity: once published, it refuses UPDATE and DELETE.",
                    f"ALTER TABLE {quoted} REPLICA IDENTITY FULL;",
                )
            )
        elif t.identity == "nothing":
            out.append(
                Finding(
                    "error",
                    f"{name} has no replica identity",
                    "Once published, Postgres refuses UPDATE and DELETE on it.",
                    f"ALTER TABLE {quoted} ADD PRIMARY KEY (…);  -- or REPLICA IDENTITY FULL",
                )
            )
        elif not t.key:
            out.append(
                Finding(
                    "warning",
                    f"{name} has no primary key",
                    "Its mirror keeps whole rows with counts, and is matched by all columns.",
                    f"ALTER TABLE {quoted} ADD PRIMARY KEY (…);",
                )
            )
        else:
            out.append(Finding("ok", f"{name}: replica identity {t.identity}, key ({', '.join(t.key)})"))
        for c in t.columns:
            if c.type.name == "opaque":
                out.append(
                    Finding(
                        "warning",
                        f"{name}.{c.name} has type {c.source_type}",
                        "It is carried as Postgres prints it, as text.",
                    )
                )
    return out


def _wal(conn: psycopg.Connection, slot: str | None) -> list[Finding]:
    keep = _one(conn, "SELECT current_setting('max_slot_wal_keep_size')")[0]
    out = []
    if keep == "-1":
        out.append(
            Finding(
                "warning",
                "max_slot_wal_keep_size is unlimited",
                "While no pipeline runs, the slot keeps WAL on the source's disk without bound.",
                "ALTER SYSTEM SET max_slot_wal_keep_size = '50GB'; SELECT pg_reload_conf();",
            )
        )
    else:
        out.append(Finding("ok", f"max_slot_wal_keep_size is {keep}"))
    return out + _standbys(conn, slot)


STANDBYS = """
SELECT current_setting('server_version_num')::int >= 170000, current_setting('synchronized_standby_slots', true),
  (SELECT count(*) FROM pg_replication_slots WHERE slot_type = 'physical' AND active),
  (SELECT string_agg(quote_ident(slot_name), ', ') FROM pg_replication_slots WHERE slot_type = 'physical' AND active),
  (SELECT to_jsonb(s) ->> 'failover' FROM pg_replication_slots s WHERE slot_name = %s)
"""


def _standbys(conn: psycopg.Connection, slot: str | None) -> list[Finding]:
    """Whether views can follow a standby that takes over, where the server has some: each by a slot of its own."""
    able, waits, count, names, lasting = _one(conn, STANDBYS, slot)
    if not able or not count:
        return []
    out = []
    if slot and lasting != "true":
        out.append(
            Finding(
                "warning",
                f"standbys keep no copy of replication slot {slot}",
                "It was made before the server was of version 17. When a standby takes over, the stream is lost.",
                "tidemark deploy --resync",
            )
        )
    if not waits:
        out.append(
            Finding(
                "warning",
                "synchronized_standby_slots is empty",
                "Changes may be in the views before a standby has them. Where it takes over then, the views are ahead "
                "of it, and their tables have to be copied again.",
                f"ALTER SYSTEM SET synchronized_standby_slots = '{names}'; SELECT pg_reload_conf();",
            )
        )
    return out or [Finding("ok", "the views can follow a standby that takes over")]
