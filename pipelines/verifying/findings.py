"""check, of what is deployed: whether the source still is what the warehouse was filled from."""

from __future__ import annotations

import psycopg

from compiler.errors import TidemarkError
from connectors.postgres.origin import check_slot
from connectors.postgres.preflight import Finding
from pipelines.applying.unaltered import check_deployed
from pipelines.carried import carried, fixed
from pipelines.deployment import Deployment


def deployed(conn: psycopg.Connection, d: Deployment, capture: str) -> list[Finding]:
    """Whether a deployment's slot, tables and publication are as they were."""
    out = []
    try:
        check_slot(conn, d.slot, None)
        out.append(Finding("ok", f"replication slot {d.slot} is there"))
    except TidemarkError as e:
        out.append(_finding(e))
    try:
        altered = check_deployed(conn, d)
        left = carried(altered, d.catalog, fixed(d, capture)).left
        renamed = [e for e in altered if e.renamed and e not in left]
        out += [Finding("warning", e.message, e.detail, e.hint.removeprefix("Run: ")) for e in renamed]
        out += [_finding(e) for e in left if isinstance(e, TidemarkError)]
        if not left and not renamed:
            out.append(Finding("ok", "the publication and its tables are as they were deployed"))
    except TidemarkError as e:
        out.append(_finding(e))
    return out


def _finding(e: TidemarkError) -> Finding:
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
