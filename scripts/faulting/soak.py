"""A mixed load for long: writes, polls, status and verify beside a running pipeline; what grows meanwhile."""

from __future__ import annotations

import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import psycopg

from faulting.project import Run
from faulting.scene import Bench, Scene
from faulting.slots import named
from faulting.watching import Watching

EVERY = 10.0  # seconds between samples
VERIFY = 120.0  # seconds between verifies
MB = 1 << 20
PARTS = 6
NOT_COMPARED = "could not be compared: a table it reads was truncated or rewritten"


@dataclass
class Sample:
    """At a time: memory of `run`, WAL that the slot retains, the warehouse and the source on disk; in MB."""

    at: float
    memory: float
    wal: float
    warehouse: float
    source: float


def sample(s: Scene, run: Run, begun: float) -> Sample:
    """What is used now: seconds since `begun`; MB of memory, WAL, warehouse and source."""
    memory = next(
        (
            int(line.split()[1]) / 1024
            for line in Path(f"/proc/{run.process.pid}/status").read_text().splitlines()
            if line.startswith("VmRSS")
        ),
        0.0,
    )
    with psycopg.connect(s.project.dsn) as c:
        row = c.execute(
            "SELECT pg_current_wal_lsn() - restart_lsn, "
            "(SELECT sum(pg_relation_size(oid)) FROM pg_class WHERE relkind = 'r' "
            "AND relnamespace = 'public'::regnamespace) FROM pg_replication_slots WHERE slot_name = %s",
            (named(s, "slot"),),
        ).fetchone()
    wal, source = (float(row[0] or 0) / MB, float(row[1]) / MB) if row else (0.0, 0.0)
    disk = subprocess.run(["du", "-sk", str(s.project.warehouse)], capture_output=True, text=True).stdout
    return Sample(time.monotonic() - begun, memory, wal, int(disk.split()[0]) / 1024 if disk else 0.0, source)


def soak(bench: Bench, minutes: float) -> list[str]:
    """The page's lines on what was measured; what went wrong is in the bench's row."""
    samples: list[Sample] = []
    verified = unsettled = 0
    with bench.scene(f"mixed load, {minutes:g} minutes") as s:
        s.load.pause = 0.03
        run, begun = s.start(), time.monotonic()
        with Watching(s.project, s.load, s.row, every=0.1, status=10.0), s.load.working():
            checked = begun
            while time.monotonic() < begun + 60 * minutes and not run.ended:
                time.sleep(EVERY)
                if run.ended:
                    break
                samples.append(sample(s, run, begun))
                if time.monotonic() - checked > VERIFY:
                    checked = time.monotonic()
                    got = s.project.do("verify")
                    verified += 1
                    wrong = [x for x in got.text.splitlines() if "equal" not in x and NOT_COMPARED not in x]
                    unsettled += NOT_COMPARED in got.text
                    if got.code != 0 and (wrong or NOT_COMPARED not in got.text):
                        s.row.fail(f"verify: {got.reason} {wrong[:2]}")
        s.row.injected = 0
        if run.ended:
            s.row.fail("run ended by itself")
        elif not s.caught_up(run, 60):
            s.row.fail("run does not catch up within a minute of the end")
        if (told := run.end()).code != 0:
            s.row.fail(f"run ended with {told.code}: {told.reason}")
        s.recover("the load")
        lines = [
            f"{minutes:g} minutes on {bench.engine}: {s.load.transactions:,} transactions of {s.load.rows:,} rows, "
            f"{s.row.polls:,} polls, "
            f"{s.row.asked:,} of status, {verified} of verify, of which {unsettled} told of a table that they could "
            "not compare: it was truncated, which Postgres' snapshots do not hold back, each of five times.",
            "",
        ]
        return [*lines, *figures(samples)]
    return []


def mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def figures(samples: list[Sample]) -> list[str]:
    """Means of each sixth of the time, and the most there was: what grows, and what comes and goes."""
    if len(samples) < 2 * PARTS:
        return ["Too short for figures."]
    parts = [samples[len(samples) * i // PARTS : len(samples) * (i + 1) // PARTS] for i in range(PARTS)]
    out = [
        f"| MB, in minutes | {' | '.join(f'to {part[-1].at / 60:.0f}' for part in parts)} | at most |",
        f"|---|{'--:|' * (PARTS + 1)}",
    ]
    for name, label in (
        ("memory", "resident memory of `run`"),
        ("wal", "WAL that the slot retains"),
        ("warehouse", "warehouse on disk"),
        ("source", "tables of the source on disk"),
    ):
        means = (f"{mean([getattr(x, name) for x in part]):.1f}" for part in parts)
        out.append(f"| {label} | {' | '.join(means)} | {max(getattr(x, name) for x in samples):.1f} |")
    return out
