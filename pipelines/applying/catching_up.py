"""Catching up, and stopping: for commands that end, over a source that may be gone for a moment."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

import tenacity

from connectors.postgres.connection import current_lsn
from connectors.postgres.stream import HEALS
from connectors.postgres.transactions import Limits
from pipelines.applying.capture import Capture
from pipelines.config import Config
from pipelines.pacing.finishing import finish
from pipelines.warehouse import Warehouse

TRIES = 6
T = TypeVar("T")


def limits(config: Config) -> Limits:
    return Limits(config.batch.rows, config.batch.bytes, config.batch.seconds)


def catch_up(config: Config, warehouse: Warehouse) -> None:
    """Apply everything that the source has committed before the call; views that may lag are finished."""
    with following(config, warehouse) as f:
        f.catch_up()


@dataclass(frozen=True)
class Following:
    """A stream that is open for a command."""

    config: Config
    warehouse: Warehouse
    capture: Capture

    def catch_up(self) -> None:
        """Apply everything that the source has committed before the call; views that may lag are finished."""
        started = time.time()
        target = current_lsn(self.config.source.dsn)
        persist(self.capture, lambda: self.capture.catch_up(target))
        finish(self.warehouse)
        self.warehouse.remember_fresh(dict.fromkeys(self.capture.engines, started))


@contextmanager
def following(config: Config, warehouse: Warehouse) -> Iterator[Following]:
    """Opening lets keys go that were read from the source and are ahead: who waits for some keeps it open."""
    capture = Capture(warehouse, limits(config))
    try:
        yield Following(config, warehouse, capture)
    finally:
        capture.close()


def persist(capture: Capture, work: Callable[[], T]) -> T:
    """Do the work, over a source that is gone for a moment: a few attempts with a stream opened anew, and then its
    error."""
    attempts = tenacity.Retrying(
        retry=tenacity.retry_if_exception_type(HEALS),
        stop=tenacity.stop_after_attempt(TRIES),
        wait=tenacity.wait_exponential_jitter(multiplier=0.2, max=3.0, jitter=0.2),
        reraise=True,
    )
    broken = False
    for attempt in attempts:
        with attempt:
            if broken:
                capture.reopen()
            broken = True
            return work()
    raise AssertionError("attempts end with a result or an error")
