"""A first copy of many narrow rows that is killed several times, and goes on each time."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import psycopg

from benchmarks.capture import database
from benchmarks.latency import _tidemark, settings
from compiler.catalog import Table
from connectors.postgres.ranges import counted

KILLED = (4, 3, 4)  # after how many ranges of an attempt, where there are as many
VIEW = "CREATE MATERIALIZED VIEW by_group AS SELECT g, count(*) AS n, sum(x) AS s FROM narrow GROUP BY g;\n"
CHANGED = "UPDATE narrow SET x = x + 1 WHERE id % 100003 = 7"


def run(dsn: str, rows: int, work: Path, say: Callable[[str], None]) -> dict[str, Any]:
    """Of each attempt the seconds, and the ranges that were there after it. Raises SystemExit where one was read a
    second time though it was there, or the view differs from the source."""
    with database(dsn) as own, tempfile.TemporaryDirectory(dir=work, prefix="copy-") as folder:
        project = Path(folder)
        with psycopg.connect(own, autocommit=True) as c:
            c.execute("CREATE TABLE narrow (id int PRIMARY KEY, g int, x int)")
            for first in range(1, rows + 1, 5_000_000):
                last = min(first + 5_000_000, rows + 1) - 1
                c.execute(f"INSERT INTO narrow SELECT i, i % 1000, i % 99991 FROM generate_series({first}, {last}) i")
        settings(own, project)
        (project / "views").mkdir()
        (project / "views" / "by_group.sql").write_text(VIEW)
        attempts: list[dict[str, Any]] = []
        with psycopg.connect(own) as c:
            n = counted(c, Table("public", "narrow", ()))
        for hit in (*(KILLED if n > sum(KILLED) else ()), 0):
            begun = time.monotonic()
            failpoint = f"snapshot.range=kill:{hit}" if hit else ""
            done = subprocess.run(
                _tidemark(project, "deploy"),
                env={**os.environ, "TIDEMARK_FAILPOINTS": failpoint},
                stdout=subprocess.DEVNULL,
            )
            if done.returncode != (-9 if hit else 0):
                raise SystemExit(f"copying: deploy ended with {done.returncode}")
            there = _ranges(project) if hit else []
            attempts.append({"seconds": time.monotonic() - begun, "ranges": there})
            say(f"copy of {rows:,} rows, attempt {len(attempts)}: {attempts[-1]['seconds']:.0f} s, {len(there)} ranges")
            with psycopg.connect(own, autocommit=True) as c:
                c.execute(CHANGED)
        if any(not set(a["ranges"]) < set(b["ranges"]) for a, b in zip(attempts, attempts[1:-1], strict=False)):
            raise SystemExit("copying: a range was lost")
        if any(len({*a["ranges"]}) < len(a["ranges"]) for a in attempts):
            raise SystemExit("copying: a range is there twice")
        if subprocess.run(_tidemark(project, "verify"), stdout=subprocess.DEVNULL).returncode:
            raise SystemExit("copying: the view differs from the source")
        subprocess.run(_tidemark(project, "teardown", "--yes"), check=True, stdout=subprocess.DEVNULL)
    return {"rows": rows, "attempts": attempts}


def _ranges(project: Path) -> list[int]:
    with duckdb.connect(str(project / "warehouse" / "tidemark.duckdb"), read_only=True) as con:
        return [n for (n,) in con.execute("SELECT number FROM meta.copied_ranges ORDER BY 1").fetchall()]


def page(x: dict[str, Any]) -> list[str]:
    """Its section of docs/bench.md."""
    *killed, last = x["attempts"]
    rows = [f"| {i} | killed | {a['seconds']:.0f} | {len(a['ranges'])} |" for i, a in enumerate(killed, 1)]
    return [
        "## A copy that goes on",
        "",
        f"The first `deploy` over a table of {x['rows']:,} rows of three integers, killed (SIGKILL) while it copies, "
        "and begun again. Ranges are of 128 MB; those that are there are not read again. Rows are changed after each "
        "attempt. In the end mirror and view were verified.",
        "",
        "| attempt | | seconds | ranges that are there |",
        "|---|---|--:|--:|",
        *rows,
        f"| {len(killed) + 1} | live | {last['seconds']:.0f} | all |",
        "",
    ]
