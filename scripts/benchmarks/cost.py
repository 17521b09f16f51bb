"""What a batch would take on a cluster: measured on one machine, and reckoned for more data and more workers.

Measured: what a batch's rounds read, bring and do here, with all tables and states Dist, at two sizes of batch; how
fast one core here reads; what a Spark job takes that reads nothing. Reckoned: scans are divided among all cores, what
is brought and what the driver does grow with the batch and not with the tables. What the network, the scheduler and
the disk of the driver are taken for is said on the page. After the weak scaling of the distributed paper's figure 10.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.data import Workload, catalog, generate, tables
from benchmarks.local import OnLocal
from benchmarks.views import compile_all
from connectors.spark.local.dist import Request, Rows
from connectors.spark.local.fetching import SparkReader
from connectors.spark.local.near import NearReader

SIZES = (1_000, 100_000)  # rows of a batch
MOST = 200_000  # of them at scale 1: there are so many rows to change
WORKERS, BYTES = (1, 10, 100), (10e9, 1e12, 10e12)
CORES = 8  # of a worker
NETWORK = 1.25e9  # bytes a second, of each machine
TASK, FILE = 128e6, 0.0005  # bytes that a task reads; seconds that the driver takes to send one out
REPEAT = 3


@dataclass
class Round:
    """Of one call of the reader: bytes of the columns that it reads, of keys and of rows, and seconds."""

    read: float
    keys: float
    brought: float
    seconds: float


@dataclass
class Counting:
    """Reads as one machine does, and notes what that took."""

    inner: NearReader = field(default_factory=NearReader)
    rounds: list[Round] = field(default_factory=list)

    def rows(self, requests: Sequence[Request]) -> list[Rows]:
        begun = time.perf_counter()
        found = self.inner.rows(requests)
        seconds = time.perf_counter() - begun
        read = float(sum(_size(f, {*r.by, *r.columns}) for r in requests for f in r.files))
        keys, brought = sum(r.keys.nbytes for r in requests), sum(t.nbytes for t in found)
        self.rounds.append(Round(read, keys, brought, seconds))
        return found


def _size(file: Path, columns: set[str]) -> int:
    """Bytes of these columns, as they are stored."""
    meta = pq.read_metadata(file)
    groups = (meta.row_group(i) for i in range(meta.num_row_groups))
    chunks = (g.column(i) for g in groups for i in range(g.num_columns))
    return sum(c.total_compressed_size for c in chunks if c.path_in_schema.split(".")[0] in columns)


def run(scale: float, work: Path, say: Callable[[str], None]) -> dict[str, Any]:
    """By size of batch the rounds and the driver's seconds; bytes of all tables; what a core reads, and a job takes."""
    data, plans = generate(work, scale), compile_all(catalog())
    kept, out = tables(plans.values()), dict[str, Any]()
    with tempfile.TemporaryDirectory(dir=work, prefix="cost-") as folder:
        target, reader = OnLocal(Path(folder), kept, "dist"), Counting()
        target.engine.dist.reader = target.engine.dist_states.reader = reader
        try:
            workload = Workload(data, kept)
            target.load(data)
            target.deploy(list(plans.values()))
            for size in (s for s in SIZES if s <= max(SIZES[0], MOST * scale)):
                out[str(size)] = _batch(target, workload, reader, size)
                say(f"{size:,} rows: {out[str(size)]}")
            job = _empty_job(target.reader, Path(folder))
        finally:
            target.close()
    rounds = [r for of in out.values() for r in of["rounds"]]
    rate = sum(r["read"] for r in rounds) / sum(r["seconds"] for r in rounds) / (os.cpu_count() or 1)
    whole = sum((data / f"{t}.parquet").stat().st_size for t in kept)
    say(f"a core reads {rate / 1e6:.0f} MB/s, a job takes {job * 1e3:.0f} ms")
    return {"scale": scale, "sizes": out, "bytes": whole, "rate": rate, "job": job}


def _batch(target: OnLocal, workload: Workload, reader: Counting, size: int) -> dict[str, Any]:
    driver, rounds, published = [], [], []
    for _ in range(REPEAT):
        lsn, staged = target.frontier(), workload.batch(size, target.frontier())
        reader.rounds.clear()
        begun = time.perf_counter()
        target.apply(staged, lsn + 1)
        took = time.perf_counter() - begun
        driver.append(took - sum(r.seconds for r in reader.rounds))
        rounds.append([vars(r).copy() for r in reader.rounds])
        begun = time.perf_counter()
        target.compact()
        published.append(time.perf_counter() - begun)
    middle = sorted(range(REPEAT), key=lambda i: driver[i])[REPEAT // 2]
    return {"driver": driver[middle], "rounds": rounds[middle], "publish": statistics.median(published)}


def _empty_job(reader: SparkReader, folder: Path) -> float:
    rows = pa.table({"k": pa.array([1], pa.int64())})
    pq.write_table(rows, folder / "one.parquet")
    took = []
    for _ in range(12):
        begun = time.perf_counter()
        reader.rows([Request([folder / "one.parquet"], ["k"], ["k"], pa.table({"_k0": rows["k"]}))])
        took.append(time.perf_counter() - begun)
    return statistics.median(took[2:])


@dataclass(frozen=True)
class Reckoned:
    """Seconds of a batch, and what of them is reading, moving, and the driver's; its jobs; bytes moved."""

    seconds: float
    reading: float
    moving: float
    driver: float
    jobs: int
    moved: float


def reckon(r: dict[str, Any], size: int, workers: int, whole: float) -> Reckoned:
    """For tables of `whole` bytes."""
    of, larger = r["sizes"][str(size)], whole / r["bytes"]
    reading = moving = moved = 0.0
    for x in of["rounds"]:
        read = x["read"] * larger
        tasks = max(read / TASK, 1.0)
        reading += max(read / (workers * CORES * r["rate"]), tasks * FILE)
        sent = x["keys"] * workers + x["brought"]
        moved += sent
        moving += sent / NETWORK
    jobs = len(of["rounds"])
    driver = of["driver"] + jobs * r["job"]
    return Reckoned(reading + moving + driver, reading, moving, driver, jobs, moved)


def page(r: dict[str, Any]) -> list[str]:
    """The part of the page."""
    rows = []
    for size in map(int, r["sizes"]):
        for whole in BYTES:
            cells = [reckon(r, size, w, whole) for w in WORKERS]
            seconds = [f"{c.seconds:,.1f} ({c.reading:,.1f})" for c in cells]
            last = cells[-1]
            publish = r["sizes"][str(size)]["publish"]
            told = [f"{size:,}", f"{whole / 1e12:g} TB", *seconds, str(last.jobs), f"{last.moved / 1e6:,.0f} MB"]
            told.append(f"{publish:.2f}" if publish >= 0.01 else "in the driver's")
            rows.append(f"| {' | '.join(told)} |")
    head = " | ".join(f"{w} workers" if w > 1 else "1 worker" for w in WORKERS)
    return [
        "## What a batch would take on a cluster",
        "",
        f"Reckoned, not measured: the six views, all tables and states Dist. Measured here at scale {r['scale']:g}: "
        f"what a batch's rounds read and bring, what the driver does beside, {r['rate'] / 1e6:.0f} MB/s of stored "
        f"columns that a core reads, {r['job'] * 1e3:.0f} ms of a job that reads nothing. Taken for granted: workers "
        f"of {CORES} cores, {NETWORK / 1e9:g} GB/s for each machine, tasks of {TASK / 1e6:.0f} MB of which the driver "
        f"sends out {1 / FILE:,.0f} a second. Seconds, in brackets those of reading. Rows that a change meets do not "
        "grow with the tables, as TPC-H's do not. *Publishing* is a round that brings Delta to the file, between "
        "batches; an object store would add its latency for each of its files, of which many are written at once, and "
        "twice more: for the logs, and for what names the versions.",
        "",
        f"| rows | tables | {head} | jobs | moved, {WORKERS[-1]} workers | publishing here |",
        "|--:|--:|" + "--:|" * (len(WORKERS) + 3),
        *rows,
        "",
        "Reading is nearly all of it, as each round reads the columns that it needs of every row: more workers help "
        "for as long, and a batch a hundred times as large costs little more. Bases that are clustered by the columns "
        "that are looked up, with an index for each file, would read what is met alone.",
        "",
    ]
