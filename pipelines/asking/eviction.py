"""Keys leave partial views whose rows have become more than their `memory`: those that were asked for least."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable

from connectors.engine import EngineFailure
from connectors.failpoints import reach
from pipelines.applying.upquery import dismiss
from pipelines.asking.uses import Uses
from pipelines.observe.snapshot import PartialShot
from pipelines.project import memory_of
from pipelines.warehouse import Warehouse

log = logging.getLogger("tidemark")
LOOK = 2.0  # seconds between two looks at what is kept
SHARE = 20.0  # times as long as a look took, at least, until the next
LEFT = 0.9  # of the memory, once keys have left


class Eviction:
    """Looks at partial views now and then, on the thread that applies batches. `rest` waits until nothing is at work in
    an engine."""

    def __init__(self, warehouse: Warehouse, uses: Uses, rest: Callable[[str], None] = lambda engine: None) -> None:
        self.warehouse, self.uses, self.rest = warehouse, uses, rest
        self.next = 0.0
        self.evicted: Counter[str] = Counter()
        self.sizes: dict[str, tuple[int, int]] = {}  # view → keys and bytes, when it was looked at last

    def turn(self) -> int:
        """How many keys left."""
        begun = time.monotonic()
        if begun < self.next:
            return 0
        gone = 0
        for v in self.warehouse.deployment.views:
            if v.error or not self._asked(v.name):
                continue
            try:
                n = self._view(v.name)
            except EngineFailure as e:  # what is kept is as it was: it is tried again
                log.warning('no key of view "%s" could leave: %s: %s', v.name, e.message, e.detail)
                continue
            self.evicted[v.name] += n
            gone += n
        self.next = time.monotonic() + max(LOOK, SHARE * (time.monotonic() - begun))
        return gone

    def shots(self) -> dict[str, PartialShot]:
        """What partial views keep, as it was last looked at, and how they were asked."""
        return {
            v: {
                "keys": keys,
                "bytes": size,
                "hits": self.uses.hits[v],
                "misses": self.uses.misses[v],
                "evicted": self.evicted[v],
            }
            for v, (keys, size) in self.sizes.items()
        }

    def _asked(self, view: str) -> bool:
        return self.warehouse.view(view)[1].asked is not None

    def _view(self, view: str) -> int:
        limit = memory_of(self.warehouse.compiled[view])
        v, plan = self.warehouse.view(view)
        _, used = self.sizes[view] = self.warehouse.engine(v.engine).weight(plan)
        if used <= limit:
            return 0
        weights = self.warehouse.engine(v.engine).weights(plan)
        keys = self.uses.rarest(view, weights, used - int(LEFT * limit))
        reach("ask.evicting")
        if keys.num_rows:
            self.rest(v.engine)
            dismiss(self.warehouse, view, keys)
        return int(keys.num_rows)
