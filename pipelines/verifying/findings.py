"""check, of what is deployed: whether the source still is what the warehouse was filled from."""

from __future__ import annotations

import psycopg

from compiler.catalog import Table
from compiler.errors import TidemarkError
from connectors.postgres.origin import check_slot
from connectors.postgres.preflight import Finding
from pipelines.applying.unaltered import check_deployed
from pipelines.carried import carried, fixed
from pipelines.deployment import Deployment
from pipelines.refused import qualified


def deployed(conn: psycopg.Connection, d: Deployment, capture: str) -> list[Finding]:
    """Whether a deployment's slot, tables and publication are as they were."""
    out = []
    try:
        check_slot(conn, d.slot, None)
        out.append(Finding("ok", f"replication slot {d.slot} is there"))
    except TidemarkError as e:
        out.append(_finding(e))
    try:
        altered = carried(check_deployed(conn, d), d.catalog, fixed(d, capture))
        out += [_finding(e) for e in altered.left if isinstance(e, TidemarkError)]
        out += [_renamed(t) for t in altered.over(d.catalog) if t.elsewhere]
        if not altered.left:
            out.append(Finding("ok", "the publication and its tables are as they were deployed"))
    except TidemarkError as e:
        out.append(_finding(e))
    return out


def _renamed(t: Table) -> Finding:
    names = [(qualified(t), ".".join(t.now))] if t.called else []
    names += [(f"{qualified(t)}.{c.name}", c.now) for c in t.columns if c.called]
    return Finding(
        "warning",
        "renamed in the source: " + ", ".join(f"{was} is called {now}" for was, now in names),
        "The views go on under the names that they were deployed with.",
        "Let the views' files read the new names before the next: tidemark deploy",
    )


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
