"""status: per view, how far it is; and what the slot keeps at the source. Nothing is evaluated, and no source is
needed.

Of a running pipeline its own word is taken, which it has from the server. What nobody can know now is null, not 0.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from compiler.errors import TidemarkError
from compiler.maintain.strategy import paces
from connectors.postgres.connection import connect, format_lsn, parse_lsn
from connectors.postgres.origin import SourceReplaced, check_slot
from pipelines import deployment as deployments
from pipelines.asking.client import connect_running
from pipelines.asking.reading import reader
from pipelines.asking.states import StateStatus, shown
from pipelines.asking.states import plain as states_lines
from pipelines.config import Config
from pipelines.deployment import Deployment

PATIENCE = 8.0  # seconds for the source
NEAR = 0.8  # of the WAL that the source keeps for the slot at most, from which on it is said
SLOT = """
SELECT active, (pg_current_wal_lsn() - restart_lsn)::bigint, pg_current_wal_lsn()::text, wal_status, safe_wal_size
FROM (SELECT) one LEFT JOIN pg_replication_slots ON slot_name = %s
"""


@dataclass
class ViewStatus:
    """`rows`: kept for the view. `stale_seconds`: since it was last known to hold all that the source had. Of a view
    that may lag, `waiting`: rows of changes that it has not taken yet."""

    view: str
    engine: str
    maintenance: str
    rows: int | None
    frontier: str
    stale_bytes: int | None
    stale_seconds: float | None
    error: str = ""
    waiting: int | None = None


@dataclass(frozen=True)
class MirrorStatus:
    """Which columns of a table are kept, and of how many; the view whose keys' rows alone are, '' where all are; and
    the bytes of their blocks, where that is known."""

    table: str
    engine: str
    columns: tuple[str, ...]
    of: int
    by: str = ""
    bytes: int | None = None


@dataclass
class Status:
    """`source_lsn`: where the source's WAL is; `retained_bytes`: WAL that the slot makes it keep; `safe_bytes`: how
    much more may be written until the slot may be lost, None without a bound; `wal_status` in Postgres' words.
    `source`: why it is not known. `states` and `mirrors`: None where nobody asked for them."""

    views: list[ViewStatus]
    slot: str
    slot_active: bool | None = None
    slot_error: str = ""
    retained_bytes: int | None = None
    safe_bytes: int | None = None
    wal_status: str | None = None
    source_lsn: str | None = None
    source: str = ""
    refused: dict[str, dict[str, dict[str, str]]] = field(default_factory=dict)
    states: list[StateStatus] | None = None
    mirrors: list[MirrorStatus] | None = None
    running: bool = False
    pipeline: dict[str, Any] | None = field(default=None)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def status(config: Config, states: bool = False) -> Status:
    """Reads the warehouse, and the source if it answers; raises TidemarkError when the warehouse cannot be read."""
    d = deployments.require(config.warehouse_path)
    running = connect_running(config.warehouse_path)
    pipeline = None
    if running is not None:
        with running:
            pipeline = running.state()
    with reader(config, d) as r:
        rows, frontiers, fresh = r.rows(), r.frontiers(), r.fresh_at()
        lagging = r.behind() if any(v.strategy == paces.NAME for v in d.views) else {}
        each, sizes = (r.states(), r.mirrors()) if states else (None, {})
    s = Status([], d.slot, refused=d.refused, states=each, running=running is not None, pipeline=pipeline)
    s.mirrors = _mirrors(d, sizes) if states else None
    now, source = time.time(), _ask(config, d, s, frontiers)
    for v in d.views:
        f, at = frontiers.get(v.engine, 0), fresh.get(v.engine, 0.0)
        own = lagging.get(v.name)
        if own is not None and own.waiting:
            f, at = own.lsn, own.at
        behind = None if source is None or source < f else source - f
        age = 0.0 if behind == 0 else round(max(now - at, 0.0), 1) if at else None
        error = f"set aside: {v.error}" if v.error else ""
        s.views.append(
            ViewStatus(
                v.name,
                v.engine,
                v.maintenance,
                rows.get(v.name),
                format_lsn(f),
                behind,
                age,
                error,
                own.waiting if own is not None else None,
            )
        )
    return s


def _mirrors(d: Deployment, sizes: Mapping[str, Mapping[str, int | None]]) -> list[MirrorStatus]:
    out = []
    for engine, tables in d.tables.items():
        for t in tables:
            names = tuple(c.name for c in d.mirrored(engine, t).columns)
            by = d.by_key.get(engine, {}).get(t)
            size = sizes.get(engine, {}).get(t)
            of = len(d.table(t).columns)
            out.append(MirrorStatus(t, engine, names, of, by.view if by is not None else "", size))
    return out


def _ask(config: Config, d: Deployment, s: Status, frontiers: dict[str, int]) -> int | None:
    """Where the source is, and how the slot stands; None, with the reason, where it does not answer."""
    try:
        with connect(config.source.dsn, patience=PATIENCE) as c:
            row = c.execute(SLOT, (d.slot,)).fetchone()
            assert row is not None
            s.slot_active, s.retained_bytes, s.source_lsn, s.wal_status, s.safe_bytes = row
            s.slot_active = bool(s.slot_active)
            if parse_lsn(str(s.source_lsn)) < max(frontiers.values(), default=0) and not s.running:
                s.slot_error = "the source is at an earlier point than the views: it was restored"
            try:
                lowest = min(frontiers.values()) if frontiers and not s.running else None
                check_slot(c, d.slot, config.source.held(lowest))
            except SourceReplaced as e:
                s.slot_error = str(e)
        return parse_lsn(s.source_lsn) if s.source_lsn else None
    except TidemarkError as e:
        s.source = f"{e.message}: {e.detail}" if e.detail else e.message
        return None


def plain(s: Status) -> str:
    """The status as lines for a terminal: a view each, what is refused, slot, source. Lags are in bytes and seconds."""
    lines = []
    width = max([len(v.view) for v in s.views] + [4])
    for v in s.views:
        kept = "–" if v.rows is None else f"{v.rows:,}"
        behind = "unknown" if v.stale_bytes is None else f"{v.stale_bytes:,} bytes"
        age = "not known" if v.stale_seconds is None else f"{v.stale_seconds:.1f} s"
        lines.append(
            f"{v.view:{width}}  {v.engine:6}  {v.maintenance:11}  {kept:>10} rows  frontier {v.frontier}  stale "
            f"{behind} {age}"
        )
        if v.waiting:
            lines.append(f"{'':{width}}  {v.waiting:,} rows of changes wait until it is finished")
        if v.error:
            lines.append(f"{'':{width}}  {v.error}")
    lines += states_lines(s.states or [])
    for m in s.mirrors or []:
        size = "" if m.bytes is None else f", {shown(m.bytes)}"
        of = f"{len(m.columns)} of {m.of} columns{f', the rows of keys of {m.by} alone' if m.by else ''}"
        lines.append(f"mirror {m.table} on {m.engine}: {', '.join(m.columns)} ({of}{size})")
    for engine, tables in s.refused.items():
        for table, columns in tables.items():
            for column, why in columns.items():
                lines.append(
                    f"{table}{f'.{column}' if column else ''} is not kept on {engine}: {why} (tidemark deploy copies "
                    f"it again for a view that reads it)"
                )
    lines.append(f"slot {s.slot}: {_slot(s)}; pipeline {'running' if s.running else 'not running'}")
    if s.slot_error:
        lines.append(s.slot_error)
    elif near := _near(s):
        lines.append(near)
    away = (s.pipeline or {}).get("source", {})
    if away.get("state") == "away":
        lines.append(f"the pipeline's source is away for {away.get('seconds', 0):.0f} s: {away.get('reason', '')}")
    if s.source:
        lines.append(s.source)
    return "\n".join(lines)


def _slot(s: Status) -> str:
    if s.source_lsn is None:
        return "not known, the source does not answer"
    if s.retained_bytes is None:
        return f"gone; source at {s.source_lsn}"
    most = "" if s.safe_bytes is None else f" of {s.retained_bytes + max(s.safe_bytes, 0):,} at most"
    return (
        f"{'active' if s.slot_active else 'not active'}, {s.retained_bytes:,} bytes of WAL retained{most}; source at "
        f"{s.source_lsn}"
    )


def _near(s: Status) -> str:
    """What is to be said where the source may soon remove WAL that the slot needs."""
    if s.retained_bytes is None or s.safe_bytes is None:
        return ""
    if s.safe_bytes > 0 and s.retained_bytes < NEAR * (s.retained_bytes + s.safe_bytes):
        return ""
    when = "at its next checkpoint" if s.safe_bytes <= 0 else f"once {s.safe_bytes:,} bytes more were written"
    return (
        f"warning: the source may remove WAL that the slot needs, {when}; the tables would have to be copied again "
        "(tidemark run moves the slot; max_slot_wal_keep_size says how much is kept)"
    )
