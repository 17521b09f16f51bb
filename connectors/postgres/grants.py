"""What the user of the source needs to be allowed, as SQL: no more than the views that are there ask for."""

from __future__ import annotations

from collections.abc import Iterable

import psycopg

from compiler.catalog import Table

USER = """
SELECT current_user::text, rolreplication OR rolsuper, current_database()::text,
  has_database_privilege(current_database(), 'CREATE'), pg_has_role('pg_read_all_stats', 'USAGE')
FROM pg_roles WHERE rolname = current_user
"""
OWNER = """
SELECT r.rolname::text, r.rolsuper, pg_has_role(c.relowner, 'USAGE'), has_schema_privilege(c.relnamespace, 'USAGE'),
  has_table_privilege(c.oid, 'SELECT')
FROM pg_class c JOIN pg_roles r ON r.oid = c.relowner WHERE c.oid = %s::oid
"""


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def grants(conn: psycopg.Connection, tables: Iterable[Table]) -> list[tuple[str, bool, str]]:
    """Statements for who may give them: each with whether it is so already, and what it is for."""
    row = conn.execute(USER).fetchone()
    assert row is not None
    name, replicates, database, creates, sees = row
    user = quoted(name)
    out = [
        (f"ALTER ROLE {user} REPLICATION;", replicates, "to read the stream"),
        (f"GRANT CREATE ON DATABASE {quoted(database)} TO {user};", creates, "to make the publication"),
    ]
    for t in sorted(tables, key=lambda t: (t.schema, t.name)):
        found = conn.execute(OWNER, (t.oid,)).fetchone()
        if found is None:
            continue
        owner, superuser, owns, enters, reads = found
        out.append((f"GRANT USAGE ON SCHEMA {quoted(t.schema)} TO {user};", enters, "to name what is in it"))
        out.append((f"GRANT SELECT ON {t.quoted} TO {user};", reads, "to copy and to compare it"))
        publish = "to publish it, which only an owner may"
        if superuser:
            out.append((f"ALTER TABLE {t.quoted} OWNER TO {user};", owns, f"{publish}: it is a superuser's"))
        else:
            out.append((f"GRANT {quoted(owner)} TO {user};", owns, publish))
    out.append((f"GRANT pg_read_all_stats TO {user};", sees, "optional: to say whom a new slot waits for"))
    return list(dict.fromkeys(out))


def script(found: Iterable[tuple[str, bool, str]]) -> str:
    """One statement a line; those that are so already are comments."""
    return "\n".join(f"{'-- is so: ' if there else ''}{statement}  -- {why}" for statement, there, why in found)
