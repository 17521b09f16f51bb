"""What failed and may pass is tried again, a bounded number of times, with a new Java where the old one is gone."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TypeVar

from tenacity import RetryCallState, Retrying, retry_if_exception, stop_after_attempt, wait_exponential

from compiler.errors import TidemarkError
from connectors.failpoints import FailpointReached
from connectors.spark.failures import SparkFailure, failure, of_spark

T = TypeVar("T")
TRIES = 5
FIRST, LONGEST = 0.3, 10.0  # seconds before the second try, and before the later ones at most

log = logging.getLogger("tidemark")


class Healing:
    """`mend` is called before each further try; nothing is tried again once `closed`."""

    def __init__(self, mend: Callable[[], None]) -> None:
        self.mend, self.closed = mend, False

    def run(self, what: str, work: Callable[[], T]) -> T:
        """The result of `work`, which may be begun again after any failure. SparkFailure when it does not heal."""

        def once() -> T:
            try:
                return work()
            except (TidemarkError, FailpointReached):
                raise
            except Exception as e:
                if not of_spark(e):
                    raise
                raise failure(what, e) from e

        return Retrying(
            retry=retry_if_exception(self._worth),
            stop=stop_after_attempt(TRIES),
            reraise=True,
            wait=wait_exponential(multiplier=FIRST, max=LONGEST),
            before_sleep=self._before,
        )(once)

    def _worth(self, e: BaseException) -> bool:
        return isinstance(e, SparkFailure) and e.heals and not self.closed

    def _before(self, state: RetryCallState) -> None:
        e = state.outcome.exception() if state.outcome is not None else None
        if isinstance(e, SparkFailure):
            log.warning("%s: %s (try %d of %d; it is tried again)", e.message, e.detail, state.attempt_number, TRIES)
        self.mend()
