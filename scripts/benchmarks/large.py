"""A large transaction beside a running pipeline: when it is seen, whether in parts, and what memory it takes."""

from __future__ import annotations

import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg

from benchmarks.capture import database
from benchmarks.latency import _connect, _tidemark, settings
from connectors.postgres.connection import connect

BEFORE, GROUPS = 1_000, 1_000
VIEW = """CREATE MATERIALIZED VIEW by_group WITH (engine = 'duckdb') AS
SELECT g, count(*) AS n, sum(x) AS x FROM item GROUP BY g;
"""
LOOK = 0.2  # seconds
SETTLED = 10.0  # seconds after it was seen, for memory to be given back
PATIENCE = 3600.0


def run(dsn: str, rows: int, work: Path, say: Callable[[str], None]) -> dict[str, Any]:
    """Seconds from the commit of so many inserts to the view that shows them, MB of the pipeline before it, at most and
    after it, and how many different totals were seen."""
    with database(dsn) as own, tempfile.TemporaryDirectory(dir=work, prefix="large-") as folder:
        project = Path(folder)
        _prepare(own, project)
        pipeline = subprocess.Popen(_tidemark(project, "run"))
        try:
            with _connect(project / "warehouse", pipeline) as reader:
                out = _watched(own, reader, pipeline.pid, rows)
        finally:
            pipeline.terminate()
            pipeline.wait(30)
        verified = subprocess.run(_tidemark(project, "verify"), stdout=subprocess.DEVNULL)
        if verified.returncode:
            raise SystemExit("large: the view differs from the source")
        subprocess.run(_tidemark(project, "teardown", "--yes"), check=True, stdout=subprocess.DEVNULL)
    say(
        f"a transaction of {rows:,} rows: written in {out['write']:.0f} s, seen {out['seen']:.0f} s after its commit, "
        f"{out['totals']} totals; {out['before']:.0f} MB before, {out['most']:.0f} at most, {out['after']:.0f} after"
    )
    return out


def _prepare(dsn: str, project: Path) -> None:
    with connect(dsn) as c:
        c.execute("CREATE TABLE item (id bigint PRIMARY KEY, g int, x int, note text)")
        c.execute(_insert(1 - BEFORE, 0))
    settings(dsn, project)
    (project / "views").mkdir()
    (project / "views" / "by_group.sql").write_text(VIEW)
    subprocess.run(_tidemark(project, "deploy"), check=True, stdout=subprocess.DEVNULL)


def _insert(first: int, last: int) -> str:
    return f"INSERT INTO item SELECT i, i % {GROUPS}, i % 100000, 'note ' || i FROM generate_series({first}, {last}) i"


def _watched(dsn: str, reader: Any, pid: int, rows: int) -> dict[str, Any]:
    before, committed, over = _resident(pid), list[float](), threading.Event()

    def write() -> None:
        with psycopg.connect(dsn, autocommit=True) as c:  # it has no patience that ends
            c.execute(_insert(1, rows).encode())
        committed.append(time.monotonic())

    writer, begun = threading.Thread(target=write), time.monotonic()
    writer.start()
    most, totals = before, set[int]()
    while time.monotonic() < begun + PATIENCE and not over.is_set():
        total = int(reader.query("SELECT sum(n) AS n FROM by_group")["n"][0].as_py())
        totals.add(total)
        most = max(most, _resident(pid))
        if total == BEFORE + rows:
            over.set()
        time.sleep(LOOK)
    seen = time.monotonic()
    writer.join()
    if not over.is_set():
        raise SystemExit("large: the transaction did not become visible")
    time.sleep(SETTLED)
    return {
        "rows": rows,
        "write": committed[0] - begun,
        "seen": seen - committed[0],
        "totals": len(totals),
        "before": before,
        "most": max(most, _resident(pid, "VmHWM")),
        "after": _resident(pid),
    }


def _resident(pid: int, what: str = "VmRSS") -> float:
    """MB of a process' memory."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(x.split()[1]) / 1024 for x in lines if x.startswith(what))


def page(x: dict[str, Any]) -> list[str]:
    cells = [f"{x['rows']:,}", *(f"{x[k]:,.0f}" for k in ("write", "seen", "totals", "before", "most", "after"))]
    return [
        "## A large transaction",
        "",
        "Inserts of four columns in one transaction beside a running pipeline with one grouped view on DuckDB, "
        "which is asked five times a second: two totals are seen, that before and that after. Seconds to write it, "
        "and from its commit to the answer that shows it; MB of the pipeline's process. The view was verified.",
        "",
        "| rows | written in | seen after | totals | MB before | at most | after |",
        "|---|---|---|---|---|---|---|",
        f"| {' | '.join(cells)} |",
        "",
    ]
