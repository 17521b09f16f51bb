"""Tables copied into an engine in one snapshot, several at once."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_EXCEPTION, CancelledError, ThreadPoolExecutor, wait
from contextlib import closing
from dataclasses import dataclass
from threading import Lock

import pyarrow as pa

from compiler.catalog import Table
from connectors.engine import Engine, RangedRead, Ranges, Wide
from connectors.failpoints import reach
from connectors.literal_rows import ValueOutOfRange
from connectors.postgres.connection import connect
from connectors.postgres.ranges import Range, counted, ranges
from connectors.postgres.snapshot import copy_table
from pipelines.config import Config
from pipelines.deploying.throttle import Stopped, Throttle
from pipelines.refused import ALL, Refused, part, qualified, without
from pipelines.warehouse import Warehouse

log = logging.getLogger("tidemark")
AT_ONCE = 4  # tables, or ranges of them, that are read
Progress = Callable[[str, int, int, int], None]  # table, rows, bytes, rows expected
Refusals = dict[tuple[str, str], ValueOutOfRange]  # (table, column), with the first value that does not fit


def copy_tables(
    config: Config,
    warehouse: Warehouse,
    engine: str,
    tables: list[Table],
    snapshot: str,
    progress: Progress = lambda *_: None,
    before: Refused | None = None,
    parts: Mapping[str, int] | None = None,
) -> Refusals:
    """Fill the mirrors of `tables` on an engine; each COPY reports as it goes.

    A column with a value that no type of the engine holds is not kept: the table is copied without it. Gives those.
    Nor are those kept that were refused `before`. Tables of so many `parts` are read range by range, without those
    that are there.
    """
    expected, throttle = _estimates(config.source.dsn, tables), Throttle(config.source.copy_bytes)
    wide = _wide(config, warehouse.engine(engine), tables)
    with ThreadPoolExecutor(AT_ONCE) as readers, ThreadPoolExecutor(AT_ONCE) as pool:
        copies = [
            _Copy(
                config.source.dsn,
                warehouse.engine(engine),
                t,
                snapshot,
                (before or {}).get(qualified(t), {}),
                _Told(qualified(t), expected.get(t, 0), progress, throttle),
                readers,
                wide.get(t, 1),
            )
            for t in tables
        ]
        jobs = [pool.submit(c.copied, (parts or {}).get(qualified(c.table), 0)) for c in copies]
        try:
            wait(jobs, return_when=FIRST_EXCEPTION)
        finally:  # also interrupted: nobody waits for what is read of the others
            if not all(j.done() and j.exception() is None for j in jobs):
                throttle.stopped.set()
                readers.shutdown(wait=False, cancel_futures=True)
                pool.shutdown(wait=False, cancel_futures=True)
    failed = [e for j in jobs if not j.cancelled() and (e := j.exception()) is not None]
    if failed:
        raise next((e for e in failed if not isinstance(e, Stopped | CancelledError)), failed[0])
    return {k: e for job in jobs for k, e in job.result().items()}


class _Told:
    """What is told of a table while it is copied, by several threads."""

    def __init__(self, name: str, expected: int, progress: Progress, throttle: Throttle) -> None:
        self.name, self.expected, self.progress, self.throttle = name, expected, progress, throttle
        self.lock = Lock()
        self.rows = self.size = 0

    def more(self, rows: int, size: int) -> None:
        with self.lock:
            self.rows, self.size = self.rows + rows, self.size + size
            self.progress(self.name, self.rows, self.size, self.expected)
        self.throttle.read(size)

    def again(self) -> None:
        with self.lock:
            self.rows = self.size = 0

    def done(self) -> None:
        with self.lock:
            self.progress(self.name, self.rows, self.size, self.rows)


@dataclass
class _Copy:
    """Of one table into one engine."""

    dsn: str
    target: Engine
    table: Table
    snapshot: str
    unread: Mapping[str, str]
    told: _Told
    readers: ThreadPoolExecutor
    wide: int  # ranges in which executors read it, 1 where they do not

    def copied(self, parts: int) -> Refusals:
        """All of it; gives the columns that are refused."""
        if self.wide > 1 and self.target.wide is not None:
            return self._by_executors(self.target.wide)
        found: Refusals = {}
        if parts and self.target.ranges is not None:
            try:
                self._by_ranges(self.target.ranges, parts)
                self.told.done()
                return found
            except ValueOutOfRange as e:
                self._refuse(found, e)
        while ALL not in {c for _, c in found}:
            try:
                self.target.create_mirror(self.table)
                self._load(lambda rows: self.target.load(self.table, rows), found)
                self.told.done()
                break
            except ValueOutOfRange as e:
                self._refuse(found, e)
        return found

    def _by_executors(self, target: Wide) -> Refusals:
        found: Refusals = {}
        while ALL not in {c for _, c in found}:
            unread = frozenset({*self.unread, *(c for _, c in found)})
            reading = RangedRead(self.dsn, self.snapshot, unread, tuple(ranges(self.wide)))
            try:
                self.target.create_mirror(self.table)
                target.load(self.table, reading, self.told.more)
                self.told.done()
                break
            except ValueOutOfRange as e:
                self._refuse(found, e)
        return found

    def _refuse(self, found: Refusals, e: ValueOutOfRange) -> None:
        self.told.again()
        found[(qualified(self.table), part(e))] = e
        if part(e) == ALL:
            self.target.create_mirror(self.table)

    def _by_ranges(self, target: Ranges, n: int) -> None:
        """Those that are not there yet; a mirror without any is made anew."""
        there = target.done(self.table)
        if not there:
            self.target.create_mirror(self.table)
        jobs = [self.readers.submit(self._range, target, r) for r in ranges(n) if r.number not in there]
        errors = [e for j in jobs if not j.cancelled() and (e := j.exception()) is not None]
        if errors:
            told = [e for e in errors if not isinstance(e, Stopped)] or errors
            raise next((e for e in told if isinstance(e, ValueOutOfRange)), told[0])
        if any(j.cancelled() for j in jobs):
            raise Stopped

    def _range(self, target: Ranges, r: Range) -> None:
        self._load(lambda rows: target.load(self.table, r.number, rows), {}, r)
        reach("snapshot.range")

    def _load(self, load: Callable[[Iterator[pa.Table]], int], found: Refusals, r: Range | None = None) -> None:
        refused = {qualified(self.table): {c: e.detail for (_, c), e in found.items()}}
        # who keeps the error of a load that fails would keep the transaction open
        with closing(copy_table(self.dsn, self.snapshot, self.table, self.told.more, self.unread, r)) as read:
            load(without(rows, self.table, refused) for rows in read)


def _wide(config: Config, target: Engine, tables: list[Table]) -> dict[Table, int]:
    """The tables that executors copy, and in how many ranges. A copy that is throttled is not theirs."""
    mine = [t for t in tables if target.wide is not None and target.wide.takes(t)]
    if not mine or config.source.copy_bytes:
        return {}
    with connect(config.source.dsn) as conn:
        out = {t: n for t in mine if (n := counted(conn, t, at_once=True)) > 1}
    if out and target.wide is not None and (why := target.wide.why_not(config.source.dsn)):
        log.warning("executors do not copy tables, the driver does: %s", why)
        return {}
    return out


def record(warehouse: Warehouse, engine: str, refusals: Refusals, copied: list[Table]) -> None:
    """What the engine keeps of the copied tables from now on."""
    refused = warehouse.deployment.refused.setdefault(engine, {})
    for t in copied:
        refused.pop(qualified(t), None)
    for (table, column), e in refusals.items():
        refused.setdefault(table, {})[column] = e.detail


def _estimates(dsn: str, tables: list[Table]) -> dict[Table, int]:
    with connect(dsn) as c:
        out = {}
        for t in tables:
            row = c.execute(
                "SELECT greatest(reltuples, 0)::bigint FROM pg_class WHERE oid = %s::regclass", (t.quoted,)
            ).fetchone()
            out[t] = row[0] if row else 0
        return out
