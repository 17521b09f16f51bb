"""check, of what is deployed: whether the source still is what the warehouse was filled from."""

from __future__ import annotations

import psycopg

from compiler.errors import TidemarkError
from connectors.changed import TableChanged
from connectors.postgres.origin import check_slot
from connectors.postgres.preflight import Finding
from pipelines.applying.unaltered import check_deployed
from pipelines.deployment import Deployment


def deployed(conn: psycopg.Connection, d: Deployment) -> list[Finding]:
    """Whether a deployment's slot, tables and publication are as they were."""
    out = []
    try:
        check_slot(conn, d.slot, None)
        out.append(Finding("ok", f"replication slot {d.slot} is there"))
    except TidemarkError as e:
        out.append(_finding(e))
    try:
        altered = [e for e in check_deployed(conn, d) if not e.labels]
        out += [_finding(e) for e in altered] or [
            Finding("ok", "the publication and its tables are as they were deployed")
        ]
    except TidemarkError as e:
        out.append(_finding(e))
    return out


def _finding(e: TidemarkError) -> Finding:
    if isinstance(e, TableChanged) and (e.called or e.table_called):
        return Finding("warning", e.message, e.detail, e.hint.removeprefix("Run: "))
    return Finding("error", e.message, e.detail, e.hint.removeprefix("Run: "))


def unowned(statements: list[str]) -> list[Finding]:
    """Slots and publications of Tidemark's making that are not of this warehouse."""
    if not statements:
        return []
    return [
        Finding(
            "warning",
            "the source has slots or publications of another deployment",
            "A slot that nobody reads keeps WAL on the source's disk without bound.",
            " ".join(statements),
        )
    ]
