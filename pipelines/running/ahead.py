"""States of views that are about to be deployed, or healed, filled while batches go on."""

from __future__ import annotations

import logging
from collections.abc import Callable

from connectors.engine import Begun
from pipelines.deploying import ahead
from pipelines.project import Compiled
from pipelines.warehouse import Warehouse

log = logging.getLogger("tidemark")
Ask = Callable[[Callable[[], list[Begun]]], list[Begun]]


class Ahead:
    """On the thread of whoever asks for it; `ask` runs something on the loop's, between batches."""

    def __init__(self, ask: Ask) -> None:
        self.ask, self.begun, self.stopped = ask, list[Begun](), False

    def fill(self, warehouse: Warehouse, rest: Callable[[str], None], views: Callable[[], list[Compiled]]) -> None:
        """What can be filled of these views; where that fails, the deploy does it, or says why not. `rest` lets an
        engine finish its batch."""

        def begin() -> list[Begun]:
            for e in warehouse.used_engines():
                rest(e)
            return ahead.begin(warehouse, compiled)

        try:
            compiled = views()
            self.begun = self.ask(begin)
        except Exception as e:  # also what an engine raises as its own
            _warn(e)
            return
        for b in self.begun:
            if self.stopped:
                break
            try:
                b.run()
            except Exception as e:
                _warn(e)
        self.begun = []

    def stop(self) -> None:
        self.stopped = True
        for b in self.begun:
            b.stop()


def _warn(e: Exception) -> None:
    log.warning("batches wait while states are filled: %s", str(e).split("\n")[0])
