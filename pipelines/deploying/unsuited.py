"""Source tables that cannot be mirrored, and why."""

from __future__ import annotations

import re
from collections import Counter

from compiler.catalog import Catalog, Table
from compiler.errors import TidemarkError
from connectors.debezium.values import inexact
from pipelines.project import Compiled

OWN = frozenset(
    ("rowid", "_weight", "_lsn", "_log", "_present", "_seq", "_row", "_at", "_of", "_key_was")
)  # columns of mirrors and batches
OWN_NUMBERED = re.compile(r"_(key|from)_\d+|_[uh]\d+")


def check_capture(views: list[Compiled], catalog: Catalog, capture: str) -> None:
    """Give views an error whose tables' changes cannot be read as tidemark.toml says."""
    if capture != "debezium":
        return
    by_name = {f"{t.schema}.{t.name}": t for t in catalog.tables.values()}
    for v in views:
        tables = [by_name[n] for n in sorted(v.plan.tables)] if v.plan is not None else []
        v.error = v.error or next(filter(None, map(inexact, tables)), None)
        if v.error is None and v.plan is not None and v.plan.by_key:
            v.error = TidemarkError(
                f'view "{v.name}" says keep_mirrors = false, and changes come by Debezium',
                detail="What was read of the source is told from what comes by the ids of transactions.",
                hint="Leave keep_mirrors out, or capture by pgoutput.",
                code="by_key_debezium",
            )


def check_tables(views: list[Compiled], catalog: Catalog) -> None:
    """Give views an error whose tables cannot be mirrored."""
    by_name = {f"{t.schema}.{t.name}": t for t in catalog.tables.values()}
    used = {n for v in views if v.error is None and v.plan is not None for n in v.plan.tables}
    folded = Counter(by_name[n].mirror.lower() for n in used)
    for v in views:
        tables = [by_name[n] for n in sorted(v.plan.tables)] if v.plan is not None else []
        reasons = (reason(t) or (alike(t) if folded[t.mirror.lower()] > 1 else None) for t in tables)
        v.error = v.error or next((r for r in reasons if r is not None), None)


def alike(t: Table) -> TidemarkError:
    return TidemarkError(
        f'the name of table "{t.schema}.{t.name}" is too close to another\'s',
        code="table_name",
        detail=f'Both would be "{t.mirror.lower()}" in the warehouse: engines do not tell capitals apart.',
        hint="Rename one.",
    )


def reason(t: Table) -> TidemarkError | None:
    """Why a table cannot be mirrored, with a hint; None where it can."""
    name = f"{t.schema}.{t.name}"
    if t.form == "unlogged":
        return TidemarkError(
            f'table "{name}" is unlogged, and Postgres does not replicate it',
            code="unlogged",
            hint=f"ALTER TABLE {t.quoted} SET LOGGED",
        )
    if t.form == "inheritance":
        return TidemarkError(
            f'table "{name}" has tables that inherit from it',
            code="inheritance",
            detail="Their rows are the view's too, and Postgres sends them under their own names.",
            hint="Partition the table, or let no table inherit from it.",
        )
    if not t.columns or "." in t.schema:
        what = "has no columns" if not t.columns else "is in a schema with a dot in its name"
        return TidemarkError(f'table "{name}" {what}', code="table_name", hint="Such tables are not mirrored.")
    if t.identity == "nothing":
        each = "each partition has its own" if t.form == "partitions" else "a deferrable primary key is none"
        return TidemarkError(
            f'table "{name}" has no replica identity',
            code="replica_identity",
            detail=f"Without one, Postgres refuses UPDATE and DELETE on a published table; {each}.",
            hint=f"Add a primary key, or: ALTER TABLE {t.quoted} REPLICA IDENTITY FULL",
        )
    if unsent := set(t.generated) & {*t.key, *t.identity_key}:
        return TidemarkError(
            f'the key of table "{name}" has the generated column "{min(unsent)}"',
            code="replica_identity",
            detail="Postgres does not send generated columns, so that its rows could not be told apart.",
            hint="Make a key of other columns, or drop the generation.",
        )
    for c in t.columns:
        if c.name.lower() in OWN or OWN_NUMBERED.fullmatch(c.name.lower()):
            return TidemarkError(
                f'column "{c.name}" of table "{name}" has a name that mirrors keep for themselves',
                code="column_name",
                hint="Rename it.",
            )
    folded = Counter(c.name.lower() for c in t.columns)
    if twice := [c.name for c in t.columns if folded[c.name.lower()] > 1]:
        names = " and ".join(f'"{n}"' for n in twice)
        return TidemarkError(
            f'columns {names} of table "{name}" differ in capitals alone',
            code="column_name",
            detail="The engines' tables take them for one name.",
            hint="Rename one.",
        )
    return None
