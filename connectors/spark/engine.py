"""Spark as an engine: Delta tables that commit one by one, made to move together by two phases.

Phase one computes everything the batch changes, from tables not yet touched, and stores it under the batch's LSN.
Phase two merges what was stored; each Delta commit carries the batch's LSN, so that a repeated one is skipped. Then the
frontier moves, and with it the version of each table that readers see. A crash in phase one leaves nothing; a crash in
phase two is finished when the warehouse is opened next.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from compiler.maintain.plan import ViewPlan
from compiler.maintain.program import Prepared
from connectors.postgres.origin import LastCommit
from connectors.spark.batches import Batches
from connectors.spark.exporting import Exporting
from connectors.spark.mirrors import Mirrors
from connectors.spark.no_keys import NoKeys
from connectors.spark.no_paces import NoPaces
from connectors.spark.reading import Reading
from connectors.spark.recursion import Recursion
from connectors.spark.states import States
from connectors.spark.store import Store
from connectors.spark.upkeep import Upkeep
from connectors.spark.wide import Executors, WideMirrors


class SparkEngine:
    """Delta tables under one folder, maintained by one Spark session: `Mirrors`, `States`, `Batches`, `Upkeep` and
    `Reading` of one store."""

    name = "spark"
    threads = 4
    folds = False  # each of its commits is marked with the LSN of a batch, so that a batch folds
    lags = True
    first_batch = 10.0

    def __init__(self, store: Store, plans: Iterable[ViewPlan] = (), executors: Executors | None = None) -> None:
        """`plans` are those of the deployment; `executors` those that copy tables, where they are other processes."""
        self.store = store
        recursion = Recursion(self.store)
        self.mirrors = Mirrors(self.store)
        self.kept_states = States(self.store, recursion)
        self.batches = Batches(self.store, recursion)
        self.upkeep = Upkeep(self.store)
        self.reading = Reading(self.store, recursion, plans)
        self.timings = self.batches.timings

        self.create_mirror, self.drop_mirror = self.mirrors.create, self.mirrors.drop
        self.load, self.adopt = self.mirrors.load, self.mirrors.adopt
        self.states, self.create_state = self.store.states, self.kept_states.create
        self.drop_state, self.set_aside = self.kept_states.drop, self.kept_states.set_aside
        self.size = self.kept_states.size
        self.mirror_bytes = lambda name: None
        self.apply, self.frontier, self.compact = self.batches.apply, self.batches.frontier, self.upkeep.compact
        self.create_view, self.drop_view = self.reading.create_view, self.reading.drop_view
        self.pinned, self.read, self.count = self.reading.pinned, self.reading.read, self.reading.count
        self.read_mirror, self.export = self.reading.read_mirror, Exporting(self.reading).export
        filled = self.mirrors
        self.wide = (
            WideMirrors(executors, lambda t: True, filled.loading, filled.take, held=True) if executors else None
        )
        keys, self.paced = NoKeys(), NoPaces()
        self.key_rows = self.ranges = self.give = self.filling = None
        self.keys, self.look_up, self.asked_for = keys.keys, keys.look_up, keys.asked_for
        self.weight, self.weights = keys.weight, keys.weights
        self.whole, self.read_whole = keys.whole, keys.read_whole

    @property
    def parts(self) -> bool:
        return not self.batches.whole

    def close(self) -> None:
        self.store.close()

    def stop(self) -> None:
        """End the session, for this process."""
        self.store.driver.stop()

    def place(self, state: str) -> str:
        return "Dist"

    def kept(self) -> int:
        return self.store.published.pin().lsn

    def settle(self, force: bool = False) -> None:
        return None

    def set_frontier(self, lsn: int) -> None:
        self.store.published.publish((), lsn)

    def moved(self) -> float:
        return self.store.published.pin().moved

    def last_commit(self) -> LastCommit | None:
        return self.store.published.pin().last

    def forget_commit(self) -> None:
        self.store.published.forget_commit()

    def deployment(self) -> str:
        return self.store.deployment()

    def belong(self, mark: str) -> None:
        self.store.belong(mark)

    def large(self) -> frozenset[str]:
        """None is read by keys in a step of its own: a step is a job."""
        return frozenset()

    def rows(self, state: str) -> int | None:
        """Not known: Delta tells without reading only where statistics are collected."""
        return None

    def fold(self, prepared: Prepared) -> None:
        raise NotImplementedError("Spark folds in a batch")

    def counted(self, plan: ViewPlan, at: Any) -> bool | None:
        return None

    def as_defined(self, plan: ViewPlan, at: Any) -> bool | None:
        return None
