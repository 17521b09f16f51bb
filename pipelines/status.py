"""status: per view, how far it is and how much it holds; and what the slot keeps at the source."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from typing import Any

from connectors.postgres.connection import connect, format_lsn, parse_lsn
from pipelines import deployment as store
from pipelines.config import Config
from pipelines.reading import reader


@dataclass
class ViewStatus:
    view: str
    engine: str
    maintenance: str
    rows: int
    frontier: str
    stale_bytes: int
    stale_seconds: float
    error: str = ""


@dataclass
class Status:
    """`source_lsn`: where the source's WAL is; `retained_bytes`: WAL that the slot makes it keep."""

    views: list[ViewStatus]
    slot: str
    slot_active: bool
    retained_bytes: int
    source_lsn: str
    running: bool

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def status(config: Config) -> Status:
    """Reads the source and the warehouse; raises TidemarkError when either cannot be reached."""
    from pipelines.client import connect_running

    d = store.require(config.warehouse_path)
    running = connect_running(config.warehouse_path)
    if running is not None:
        running.sock.close()
    with reader(config, d) as r:
        counts, frontiers, fresh = r.counts(), r.frontiers(), r.fresh_at()
    with connect(config.source.dsn) as c:
        (now,) = c.execute("SELECT pg_current_wal_lsn()::text").fetchone()  # type: ignore[misc]
        slot = c.execute("SELECT active, (pg_current_wal_lsn() - restart_lsn)::bigint, confirmed_flush_lsn::text FROM "
                         "pg_replication_slots WHERE slot_name = %s", (d.slot,)).fetchone()
    source = parse_lsn(now)
    views = []
    for v in d.views:
        f = frontiers.get(v.engine, 0)
        behind = max(source - f, 0)
        age = round(max(time.time() - fresh.get(v.engine, 0.0), 0.0), 1) if behind else 0.0
        rows = counts.get(v.name, 0)
        error = f"set aside: {v.error}" if v.error else rows if isinstance(rows, str) else ""
        views.append(ViewStatus(v.name, v.engine, v.maintenance, 0 if isinstance(rows, str) else rows, format_lsn(f), behind, age, error))
    return Status(views, d.slot, bool(slot and slot[0]), int(slot[1]) if slot else 0, now, running is not None)


def plain(s: Status) -> str:
    lines = []
    width = max([len(v.view) for v in s.views] + [4])
    for v in s.views:
        lines.append(f"{v.view:{width}}  {v.engine:6}  {v.maintenance:11}  {v.rows:>10,} rows  frontier {v.frontier}  "
                     f"stale {v.stale_bytes:,} bytes {v.stale_seconds:.1f} s")
        if v.error:
            lines.append(f"{'':{width}}  {v.error}")
    lines.append(f"slot {s.slot}: {'active' if s.slot_active else 'not active'}, {s.retained_bytes:,} bytes of WAL retained; "
                 f"source at {s.source_lsn}; pipeline {'running' if s.running else 'not running'}")
    return "\n".join(lines)
