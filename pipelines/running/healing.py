"""When a pipeline tries again to fill what it has set aside."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import psycopg

from compiler.errors import TidemarkError
from pipelines.deployment import Deployment

log = logging.getLogger("tidemark")
FIRST = 30.0  # seconds after a view was set aside: a migration alters more than one thing
MOST = 3600.0  # seconds between two attempts
SHARE = 20.0  # times as long as the last attempt took, at least, until the next


class Healing:
    """Soon after something was set aside, and then ever more rarely."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock, self.aside = clock, frozenset[str]()
        self.wait, self.next = FIRST, 0.0

    def due(self, d: Deployment) -> bool:
        aside = frozenset(v.name for v in d.views if v.error)
        if not aside <= self.aside:
            self.wait, self.next = FIRST, self.clock() + FIRST
        self.aside = aside
        return bool(aside) and self.clock() >= self.next

    def tried(self, seconds: float) -> None:
        self.wait = min(max(2 * self.wait, SHARE * seconds), MOST)
        self.next = self.clock() + self.wait


@contextmanager
def telling() -> Iterator[None]:
    """An attempt that fails is told, and ends nothing."""
    try:
        yield
    except TidemarkError as e:
        log.warning("what was set aside could not be filled again, %s: %s", e.message, e.detail)
    except psycopg.Error as e:
        log.warning("what was set aside could not be filled again: %s", str(e).split("\n")[0])
