"""run: catch up and stop, or keep the views fresh until told to stop."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import tenacity

from compiler.errors import TidemarkError
from connectors.postgres.stream import HEALS
from pipelines import deployment as deployments
from pipelines.applying.capture import BatchDone, Capture
from pipelines.applying.catching_up import catch_up, limits
from pipelines.applying.source_watch import SourceWatch
from pipelines.applying.unaltered import check_source
from pipelines.config import Config, load_config
from pipelines.deploying import ahead
from pipelines.deploying.arriving import sweep
from pipelines.deploying.deploy import deploy
from pipelines.deploying.heal import able, heal
from pipelines.deploying.source_objects import drop_former
from pipelines.observe.health import HealthLimits
from pipelines.observe.http import start as listen
from pipelines.observe.observer import Observer, refresh_seconds, spent_seconds, views_of
from pipelines.observe.reason import reason, stored
from pipelines.running.deploying import outcome_of
from pipelines.running.healing import Healing, telling
from pipelines.running.healing_once import due, heal_once
from pipelines.running.server import LEAVING, Server
from pipelines.warehouse import Warehouse

LONGEST = 15.0  # seconds between attempts to connect again
SWEEP = 10.0  # seconds between looks for what a deploy that was killed has left
REMEMBER = 5.0  # seconds between notes of how fresh the engines are


def run(
    config: Config, once: bool, observer: Observer | None = None, show: Callable[[Observer], None] = lambda o: None
) -> None:
    """Apply the stream; with `once`, try again what was set aside, and apply up to the source's LSN at the start.
    SIGTERM stops after the batch at hand, a second signal in it."""
    with deployments.locked(config.warehouse_path):
        observer = observer or Observer()
        again = once and due(config, deployments.require(config.warehouse_path), time.time())  # not what is found now
        warehouse = opened(config, observer.renamed)
        try:
            if not warehouse.used_engines():
                return
            drop_former(config.source.dsn, config.warehouse_path, warehouse.deployment)
            sweep(config)
            if once:
                if again:
                    warehouse.close()
                    heal_once(config)
                    warehouse = opened(config, observer.renamed)
                catch_up(config, warehouse)
                return
            going = Run(config, warehouse, observer, show)
            try:
                going.forever()
            finally:
                warehouse = going.warehouse
        finally:
            warehouse.close()


def opened(config: Config, renamed: Callable[[str, str], None]) -> Warehouse:
    """What is deployed, ready to take the stream's changes; what was altered in the source is no longer kept, and of
    what it calls otherwise `renamed` is told."""
    warehouse = Warehouse(config, deployments.require(config.warehouse_path))
    warehouse.renamed = renamed
    try:
        if warehouse.used_engines():
            warehouse.follow_unfit()
            warehouse.check_states()
            warehouse.finish_deploy()
            ahead.clear(warehouse)
            warehouse.follow(check_source(config.source.dsn, warehouse.deployment))
            warehouse.keep_notes()
    except BaseException:
        warehouse.close()
        raise
    return warehouse


@dataclass
class Run:
    """A pipeline that goes on until it is told to stop, or finds what cannot heal."""

    config: Config
    warehouse: Warehouse
    observer: Observer
    show: Callable[[Observer], None]
    stop: threading.Event = field(default_factory=threading.Event)
    remembered: float = 0.0
    swept: float = 0.0
    resting: bool = False  # no stream is open: a deploy is at work
    healing: Healing = field(default_factory=Healing)
    healer: threading.Thread | None = None
    ended: TidemarkError | None = None  # why none could be opened after it

    def forever(self) -> None:
        """Keeps views fresh until it is told to stop; raises what else ends it. What it started is stopped in any
        case."""
        for s in (signal.SIGTERM, signal.SIGINT):
            signal.signal(s, self._asked)
        d = self.warehouse.deployment
        self._capture()
        capture = self.capture
        self.server = Server(self.config, self.warehouse, capture, self.observer, self._deploy, self._taken_up)
        m = self.config.metrics
        web = (
            listen(self.observer.state, m.listen, HealthLimits(m.healthy_seconds, m.ready_seconds))
            if m.listen
            else None
        )
        self.observer.started(
            d.slot,
            views_of(d),
            capture.frontiers,
            {e: t for e, t in capture.fresh_at.items() if t},
            m.listen if web else "",
        )
        self.server.start()
        ended = "told to stop", False
        try:
            while not self.stop.is_set():
                self._turn()
        except KeyboardInterrupt:
            ended = "interrupted", False
            self.capture.abandon()
            raise
        except BaseException as e:
            ended = reason(e), True
            raise
        finally:
            self.server.stop()
            self.watch.stop()
            if self.healer is not None:
                self.healer.join(LEAVING)
            if web:
                web.stop()
            if not self.resting:
                self.capture.close()
                self._remember()
            self.observer.stopped(*ended)

    def _capture(self) -> None:
        """Open the stream for the warehouse at hand, and watch the source beside it."""
        self.warehouse.aside = lambda view, why: self.observer.set_aside(view, stored(why))
        self.capture = Capture(self.warehouse, limits(self.config))
        self.capture.landed = self._landed
        self.watch = SourceWatch(self.config.source.dsn, self.warehouse.deployment, self.capture.freshness)
        self.watch.start()

    def _deploy(self, keep_going: bool) -> dict[str, Any]:
        """Bring what runs in line with views/. Batches wait for it; whoever reads is answered from what there was,
        until it is there."""
        config = self._taken_up()
        with self._rest():
            done = deploy(config, keep_going, lambda *_: self._beat(), lambda _: self._beat(), held=True)
            self.config = config
        return outcome_of(done)

    def _taken_up(self) -> Config:
        """tidemark.toml as it is by now; raises where a pipeline that runs does not take that up."""
        config = load_config(self.config.home)
        if config.model_copy(update={"defaults": self.config.defaults}) != self.config:
            raise TidemarkError(
                "tidemark.toml was changed since the pipeline was started",
                code="other_configuration",
                detail="Only [defaults] is taken up by a pipeline that runs.",
                hint="Stop the pipeline, deploy, and start it again.",
            )
        return config

    def _heal_alone(self) -> None:
        """Beside the batches, unless a verify or a deploy is at work."""
        if self.server.alone.acquire(blocking=False):
            self.healer = threading.Thread(target=self._heal, daemon=True)
            self.healer.start()

    def _heal(self) -> None:
        """Fill again what was set aside, where its cause is gone."""
        begun = time.monotonic()
        try:
            with telling():
                if views := able(self.config, deployments.require(self.config.warehouse_path)):
                    self.server.busy = "filling again what was set aside"
                    self.server.ahead.fill(self.warehouse, self.capture.rest, lambda: views)
                    self.server.jobs.ask(self._healed)
        finally:
            self.healing.tried(time.monotonic() - begun)
            self.server.busy = ""
            self.server.alone.release()

    def _healed(self) -> None:
        with self._rest():
            heal(self.config, lambda *_: self._beat(), lambda _: self._beat())

    @contextmanager
    def _rest(self) -> Iterator[None]:
        """With nothing at work on the warehouse; and then on, with what is deployed by then."""
        begun = time.monotonic()
        try:
            self.watch.stop()
            self.capture.close()
            self.warehouse.keep_notes()  # what is deployed next is compared with them
            self._remember()
        except Exception as e:  # half at rest: neither a deploy nor a batch may go on
            self.capture.end(e)
            raise
        self.resting = True
        try:
            yield
        except Exception:
            self._go_on()
            raise
        self._go_on()
        if not self.resting:
            d = self.warehouse.deployment
            self.observer.deployed(views_of(d), self.capture.frontiers, time.monotonic() - begun)

    def _beat(self) -> None:
        self.observer.turn()
        self.show(self.observer)

    def _go_on(self) -> None:
        """After a deploy, with what is deployed now."""
        try:
            try:
                self._open_anew()
            except HEALS as e:
                self._reconnect(e, self._open_anew)
        except TidemarkError as e:
            self.ended = e
            raise

    def _open_anew(self) -> None:
        warehouse, before = opened(self.config, self.observer.renamed), self.warehouse
        self.warehouse = warehouse
        if not warehouse.used_engines():
            self.stop.set()  # no view is left
            return
        try:
            self._capture()
        except BaseException:
            self.warehouse = before
            warehouse.close()
            raise
        self.server.take(warehouse, self.capture)
        self.resting = False

    def _asked(self, *_: object) -> None:
        if self.stop.is_set():
            # what the batch has written is undone, or finished, when the warehouse is opened next
            raise KeyboardInterrupt
        self.stop.set()

    def _turn(self) -> None:
        try:
            self.capture.wanted = self.server.wanted
            self.capture.step(0.2, self.capture.missing)
            self.server.jobs.run()
            if not self.resting and self.healing.due(self.warehouse.deployment):
                self._heal_alone()
            if self.resting:
                if self.ended is not None:
                    raise self.ended
                return
            if not self.server.alone.locked() and ahead.left(self.warehouse):  # no deploy has come of it
                for e in self.capture.engines:
                    self.capture.rest(e)
                ahead.clear(self.warehouse)
            if not self.capture.batch:
                self.server.eviction.turn()
                self.server.pacing.turn()
            self.capture.seen(*self.watch.check())
            self.warehouse.keep_notes()
            if time.monotonic() - self.swept > SWEEP:
                self.swept = time.monotonic()
                sweep(self.config)
        except HEALS as e:
            self._reconnect(e)
        self._tell()

    def _reconnect(self, error: TidemarkError, again: Callable[[], None] | None = None) -> None:
        """Open the stream again, as often as it takes; what cannot heal is raised."""
        self.capture.stream.close()
        self.observer.source_away(reason(error))

        def before(state: tenacity.RetryCallState) -> None:
            failure = state.outcome.exception() if state.outcome is not None else None
            if isinstance(failure, TidemarkError) and state.next_action is not None:
                self.observer.source_away(reason(failure), state.next_action.sleep)

        attempts = tenacity.Retrying(
            retry=tenacity.retry_if_exception_type(HEALS),
            stop=tenacity.stop_when_event_set(self.stop),
            reraise=True,
            wait=tenacity.wait_exponential_jitter(multiplier=0.1, max=LONGEST, jitter=0.5),
            before_sleep=before,
            sleep=self._pause,
        )
        try:
            attempts(again or self.capture.reopen)
        except HEALS:
            if not self.stop.is_set():
                raise
            return
        self.observer.source_back()

    def _pause(self, seconds: float) -> None:
        """Between two attempts: whoever asks meanwhile is told that the source is away."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0 and not self.stop.is_set():
            self.server.jobs.refuse(self.server.away())
            if not self.capture.batch and not self.resting:  # after a deploy the engines are others
                self.server.pacing.turn()
            self._tell()
            self.stop.wait(min(left, 0.2))

    def _landed(self, done: BatchDone) -> None:
        state = self.observer.state
        state.batch(done.changes, done.rows, done.seconds, self.capture.frontiers, done.transactions, done.bytes)
        state.refreshed(refresh_seconds(self.warehouse))
        self.observer.works.batch(done.rows, spent_seconds(self.warehouse))

    def _tell(self) -> None:
        state, fresh = self.observer.state, self.capture.freshness
        state.keyed(self.server.eviction.shots())
        state.paced(self.server.pacing.shots())
        for e, frontier in self.capture.frontiers.items():
            state.landed(e, 0, frontier)
        for e, at in fresh.at.items():
            if at:
                state.fresh(e, at)
        if fresh.source_at:
            state.source(fresh.source_lsn, self.watch.retained, fresh.source_at, self.watch.safe)
        self.observer.turn()
        self.show(self.observer)
        if time.monotonic() - self.remembered > REMEMBER:
            self._remember()

    def _remember(self) -> None:
        self.remembered = time.monotonic()
        self.warehouse.remember_fresh(self.capture.fresh_at)
