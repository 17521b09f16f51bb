"""Capture: a million inserts from Postgres' stream into delta tables, and where the time goes."""

from __future__ import annotations

import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from psycopg import conninfo, sql

from compiler.maintain.program import Prepared, Program
from connectors.duckdb.engine import DuckDBEngine
from connectors.postgres.catalog import load_catalog
from connectors.postgres.connection import connect
from connectors.postgres.origin import Continuity
from connectors.postgres.pgoutput import Decoder
from connectors.postgres.snapshot import ExportedSnapshot
from connectors.postgres.stream import Stream
from connectors.postgres.transactions import Limits
from connectors.staging import stage
from dialects.duckdb import DUCKDB
from dialects.printer import Printer
from pipelines.applying.capture import current_lsn

PER_COMMIT = 10_000
PUBLICATION = "bench"
TABLE = """CREATE TABLE event (id bigint PRIMARY KEY, customer integer, product integer, price numeric(12,2),
weight double precision, city text, note text, day date, at timestamptz, paid boolean)"""
ROWS = """INSERT INTO event SELECT i, i %% 50000, i %% 1000, (i %% 100000) / 100.0, i / 7.0::float8, 'city ' || i %%
  500,
'a note of some length, number ' || i, date '2024-01-01' + i %% 700, timestamptz '2024-01-01 00:00+00' + i * interval
  '1 s',
i %% 3 = 0 FROM generate_series(%s::int, %s::int) AS i"""


@contextmanager
def database(dsn: str) -> Iterator[str]:
    """A database of its own on the server, dropped afterwards with its replication slots; gives its dsn."""
    name = f"tidemark_bench_{uuid.uuid4().hex[:8]}"
    with connect(dsn) as c:
        c.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    try:
        yield conninfo.make_conninfo(dsn, dbname=name)
    finally:
        with connect(dsn) as c:
            c.execute(
                "SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots WHERE database = %s AND active",
                (name,),
            )
            for _ in range(50):
                if (
                    c.execute("SELECT 1 FROM pg_replication_slots WHERE database = %s AND active", (name,)).fetchone()
                    is None
                ):
                    break
                time.sleep(0.1)
            c.execute(
                "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE database = %s", (name,)
            )
            c.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


def run(dsn: str, rows: int, work: Path, say: Callable[[str], None]) -> dict[str, Any]:
    """Reads the same WAL twice: as a running pipeline does, and with batches that close by rows and bytes only."""
    with database(dsn) as own:
        slot, start = _fill(own, rows)
        runs = []
        for name, limits in (("as run does", Limits()), ("large batches", replace(Limits(), seconds=60.0))):
            with tempfile.TemporaryDirectory(dir=work, prefix="capture-") as folder:
                r = _drain(own, slot, start, rows, limits, Path(folder))
            runs.append({"name": name, **r})
            say(
                f"capture, {name}: {rows / r['seconds']:,.0f} rows/s in {r['batches']} batches; "
                + ", ".join(f"{k} {v:.2f} s" for k, v in r["spent"].items())
            )
    return {"rows": rows, "columns": 10, "runs": runs}


def _fill(dsn: str, rows: int) -> tuple[str, int]:
    """Slot and starting LSN; the inserts are committed behind it."""
    slot = f"tidemark_bench_{uuid.uuid4().hex[:8]}"
    with connect(dsn) as c:
        c.execute(TABLE)
        c.execute(f"CREATE PUBLICATION {PUBLICATION} FOR TABLE event")
        snapshot = ExportedSnapshot(dsn, slot, [])
        snapshot.close()
        for first in range(1, rows + 1, PER_COMMIT):
            c.execute(ROWS, (first, min(first + PER_COMMIT - 1, rows)))
        c.execute("CHECKPOINT")
    return slot, snapshot.lsn


def _drain(dsn: str, slot: str, start: int, rows: int, limits: Limits, folder: Path) -> dict[str, Any]:
    """Receive, decode, stage and land until all rows are in the mirror; nothing is acknowledged."""
    with connect(dsn) as c:
        tables = load_catalog(c).tables
        expected = c.execute(
            "SELECT count(*), sum(id), sum(price), count(*) FILTER (WHERE paid), max(note) FROM event"
        ).fetchone()
    engine, decoder = DuckDBEngine(folder / "bench.duckdb", Printer(DUCKDB)), Decoder()
    event = tables[("public", "event")]
    engine.create_mirror(event)
    engine.set_frontier(start)
    until = current_lsn(dsn) if limits.seconds > 1 else None  # without it, a batch ends when the socket is empty
    spent = dict.fromkeys(("receive", "decode", "stage", "land"), 0.0)
    landed = batches = 0
    stream = Stream(dsn, slot, PUBLICATION)
    stream.resume(Continuity(start, start, start, None))
    clock = time.perf_counter
    begin = clock()
    try:
        while landed < rows:
            t0 = clock()
            got = stream.receive(limits, 1.0, until)
            t1 = clock()
            spent["receive"] += t1 - t0
            if not got.frames:
                continue
            decoded = decoder.decode(got.frames)
            t2 = clock()
            staged = stage({("public", "event"): event}, decoded, decoder.relations, engine.frontier())
            t3 = clock()
            landed += engine.apply(staged, got.end, lambda *_: Prepared(Program(), (), {}))
            spent["decode"] += t2 - t1
            spent["stage"] += t3 - t2
            spent["land"] += clock() - t3
            batches += 1
        seconds = clock() - begin
        found = engine.con.execute(
            "SELECT count(*), sum(id), sum(price), count(*) FILTER (WHERE paid), max(note) FROM base.event"
        ).fetchone()
    finally:
        stream.close()
        engine.close()
    if found != expected:
        raise SystemExit(f"capture: the mirror has {found}, the source {expected}")
    return {"seconds": seconds, "batches": batches, "spent": spent}
