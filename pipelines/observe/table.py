"""The live table of the demo, of `run` on a terminal and of `status --watch`: a line a view, 80 columns or more."""

from __future__ import annotations

from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from connectors.postgres.connection import format_lsn
from pipelines.observe.snapshot import EngineShot, Snapshot, SourceShot, ViewShot

WIDE = 100  # columns from which on words are written out
SHORT = {"incremental": "incr.", "recompute": "recomp."}
UNKNOWN = "–"
LONG = 10.0  # seconds without a turn of the loop, after which it is told


class LiveTable:
    """A snapshot for rich: title, a row a view, then what is wrong. Rows are shown where somebody has counted them."""

    def __init__(self, s: Snapshot) -> None:
        self.shot = s

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        s = self.shot
        yield Text(title(s), style="bold red" if s["source"]["state"] == "away" else "bold")
        yield _table(s, options.max_width)
        if s["phase"] == "running" and s["heartbeat_seconds"] > LONG:
            yield Text(f"the loop is in a batch, or stuck, for {seconds(s['heartbeat_seconds'])}", style="yellow")
        for v in s["views"]:
            if v["set_aside"]:
                yield Text(f"{v['view']} is set aside: {v['set_aside']}", style="red")
        for name, e in s["engines"].items():
            if e["error"]:
                yield Text(f"{name} failed: {e['error']}", style="red")


def title(s: Snapshot) -> str:
    """rows/s, and where the source is, or for how long it has been away and why."""
    if s["phase"] == "stopped":
        return f"stopped: {s['reason']}"
    return f"{s['changes_per_second']:,.0f} rows/s; source {_source(s['source'])}"


def _source(source: SourceShot) -> str:
    n, lsn = source["reconnects"], source["lsn"]
    if source["state"] == "connected":
        at = "connected" if lsn is None else f"at {format_lsn(lsn)}"
        return at + (f"; {n} reconnect{'s' if n > 1 else ''}" if n else "")
    retry = source["retry_in"]
    again = "" if retry is None else f" (attempt {source['attempts'] + 1} in {seconds(retry)})"
    return f"away {seconds(source['seconds'])}: {source['reason']}{again}"


def _table(s: Snapshot, width: int) -> Table:
    """What is too much for `width` is cut off the views' names: of several columns rich would cut all."""
    wide = width >= WIDE
    gap = 2 if wide else 1
    names = ["view", "engine", "maintenance" if wide else "maint.", "frontier", "behind", "stale", "refresh", "rows"]
    rows = [_cells(v, s["engines"].get(v["engine"]), wide) for v in s["views"]]
    if all(v.get("rows") is None for v in s["views"]):
        names, rows = names[:-1], [r[:-1] for r in rows]
    taken = sum(gap + max(map(len, column)) for column in list(zip(names, *rows))[1:])
    t = Table(box=None, padding=(0, gap, 0, 0), pad_edge=False, header_style="dim")
    for i, name in enumerate(names):
        t.add_column(name, no_wrap=True, justify="right" if i > 3 else "left")
    t.columns[0].max_width = max(width - taken, 4)
    for v, cells in zip(s["views"], rows):
        t.add_row(*map(Text, cells), style="red" if v["set_aside"] else None)
    return t


def _cells(v: ViewShot, e: EngineShot | None, wide: bool) -> list[str]:
    how = "aside" if v["set_aside"] else v["maintenance"] if wide else SHORT.get(v["maintenance"], v["maintenance"])
    spent, rows = v["refresh_seconds"], v.get("rows")
    took = UNKNOWN if spent is None else f"{spent * 1000:.1f} ms" if spent < 1 else seconds(spent)
    last = [took, UNKNOWN if rows is None else f"{rows:,}"]
    if e is None or v["set_aside"]:
        return [v["view"], v["engine"], how, UNKNOWN, UNKNOWN, UNKNOWN, *last]
    behind = UNKNOWN if e["stale_bytes"] is None else size(e["stale_bytes"])
    stale = ("> " if e["fresh_at"] is None else "") + seconds(e["stale_seconds"])
    return [v["view"], v["engine"], how, format_lsn(e["frontier"]), behind, stale, *last]


def size(n: float) -> str:
    """980 B, 1.2 kB, 35 MB: three digits at most, in powers of 1000."""
    for unit in ("B", "kB", "MB", "GB"):
        if n < 999.5:
            return f"{n:.{1 if n < 9.95 and unit != 'B' else 0}f} {unit}"
        n /= 1000
    return f"{n:,.1f} TB"


def seconds(n: float) -> str:
    """0.3 s, 42 s, 7 min, 3.5 h."""
    if n < 9.95:
        return f"{n:.1f} s"
    if n < 120:
        return f"{n:.0f} s"
    return f"{n / 60:.0f} min" if n < 7200 else f"{n / 3600:.1f} h"
