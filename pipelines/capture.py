"""The loop that keeps a warehouse fresh: receive whole transactions, decode, apply to each engine, acknowledge."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from connectors.engine import Engine, EngineFailure
from connectors.postgres.connection import connect, parse_lsn
from connectors.postgres.pgoutput import Decoded
from connectors.postgres.stream import Limits, Received
from connectors.staging import Staged, stage
from pipelines.changes import ChangeDecoder, open_changes
from pipelines.warehouse import Warehouse
from pipelines.worker import Worker

COLLECT = 0.1  # of the seconds that the last batch took, the next one is collected for
COLLECT_AT_MOST = 2.0  # seconds, in which a pipeline does not notice that it is to stop


@dataclass
class BatchDone:
    """What a batch was: rows captured and landed, seconds, and the frontier after it."""

    changes: int
    rows: int
    seconds: float
    frontier: int


class Capture:
    """Applies the stream of a deployment to its engines."""

    def __init__(self, warehouse: Warehouse, limits: Limits) -> None:
        self.warehouse, self.limits = warehouse, limits
        d = warehouse.deployment
        self.engines = warehouse.used_engines()
        self.frontiers = {e: warehouse.frontier(e) for e in self.engines}
        self.stream, decoder = open_changes(warehouse.config.source, d, min(self.frontiers.values(), default=0))
        self.decoder = decoder()
        self.tables = {e: {(t.schema, t.name): t for t in map(d.table, d.tables[e])} for e in self.engines}
        self.took = 10.0 if self.engines == ["spark"] else 0.0  # seconds of the last batch; a new session's first takes that at least
        self.acknowledged = 0
        self.fresh_at = dict.fromkeys(self.engines, time.time())  # engine → when it was last known to hold all there was
        slower = [e for e in self.engines if e != "duckdb"] if len(self.engines) > 1 else []
        self.workers = {e: Worker(functools.partial(self._apply_later, e, decoder())) for e in slower}

    def abandon(self) -> None:
        """Do not wait for the workers' batches: the next command undoes or finishes them."""
        self.workers.clear()

    def close(self) -> None:
        for w in self.workers.values():
            w.stop()
        self.stream.close()

    @property
    def frontier(self) -> int:
        return min(self.frontiers.values(), default=0)

    def step(self, wait: float, until: int | None = None, before: int | None = None) -> BatchDone | None:
        """One batch; None when nothing arrived within `wait` seconds."""
        got = self.stream.receive(replace(self.limits, collect=min(COLLECT * self.took, COLLECT_AT_MOST)), wait, until, before)
        start = time.perf_counter()
        if not got.frames:
            self._idle(got)
            return None
        decoded = self.decoder.decode(got.frames)
        rows = 0
        for e in self.engines:
            if got.end <= self.frontiers[e]:
                continue
            if e in self.workers:
                self.workers[e].put(got.frames, got.end)
            else:
                rows += self._apply(e, self.decoder, decoded, got.end)
        self.stream.acknowledge(self.frontier)
        self.took = time.perf_counter() - start
        return BatchDone(got.changes, rows, self.took, got.end)

    def _apply(self, engine: str, decoder: ChangeDecoder, decoded: Decoded, end: int) -> int:
        target, tables, begun = self.warehouse.engine(engine), self.tables[engine], time.time()
        staged = stage(tables, decoded, decoder.relations, self.frontiers[engine])
        rows = self._applied(target, staged, end)
        self.frontiers[engine] = end
        self.fresh_at[engine] = begun
        target.compact(list(tables.values()))
        return rows

    def _applied(self, target: Engine, staged: list[Staged], end: int) -> int:
        """Rows landed. Views that fail on this batch are set aside, and it is tried again without them."""
        while self.warehouse.frontier(target.name) < end:
            try:
                return target.apply(staged, end, self.warehouse.program(target.name))
            except EngineFailure as e:
                self.warehouse.set_aside(target.name, e)
        return sum(s.rows.num_rows for s in staged)

    def _apply_later(self, engine: str, decoder: ChangeDecoder, frames: list[bytes], end: int) -> None:
        """On a worker's thread; relation messages that came before it are the stream's own decoder's."""
        decoder.relations.update({k: v for k, v in self.decoder.relations.items() if k not in decoder.relations})
        self._apply(engine, decoder, decoder.decode(frames), end)

    def _idle(self, got: Received) -> None:
        """Nothing for us up to `got.end`: say so, so that the server can let go of WAL."""
        for e in self.engines:
            if self.stream.carry is None and (e not in self.workers or self.workers[e].idle):
                self.fresh_at[e] = time.time()
        if got.end > self.frontier and self.stream.carry is None:
            if any(not w.idle for w in self.workers.values()):
                return
            if got.end > self.acknowledged + (1 << 20):
                self.advance(got.end)

    def advance(self, lsn: int) -> None:
        """Move every engine to `lsn`, up to which the source had nothing for us."""
        for e in self.engines:
            if self.frontiers[e] < lsn:
                self.warehouse.engine(e).set_frontier(lsn)
                self.frontiers[e] = lsn
        self.stream.acknowledge(self.frontier)
        self.acknowledged = self.frontier

    def catch_up(self, target: int, before: int | None = None,
                 watch: Callable[[BatchDone], None] = lambda b: None) -> None:
        """Apply everything up to `target`; with `before`, nothing that commits at or after it."""
        while True:
            done = self.step(1.0, until=target, before=before)
            if done is not None:
                watch(done)
            if self.stream.carry is not None and before is not None:
                break
            if done is None and self.stream.server_end >= target:
                break
        for w in self.workers.values():
            w.drain()
        self.advance(max(self.frontier, before if before is not None else target))


def current_lsn(dsn: str) -> int:
    """Where the source's WAL is now: every commit made before this call lies below."""
    with connect(dsn) as c:
        row = c.execute("SELECT pg_current_wal_insert_lsn()").fetchone()
        assert row is not None
        return parse_lsn(row[0])
