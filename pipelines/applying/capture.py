"""The loop that keeps a warehouse fresh: receive whole transactions, decode, apply to each engine, acknowledge.

What was taken off the stream stays at hand until every engine has it: a batch that failed is applied again before
anything else is received. `Ledger` is asked before any frontier moves.
"""

from __future__ import annotations

import functools
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from compiler.errors import TidemarkError
from connectors.changed import TableChanged
from connectors.engine import Again, Engine, EngineFailure
from connectors.failpoints import reach
from connectors.literal_rows import ValueOutOfRange
from connectors.postgres.connection import connect, current_lsn
from connectors.postgres.origin import LastCommit
from connectors.postgres.pgoutput import RelationMessage
from connectors.postgres.placing import Placing
from connectors.postgres.snapshot import SharedSnapshot
from connectors.postgres.stream import HEALS
from connectors.postgres.transactions import Admit, Limits, Received
from connectors.staging import Staged
from pipelines import folding
from pipelines.applying.batch import Batch, Large, Small
from pipelines.applying.changes import open_changes
from pipelines.applying.doubts import Doubts
from pipelines.applying.freshness import Freshness
from pipelines.applying.key_rows import begin, followed
from pipelines.applying.ledger import Ledger
from pipelines.applying.unaltered import check_deployed, check_parts, explained, note_gone
from pipelines.applying.worker import Work, Worker
from pipelines.refused import watched
from pipelines.warehouse import Warehouse

__all__ = ["BatchDone", "Capture", "current_lsn"]

COLLECT = 0.1  # of the seconds that the last batch took, the next one is collected for
BEHIND = (
    1 << 20
)  # bytes of WAL that the source is ahead: then the next one is collected for as long as the last one took
COLLECT_AT_MOST = 2.0  # seconds, in which a pipeline does not notice that it is to stop
TRIES, PAUSE = 100, 0.02  # to find a snapshot that is a part of the commit order; seconds
RECENT = 100_000
IDLE_BYTES = 1 << 20  # of WAL that had nothing for us, after which the server may let go of it


@dataclass
class BatchDone:
    """What a batch was: rows captured and landed, seconds, and the frontier after it."""

    changes: int
    rows: int
    seconds: float
    frontier: int
    transactions: int = 0
    bytes: int = 0


class Capture:
    """Applies the stream of a deployment to its engines."""

    def __init__(self, warehouse: Warehouse, limits: Limits) -> None:
        self.warehouse, self.limits = warehouse, limits
        self.engines = warehouse.used_engines()
        self.ledger = Ledger({e: warehouse.frontier(e) for e in self.engines})
        self.freshness = Freshness({e: warehouse.fresh_at(e) for e in self.engines})
        last = [self.warehouse.engine(e).last_commit() for e in self.engines]
        self.recent = deque(
            [c.xid for c in last if c is not None and c.xid], maxlen=RECENT
        )  # ids of applied transactions
        self.batch: Received | None = None  # taken off the stream, and not yet with every engine
        self.forms: dict[int, RelationMessage] = {}  # what tables were before its first change
        self.broken: BaseException | None = None  # why nothing more may be taken off this stream
        self.ceiling = 1 << 63  # no frontier is moved past it without a batch
        self.wanted = 0  # an LSN that somebody waits for
        # seconds of the last batch
        self.took = min((warehouse.engine(e).first_batch for e in self.engines), default=0.0)
        self.acknowledged = 0
        self.abandoned = False
        self.placing = Placing()
        self.unfolded, self.applied_at = True, time.monotonic()  # whether tails may have grown since they were folded
        self.landed: Callable[[BatchDone], None] = lambda b: None
        self.workers: dict[str, Worker] = {}
        self.slower = [e for e in self.engines if warehouse.engine(e).lags] if len(self.engines) > 1 else []
        self.open()
        self.workers = {e: Worker(functools.partial(self._apply_later, e)) for e in self.slower}

    def open(self, leaving: int = 0) -> None:
        """Open the stream where every engine's frontier is, once the source is known to go on from there."""
        self.opened = False
        begin(self.warehouse)
        self.stream, self.decoders = open_changes(self.warehouse, self.follow, leaving)
        self.doubts = Doubts(self.warehouse)
        self.doubts.look()
        self.decoder = self.decoders()
        self.later = {e: self.decoders() for e in self.slower}  # what decodes for them; they are at rest
        self.opened = True

    def reopen(self) -> None:
        """After the stream broke: what no engine holds comes once more, and with it what an engine holds that is ahead
        of the others. So nothing of it may still wait for a slower one."""
        self.stream.close()
        self._let_go()
        for w in self.workers.values():
            w.forget(HEALS)
        self.ledger.again()
        self.open(leaving=self.stream.backend)
        self.broken = None

    def end(self, error: Exception) -> None:
        """Nothing may go on with the warehouse as it is: the next step raises this, and no attempt heals it."""
        if isinstance(error, HEALS):
            ended = TidemarkError(error.message, code=error.code, detail=error.detail, hint=error.hint)
            ended.__cause__, error = error, ended
        self.broken = error

    def abandon(self) -> None:
        """Do not wait for the workers' batches: the next command undoes or finishes them."""
        self.workers.clear()
        self.abandoned = True

    def close(self) -> None:
        """With all that was applied kept for good, and the source told."""
        for w in self.workers.values():
            w.stop()
        try:
            if not self.abandoned:
                for e in self.engines:
                    self.warehouse.engine(e).settle(force=True)
                if self.acknowledged < self.frontier:
                    self._acknowledge()
        finally:
            self._let_go()
            self.stream.close()

    def _let_go(self) -> None:
        """What was taken off the stream is received once more."""
        if self.batch is not None and self.batch.large is not None:
            self.batch.large.close()
        self.batch = None

    def rest(self, engine: str) -> None:
        """Let an engine finish what was handed to it, on the loop's thread: after that nothing is at work there."""
        if engine in self.workers:
            self.workers[engine].drain()

    def follow(self, altered: list[TableChanged]) -> None:
        """Keep no longer what was altered in the source; on the loop's thread, with every engine at rest."""
        if altered:
            for e in self.engines:
                self.rest(e)
            self.warehouse.follow(altered)
            if self.opened:
                self.stream.follow(watched(self.warehouse.deployment))

    def seen(self, altered: list[TableChanged], doubts: Mapping[str, int]) -> None:
        """What another look at the source has found."""
        self.follow(altered)
        self.doubts.found(doubts)

    @property
    def frontiers(self) -> dict[str, int]:
        return self.ledger.durable

    @property
    def fresh_at(self) -> dict[str, float]:
        return self.freshness.at

    @property
    def frontier(self) -> int:
        return self.ledger.frontier

    def step(self, wait: float, until: int | None = None, admit: Admit | None = None) -> BatchDone | None:
        """One batch; None when nothing arrived within `wait` seconds. One that failed before is applied again first.

        An error while something was received may have cost what was: whoever asks after it is told of it again, until
        the stream is opened anew.
        """
        if self.broken is not None:
            raise self.broken
        if self.batch is None:
            got = self._receive(wait, until, admit)
            if got is not None and got.empty:
                self._idle(got)
        if self.batch is None:
            return None
        reach("capture.received")
        done = self._apply_batch(self.batch)
        self.batch = None
        self.follow(self.doubts.unsent(self.frontier))
        self._acknowledge()
        reach("capture.acknowledged")
        self._held()
        self.landed(done)
        return done

    def _receive(self, wait: float, until: int | None, admit: Admit | None) -> Received | None:
        """What comes next; it is at hand until it was applied. None where a table was altered."""
        self.stream.wanted = self.freshness.source_lsn
        share = 1.0 if self.freshness.source_lsn > self.frontier + BEHIND else COLLECT
        limits = replace(self.limits, collect=min(share * self.took, COLLECT_AT_MOST))
        try:
            got = self.stream.receive(limits, wait, until, admit)
            if not got.empty:
                self.ledger.take(got.end)
                self.batch, self.forms = got, dict(self.decoder.relations)
                self.recent.extend(got.xids)
            return got
        except TableChanged as e:
            if e.table is None or e.table not in watched(self.warehouse.deployment):
                raise
            self.follow([e])
            return None
        except Exception as e:
            self.broken = e
            raise

    def _apply_batch(self, got: Received) -> BatchDone:
        start = time.perf_counter()
        self.decoder.relations = dict(self.forms)  # where it failed before, they are those after it
        changes = Small(self.decoder, got.frames) if got.large is None else Large(self.decoder, got.large, self.limits)
        reach("capture.decoded")
        self._look_at(changes.forms)
        self.doubts.told(changes)
        rows, durable = 0, dict(self.ledger.durable)
        for e in self.engines:
            if e in self.workers and got.large is None:
                if got.end <= self.ledger.given[e]:
                    continue
                self.workers[e].put(Work(got.frames, got.end, got.last, self.forms))
                self.ledger.give(e, got.end)
            elif got.end > self.ledger.durable[e]:
                self.rest(e)
                self.ledger.give(e, got.end)
                rows += self._apply(e, changes, got.end, got.last)
        if isinstance(changes, Large) and all(got.end <= durable[e] for e in self.engines):
            changes.learn()
        reach("capture.applied")
        changes.close()
        self.took = time.perf_counter() - start
        self.unfolded, self.applied_at = True, time.monotonic()
        return BatchDone(got.changes, rows, self.took, got.end, len(got.xids), got.size)

    def _look_at(self, told: list[RelationMessage]) -> None:
        """The stream tells a table's form before its first row, and after whatever may have altered it: whether its
        rows were computed anew, and which columns these are, is for the catalog to say."""
        d = self.warehouse.deployment
        oids = {t.oid for t in d.catalog}
        forms = [r for r in told if r.oid in oids]
        forms += [r for r in self.decoder.relations.values() if r.oid in oids and r.types and not self.placing.knows(r)]
        if forms:
            with connect(self.warehouse.config.source.dsn) as conn:
                if gone := self.placing.look(conn, forms, d.catalog, self.frontier):
                    note_gone(d, gone)
                self.follow(check_deployed(conn, d))
                self.follow(check_parts(conn, d, [r.oid for r in told]))
            self.warehouse.keep_notes()  # of a part that is dropped later the stream says nothing again

    def _places(self, r: RelationMessage) -> tuple[int, ...]:
        whole = next((t for t in self.warehouse.deployment.catalog if t.oid == r.oid), None)
        return self.placing.of(r, whole)

    def _apply(self, engine: str, changes: Batch, end: int, last: LastCommit | None) -> int:
        """Rows landed. Views that fail on this batch, or read what is refused or was altered, are set aside, and it
        is tried without them."""
        target = self.warehouse.engine(engine)
        while True:
            tables = self.warehouse.tables(engine)
            named = {(t.schema, t.name): t for t in tables}
            frontier = self.warehouse.frontier(engine)
            if frontier >= end:
                rows = 0
                break
            try:
                holds = self.warehouse.holds(engine)
                if self.warehouse.settling:
                    named = {k: replace(t, identity="default") for k, t in named.items()}
                named |= {(h.table.schema, h.table.name): h.table for h in holds.values()}
                parts = target.parts and not any(changes.has(h.table) for h in holds.values())
                refused = self.warehouse.refused(engine)
                staged, more = changes.staged(named, frontier, refused, parts, self._places)
                if self.warehouse.settling:
                    staged, more = _replacing(staged), map(_replacing, more)
                follow = functools.partial(followed, self.warehouse, engine, holds=holds, xids=changes.xids)
                staged, more = follow(staged), map(follow, more)
                rows = target.apply(
                    staged,
                    end,
                    self.warehouse.programs(engine),
                    start=frontier,
                    last=last,
                    more=more,
                    rows=changes.count,
                )
                break
            except Again:
                continue
            except EngineFailure as e:
                self.warehouse.set_aside(engine, e)
            except ValueOutOfRange as e:
                self.warehouse.refuse(engine, e)
            except TableChanged as e:
                self.warehouse.refuse(engine, *explained(self.warehouse.config.source.dsn, e))
        self.ledger.applied(engine, end, target.frontier())
        self._compact(target)
        return rows

    def _compact(self, target: Engine) -> None:
        target.compact(self.warehouse.tables(target.name))

    def _apply_later(self, engine: str, work: Work) -> None:
        """On a worker's thread."""
        decoder = self.later[engine]
        decoder.relations = dict(work.relations)
        self._apply(engine, Small(decoder, work.frames), work.end, work.last)

    def _acknowledge(self) -> None:
        """Let the source forget what every engine has, and will have whatever is lost."""
        self.acknowledged = min([self.frontier, *(self.warehouse.engine(e).kept() for e in self.engines)])
        self.stream.acknowledge(self.acknowledged)

    def _idle(self, got: Received) -> None:
        """Nothing for us up to `got.end`: say so, so that the server can let go of WAL, and whoever waits hears of
        it."""
        for w in self.workers.values():
            w.check()
        resting = not any(self.ledger.outstanding(e) for e in self.engines) and not self.stream.held
        complete = min(max(got.end, self.stream.complete), self.ceiling)
        due = self.stream.urged and complete > self.acknowledged
        if resting and (due or complete > self.acknowledged + IDLE_BYTES or self.frontier < self.wanted <= complete):
            self.stream.urged = False
            self.advance(complete)
        if resting:  # also where a view was finished without a batch
            for e in self.engines:  # a server that stops waits until we have all of it
                self.warehouse.engine(e).settle(force=due and self.acknowledged < self.frontier)
            self.follow(self.doubts.unsent(complete))
        if self.acknowledged < self.frontier:
            self._acknowledge()
        if resting and self.unfolded and time.monotonic() > self.applied_at + folding.AFTER:
            self._fold()
        self._held()

    def _fold(self) -> None:
        """States take what waits in their tails, where nothing else is to be done."""
        self.unfolded = False
        for e in self.engines:
            try:
                if e not in self.workers:
                    self.warehouse.fold(e)
            except EngineFailure as failure:
                self.warehouse.set_aside(e, failure)

    def _held(self) -> None:
        """What each engine holds by now, as far as the server has told."""
        reached = {
            e: self.ledger.durable[e]
            if self.ledger.outstanding(e)
            else max(self.ledger.durable[e], self.stream.complete)
            for e in self.engines
        }
        self.freshness.holds(reached)

    def advance(self, lsn: int) -> None:
        """Move every engine to `lsn`, up to which the source had nothing more for us."""
        for e in self.engines:
            if self.ledger.may_pass(e, lsn):
                self.warehouse.engine(e).set_frontier(lsn)
                self.ledger.passed(e, lsn)
        self.follow(self.doubts.unsent(self.frontier))
        self._acknowledge()

    @property
    def missing(self) -> int | None:
        """The LSN that somebody waits for, while the source has not said that it was reached."""
        return self.wanted if self.wanted > max(self.frontier, self.stream.server_end) else None

    def catch_up(
        self, target: int, before: int | None = None, watch: Callable[[BatchDone], None] = lambda b: None
    ) -> None:
        """Apply everything up to `target`; with `before`, nothing that commits at or after it."""
        self.ceiling = before if before is not None else self.ceiling
        self._until(target, None if before is None else lambda t: t.lsn < before, watch)
        self.advance(max(self.frontier, before if before is not None else target))

    def align(self, snapshot: SharedSnapshot) -> None:
        """Take the snapshot, and apply what it sees and nothing else.

        Where that is not the first part of the commit order, it is taken again: a commit is in the stream a moment
        before others see it. Raises TidemarkError where that moment does not end.
        """
        for _ in range(TRIES):
            snapshot.take()
            self._until(snapshot.lsn, lambda t: snapshot.sees(t.xid))
            if all(map(snapshot.sees, self.recent)) and not any(snapshot.sees(t.xid) for t in self.stream.held):
                return
            time.sleep(PAUSE)
        raise TidemarkError(
            "the views could not be brought to one snapshot of the source",
            code="not_aligned",
            detail="A transaction is in the stream that the source's snapshots do not see yet.",
            hint="It may wait for a synchronous standby. Try again.",
        )

    def _until(self, target: int, admit: Admit | None, watch: Callable[[BatchDone], None] = lambda b: None) -> None:
        while True:
            done = self.step(1.0, target, admit)
            if done is not None:
                watch(done)
            elif self.stream.server_end >= target:
                break
        for w in self.workers.values():
            w.drain()


def _replacing(staged: list[Staged]) -> list[Staged]:
    """Changes to rows that may be there already, and later."""
    return [replace(s, inserts_only=False) for s in staged]
