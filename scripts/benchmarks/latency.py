"""Latency: from a commit in Postgres to the row being in a view, through a running pipeline."""

from __future__ import annotations

import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.capture import database
from connectors.postgres.connection import connect
from pipelines.asking.client import RemoteReader, connect_running

SEED_ROWS, CITIES = 100_000, 1_000
VIEW = """CREATE MATERIALIZED VIEW city_totals WITH (engine = 'duckdb') AS
SELECT city, count(*) AS n, sum(amount) AS total FROM payment GROUP BY city;
"""
POLL = 0.001  # seconds between two looks at the view
PATIENCE = 30.0


def run(dsn: str, commits: int, work: Path, say: Callable[[str], None]) -> dict[str, Any]:
    """Milliseconds from the return of a commit of one row to a query that shows it."""
    with database(dsn) as own, tempfile.TemporaryDirectory(dir=work, prefix="latency-") as folder:
        project = Path(folder)
        _prepare(own, project)
        pipeline = subprocess.Popen(_tidemark(project, "run"))
        try:
            reader = _connect(project / "warehouse", pipeline)
            with reader:
                seconds, looks = _commits(own, reader, commits)
        finally:
            pipeline.terminate()
            pipeline.wait(30)
        subprocess.run(_tidemark(project, "teardown", "--yes"), check=True, stdout=subprocess.DEVNULL)
    ms = np.array(seconds) * 1e3
    out = {
        "commits": commits,
        "p50": float(np.percentile(ms, 50)),
        "p95": float(np.percentile(ms, 95)),
        "max": float(ms.max()),
        "look": statistics.median(looks) * 1e3,
    }
    say(
        f"latency over {commits} commits: p50 {out['p50']:.1f} ms, p95 {out['p95']:.1f} ms, max {out['max']:.1f} ms; "
        f"one look at the view takes {out['look']:.1f} ms"
    )
    return out


def settings(dsn: str, project: Path) -> None:
    """A project's tidemark.toml."""
    quoted = dsn.replace("\\", "\\\\").replace('"', '\\"')
    (project / "tidemark.toml").write_text(f'[source]\ndsn = "{quoted}"\n')


def _tidemark(project: Path, *arguments: str) -> list[str]:
    return [sys.executable, "-m", "pipelines.cli", "--project", str(project), *arguments]


def _prepare(dsn: str, project: Path) -> None:
    with connect(dsn) as c:
        c.execute("CREATE TABLE payment (id bigserial PRIMARY KEY, city text, amount numeric(12,2))")
        c.execute(
            "INSERT INTO payment (city, amount) SELECT 'city ' || i %% %s, i %% 100 FROM generate_series(1, %s) AS i",
            (CITIES, SEED_ROWS),
        )
    settings(dsn, project)
    (project / "views").mkdir()
    (project / "views" / "city_totals.sql").write_text(VIEW)
    subprocess.run(_tidemark(project, "deploy"), check=True, stdout=subprocess.DEVNULL)


def _connect(warehouse: Path, pipeline: subprocess.Popen[bytes]) -> RemoteReader:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and pipeline.poll() is None:
        reader = connect_running(warehouse)
        if reader is not None:
            return reader
        time.sleep(0.05)
    raise SystemExit("latency: the pipeline did not start")


def _commits(dsn: str, reader: RemoteReader, commits: int) -> tuple[list[float], list[float]]:
    """Seconds to visibility, and seconds a look took; commits fall at random moments of the pipeline's loop."""
    seconds, looks, chance = [], [], random.Random(1)
    with connect(dsn) as c:
        for i in range(commits):
            city = f"city {chance.randrange(CITIES)}"
            question = f"SELECT n FROM city_totals WHERE city = '{city}'"
            before = reader.query(question)["n"][0].as_py()
            time.sleep(chance.uniform(0.02, 0.1))
            c.execute("INSERT INTO payment (city, amount) VALUES (%s, %s)", (city, i))
            start = time.perf_counter()
            while True:
                asked = time.perf_counter()
                n = reader.query(question)["n"][0].as_py()
                now = time.perf_counter()
                looks.append(now - asked)
                if n > before:
                    break
                if now - start > PATIENCE:
                    raise SystemExit("latency: a commit did not become visible")
                time.sleep(POLL)
            seconds.append(now - start)
    return seconds, looks
